"""Short ways to do what the tests of the source model need all the time: run actions as somebody, make pages and lines."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import replace as replaced
from typing import Any

from armarium.api import Engine, Library, Principal

PERSON = Principal("person", "owner", "owner", token_kind="owner", folders=None)
AGENT = Principal("machine", "an agent", "editor", token_kind="agent")
RUN = Principal("machine", "a run", "editor", token_kind="run", run_id="run-1")


@dataclass
class Desk:
    """A project, and somebody who runs actions in it."""

    engine: Engine
    library: Library
    principal: Principal = PERSON
    audit_id: str = ""

    def run(self, name: str, /, **params: Any) -> dict[str, Any]:
        outcome = self.engine.run(self.library, name, params, self.principal)
        self.audit_id = outcome.audit_id
        return outcome.result or {}

    def undo(self, *audit_ids: str) -> str:
        """Undo the named steps, by default the last one; return the id of the first undo step."""
        found = self.engine.undo(self.library, audit_ids or [self.audit_id], PERSON)
        return str(found["audit_ids"][0])

    def as_(self, principal: Principal) -> Desk:
        return replaced(self, principal=principal)

    def page(self, name: str = "Page") -> str:
        return str(self.run("document.create", name=name, doc_type="page")["id"])

    def new_pass(self, document_id: str, name: str = "By hand") -> str:
        return str(self.run("segment.pass_create", document_id=document_id, name=name)["id"])

    def lines(self, document_id: str, pass_id: str, count: int = 3) -> list[str]:
        result = self.run(
            "segment.create_many",
            segments=[
                {"document_id": document_id, "pass_id": pass_id, "kind": "line", "anchor": anchor(n)}
                for n in range(count)
            ],
        )
        return [item["id"] for item in result["items"]]

    def machine_lines(self, document_id: str, texts: list[str | None], model: str = "m1") -> dict[str, Any]:
        return self.as_(RUN).run(
            "segment.take_lines",
            document_id=document_id,
            name=f"Lines of {model}",
            provider="reader",
            model=model,
            lines=[
                {"key": str(n), "rect": anchor(n)["rect"], **({"text": text} if text is not None else {})}
                for n, text in enumerate(texts)
            ],
        )

    def correct(self, segment_id: str, text: str, **more: Any) -> str:
        return str(self.run("representation.create", segment_id=segment_id, text=text, **more)["id"])


def anchor(n: int = 0) -> dict[str, Any]:
    """Return the anchor of line *n* of a page."""
    return {"rect": [0.1, round(0.1 + 0.06 * n, 4), 0.8, 0.04]}
