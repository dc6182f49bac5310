"""Random histories of one folder, and of two projects that share one: no version that came to rest is ever lost.

What is to be kept is written down by the test itself as it edits; where it is kept is read from the disk, from the originals
of passes and from the readings of the project, never from what the family says of itself.
"""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sync_desk import SyncDesk

from armarium.principals import LOCAL_OWNER
from armarium_sync import disk as disk_module
from armarium_sync import intake, rows, writing
from armarium_testing.fixtures import http_client

STEPS = 14


class Killed(BaseException):
    """The engine, killed at some instant."""


KILLABLE = (
    (disk_module, "put_where_nothing_is"),
    (disk_module, "exchange"),
    (disk_module, "flush"),
    (disk_module, "flush_path"),
    (writing, "know"),
    (writing, "done_with"),
    (writing, "put_file"),
    (intake, "note"),
    (intake, "carry_out"),
    (rows, "raw_of"),
)
"""Functions before and after which the engine may be killed."""


@dataclass
class Fate:
    """Kills after a number of steps of the machinery; None: not at all."""

    left: int | None = None

    def tick(self) -> None:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                self.left = None
                raise Killed


@pytest.fixture
def fate(monkeypatch: pytest.MonkeyPatch) -> Fate:
    fate = Fate()
    for module, name in KILLABLE:
        real = getattr(module, name)

        def killable(*given: Any, _real: Any = real, **more: Any) -> Any:
            fate.tick()
            answer = _real(*given, **more)
            fate.tick()
            return answer

        monkeypatch.setattr(module, name, killable)
    return fate


def words_in(data: bytes) -> str | None:
    """The words of the one line of a file; None where it is none of ours."""
    found = re.search(rb"<Unicode>([^<]*)</Unicode>", data)
    return found.group(1).decode() if found else None


@dataclass
class Witness:
    """Knows what was written outside and came to rest, and what must stay untouched."""

    desk: SyncDesk
    folder_id: str
    dice: Random
    fate: Fate
    pages: list[str]
    outside: set[str] = field(default_factory=set)
    """Words of outside edits that were at rest when the engine looked."""
    corrected: set[str] = field(default_factory=set)
    foreign: dict[Path, bytes] = field(default_factory=dict)
    edits: int = 0
    number: int = 0

    def word(self, what: str) -> str:
        self.number += 1
        return f"{what} {self.dice.randrange(10**9)} {self.number}"

    def files(self) -> list[Path]:
        paths = [path for path in self.desk.folder.rglob("*.xml") if path not in self.foreign]
        return sorted(path for path in paths if path.is_file())

    def look(self) -> None:
        """The engine looks, and may be killed at it; what was at rest then must never be lost."""
        resting = {word for path in self.files() if (word := words_in(path.read_bytes())) is not None}
        self.fate.left = self.dice.choice([None, self.dice.randrange(12)])
        try:
            self.desk.look(self.folder_id, thorough=self.dice.random() < 0.3)
            if self.fate.left is None or self.fate.left >= 0:
                self.outside |= resting
        except Killed:
            # What it had not come to see is still on the disk: it is seen the next time.
            pass
        self.fate.left = None
        self.check()

    def write(self) -> None:
        self.fate.left = self.dice.choice([None, self.dice.randrange(40)])
        with suppress(Killed):
            self.desk.write(self.folder_id)
        self.fate.left = None
        self.check()

    def check(self) -> None:
        """Each version is in the folder, or in the original of a pass; of the project's own, in its readings."""
        there = {words_in(path.read_bytes()) for path in self.desk.folder.rglob("*") if path.is_file()}
        library = self.desk.library
        originals = {
            words_in(library.objects.path(digest).read_bytes())
            for (digest,) in self.desk.rows("SELECT original FROM format_import")
        }
        readings = {text for (text,) in self.desk.rows("SELECT content FROM content_representation")}
        lost = self.outside - there - originals - readings
        assert not lost, lost
        assert not self.corrected - readings
        for path, data in self.foreign.items():
            assert path.read_bytes() == data, path
        (passes,) = self.desk.rows("SELECT count(*) FROM segment_pass")[0]
        assert passes <= len(self.pages) + self.edits

    def act(self) -> None:
        """One thing that happens: somebody at the files, somebody in the project, the engine at work."""
        files = self.files()
        what = self.dice.choice(
            [
                "edit",
                "edit",
                "correct",
                "look",
                "look",
                "write",
                "rename",
                "delete",
                "clash",
                "touch",
                "half",
                "retitle",
            ]
        )
        if what == "look":
            self.look()
        elif what == "write":
            self.write()
        elif what == "correct":
            word = self.word("inside")
            self.desk.correct(self.dice.choice(self.pages), word)
            self.corrected.add(word)
        elif what == "retitle":
            page = self.dice.choice(self.pages)
            self.desk.do("document.update", {"document_id": page, "name": self.word("title: CON/é")})
        elif what == "clash":
            place = (
                self.desk.folder
                / "pagexml"
                / f"{self.word('mine')}.sync-conflict-20260102-030405-ABCDEFG.xml"
            )
            place.parent.mkdir(exist_ok=True)
            source = self.dice.choice(files).read_bytes() if files else b"mine"
            place.write_bytes(source)
            self.foreign[place] = source
        elif files:
            self._at_file(self.dice.choice(files), what)

    def _gives_up(self, file: Path) -> None:
        """Who changes a file that the engine does not keep, or takes nothing in from, gives up what it held."""
        kept_rows = self.desk.rows(
            "SELECT 1 FROM sync_file f JOIN sync_folder d ON d.id = f.folder_id WHERE d.intake AND f.path = ?"
            " AND f.role = 'layout' AND f.seen IS NOT NULL",
            file.relative_to(self.desk.folder).as_posix(),
        )
        word = words_in(file.read_bytes())
        if not kept_rows and word is not None:
            self.outside.discard(word)

    def _at_file(self, file: Path, what: str) -> None:
        if what in ("edit", "half", "delete"):
            word = words_in(file.read_bytes())
            # Who deletes a version that never came to the engine has lost it; one that the engine had seen is kept.
            if what == "delete" and word is not None and word not in self.outside:
                return
            self._gives_up(file)
        if what == "touch":
            os.utime(file, (self.dice.randrange(10**9), self.dice.randrange(10**9)))
        elif what == "edit":
            self.desk.edit(file, self.word("outside"))
            self.edits += 1
        elif what == "half":
            file.write_bytes(file.read_bytes()[: self.dice.randrange(400)])
            self.edits += 1
        elif what == "delete":
            file.unlink()
        elif what == "rename":
            place = (
                self.desk.folder / self.dice.choice(["", "sub", "pagexml"]) / f"{self.word('renamed')}.xml"
            )
            place.parent.mkdir(exist_ok=True)
            file.rename(place)


