"""A person at work in the tests of finding: a box of read pages, runs, and looks at what was proposed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from armarium.api import Engine, Library, raw_of
from armarium.principals import LOCAL_OWNER

MACHINE = replace(
    LOCAL_OWNER, kind="machine", role="editor", name="an agent", token_id="agent-1", token_kind="agent"
)


@dataclass
class Desk:
    """Short ways to do and to look."""

    engine: Engine
    library: Library
    client: Any

    def do(self, name: str, params: dict[str, Any], who: Any = LOCAL_OWNER) -> dict[str, Any]:
        return self.engine.run(self.library, name, params, who).result or {}

    def rows(self, statement: str, *given: Any) -> list[tuple[Any, ...]]:
        with self.library.db.read() as conn:
            return raw_of(conn).execute(statement, given).fetchall()

    def box(self, texts: Sequence[str | None], name: str = "Box") -> tuple[str, list[str]]:
        """A folder with a page for each text (None: never read; empty: read and blank): (folder, pages)."""
        folder = str(self.do("document.create", {"name": name})["id"])
        return folder, [self.page(folder, number, text) for number, text in enumerate(texts, start=1)]

    def page(self, folder: str, number: int, text: str | None) -> str:
        page = {"name": f"{number:04}.jpg", "doc_type": "page", "parent_id": folder}
        page_id = str(self.do("document.create", page)["id"])
        self.do("document.move", {"ids": [page_id], "parent_id": folder})
        if text is not None:
            self.read(page_id, text)
        return page_id

    def read(self, page_id: str, text: str) -> list[str]:
        """Lines with readings; the lines."""
        pass_id = self.do("segment.pass_create", {"document_id": page_id, "name": "Lines"})["id"]
        lines = text.splitlines()
        if not lines:
            return []
        made = [
            {
                "document_id": page_id,
                "pass_id": pass_id,
                "kind": "line",
                "anchor": {"rect": [0.1, 0.02 + 0.03 * row, 0.8, 0.02]},
            }
            for row in range(len(lines))
        ]
        ids = [item["id"] for item in self.do("segment.create_many", {"segments": made})["items"]]
        for line, words in zip(ids, lines, strict=True):
            self.do("representation.create", {"segment_id": line, "text": words})
        return ids

    def run(self, *scope: str, **more: Any) -> dict[str, Any]:
        """Find documents to the end; the run as answered."""
        answer = self.client.post("/api/find-documents/runs", json={"scope_ids": list(scope), **more})
        assert answer.status_code == 200, answer.text
        assert answer.json()["audit_id"]
        self.engine.jobs.run_until_idle(self.library)
        found_answer: dict[str, Any] = self.client.get(
            f"/api/find-documents/runs/{answer.json()['job_id']}"
        ).json()
        return found_answer

    def find(self, *scope: str, **more: Any) -> dict[str, Any]:
        """Find documents in one folder; the proposal."""
        run = self.run(*scope, **more)
        assert run["state"] == "done", run
        return self.proposal(run["proposal_ids"][0])

    def proposal(self, proposal_id: str) -> dict[str, Any]:
        answer = self.client.get(f"/api/find-documents/proposals/{proposal_id}")
        assert answer.status_code == 200, answer.text
        found_answer: dict[str, Any] = answer.json()
        return found_answer

    def post(self, proposal_id: str, verb: str, **body: Any) -> Any:
        return self.client.post(f"/api/find-documents/proposals/{proposal_id}/{verb}", json=body)

    def undo(self, audit_id: str) -> None:
        self.engine.undo(self.library, [audit_id], LOCAL_OWNER)


def agent(desk: Desk) -> dict[str, str]:
    """The headers of an agent that may write."""
    answer = desk.client.post("/api/tokens", json={"name": "an agent", "role": "editor"}).json()
    secret = next(value for name, value in answer.items() if name == "token" or name.endswith("_token"))
    return {"Authorization": f"Bearer {secret}"}
