"""Random histories of models taken in and results that land, with pages corrected, barred and thrown away: undo is exact."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from training_desk import Desk
from training_samples import make_finished

from armarium.api import Example
from armarium.principals import LOCAL_OWNER
from armarium.projects.doctor import examine
from armarium_testing.histories import Histories, Move, World

Chosen = tuple[str, dict[str, Any]] | None


class Moves:
    """What may be done with two pages and any number of finished trainings; some of it is refused, as it should be."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.pages = [desk.page(["Dear Sir", "I am well"])[0] for _ in range(2)]
        self.example = Example(desk.engine, desk.library, LOCAL_OWNER, None)

    def all(self) -> list[Move]:
        """Every move, those of training more often."""
        often = [self.land, self.land_page]
        return [*often, *often, self.correct, self.bar, self.lift, self.trash, self.restore]

    def _one(self, chance: random.Random, query: str) -> str | None:
        rows = self.desk.rows(query)
        return str(chance.choice(rows)[0]) if rows else None

    def land(self, chance: random.Random, _: World) -> Chosen:
        return "training.land", {"job_id": make_finished(self.example)}

    def land_page(self, chance: random.Random, _: World) -> Chosen:
        text = chance.choice("abcdef")
        line = {"rect": [10, 10, 100, 20], "text": text}
        given = {"document_id": chance.choice(self.pages), "checksum": text * 64, "name": "Far"}
        sides = {"width": 400, "height": 120}
        return "training.land_page", {**given, **sides, "provider": "far", "model": "far", "lines": [line]}

    def correct(self, chance: random.Random, _: World) -> Chosen:
        line = self._one(chance, "SELECT id FROM segment WHERE deleted_at IS NULL ORDER BY id")
        return "representation.create", {"segment_id": line, "text": chance.choice("xyz")}

    def bar(self, chance: random.Random, _: World) -> Chosen:
        target = {"target_kind": "document", "target_id": chance.choice(self.pages)}
        return "rights.set", {**target, "model_use": "none"}

    def lift(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(chance, "SELECT id FROM rights_record WHERE withdrawn_at IS NULL ORDER BY id")
        return (found and ("rights.withdraw", {"record_id": found})) or None

    def trash(self, chance: random.Random, _: World) -> Chosen:
        return "document.delete", {"ids": [chance.choice(self.pages)]}

    def restore(self, chance: random.Random, _: World) -> Chosen:
        return "document.restore", {"document_id": chance.choice(self.pages)}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_random_histories_come_back_exactly(desk: Desk, seed: int) -> None:
    tally = Histories(desk.engine, desk.library, Moves(desk).all(), seed=seed).run(6, steps=25)
    assert tally.undone > 0
    assert examine(desk.engine, desk.library.path, files=False)["findings"] == []
    done = {row[0] for row in desk.rows("SELECT DISTINCT action_name FROM audit")}
    assert done >= {"training.land", "training.land_page", "rights.set"}
    # Whatever was undone: the models that are listed are those that have a row, and no others.
    rows = {row[0] for row in desk.rows("SELECT id FROM training_model")}
    listed = {item["id"] for item in desk.client.get("/api/training/models").json()["items"]}
    assert listed == rows
    hidden = {path.name for path in desk.library.models.glob("hand/*.card.json.undone")}
    ids = {json.loads(path.read_text())["id"] for path in desk.library.models.glob("hand/*.card.json.undone")}
    assert len(hidden) == len(ids)
    assert not ids & rows
