"""A merge leaves what three versions of the rows demand, and its undo what was there: random histories on both sides."""

from __future__ import annotations

import copy
import importlib.util
import random
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, Literal
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from armarium.engine import Engine
from armarium.errors import ServiceError
from armarium.plugin import Plugin
from armarium.principals import LOCAL_OWNER
from armarium.projects.doctor import examine
from armarium.projects.libraries import Library
from armarium.web.app import create_app
from armarium_agents.plugin import armarium_plugin as agents
from armarium_testing.digest import differences, table_digests
from armarium_testing.fixtures import OWNER_TOKEN
from armarium_testing.histories import World
from armarium_testing.merge_rivals import Place, Row, Rows
from armarium_testing.merges import ThreeVersions, read_rows
from checkout import ROOT
from proofs.scribbles import carried_tables, scribble_plugin


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


def _client(app: Any, library: Library) -> TestClient:
    """Return a client of the owner in one project."""
    headers = {"Authorization": f"Bearer {OWNER_TOKEN}", "X-Service-Library-Path": quote(str(library.path))}
    return TestClient(app, base_url="http://127.0.0.1", client=("127.0.0.1", 50000), headers=headers)


HISTORIES = {
    "documents": ("tests/proofs", "test_documents_come_back"),
    "source_model": ("plugins/source_model/tests", "test_undo_histories"),
    "work": ("tests/proofs", "test_work_comes_back"),
    "knowledge": ("plugins/knowledge/tests", "test_knowledge_histories"),
    "paleography": ("plugins/paleography/tests", "test_paleography_histories"),
    "georeference": ("plugins/georeference/tests", "test_georeference_histories"),
}
"""Where the random histories of the families are whose moves are made here, all in one project."""


class FamilyMoves:
    """The random moves of the families, in whichever copy of the project is meant; for each pair those of two, so that both
    sides meet.
    """

    def __init__(self, engine: Engine, project: Library, families: tuple[str, ...]) -> None:
        client = _client(create_app(engine=engine, jobs=False), project)
        self._moves: list[Any] = []
        self._chosen = self._moves
        for family in families:
            module = _load(ROOT / HISTORIES[family][0], HISTORIES[family][1])
            if family in ("documents", "work"):
                self._moves.append(module.Moves(engine, project))
            elif family == "source_model":
                self._moves.append(module.Moves(module.Desk(engine, project)))
            elif family == "knowledge":
                self._moves.append(module.Moves(module.Desk(engine, project, client)))
            else:
                make = module.PaleographyProject if family == "paleography" else module.MapProject
                self._moves.append(module.RandomSteps(make(engine, project, client)))

    def begin_pair(self, chance: random.Random) -> None:
        self._chosen = chance.sample(self._moves, 2)

    def choose(self, library: Library, chance: random.Random) -> Any:
        """Return an action and its parameters, or something false where there is nothing to work on."""
        moves = copy.copy(chance.choice(self._chosen))
        for holder in ("desk", "project"):
            if hasattr(moves, holder):
                there = copy.copy(getattr(moves, holder))
                there.library = library
                if isinstance(getattr(there, "client", None), TestClient):
                    there.client = _client(there.client.app, library)
                setattr(moves, holder, there)
        moves.library = library
        return chance.choice(moves.all())(chance, World({}))


class Scribbles:
    """Random writes to every table: each pair to some of them, in turn, so that both sides meet."""

    def __init__(self, engine: Engine, project: Library) -> None:
        engine.run(project, "scribble.write", {"seed": 0, "rows": 4}, LOCAL_OWNER)
        self.written = {table.name: 0 for table in carried_tables(project)}
        self.tables: list[str] = []

    def begin_pair(self, chance: random.Random) -> None:
        self.tables = sorted(self.written, key=lambda one: (self.written[one], chance.random()))[:12]
        self.written |= {table: self.written[table] + 1 for table in self.tables}

    def choose(self, library: Library, chance: random.Random) -> Any:
        return "scribble.write", {"seed": chance.randrange(10**9), "rows": 10, "tables": self.tables}


Side = Literal["project", "branch"]


