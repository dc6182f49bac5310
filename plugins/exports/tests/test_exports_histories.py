"""Random histories of kept exports, with pages that are corrected, restricted and thrown away: undo is exact."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest
from exports_desk import Desk

from armarium.projects.doctor import examine
from armarium_testing.histories import Histories, Move, World

Chosen = tuple[str, dict[str, Any]] | None


class Moves:
    """What may be done with two pages and three folders; some of it is refused, as it should be."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        box = desk.box()
        self.pages = [desk.page(box, f"{number}.png", ["Dear Sir", "I am well"]) for number in range(2)]
        self.folders = [desk.folder / name for name in "abc"]
        for folder in self.folders:
            folder.mkdir()

    def all(self) -> list[Move]:
        """Every move, those of exports more often."""
        often = [self.keep, self.keep, self.end]
        return [*often, *often, self.correct, self.restrict, self.lift, self.trash, self.restore]

    def _one(self, chance: random.Random, query: str) -> str | None:
        rows = self.desk.rows(query)
        return str(chance.choice(rows)[0]) if rows else None

    def keep(self, chance: random.Random, _: World) -> Chosen:
        form = chance.choice(("markdown", "plain-text"))
        return "export.keep", {"folder": str(chance.choice(self.folders)), "format": form, "per": "page"}

    def end(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(chance, "SELECT id FROM export_kept ORDER BY id")
        return (found and ("export.unkeep", {"export_id": found})) or None

    def correct(self, chance: random.Random, _: World) -> Chosen:
        line = self._one(chance, "SELECT id FROM segment ORDER BY id")
        return "representation.create", {"segment_id": line, "text": chance.choice("xyz")}

    def restrict(self, chance: random.Random, _: World) -> Chosen:
        target = {"target_kind": "document", "target_id": chance.choice(self.pages)}
        return "rights.set", {**target, "restricted": True}

    def lift(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(chance, "SELECT id FROM rights_record WHERE withdrawn_at IS NULL ORDER BY id")
        return (found and ("rights.withdraw", {"record_id": found})) or None

    def trash(self, chance: random.Random, _: World) -> Chosen:
        return "document.delete", {"ids": [chance.choice(self.pages)]}

    def restore(self, chance: random.Random, _: World) -> Chosen:
        return "document.restore", {"document_id": chance.choice(self.pages)}


def is_kept_twice(
    rows: Mapping[str, Mapping[Any, Mapping[str, Any]]], table: str, row: Mapping[str, Any]
) -> bool:
    """One export of a format is kept in a folder at most."""
    if table != "export_kept":
        return False
    own = (row["folder"], row["format"])
    return any(
        one["id"] != row["id"] and (one["folder"], one["format"]) == own for one in rows[table].values()
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_random_histories_come_back_exactly(desk: Desk, seed: int) -> None:
    history = Histories(desk.engine, desk.library, Moves(desk).all(), seed=seed, laws=(is_kept_twice,))
    tally = history.run(6, steps=25)
    assert tally.undone > 0
    assert not set(tally.refused) - {"changed", "already-undone", "duplicate"}
    assert examine(desk.engine, desk.library.path, files=False)["findings"] == []
    done = {row[0] for row in desk.rows("SELECT DISTINCT action_name FROM audit")}
    assert done >= {"export.keep", "export.unkeep", "rights.set", "rights.withdraw"}
