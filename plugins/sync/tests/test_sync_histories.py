"""Random histories of ties and arrangements, with documents that are renamed, moved and thrown away: undo is exact, for the
rows, and for the files, which lie where the rows say."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from sync_desk import PAGE, SyncDesk

from armarium.projects.doctor import examine
from armarium_testing.histories import Histories, Move, World

Chosen = tuple[str, dict[str, Any]] | None


class Moves:
    """What may be done with a folder that two scans came from and two other folders; some of it is refused."""

    def __init__(self, desk: SyncDesk, elsewhere: Path) -> None:
        self.desk = desk
        (desk.folder / "0001.xml").write_text(PAGE.format(words="Dear Sir"), "utf-8")
        desk.scans("0001.png", "0002.png")
        folder = desk.tie("pagexml", mode="keep-arranged")
        desk.look(folder, thorough=True)
        self.documents = [desk.document_of(name) for name in ("0001.png", "0002.png")]
        self.folders = [elsewhere / name for name in "ab"]
        for one in self.folders:
            one.mkdir()

    def all(self) -> list[Move]:
        """Every move, those of folders more often."""
        often = [self.tie, self.untie, self.intake, self.mode, self.arrange, self.rename]
        return [*often, *often, self.trash, self.restore, self.restrict]

    def _folder(self, chance: random.Random) -> str | None:
        rows = self.desk.rows("SELECT id FROM sync_folder ORDER BY id")
        return str(chance.choice(rows)[0]) if rows else None

    def tie(self, chance: random.Random, _: World) -> Chosen:
        formats = chance.choice((["pagexml"], ["alto", "tei"]))
        return "sync.tie", {"path": str(chance.choice(self.folders)), "formats": formats}

    def untie(self, chance: random.Random, _: World) -> Chosen:
        folder = self._folder(chance)
        return ("sync.untie", {"folder_id": folder}) if folder else None

    def intake(self, chance: random.Random, _: World) -> Chosen:
        folder = self._folder(chance)
        return ("sync.intake", {"folder_id": folder, "on": chance.random() < 0.5}) if folder else None

    def mode(self, chance: random.Random, _: World) -> Chosen:
        folder = self._folder(chance)
        mode = chance.choice(("index", "keep-arranged"))
        return ("sync.mode", {"folder_id": folder, "mode": mode}) if folder else None

    def arrange(self, chance: random.Random, _: World) -> Chosen:
        folder = self._folder(chance)
        plan = self.desk.client.get(f"/api/sync-folders/{folder}/arrangement").json() if folder else {}
        return ("sync.arrange", {"folder_id": folder, "moves": plan["moves"]}) if plan.get("moves") else None

    def rename(self, chance: random.Random, _: World) -> Chosen:
        name = f"{chance.choice('xyz')}.png"
        return "document.update", {"document_id": chance.choice(self.documents), "name": name}

    def trash(self, chance: random.Random, _: World) -> Chosen:
        return "document.delete", {"ids": [chance.choice(self.documents)]}

    def restore(self, chance: random.Random, _: World) -> Chosen:
        return "document.restore", {"document_id": chance.choice(self.documents)}

    def restrict(self, chance: random.Random, _: World) -> Chosen:
        target = {"target_kind": "document", "target_id": chance.choice(self.documents)}
        return "rights.set", {**target, "restricted": True}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_random_histories_come_back_exactly(desk: SyncDesk, tmp_path: Path, seed: int) -> None:
    (tmp_path / "elsewhere").mkdir()
    moves = Moves(desk, tmp_path / "elsewhere")
    tally = Histories(desk.engine, desk.library, moves.all(), seed=seed).run(6, steps=25)
    assert tally.undone > 0
    assert not set(tally.refused) - {"changed", "already-undone", "duplicate"}
    assert examine(desk.engine, desk.library.path, files=False)["findings"] == []
    done = {row[0] for row in desk.rows("SELECT DISTINCT action_name FROM audit")}
    assert done >= {"sync.tie", "sync.untie", "sync.intake", "sync.mode"}
    # Nothing was lost on the disk: both pictures are there, under whatever name.
    assert len([path for path in desk.folder.rglob("*.png") if not path.name.startswith(".")]) == 2