class Course:
    """A project and one of its branches: what is to be merged into either, since both last agreed.

    A column that the source had changed when it was merged is decided: both agree on what the source had. Where the target
    neither changed nor took anything there since they agreed before, it has nothing to offer the other way.
    """

    def __init__(self, project: Library, branch: Library) -> None:
        self.sides: dict[Side, Library] = {"project": project, "branch": branch}
        begun = read_rows(branch)
        self.agreed: dict[Side, Rows] = {side: dict(begun) for side in self.sides}
        """What was agreed on of what is merged into either side; of a row that it never had, what it left out."""
        self.had: dict[Side, set[Place]] = {side: set(begun) for side in self.sides}
        self.there: dict[Side, set[Place]] = {side: set(begun) for side in self.sides}
        self.came: dict[Side, dict[Place, int]] = {side: {} for side in self.sides}
        self.now = 0

    def next_versions(self, toward: Side) -> ThreeVersions:
        """Return what is to be merged *toward* one side now."""
        theirs, ours = (read_rows(self.sides[side]) for side in (_other(toward), toward))
        known = self.had[toward]
        base = {place: row for place, row in self.agreed[toward].items() if place in known}
        left_out = {place: row for place, row in self.agreed[toward].items() if place not in known}
        came = self.came[toward] | dict.fromkeys(ours.keys() - self.there[toward], self.now + 1)
        return ThreeVersions(self.sides[toward].schema, base, theirs, ours, left_out, came)

    def keep(self, toward: Side, versions: ThreeVersions) -> None:
        """Go on from a merge of *versions* that was made just now."""
        source = _other(toward)
        merged = read_rows(self.sides[toward])
        self._see(source, versions.theirs, self.now + 1)
        self._see(toward, versions.ours, self.now + 1)
        self._see(toward, merged, self.now + 2)
        self.now += 2
        for place in versions.theirs.keys() | self.agreed[toward].keys():
            sent, former = versions.theirs.get(place), self.agreed[toward].get(place)
            if sent != former:
                back = _agree(
                    former, sent, self.agreed[source].get(place), versions.ours.get(place), merged.get(place)
                )
                for side, row in ((toward, sent), (source, back)):
                    self.agreed[side].pop(place, None)
                    if row is not None:
                        self.agreed[side][place] = row

    def _see(self, side: Side, rows: Rows, now: int) -> None:
        """Note which of *rows* came to one side since it was last looked at."""
        self.came[side] |= dict.fromkeys(rows.keys() - self.there[side], now)
        self.there[side] = set(rows)
        self.had[side] |= rows.keys()


def _agree(
    former: Row | None, sent: Row | None, back: Row | None, before: Row | None, after: Row | None
) -> Row | None:
    """Return what both agree on the other way, where *back* was agreed on, after *sent* was merged: over *former*, into a side that
    was *before* and is *after*.
    """
    if before == after == back:
        return back
    if not (former and sent and back and before and after):
        return sent
    decided = {
        name for name in sent if sent[name] != former[name] and not before[name] == after[name] == back[name]
    }
    return {name: sent[name] if name in decided else value for name, value in back.items()}


def _other(side: Side) -> Side:
    return "branch" if side == "project" else "project"


WAYS: tuple[Any, ...] = ("refuse", "keep_ours", "take_theirs")