def run_history(desk: SyncDesk, fate: Fate, seed: int) -> None:
    """One random history in a fresh folder, looked at after each thing that happens."""
    dice = Random(seed)
    desk.folder = desk.folder.parent / f"run {seed}"
    desk.folder.mkdir()
    pages = [desk.page(f"page {seed} {number}") for number in range(2)]
    folder_id = desk.tie()
    desk.settle(folder_id)
    if dice.random() < 0.8:
        desk.do("sync.intake", {"folder_id": folder_id, "on": True})
    witness = Witness(desk, folder_id, dice, fate, pages)
    (passes,) = desk.rows("SELECT count(*) FROM segment_pass")[0]
    witness.edits = passes - len(pages)
    for _ in range(STEPS):
        witness.act()
    witness.look()
    witness.write()
    desk.settle(folder_id)
    witness.check()
    assert not list(desk.folder.rglob("*-new-*.tmp"))
    desk.do("sync.untie", {"folder_id": folder_id})
    desk.do("document.delete", {"ids": pages})


def test_no_version_is_lost_in_random_histories_with_kills(desk: SyncDesk, fate: Fate) -> None:
    for seed in range(4):
        run_history(desk, fate, seed)


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_no_version_is_lost_in_a_thousand_histories(desk: SyncDesk, fate: Fate) -> None:
    first = int(os.environ.get("ARMARIUM_SYNC_SEED", "1000"))
    for seed in range(first, first + int(os.environ.get("ARMARIUM_SYNC_RUNS", "1000"))):
        run_history(desk, fate, seed)


