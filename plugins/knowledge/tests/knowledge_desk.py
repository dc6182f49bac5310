"""A historian at work in the tests of knowledge: pages with words, names on them, statements, corrections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from armarium.api import Engine, Library, raw_of
from armarium.principals import LOCAL_OWNER

AGENT = replace(
    LOCAL_OWNER, kind="machine", role="editor", name="an agent", token_id="agent-1", token_kind="agent"
)
EDITOR = replace(LOCAL_OWNER, role="editor", name="a scholar", token_id="scholar-1", token_kind="client")
DEED = ("Before me came Juan Garcia of Toledo", "and Ana Lopez his wife", "and sold the mill to Juan Garcia")


@dataclass
class Page:
    """A page, its pass, its lines and what is read on them."""

    id: str
    pass_id: str
    lines: list[str]
    readings: list[str]
    texts: list[str] = field(default_factory=list)

    def at(self, words: str, nth: int = 0) -> dict[str, int]:
        """Where words stand in the text of the page as it was made: its lines, one beneath the other."""
        text, start = "\n".join(self.texts), -1
        for _ in range(nth + 1):
            start = text.index(words, start + 1)
        return {"char_start": start, "char_end": start + len(words)}


@dataclass
class Desk:
    """Short ways to do and to look."""

    engine: Engine
    library: Library
    client: Any

    def do(self, name: str, params: dict[str, Any], who: Any = LOCAL_OWNER) -> dict[str, Any]:
        return self.engine.run(self.library, name, params, who).result or {}

    def undo(self, audit_id: str) -> None:
        self.engine.undo(self.library, [audit_id], LOCAL_OWNER)

    def rows(self, statement: str, *given: Any) -> list[tuple[Any, ...]]:
        with self.library.db.read() as conn:
            return raw_of(conn).execute(statement, given).fetchall()

    def page(self, texts: Sequence[str] = DEED, name: str = "Deed", parent: str | None = None) -> Page:
        """A page of these lines, as a machine read them."""
        node = {"name": name, "doc_type": "page", **({"parent_id": parent} if parent else {})}
        page_id = str(self.do("document.create", node)["id"])
        pass_id = str(self.do("segment.pass_create", {"document_id": page_id, "name": "Lines"})["id"])
        return self.lay(page_id, pass_id, texts)

    def lay(self, page_id: str, pass_id: str, texts: Sequence[str]) -> Page:
        """Lines of a pass with their readings."""
        of_page = {"document_id": page_id, "pass_id": pass_id}
        rects = [
            [0.1, 0.05 + 0.9 * number / len(texts), 0.8, 0.5 / len(texts)] for number in range(len(texts))
        ]
        shapes = [{**of_page, "kind": "line", "anchor": {"rect": rect}} for rect in rects]
        lines = [item["id"] for item in self.do("segment.create_many", {"segments": shapes})["items"]]
        readings = [{"segment_id": line, "text": text} for line, text in zip(lines, texts, strict=True)]
        result = self.do(
            "reading.take", {**of_page, "provider": "a-reader", "model": "m", "readings": readings}, AGENT
        )
        return Page(page_id, pass_id, lines, result["representation_ids"], list(texts))

    def entity(self, name: str = "Juan Garcia", entity_type: str = "person", **more: Any) -> str:
        return str(
            self.do("entity.create", {"canonical_name": name, "entity_type": entity_type, **more})["id"]
        )

    def mention(
        self, page: Page, entity_id: str, words: str, nth: int = 0, who: Any = LOCAL_OWNER
    ) -> dict[str, Any]:
        where = {"entity_id": entity_id, "document_id": page.id, **page.at(words, nth)}
        return self.do("mention.create", where, who)

    def claim(self, text: str = "Juan Garcia sold the mill", **more: Any) -> dict[str, Any]:
        return self.do("claim.create", {"text": text, **more})

    def correct(self, line: str, text: str) -> dict[str, Any]:
        """A person's reading of a line."""
        answer = self.client.post(f"/api/segments/{line}/correct", json={"text": text})
        assert answer.status_code == 200, answer.text
        new_answer: dict[str, Any] = answer.json()
        return new_answer

    def get(self, path: str, **query: Any) -> Any:
        answer = self.client.get(path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def names_on(self, page: Page) -> dict[str, Any]:
        answer: dict[str, Any] = self.get(f"/api/documents/{page.id}/mentions")
        return answer

    def expect_refusal(
        self, method: str, path: str, status: int, code: str | None = None, **body: Any
    ) -> dict[str, Any]:
        answer = self.client.request(method, path, json=body or None)
        assert answer.status_code == status, answer.text
        told: dict[str, Any] = answer.json()
        if code is not None:
            assert told["code"] == code, told
        return told


def machine(desk: Desk) -> dict[str, str]:
    """The headers of an agent, who may write."""
    response = desk.client.post("/api/tokens", json={"name": "an agent", "role": "editor"})
    assert response.status_code == 200, response.text
    return {"Authorization": f"Bearer {response.json()['token']}"}