class Pairs:
    """A project, and branches of it; each pair of histories goes on in a branch and the project, from where the last ended."""

    def __init__(self, engine: Engine, project: Library, moves: FamilyMoves | Scribbles, seed: int) -> None:
        self.engine, self.project, self.moves = engine, project, moves
        self.seed, self.random = seed, random.Random(seed)
        self.ended: Counter[str] = Counter()
        self.pairs = 0
        self.chosen_by_merges = False

    def prove(self, branches: int, pairs: int, steps: int, *, every_way: bool = True) -> None:
        """Write random histories on either side, merge either way, and compare; *pairs* times from the same base or, for a
        share of them, from what merges left; in every way or in one of them.
        """
        for number in range(branches):
            named = {"name": f"B{number}"}
            result = self.engine.run(self.project, "branches.create", named, LOCAL_OWNER).result or {}
            branch = self.engine.libraries.open_only(result["library_path"])
            given = {"branch_id": str(result["id"])}
            course = Course(self.project, branch)
            self.chosen_by_merges = False
            for pair in range(pairs):
                self.moves.begin_pair(self.random)
                for library in (branch, self.project):
                    self._work(library, self.random.randrange(1, steps + 1))
                where = f"seed {self.seed}, branch {number}, pair {pair}"
                if self.random.random() < 0.5:
                    keep = self.random.random() < 0.6
                    self._merge(where, course, "branch", {}, self.random.choice(WAYS), keep=keep)
                    if keep:
                        self._work(self.random.choice([branch, self.project]), steps)
                ways = WAYS if every_way else (WAYS[0], self.random.choice(WAYS[1:]))
                for decided in ways:
                    self._merge(where, course, "project", given, decided)
                self.pairs += 1
                if self.random.random() < 0.5:
                    self._merge(where, course, "project", given, ways[-1], keep=True)
            # Where work waits, it stays.
            with suppress(ServiceError):
                self.engine.run(self.project, "branches.delete", {"branch_id": result["id"]}, LOCAL_OWNER)

    def _work(self, library: Library, steps: int) -> None:
        done: list[str] = []
        for _ in range(steps):
            undone = [self.random.choice(done)] if done and self.random.random() < 0.2 else None
            chosen = undone or self.moves.choose(library, self.random)
            # Some of it is refused, as it should be: nothing to undo, rows changed since, what a law forbids.
            with suppress(ServiceError):
                if undone:
                    done += self.engine.undo(library, undone, LOCAL_OWNER)["audit_ids"]
                elif chosen:
                    done.append(self.engine.run(library, *chosen, LOCAL_OWNER).audit_id)

    def _merge(
        self,
        where: str,
        course: Course,
        toward: Side,
        given: dict[str, str],
        decided: Any,
        *,
        keep: bool = False,
    ) -> None:
        """Merge, compare, and undo it or *keep* it."""
        where = f"{where}, {decided} into the {toward}{' to go on' if keep else ''}"
        into, versions = course.sides[toward], course.next_versions(toward)
        before = table_digests(into.db, into.schema)
        action = "branches.merge" if given else "branches.update"
        try:
            outcome = self.engine.run(into, action, {**given, "on_conflict": decided}, LOCAL_OWNER)
        except ServiceError as refusal:
            assert differences(before, table_digests(into.db, into.schema)) == [], where
            self.ended[str(refusal.code)] += 1
            left = versions.merge(decided)
            expected = {
                "merge_conflict": left is None,
                "nothing_to_merge": not versions.changed,
                "still_referenced": left is not None and versions.is_torn(left),
            }
            if not expected.get(str(refusal.code), refusal.status < 500):
                raise AssertionError(f"{where}: {refusal.detail}") from refusal
            return
        with into.db.read() as conn:
            asked = "SELECT created_at FROM audit WHERE id = ?"
            now = conn.exec_driver_sql(asked, (outcome.audit_id,)).scalar_one()
        left, found_rows = versions.merge(decided, now), read_rows(into)
        assert left is not None, f"{where}: merged, although both changed {list(versions.conflicts)[:3]}"
        chosen = decided == "take_theirs" and "rival" in versions.conflicts.values()
        if chosen or self.chosen_by_merges:
            # A reading that was taken is chosen as well, by the action that does that, until it is corrected.
            for rows in (left, found_rows):
                for place in [place for place in rows if place[0] == "reading_choice"]:
                    del rows[place]
        wrong = [p for p in left.keys() | found_rows.keys() if left.get(p) != found_rows.get(p)]
        told = [(p, versions.conflicts.get(p), left.get(p), found_rows.get(p)) for p in wrong[:2]]
        assert not wrong, f"{where}: {told}"
        self.ended[f"merged, {decided}"] += 1
        if keep:
            self.ended[f"went on from the {toward}"] += 1
            self.chosen_by_merges |= chosen
            course.keep(toward, versions)
            return
        self.engine.undo(into, [outcome.audit_id], LOCAL_OWNER)
        assert differences(before, table_digests(into.db, into.schema)) == [], where


def tables_alone() -> list[Plugin]:
    """Return the tables of every family without its actions: none could follow steps that write what it never would."""
    found = [point.load().armarium_plugin() for point in entry_points(group="armarium.plugins")]
    bare = [
        Plugin(
            item.name, item.summary, prefixes=item.prefixes, metadata=item.metadata, hookspecs=item.hookspecs
        )
        for item in found
        if item.metadata is not None and item.name != "agents"
    ]
    return [*bare, agents(), scribble_plugin()]


def start(engine: Engine, folder: Path, seed: int, *, tables: bool) -> Pairs:
    """Begin a project whose histories are those of all families, or with *tables*, random writes to every table."""
    place = folder / f"{seed}.library"
    engine.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER)
    project = engine.libraries.get(place)
    moves = Scribbles(engine, project) if tables else FamilyMoves(engine, project, tuple(HISTORIES))
    return Pairs(engine, project, moves, seed)


def test_rows_of_every_table_merge_as_three_versions_demand(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    pairs = start(make_engine(plugins=tables_alone()), tmp_path, 1, tables=True)
    pairs.prove(2, 3, 4)
    assert pairs.ended["merged, keep_ours"] > 0, pairs.ended
    assert pairs.ended["merge_conflict"] > 0, pairs.ended


def test_random_histories_of_all_families_merge_as_three_versions_demand(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    pairs = start(make_engine(), tmp_path, 5, tables=False)
    pairs.prove(2, 3, 20)
    assert pairs.ended["merged, keep_ours"] > 0, pairs.ended
    assert pairs.ended["merged, take_theirs"] > 0, pairs.ended
    assert examine(pairs.engine, pairs.project.path)["findings"] == []


@pytest.mark.soak
@pytest.mark.timeout(0)
@pytest.mark.parametrize("tables", [True, False])
def test_thousands_of_pairs_of_histories_merge_as_three_versions_demand(
    make_engine: Callable[..., Engine], tmp_path: Path, tables: bool
) -> None:
    engine = make_engine(plugins=tables_alone() if tables else None)
    for seed in range(100, 200):
        pairs = start(engine, tmp_path, seed, tables=tables)
        pairs.prove(5, 10, 6, every_way=False)
        engine.libraries.release(pairs.project.path)
