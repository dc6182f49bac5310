"""Undo is exact and its refusals are right: random histories compared with an oracle, and planted faults are detected."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from armarium.actions import undo as undo_module
from armarium.engine import Engine
from armarium.principals import LOCAL_OWNER
from armarium.projects.doctor import examine
from armarium.projects.libraries import Library
from armarium_testing.histories import Difference, Histories, World
from armarium_testing.shelf import shelf_plugin


def _create(chance: random.Random, world: World):
    return "shelf.create", {"name": f"shelf {chance.randrange(9)}"}


def _add(chance: random.Random, world: World):
    shelves = world.keys("shelf")
    return shelves and (
        "shelf.add",
        {"shelf_id": chance.choice(shelves), "title": "t", "weight": chance.random(), "notes": "n" * 9},
    )


def _add_many(chance: random.Random, world: World):
    shelves = world.keys("shelf")
    return shelves and ("shelf.add_many", {"shelf_id": chance.choice(shelves), "titles": ["a", "b", "c"]})


def _change(chance: random.Random, world: World):
    books = world.keys("shelf_book")
    fields: dict[str, Any] = chance.choice(
        (
            {"title": chance.choice("xyz")},
            {"weight": chance.choice((0.1, 0.2))},
            {"notes": chance.choice("pqr")},
        )
    )
    return books and ("shelf.change", {"id": chance.choice(books), **fields})


def _lend(chance: random.Random, world: World):
    books = world.keys("shelf_book")
    return books and (
        "shelf.lend",
        {"book_id": chance.choice(books), "reader": chance.choice("ab"), "days": chance.randrange(10**9)},
    )


def _clear(chance: random.Random, world: World):
    shelves = world.keys("shelf")
    return len(shelves) > 3 and ("shelf.clear", {"id": chance.choice(shelves)})


def _remark(chance: random.Random, world: World):
    return "shelf.remark", {"name": f"all {chance.randrange(5)}"}


MOVES = [_create, _add, _add, _add_many, _change, _change, _change, _lend, _clear, _remark]


@pytest.fixture
def histories(make_engine: Callable[..., Engine], tmp_path) -> Callable[[int], Histories]:
    def start(seed: int) -> Histories:
        engine = make_engine(plugins=[shelf_plugin()])
        place = tmp_path / f"{seed}.library"
        engine.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER)
        library: Library = engine.libraries.get(place)
        return Histories(engine, library, MOVES, seed=seed)

    return start


def _prove(histories: Callable[[int], Histories], seeds: range, sequences: int) -> None:
    for seed in seeds:
        history = histories(seed)
        tally = history.run(sequences)
        assert examine(history.engine, history.library.path)["findings"] == []
        assert tally.undone > 0
        assert tally.refused.get("changed", 0) > 0
        assert tally.refused.get("already-undone", 0) > 0


def test_random_histories_come_back_exactly(histories) -> None:
    _prove(histories, range(4), 15)


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_ten_thousand_histories_come_back_exactly(histories) -> None:
    _prove(histories, range(100, 200), 100)


def _no_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(undo_module, "check", lambda *args: None)


def _no_orphan_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(undo_module, "check_references", lambda *args: None)


def _last_image_instead_of_first(monkeypatch: pytest.MonkeyPatch) -> None:
    right = undo_module.write_back

    def wrong(raw: Any, table: Any, where: tuple[int, int], *rest: Any) -> None:
        right(raw, table, (where[0] + 1, where[1]), *rest)

    monkeypatch.setattr(undo_module, "write_back", wrong)


def _never_marked_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(undo_module, "_mark", lambda *args: None)


def _forgets_deletes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(undo_module, "delete_inserted", lambda *args: None)


@pytest.mark.parametrize(
    "mutant", [_no_check, _last_image_instead_of_first, _never_marked_undone, _forgets_deletes]
)
def test_a_planted_fault_is_caught(histories, monkeypatch: pytest.MonkeyPatch, mutant) -> None:
    mutant(monkeypatch)
    with pytest.raises(Difference):
        histories(1).run(60)


def test_the_orphan_check_names_what_a_failed_commit_would_not(histories, monkeypatch) -> None:
    """Without this check the deferred foreign keys still refuse: each of the two safeguards suffices."""
    _no_orphan_check(monkeypatch)
    histories(2).run(10)
