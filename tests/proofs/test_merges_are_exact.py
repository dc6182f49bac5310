"""A merge leaves what three versions of the rows demand, and its undo what was there: random histories on both sides."""

from __future__ import annotations

import copy
import importlib.util
import random
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from armarium.engine import Engine
from armarium.errors import ServiceError
from armarium.principals import LOCAL_OWNER
from armarium.projects.doctor import examine
from armarium.projects.libraries import Library
from armarium.web.app import create_app
from armarium_agents.plugin import armarium_plugin as agents
from armarium_documents.plugin import armarium_plugin as documents
from armarium_source_model.plugin import armarium_plugin as source_model
from armarium_testing.digest import differences, table_digests
from armarium_testing.fixtures import OWNER_TOKEN
from armarium_testing.histories import Histories
from armarium_testing.merges import ThreeVersions, read_rows
from armarium_testing.shelf import shelf_plugin
from checkout import ROOT


def _load(folder: Path, name: str) -> ModuleType:
    """Return a module of tests, for the random histories in it."""
    sys.path.insert(0, str(folder))
    try:
        spec = importlib.util.spec_from_file_location(f"moves_of_{name}", folder / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[module.__name__] = module
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(folder))
    return module


def _documents(engine: Engine, library: Library) -> Any:
    return _load(ROOT / "tests" / "proofs", "test_documents_come_back").Moves(engine, library)


def _lines(engine: Engine, library: Library) -> Any:
    module = _load(ROOT / "plugins" / "source_model" / "tests", "test_undo_histories")
    return module.Moves(module.Desk(engine, library))


def _client(app: Any, library: Library) -> TestClient:
    """Return a client of the owner in one project."""
    headers = {"Authorization": f"Bearer {OWNER_TOKEN}", "X-Service-Library-Path": quote(str(library.path))}
    return TestClient(app, base_url="http://127.0.0.1", client=("127.0.0.1", 50000), headers=headers)


def _knowledge(engine: Engine, library: Library) -> Any:
    module = _load(ROOT / "plugins" / "knowledge" / "tests", "test_knowledge_histories")
    app = create_app(engine=engine, jobs=False)
    moves = module.Moves(module.Desk(engine, library, _client(app, library)))
    moves.laws = module.LAWS
    return moves


class _Shelf:
    """The moves of the sample family, whose rows are deleted and not only hidden; on a few shelves that exist already."""

    def __init__(self, engine: Engine, library: Library) -> None:
        self.library = library
        for number in range(3):
            made = engine.run(library, "shelf.create", {"name": f"shelf {number}"}, LOCAL_OWNER).result or {}
            books = {"shelf_id": made["id"], "titles": ["a", "b"]}
            engine.run(library, "shelf.add_many", books, LOCAL_OWNER)

    def all(self) -> list[Any]:
        return list(_load(ROOT / "tests" / "proofs", "test_undo_is_exact").MOVES)


def _on(moves: Any, library: Library) -> Any:
    """Return the same moves on another copy of the project."""
    there = copy.copy(moves)
    if hasattr(there, "desk"):
        there.desk = copy.copy(there.desk)
        there.desk.library = library
        if hasattr(there.desk, "client"):
            there.desk.client = _client(there.desk.client.app, library)
    else:
        there.library = library
    return there


