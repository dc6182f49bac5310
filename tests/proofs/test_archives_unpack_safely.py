"""Untrusted ZIP archives are checked before anything is unpacked, and what is imported is only in the project.

Each case is an archive with ordinary pages and at most one harmful thing; it is sent to the engine. A harmful archive
imports nothing and is refused with a sentence; a harmless one imports all of its pages.
"""

from __future__ import annotations

import io
import random
import struct
import warnings
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from armarium.api import raw_of
from armarium.engine import Engine
from armarium.errors import Invalid
from armarium.guard import archives
from armarium.principals import LOCAL_OWNER
from armarium.settings import Settings
from armarium_testing.fixtures import OWNER_TOKEN, http_client
from proofs.path_world import LAYOUT, SECRET, World, picture, watch

FULL = 10_000

Member = tuple[zipfile.ZipInfo, bytes]


@dataclass(frozen=True)
class HarmfulMember:
    """One harmful thing in an archive: how to add it, and the words of the refusal."""

    make: Callable[[random.Random, list[Member], Path], bytes]
    words: str


def info(name: str, mode: int = 0o100644) -> zipfile.ZipInfo:
    found = zipfile.ZipInfo("x")
    # This bypasses the constructor, which would clean the name.
    found.filename = found.orig_filename = name
    found.external_attr = mode << 16
    return found


def write_archive(members: list[Member], method: int = zipfile.ZIP_STORED) -> bytes:
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with zipfile.ZipFile(file, "w", method) as archive:
            for member, data in members:
                member.compress_type = method
                archive.writestr(member, data)
    return file.getvalue()


def insert(members: list[Member], chance: random.Random, *more: Member) -> list[Member]:
    at = chance.randrange(len(members) + 1)
    return [*members[:at], *more, *members[at:]]


def add_name_that_leads_out(chance: random.Random, members: list[Member], outside: Path) -> bytes:
    name = chance.choice(
        [
            f"../outside/{SECRET}-new.png", "../../../../outside/x.png", "a/../../outside/x.png", "..", "a/..",
            f"{outside}/x.png", "/etc/cron.d/x.png", "//server/share/x.png", "C:\\x.png", "C:x.png", "c:/x.png",
            "..\\..\\outside\\x.png", "a\\..\\x.png", "\\x.png", "a/./../../x.png", "page/../../x.png",
            "../outside/\u202egnp.x", "\\\\?\\C:\\x.png",
        ]
    )  # fmt: skip
    return write_archive(insert(members, chance, (info(name), picture(9))))


def add_link(chance: random.Random, members: list[Member], outside: Path) -> bytes:
    kind = chance.choice([0o120777, 0o120777, 0o020666, 0o060666, 0o010644, 0o140755])
    target = chance.choice([f"{outside}/{SECRET}.png", "/etc/passwd", "../../outside", "1.png"])
    more = [(info("way.png", kind), target.encode())]
    if kind == 0o120777 and chance.random() < 0.3:
        more.append((info("way.png/x.png"), picture(9)))
    return write_archive(insert(members, chance, *more))


def add_bomb(chance: random.Random, members: list[Member], outside: Path) -> bytes:
    size = chance.choice([2_000_000, 9_000_000])
    name = chance.choice(["big.png", "page/big.xml", "big.txt"])
    return write_archive(insert(members, chance, (info(name), bytes(size))), zipfile.ZIP_DEFLATED)


def add_clashing_names(chance: random.Random, members: list[Member], outside: Path) -> bytes:
    """Name two members alike: letters that only some systems tell apart are two names, and both come in."""
    one, other = chance.choice([("x.png", "x.png"), ("d/A.png", "d/A.png"), ("d\\x.png", "d/x.png")])
    return write_archive(
        insert(insert(members, chance, (info(one), picture(8))), chance, (info(other), picture(9)))
    )


def encrypt_member(chance: random.Random, members: list[Member], outside: Path) -> bytes:
    """Set the flag that says a member is encrypted, in its local header and in the directory."""
    data = bytearray(write_archive(members))
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = data.find(mark)
        struct.pack_into("<H", data, start + at, struct.unpack_from("<H", data, start + at)[0] | 1)
    return bytes(data)


def add_many_members(chance: random.Random, members: list[Member], outside: Path) -> bytes:
    return write_archive(
        [*members, *((info(f"{number}.txt"), b"") for number in range(archives.MAX_ARCHIVE_MEMBERS))]
    )


def truncate(chance: random.Random, members: list[Member], outside: Path) -> bytes:
    data = write_archive(members)
    return data[: chance.randrange(30, len(data) - 30)]


def misstate_directory(chance: random.Random, members: list[Member], outside: Path) -> bytes:
    """Make the directory state a wrong size or position of a member."""
    data = bytearray(write_archive(members))
    start = data.find(b"PK\x01\x02")
    at = chance.choice([16, 20, 24, 42])
    struct.pack_into("<I", data, start + at, chance.choice([1, 5, 0x7FFFFFFF, len(data) - 3]))
    return bytes(data)


HARMS = {
    "names that lead out": HarmfulMember(add_name_that_leads_out, "would leave its folder"),
    "links and devices": HarmfulMember(add_link, "a link or a device"),
    "growth": HarmfulMember(add_bomb, "decompression bomb"),
    "names that are one": HarmfulMember(add_clashing_names, "twice"),
    "encrypted": HarmfulMember(encrypt_member, "encrypted"),
    "cut": HarmfulMember(truncate, ""),
    "lies": HarmfulMember(misstate_directory, ""),
}


