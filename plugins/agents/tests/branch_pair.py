"""A project of one page and a branch of it, for tests."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from armarium.api import Engine, Library, raw_of
from armarium.principals import LOCAL_OWNER
from armarium_agents.branches.queries import list_changes
from armarium_testing.digest import table_digests
from armarium_testing.sample_pages import sample_page, sample_reading

MACHINE = dataclasses.replace(LOCAL_OWNER, kind="machine", name="an agent", token_kind="agent")
OTHER = dataclasses.replace(LOCAL_OWNER, name="colleague")


class Pair:
    """A project with one page of two lines, and a branch of it."""

    def __init__(self, engine: Engine, library: Library, folder: Path) -> None:
        from armarium.actions import Example

        self.engine, self.project = engine, library
        self.page = sample_page(Example(engine, library, LOCAL_OWNER, folder))
        self.first = sample_reading(Example(engine, library, LOCAL_OWNER, folder), self.page, "Deer Sir")
        result = self.run(library, "branches.create", {"name": "Corrections"})
        self.id: str = result["id"]
        self.path = Path(result["library_path"])

    @property
    def branch(self) -> Library:
        return self.engine.libraries.open_only(self.path)

    def run(
        self, library: Library, name: str, params: dict[str, Any], who: Any = LOCAL_OWNER
    ) -> dict[str, Any]:
        outcome = self.engine.run(library, name, params, who)
        return {**(outcome.result or {}), "audit_id": outcome.audit_id}

    def correct(self, library: Library, text: str, line: int = 0, who: Any = LOCAL_OWNER) -> str:
        params = {"segment_id": self.page.segment_ids[line], "text": text}
        return str(self.run(library, "representation.create", params, who)["id"])

    def changes(self, **asked: Any) -> dict[str, Any]:
        with self.project.db.read() as conn:
            return list_changes(
                conn, self.engine, self.project, LOCAL_OWNER, self.id, **{"limit": 50, "offset": 0, **asked}
            )

    def merge(self, who: Any = LOCAL_OWNER, **params: Any) -> dict[str, Any]:
        return self.run(self.project, "branches.merge", {"branch_id": self.id, **params}, who)

    def counting(self, library: Library, line: int = 0) -> str:
        with library.db.read() as conn:
            rows = (
                raw_of(conn)
                .execute(
                    "SELECT text FROM source_model_page_text WHERE document_id = ?", (self.page.document_id,)
                )
                .fetchall()
            )
        return str(rows[0][0]) if rows else ""

    def state(self, library: Library | None = None) -> dict[str, str]:
        library = library or self.project
        return table_digests(library.db, library.schema)
