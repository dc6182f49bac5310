"""Random histories over two projects: transfers both ways among other steps, with undos and redos from either side."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from armarium.api import raw_of
from armarium.engine import Engine
from armarium.errors import ServiceError
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium_testing.digest import table_digests


class ProjectPair:
    """Two projects, the steps made in each, and random moves."""

    def __init__(self, engine: Engine, libraries: list[Library], seed: int) -> None:
        self.engine, self.libraries = engine, libraries
        self.random = random.Random(seed)
        self.steps: list[tuple[Library, str]] = []
        self.tally: dict[str, int] = {}

    def digests(self) -> list[dict[str, str]]:
        return [table_digests(library.db, self.engine.library_schema) for library in self.libraries]

    def run(self, library: Library, name: str, params: dict[str, Any]) -> None:
        """Run an action; a refused one must change nothing on either side."""
        before = self.digests()
        try:
            outcome = self.engine.run(library, name, params, LOCAL_OWNER)
        except ServiceError:
            assert self.digests() == before, f"{name} was refused and changed something"
            self._count(f"{name} refused")
            return
        self.steps.append((library, outcome.audit_id))
        if outcome.result and outcome.result.get("source_audit_id"):
            other_library = next(one for one in self.libraries if one is not library)
            self.steps.append((other_library, outcome.result["source_audit_id"]))
        self._count(name)

    def nodes(self, library: Library, *, live: bool = True) -> list[str]:
        with library.db.read() as conn:
            raw = raw_of(conn)
            return [
                row[0]
                for row in raw.execute(
                    f"SELECT id FROM document WHERE system_key IS NULL AND deleted_at IS {'' if live else 'NOT'} NULL"
                    " ORDER BY id"
                )
            ]

    def one(self) -> None:
        """Make one step, chosen at random."""
        library = self.random.choice(self.libraries)
        other_library = next(one for one in self.libraries if one is not library)
        live, there = self.nodes(library), self.nodes(other_library)
        what = self.random.choice(
            ("create", "create", "update", "delete", "restore", "copy", "move", "move", "undo", "undo")
        )
        if what == "create":
            parent = self.random.choice([None, *live])
            params = {
                "name": str(len(live)),
                "parent_id": parent,
                "node_kind": "document",
                "doc_type": "folder",
            }
            self.run(library, "document.create", params)
        elif what == "update" and live:
            params = {"document_id": self.random.choice(live), "attributes": {"n": self.random.random()}}
            self.run(library, "document.update", params)
        elif what == "delete" and live:
            self.run(library, "document.delete", {"ids": [self.random.choice(live)]})
        elif what == "restore" and (removed_nodes := self.nodes(library, live=False)):
            self.run(library, "document.restore", {"document_id": self.random.choice(removed_nodes)})
        elif what in ("copy", "move") and there:
            items = self.random.sample(there, min(len(there), self.random.choice((1, 1, 2))))
            params = {"source_library": str(other_library.path), "items": items, "mode": what}
            if self.random.random() < 0.3 and live:
                params["target_parent_id"] = self.random.choice(live)
            self.run(library, "document.transfer", params)
        elif what == "undo" and self.steps:
            self.undo()

    def undo(self) -> None:
        """Undo a step and redo it: both sides are then as they were. Half the time it stays undone."""
        library, audit_id = self.random.choice(self.steps[-8:])
        before = self.digests()
        try:
            undone = self.engine.undo(library, [audit_id], LOCAL_OWNER)
        except ServiceError as error:
            assert self.digests() == before, "an undo was refused and changed something"
            self._count(f"undo refused: {error.fields.get('reason')}")
            return
        after = self.digests()
        redone = self.engine.undo(library, undone["audit_ids"], LOCAL_OWNER)
        assert self.digests() == before, "undo and redo left something else"
        self._count("undo")
        if self.random.random() < 0.5:
            again = self.engine.undo(library, redone["audit_ids"], LOCAL_OWNER)
            assert self.digests() == after, "the second undo left something else than the first"
            self.steps.append((library, again["audit_ids"][0]))

    def agree(self) -> None:
        """Check that both journals agree and that every reference is intact."""
        states = []
        for library in self.libraries:
            with library.db.read() as conn:
                raw = raw_of(conn)
                assert raw.execute("PRAGMA foreign_key_check").fetchall() == []
                states.append(
                    dict(raw.execute("SELECT transfer_id, state FROM document_transfer WHERE mode = 'move'"))
                )
        assert states[0] == states[1]
        assert set(states[0].values()) <= {"done", "taken-back"}

    def _count(self, what: str) -> None:
        self.tally[what] = self.tally.get(what, 0) + 1


def histories(engine: Engine, folder: Path, seed: int, steps: int) -> dict[str, int]:
    libraries = []
    for name in ("One", "Two"):
        place = folder / f"{name}{seed}.library"
        engine.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER)
        libraries.append(engine.libraries.get(place))
    pair = ProjectPair(engine, libraries, seed)
    for _ in range(steps):
        pair.one()
        pair.agree()
    for library in libraries:
        assert engine.verify_audit(library) is None
        engine.libraries.release(library.path)
    return pair.tally


def test_histories_over_two_projects(make_engine: Callable[..., Engine], tmp_path: Path) -> None:
    from armarium_documents.plugin import armarium_plugin

    tally = histories(make_engine(plugins=[armarium_plugin()]), tmp_path, 7, 120)
    assert tally["undo"] > 5
    assert tally["document.transfer"] > 10
    assert tally["undo refused: changed"] > 0


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_many_histories_over_two_projects(make_engine: Callable[..., Engine], tmp_path: Path) -> None:
    from armarium_documents.plugin import armarium_plugin

    engine = make_engine(plugins=[armarium_plugin()])
    for seed in range(200):
        histories(engine, tmp_path, seed, 100)