class Copier:
    """Carries files between two folders as programs that share them do: late, in any order, some twice, by whole files."""

    def __init__(self, one: Path, other: Path, dice: Random) -> None:
        self.sides, self.dice = (one, other), dice
        self.known: list[dict[str, bytes]] = [{}, {}]
        self.under_way: list[tuple[int, str, bytes]] = []
        self.clashes = 0

    def gather(self) -> None:
        for side, folder in enumerate(self.sides):
            now = {
                str(path.relative_to(folder)): path.read_bytes()
                for path in folder.rglob("*")
                if path.is_file() and ".armarium-" not in path.name
            }
            for name, data in now.items():
                if self.known[side].get(name) != data:
                    self.under_way.append((1 - side, name, data))
            self.known[side] = now

    def deliver(self) -> None:
        """Some of what is under way arrives; what arrives where another version was made meanwhile makes a conflict copy."""
        self.dice.shuffle(self.under_way)
        count = self.dice.randint(0, len(self.under_way))
        arriving, self.under_way = self.under_way[:count], self.under_way[count:]
        if arriving and self.dice.random() < 0.3:
            arriving.append(arriving[0])
        for side, name, data in arriving:
            place = self.sides[side] / name
            place.parent.mkdir(parents=True, exist_ok=True)
            there = place.read_bytes() if place.is_file() else None
            if there is not None and there not in (data, self.known[side].get(name)):
                self.clashes += 1
                copy = place.with_name(
                    f"{place.stem}.sync-conflict-20260102-0304{self.clashes % 60:02}-ABCDEFG{place.suffix}"
                )
                shutil.copy(place, copy)
            temporary = place.with_name(f".syncthing.{place.name}.tmp")
            temporary.write_bytes(data)
            temporary.replace(place)
            self.known[side][name] = data


@pytest.mark.parametrize(
    "seed", [pytest.param(one, marks=pytest.mark.soak) if one else one for one in range(40)]
)
def test_two_engines_that_share_a_folder_lose_no_version(
    make_engine: Any, families: list[Any], tmp_path: Path, fate: Fate, seed: int
) -> None:
    """The second engine has a copy of the project, as on a second machine of the same people."""
    dice = Random(seed)
    first = make_engine(plugins=families, state="first")
    second = make_engine(plugins=families, state="second")
    first.run(None, "library.create", {"path": str(tmp_path / "P.library")}, LOCAL_OWNER)
    library = first.libraries.get(tmp_path / "P.library")
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
    clients = [http_client(first, library)]
    desks = [SyncDesk(first, library, next(clients[0]), folders[0])]
    pages = [desks[0].page(f"page {number}") for number in range(2)]
    first.libraries.release(library.path)
    shutil.copytree(
        tmp_path / "P.library", tmp_path / "Q.library", ignore=shutil.ignore_patterns("*lock*", "engine.json")
    )
    desks[0].library = first.libraries.get(tmp_path / "P.library")
    clients.append(http_client(second, second.libraries.get(tmp_path / "Q.library")))
    desks.append(SyncDesk(second, second.libraries.get(tmp_path / "Q.library"), next(clients[1]), folders[1]))
    desks[1].lines = dict(desks[0].lines)
    ids = []
    for desk in desks:
        ids.append(desk.tie())
        desk.do("sync.intake", {"folder_id": ids[-1], "on": True})
    witnesses = [Witness(desk, ids[side], dice, fate, pages) for side, desk in enumerate(desks)]
    copier = Copier(folders[0], folders[1], dice)
    for _ in range(10):
        side = dice.randrange(2)
        kind = dice.choice(["correct", "edit", "look", "write"])
        witness = witnesses[side]
        if kind == "correct":
            witness.desk.correct(dice.choice(pages), witness.word(f"inside {side}"))
        elif kind == "edit" and witness.files():
            witness.desk.edit(dice.choice(witness.files()), witness.word(f"outside {side}"))
        elif kind == "look":
            witness.desk.look(ids[side])
        else:
            witness.desk.write(ids[side])
        copier.gather()
        copier.deliver()
    wanted: set[str] = set()
    for _ in range(4):
        for side, desk in enumerate(desks):
            desk.settle(ids[side])
            wanted |= {word for path in witnesses[side].files() if (word := words_in(path.read_bytes()))}
        copier.gather()
        copier.deliver()
    kept: set[str | None] = set()
    for desk in desks:
        kept |= {words_in(path.read_bytes()) for path in desk.folder.rglob("*.xml")}
        kept |= {
            words_in(desk.library.objects.path(digest).read_bytes())
            for (digest,) in desk.rows("SELECT original FROM format_import")
        }
        kept |= {text for (text,) in desk.rows("SELECT content FROM content_representation")}
    assert not wanted - kept
