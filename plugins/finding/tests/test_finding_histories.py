"""Random histories of proposals, adjusted, accepted and rejected while pages are moved, corrected and thrown away."""

from __future__ import annotations

import random
from typing import Any

import pytest
from finding_desk import Desk

from armarium.api import Engine, Library
from armarium.projects.doctor import examine
from armarium_testing.histories import Histories, Move, World

Chosen = tuple[str, dict[str, Any]] | None
LETTER = "Madrid, 4 de mayo de 1921\nMuy señor mío:\nLe escribo"
END = "y quedo de usted\natentamente\nJuan Garcia"


class Moves:
    """What may be done with two boxes of which one run proposed documents; some of it is refused, as it should be."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.pages: list[str] = []
        self.proposals: list[str] = []
        for name in ("Box 1", "Box 2"):
            folder, pages = desk.box([LETTER, END, LETTER, LETTER, END], name)
            self.pages += pages
            self.proposals.append(desk.find(folder)["id"])
        self.folder = str(desk.do("document.create", {"name": "Elsewhere"})["id"])

    def all(self) -> list[Move]:
        """Every move, those that change proposals more often."""
        often = [self.split, self.join, self.hand_on, self.accept, self.reject]
        return [*often, *often, self.move, self.rename, self.trash, self.restore, self.correct, self.score]

    def _proposal(self, chance: random.Random) -> dict[str, Any]:
        return self.desk.proposal(chance.choice(self.proposals))

    def _index(self, chance: random.Random, proposal: dict[str, Any]) -> int:
        return chance.randrange(len(proposal["documents"]))

    def split(self, chance: random.Random, _: World) -> Chosen:
        proposal = self._proposal(chance)
        index = self._index(chance, proposal)
        page = chance.choice(proposal["documents"][index]["page_ids"])
        change = {"op": "split", "document_index": index, "page_id": page}
        return "finddocs.adjust", {"proposal_id": proposal["id"], "change": change}

    def join(self, chance: random.Random, _: World) -> Chosen:
        proposal = self._proposal(chance)
        change = {"op": "join", "document_index": self._index(chance, proposal)}
        return "finddocs.adjust", {"proposal_id": proposal["id"], "change": change}

    def hand_on(self, chance: random.Random, _: World) -> Chosen:
        proposal = self._proposal(chance)
        to = chance.choice(("next", "previous"))
        change = {"op": "move-page", "document_index": self._index(chance, proposal), "to": to}
        return "finddocs.adjust", {"proposal_id": proposal["id"], "change": change}

    def accept(self, chance: random.Random, _: World) -> Chosen:
        proposal = self._proposal(chance)
        return "finddocs.accept", {"proposal_id": proposal["id"], "document_indexes": [self._index(chance, proposal)]}  # fmt: skip

    def reject(self, chance: random.Random, _: World) -> Chosen:
        proposal = self._proposal(chance)
        return "finddocs.reject", {"proposal_id": proposal["id"], "document_indexes": [self._index(chance, proposal)]}  # fmt: skip

    def score(self, chance: random.Random, _: World) -> Chosen:
        return "finddocs.score", {"proposal_id": self._proposal(chance)["id"]}

    def move(self, chance: random.Random, _: World) -> Chosen:
        return "document.move", {"ids": [chance.choice(self.pages)], "parent_id": self.folder}

    def rename(self, chance: random.Random, _: World) -> Chosen:
        return "document.update", {"document_id": chance.choice(self.pages), "name": chance.choice("abc")}

    def trash(self, chance: random.Random, _: World) -> Chosen:
        return "document.delete", {"ids": [chance.choice(self.pages)]}

    def restore(self, chance: random.Random, _: World) -> Chosen:
        return "document.restore", {"document_id": chance.choice(self.pages)}

    def correct(self, chance: random.Random, _: World) -> Chosen:
        line = chance.choice(self.desk.rows("SELECT id FROM segment ORDER BY id"))[0]
        return "representation.create", {"segment_id": line, "text": chance.choice(("Muy señor mío:", "x"))}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_random_histories_come_back_exactly(desk: Desk, engine: Engine, library: Library, seed: int) -> None:
    tally = Histories(engine, library, Moves(desk).all(), seed=seed).run(6, steps=25)
    assert tally.undone > 0
    assert not set(tally.refused) - {"changed", "already-undone"}
    assert examine(engine, library.path, files=False)["findings"] == []
    done = {row[0] for row in desk.rows("SELECT DISTINCT action_name FROM audit")}
    assert done >= {"finddocs.adjust", "finddocs.accept", "finddocs.reject", "document.restore"}