def pages(chance: random.Random) -> list[Member]:
    found: list[Member] = []
    for number in range(chance.randrange(1, 4)):
        folder = chance.choice(["", "box/", "box/deep/"])
        image = chance.choice(
            [f"{number}.png", f"../outside/{SECRET}.png", "/etc/passwd", "C:\\1.png", "..", "\u202e"]
        )
        found.append((info(f"{folder}{number}.png"), picture(chance.randrange(200) + number)))
        layout = LAYOUT.format(image=image, width=16, height=12, text=f"line {chance.random()}")
        found.append((info(f"{folder}page/{number}.xml"), layout.encode()))
    return found


class ArchiveImports:
    """An engine that may use only one folder, with a project in it."""

    def __init__(self, folder: Path) -> None:
        self.world = World(folder)
        inside = self.world.inside
        self.engine = Engine(
            Settings(state_dir=folder / "state", owner_token=OWNER_TOKEN, library_roots=[inside])
        )
        self.engine._roots[:] = [inside.resolve(), inside]
        self.engine.start(jobs=False)
        self.engine.run(None, "library.create", {"path": str(inside / "Zip.library")}, LOCAL_OWNER)
        self.library = self.engine.libraries.get(inside / "Zip.library")

    def client(self) -> Iterator[TestClient]:
        yield from http_client(self.engine, self.library)

    def documents(self) -> int:
        with self.library.db.read() as conn:
            raw = raw_of(conn)
            return int(raw.execute("SELECT count(*) FROM document WHERE doc_type = 'file'").fetchone()[0])


def send_archive(client: TestClient, data: bytes, name: str = "pages.zip") -> tuple[int, str]:
    answer = client.post("/api/documents/import-batch", files=[("files", (name, data, "application/zip"))])
    return answer.status_code, answer.text


def one_case(ground: ArchiveImports, client: TestClient, chance: random.Random) -> list[str]:
    """Send one archive; return what went wrong."""
    members = pages(chance)
    name = chance.choice([None, *HARMS])
    seen = watch()
    seen.reached.clear()
    before = ground.documents()
    if name is None:
        wanted = sum(member.filename.endswith(".png") for member, _ in members)
        status, text = send_archive(
            client, write_archive(members, chance.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))
        )
        came = ground.documents() - before
        # A file that already exists, with its name and its bytes, is reported as existing.
        wrong = [] if status == 200 or "already" in text else [f"sound pages are refused: {text[:300]}"]
        if came > wanted:
            wrong.append(f"{came} documents came in of {wanted}: {text[:300]}")
    else:
        harm = HARMS[name]
        status, text = send_archive(client, harm.make(chance, members, ground.world.outside))
        came = ground.documents() - before
        wrong = []
        if harm.words and (status == 200 or harm.words not in text or came):
            wrong.append(f"{name}: {status}, {came} came in: {text[:300]}")
    if status >= 500:
        wrong.append(f"{name}: a server error: {text[:300]}")
    wrong += [f"{name}: reached {one}" for one in seen.reached]
    tmp = ground.library.objects.root / "tmp"
    if tmp.is_dir() and any(tmp.iterdir()):
        wrong.append(f"{name}: something is left in the scratch folder")
    return wrong


def faults(folder: Path, number: int, seed: int) -> list[str]:
    ground, chance, seen = ArchiveImports(folder), random.Random(seed), watch()
    wrong: list[str] = []
    try:
        seen.outside = ground.world.outside
        for client in ground.client():
            for _ in range(number):
                wrong += one_case(ground, client, chance)
                if len(wrong) > 20:
                    break
        seen.outside = None
        if not ground.world.is_untouched():
            wrong.append("outside is not as it was")
        wrong += [
            f"the canary {canary[:8]} is in the project"
            for canary in ground.world.canaries
            if ground.library.objects.has(canary)
        ]
    finally:
        seen.outside = None
        ground.engine.close()
    return wrong


def test_archives_are_judged_before_they_are_unpacked(tmp_path: Path) -> None:
    assert faults(tmp_path, 120, 1) == []


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_ten_thousand_archives(tmp_path: Path) -> None:
    wrong = []
    for part in range(10):
        wrong += faults(tmp_path / str(part), FULL // 10, 100 + part)
    assert wrong == []


def test_too_many_members_and_an_archive_within_one(tmp_path: Path) -> None:
    ground, chance = ArchiveImports(tmp_path), random.Random(3)
    try:
        for client in ground.client():
            status, text = send_archive(client, add_many_members(chance, pages(chance), ground.world.outside))
            assert (status, "at most 10,000" in text, ground.documents()) == (422, True, 0)
            inner = write_archive(pages(chance))
            status, text = send_archive(
                client, write_archive([(info("inner.zip"), inner), (info("1.png"), picture(1))])
            )
            assert (status, "an archive within an archive" in text, ground.documents()) == (200, True, 1)
    finally:
        ground.engine.close()


def test_a_directory_of_more_members_than_are_unpacked_is_refused() -> None:
    name = b"a"
    entry = b"PK\x01\x02" + bytes(24) + struct.pack("<HHHHHII", len(name), 0, 0, 0, 0, 0, 0) + name
    entries = 60_000
    directory = entry * entries
    end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, entries, entries, len(directory), 0, 0)
    with pytest.raises(Invalid, match="at most 10,000"):
        archives.check_archive(directory + end, name="many.zip")


# ---------------------------------------------------------------------------- faults that the proof must notice


@pytest.mark.slow
def test_a_check_of_names_that_is_gone_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "_check_member", lambda name, member, seen: None)
    assert faults(tmp_path, 120, 1)


@pytest.mark.slow
def test_a_limit_of_growth_that_is_gone_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = archives.check_archive
    import armarium_formats.batches.batch_files as given

    monkeypatch.setattr(given, "check_archive", lambda source, **how: real(source, max_ratio=10**9, **how))
    assert faults(tmp_path, 120, 1)
