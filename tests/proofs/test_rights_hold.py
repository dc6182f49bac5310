"""Rights hold for every caller: done, undone and redone in deep trees with locks on random nodes, compared with a model
of locks in plain Python. The conformance kit does the same for every action of every family by its example.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from armarium.engine import Engine
from armarium.plugin import Plugin
from armarium.principals import LOCAL_OWNER, Principal
from armarium.projects.libraries import Library
from armarium.store.tables import rules_of
from armarium_testing.histories import Move, World
from armarium_testing.lock_model import Model
from armarium_testing.rights import AGENT, EDITOR, attempt, set_lock
from proofs.test_documents_come_back import Chosen, Moves, families

PERSONS = {
    "document.empty_trash": (403, "person_only"),
    "reading.choose": (403, "person_only"),
    "segment.match_accept": (422, "match_needs_a_person"),
    "segment.pass_choose": (403, "person_only"),
    "segment.pass_ground_truth": (422, "ground_truth_needs_a_person"),
}
"""Actions for persons only, with the status and code with which a machine is refused."""

OWNERS = {"document.lock", "library.set", "compute.set", "sandbox.grant", "token.create", "token.revoke"}
"""Actions for the owner only."""


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    return make_engine()


def test_what_is_for_persons_alone_is_declared(engine: Engine) -> None:
    for name, (status, code) in PERSONS.items():
        found = engine.actions.get(name)
        if found.person_only:
            refusal: Any = found.person_only() if callable(found.person_only) else None
            told = (refusal.status, refusal.code) if refusal else (403, "person_only")
        else:
            (rule,) = found.rules
            told = (rule.make_refusal(name).status, rule.make_refusal(name).code)
        assert told == (status, code), name
    assert {name for name in OWNERS if engine.actions.get(name).role != "owner"} == set()


STANDS_ALONE = {
    "entity": "it is of the project, whatever pages name it",
    "hand": "as an entity",
    "image_batch": "it says which pages were worked on; what it made belongs to these",
    "quality_sample": "it is of a selection; its figures are worked out from the pages that its reader may see",
    "sync_folder": "a folder of this machine that is tied to the project",
}
"""Tables that rows of pages refer to, but whose rows belong to no page."""


def test_what_rows_of_pages_refer_to_belongs_to_them_or_stands_alone(engine: Engine) -> None:
    schema = engine.library_schema
    assert schema.locks is not None
    rests = {
        reference.column.table.name
        for table in schema.locks.links
        if rules_of(table).document is not None
        for reference in table.foreign_keys
        if not reference.parent.nullable
    }
    covered = {table.name for table in (schema.locks.tree, *schema.locks.links)}
    assert rests - covered == set(STANDS_ALONE), "declare `through`, or say here why not"


class Pages(Moves):
    """Random moves on documents, pictures and canvases, and some on the lines of pages."""

    def all(self) -> list[Move]:
        return [*super().all(), self.line, self.line, self.word, self.word, self.away]

    def line(self, chance: random.Random, _: World) -> Chosen:
        page = self._image(chance)
        if page is None:
            return None
        lines = [{"key": "l", "rect": [0.1, chance.randrange(9) / 10, 0.5, 0.05], "text": "seen"}]
        given = {"document_id": page, "name": "Found", "provider": "reader"}
        return "segment.take_lines", {**given, "lines": lines}

    def word(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(chance, "SELECT id FROM segment ORDER BY id")
        return found and ("representation.create", {"segment_id": found[0], "text": f"{chance.random()}"})

    def away(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(chance, "SELECT id FROM segment_pass ORDER BY id")
        return found and ("segment.pass_delete", {"pass_id": found[0]})


class LockedTree:
    """A tree several levels deep, in which nodes are locked and unlocked at random while somebody works."""

    def __init__(self, engine: Engine, library: Library, seed: int) -> None:
        self.engine, self.library = engine, library
        self.chance = random.Random(seed)
        self.moves = Pages(engine, library)
        self.model = Model(engine, library)
        self.recent: list[str] = []
        self.met: Counter[str] = Counter()
        parent: str | None = None
        for level in range(4):
            parent = str(self.moves.run("document.create", {"name": f"{level}", "parent_id": parent})["id"])
            self.moves.run(
                "document.create", {"name": f"{level} note", "parent_id": parent, "node_kind": "note"}
            )

    def work(self, steps: int) -> Counter[str]:
        kinds = self.moves.all()
        for _ in range(steps):
            if self.chance.random() < 0.25:
                node = self.chance.choice(self.model.nodes(self.model.read()))
                set_lock(self.engine, self.library, node, self.chance.random() < 0.5)
            elif self.recent and self.chance.random() < 0.5:
                step = self.chance.choice(self.recent[-20:])
                self.ask_right("undo", None, lambda who, step=step: self._undo(step, who))  # type: ignore[misc]
            elif chosen := self.chance.choice(kinds)(self.chance, World(self.content())):
                name, params = chosen
                self.ask_right("do", name, lambda who, name=name, params=params: self._do(name, params, who))  # type: ignore[misc]
        return self.met

    def content(self) -> Any:
        return {(table, key): row for table, rows in self.model.read().items() for key, row in rows.items()}

    def ask_right(self, what: str, name: str | None, work: Callable[[Principal], str]) -> None:
        """Do something as an editor; where that is refused because of a lock, do it as the owner to prove that nothing
        else prevents it.
        """
        before = self.model.read()
        who = EDITOR if self.chance.random() < 0.7 else AGENT
        refusal = attempt(lambda: self.recent.append(work(who)))
        if refusal is None:
            assert not self.model.refuses(before, self.model.read()), (
                f"{who.name}: {what} {name} under a lock"
            )
            self.met[f"{what} done"] += 1
        elif refusal == (403, "node_locked"):
            assert self.model.read() == before
            if attempt(lambda: self.recent.append(work(LOCAL_OWNER))) is None:
                after = self.model.read()
                guards = name is None or self.engine.actions.get(name).guards_targets
                assert guards or self.model.refuses(before, after), f"{what} {name}: no lock lies over it"
                self.met[f"{what} locked"] += 1

    def _do(self, name: str, params: Any, who: Principal) -> str:
        return self.engine.run(self.library, name, params, who).audit_id

    def _undo(self, step: str, who: Principal) -> str:
        return str(self.engine.undo(self.library, [step], who)["audit_ids"][0])


def _families() -> list[Plugin]:
    from armarium_source_model.plugin import armarium_plugin as source_model

    return [*families(), source_model()]


def _prove(make_engine: Callable[..., Engine], tmp_path: Path, seed: int, steps: int) -> Counter[str]:
    engine = make_engine(plugins=_families())
    place = tmp_path / f"{seed}.library"
    engine.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER)
    return LockedTree(engine, engine.libraries.get(place), seed).work(steps)


@pytest.mark.parametrize("seed", range(3))
def test_locks_on_random_nodes_hold_for_doing_undoing_and_redoing(
    make_engine: Callable[..., Engine], tmp_path: Path, seed: int
) -> None:
    met = _prove(make_engine, tmp_path, seed, 150)
    assert min(met[one] for one in ("do done", "do locked", "undo done", "undo locked")) > 0, met


@pytest.mark.soak
@pytest.mark.timeout(0)
@pytest.mark.parametrize("seed", range(100, 120))
def test_locks_hold_for_long(make_engine: Callable[..., Engine], tmp_path: Path, seed: int) -> None:
    _prove(make_engine, tmp_path, seed, 2_000)


def _only_the_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check only the locks of the node and of its parent, none higher up."""
    from armarium.history.locks import Locks, node_locked

    def refuse(self: Any, raw: Any, ids: Any) -> None:
        for identity in ids:
            row = raw.execute(
                "SELECT p.id, p.name FROM document d JOIN document p ON p.id IN (d.id, d.parent_id)"
                " WHERE d.id = ? AND p.is_locked",
                (identity,),
            ).fetchone()
            if row:
                raise node_locked(*row[::-1])

    monkeypatch.setattr(Locks, "refuse", refuse)


def _never_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check no locks at all."""
    from armarium.history.locks import Locks

    monkeypatch.setattr(Locks, "refuse", lambda *args: None)


def _not_when_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    from armarium.actions import bus

    right = bus.check_rows

    def wrong(ctx: Any, raw: Any, *, taking_back: bool = False) -> None:
        if not taking_back:
            right(ctx, raw)

    monkeypatch.setattr(bus, "check_rows", wrong)


@pytest.mark.parametrize("mutant", [_only_the_parent, _never_asked, _not_when_undone])
def test_a_planted_fault_is_caught(
    make_engine: Callable[..., Engine], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mutant: Any
) -> None:
    mutant(monkeypatch)

    def prove() -> None:
        for seed in range(3):
            _prove(make_engine, tmp_path, seed, 150)

    with pytest.raises(AssertionError, match="under a lock"):
        prove()