class Pairs:
    """A project, and a branch of it for each pair of histories."""

    def __init__(
        self, engine: Engine, folder: Path, make: Callable[[Engine, Library], Any], seed: int
    ) -> None:
        self.engine, self.seed, self.random = engine, seed, random.Random(seed)
        place = folder / f"{seed}.library"
        engine.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER)
        self.project = engine.libraries.get(place)
        self.moves = make(engine, self.project)
        self.ended: dict[str, int] = {}

    def prove(self, pairs: int, steps: int) -> None:
        """Make a branch, write a random history on either side, merge in every way, and compare."""
        for number in range(pairs):
            where = f"seed {self.seed}, pair {number}"
            made = (
                self.engine.run(self.project, "branches.create", {"name": f"B{number}"}, LOCAL_OWNER).result
                or {}
            )
            branch = self.engine.libraries.open_only(made["library_path"])
            base = read_rows(branch)
            for library in (branch, self.project):
                moves, seed = _on(self.moves, library), self.random.randrange(10**9)
                laws = getattr(moves, "laws", ())
                Histories(self.engine, library, moves.all(), seed=seed, laws=laws).run(
                    3, steps=self.random.randrange(2, steps + 1)
                )
            versions = ThreeVersions(branch.schema, base, read_rows(branch), read_rows(self.project))
            for decided in ("refuse", "keep_ours", "take_theirs"):
                self._merge(where, str(made["id"]), versions, decided)
            self.engine.run(self.project, "branches.delete", {"branch_id": made["id"]}, LOCAL_OWNER)

    def _merge(self, where: str, branch_id: str, versions: ThreeVersions, decided: Any) -> None:
        before = table_digests(self.project.db, self.project.schema)
        try:
            outcome = self.engine.run(
                self.project, "branches.merge", {"branch_id": branch_id, "on_conflict": decided}, LOCAL_OWNER
            )
        except ServiceError as refusal:
            assert differences(before, table_digests(self.project.db, self.project.schema)) == [], where
            self.ended[str(refusal.code)] = self.ended.get(str(refusal.code), 0) + 1
            expected = {
                "merge_conflict": decided == "refuse" and bool(versions.conflicts),
                "nothing_to_merge": not versions.changed,
            }
            if not expected.get(str(refusal.code), refusal.status < 500):
                raise AssertionError(f"{where}, {decided}: {refusal.detail}") from refusal
            return
        left, found = versions.merge(decided), read_rows(self.project)
        assert left is not None, f"{where}: merged, although both changed {list(versions.conflicts)[:3]}"
        if decided == "take_theirs" and "rival" in versions.conflicts.values():
            # A reading that was taken is chosen as well, by the action that does that.
            for rows in (left, found):
                for place in [place for place in rows if place[0] == "reading_choice"]:
                    del rows[place]
        wrong = [p for p in left.keys() | found.keys() if left.get(p) != found.get(p)]
        told = [(p, versions.conflicts.get(p), left.get(p), found.get(p)) for p in wrong[:2]]
        assert not wrong, f"{where}, {decided}: {told}"
        self.ended[f"merged, {decided}"] = self.ended.get(f"merged, {decided}", 0) + 1
        self.engine.undo(self.project, [outcome.audit_id], LOCAL_OWNER)
        assert differences(before, table_digests(self.project.db, self.project.schema)) == [], where


def prove(
    make_engine: Callable[..., Engine],
    folder: Path,
    make: Callable[[Engine, Library], Any],
    seeds: range,
    pairs: int,
    steps: int = 40,
    *,
    shelf: bool = False,
) -> dict[str, int]:
    ended: dict[str, int] = {}
    for seed in seeds:
        plugins = [documents(), source_model(), agents(), shelf_plugin()] if shelf else None
        engine = make_engine(plugins=plugins, state=f"state-{seed}")
        found = Pairs(engine, folder, make, seed)
        found.prove(pairs, steps)
        assert examine(engine, found.project.path)["findings"] == []
        for how, count in found.ended.items():
            ended[how] = ended.get(how, 0) + count
    return ended


def test_deletions_meet_edits_as_three_versions_demand(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    ended = prove(make_engine, tmp_path, _Shelf, range(4), 5, 12, shelf=True)
    assert ended["merged, keep_ours"] > 0, ended
    assert ended.get("merge_conflict", 0) > 0, ended


@pytest.mark.parametrize("make", [_documents, _lines, _knowledge])
def test_random_histories_of_both_sides_merge_as_three_versions_demand(
    make_engine: Callable[..., Engine], tmp_path: Path, make: Callable[[Engine, Library], Any]
) -> None:
    ended = prove(make_engine, tmp_path, make, range(5, 6 if make is _knowledge else 7), 2)
    assert ended["merged, keep_ours"] > 0, ended
    assert ended.get("merge_conflict", 0) > 0, ended


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_ten_thousand_deletions_and_edits_merge_as_three_versions_demand(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    prove(make_engine, tmp_path, _Shelf, range(100, 200), 100, 12, shelf=True)


@pytest.mark.soak
@pytest.mark.timeout(0)
@pytest.mark.parametrize("make", [_documents, _lines, _knowledge])
def test_ten_thousand_pairs_of_histories_merge_as_three_versions_demand(
    make_engine: Callable[..., Engine], tmp_path: Path, make: Callable[[Engine, Library], Any]
) -> None:
    prove(make_engine, tmp_path, make, range(100, 150), 100)
