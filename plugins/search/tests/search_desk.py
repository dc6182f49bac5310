"""A person at work in the tests of searching: pages of lines, corrections, and questions."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from armarium.api import Engine, Library, raw_of
from armarium.principals import LOCAL_OWNER, Principal

EDITOR = replace(LOCAL_OWNER, role="editor", name="a scholar", token_id="scholar-1", token_kind="client")


@dataclass
class Page:
    """A page of the tests: its id, its pass, its lines."""

    id: str
    pass_id: str
    lines: list[str]


@dataclass
class SearchDesk:
    """Short ways to do and to ask."""

    engine: Engine
    library: Library
    client: Any
    steps: list[str] = field(default_factory=list)

    def do(self, name: str, params: dict[str, Any], who: Principal = LOCAL_OWNER) -> dict[str, Any]:
        outcome = self.engine.run(self.library, name, params, who)
        self.steps.append(outcome.audit_id)
        return outcome.result or {}

    def undo(self, audit_id: str | None = None) -> None:
        self.engine.undo(self.library, [audit_id or self.steps[-1]], LOCAL_OWNER)

    def folder(self, name: str, parent: str | None = None) -> str:
        return str(self.do("document.create", {"name": name, "parent_id": parent})["id"])

    def page(self, *texts: str, name: str = "Leaf", parent: str | None = None, **more: Any) -> Page:
        """A page with a line for each of *texts*; an empty one is not read."""
        result = self.do("document.create", {"name": name, "doc_type": "page", "parent_id": parent, **more})[
            "id"
        ]
        pass_id = self.do("segment.pass_create", {"document_id": result, "name": "Lines"})["id"]
        lines = [
            {
                "document_id": result,
                "pass_id": pass_id,
                "kind": "line",
                "anchor": {
                    "rect": [0.1, 0.02 + 0.9 * number / max(len(texts), 1), 0.8, 0.8 / max(len(texts), 1) / 2]
                },
            }
            for number in range(len(texts))
        ]
        ids = (
            [item["id"] for item in self.do("segment.create_many", {"segments": lines})["items"]]
            if lines
            else []
        )
        for line, text in zip(ids, texts, strict=True):
            if text:
                self.correct(line, text)
        return Page(result, pass_id, ids)

    def correct(self, line: str, text: str) -> None:
        self.do("representation.create", {"segment_id": line, "text": text})

    def ask(self, query: str, **more: Any) -> dict[str, Any]:
        answer = self.client.post("/api/search", json={"query": query, "search_type": "fulltext", **more})
        assert answer.status_code == 200, answer.text
        found_answer: dict[str, Any] = answer.json()
        return found_answer

    def expect_refusal(self, status: int, query: str = "x", **more: Any) -> str:
        answer = self.client.post("/api/search", json={"query": query, **more})
        assert answer.status_code == status, answer.text
        return str(answer.json()["detail"])

    def ids(self, query: str, **more: Any) -> list[str]:
        return [result["document_id"] for result in self.ask(query, **more)["results"]]

    def ids_for(self, who: Principal, query: str, **more: Any) -> list[str]:
        return [result["document_id"] for result in self.ask_as(who, query, **more)["results"]]

    def ask_as(self, who: Principal, query: str, **more: Any) -> dict[str, Any]:
        """What another caller is answered."""
        from armarium_search.compiling import prepare_query
        from armarium_search.queries.search import search
        from armarium_search.schemas import SearchParams

        params = SearchParams.model_validate({"query": query, "search_type": "fulltext", **more})
        params = prepare_query(self.library, self.engine, who, params).get("params", params)
        visibility = self.library.db.visibility
        assert visibility is not None
        if visibility.surely_all(who) or not visibility.limits(who):
            with self.library.db.read() as conn:
                return search(conn, self.library, self.engine, who, params)
        with visibility.read(who) as conn:
            return search(conn, self.library, self.engine, who, params)

    def rows(self, statement: str, *given: Any) -> list[Any]:
        with self.library.db.read() as conn:
            return raw_of(conn).execute(statement, given).fetchall()

    def run_jobs(self) -> None:
        self.engine.jobs.run_until_idle(self.library)
