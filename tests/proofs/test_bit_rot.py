"""Flipped bits: in a stored file the doctor reports it, in a database it is refused with a sentence.

A database has no checksum for every page: a letter changed within a text may go unnoticed, unless it is in the audit
log, whose chain shows it. What is tested for a database is that every changed byte ends in an answer or a refusal with
a sentence, and that damage to the head of a page is never reported as healthy.
"""

from __future__ import annotations

import random
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from armarium.engine import Engine
from armarium.errors import ServiceError, refused_by_disk
from armarium.principals import LOCAL_OWNER
from armarium.projects.doctor import examine
from armarium.projects.libraries import DATABASE, Library
from armarium.store.database import PAGE_BYTES
from armarium_testing.shelf import shelf_plugin


@pytest.fixture
def engine(make_engine: Any) -> Engine:
    return make_engine(plugins=[shelf_plugin()])  # type: ignore[no-any-return]


@pytest.fixture
def library(engine: Engine, tmp_path: Path) -> Library:
    engine.run(None, "library.create", {"path": str(tmp_path / "Rot.library")}, LOCAL_OWNER)
    library = engine.libraries.get(tmp_path / "Rot.library")
    for number in range(40):
        shelf = engine.run(library, "shelf.restock", {"name": f"shelf {number}"}, LOCAL_OWNER)
        given = {"shelf_id": shelf.result["id"], "titles": [f"book {n}" for n in range(20)]}  # type: ignore[index]
        engine.run(library, "shelf.add_many", given, LOCAL_OWNER)
    return library


def flip(path: Path, position: int, bit: int) -> None:
    with path.open("r+b") as file:
        file.seek(position)
        byte = file.read(1)[0]
        file.seek(position)
        file.write(bytes([byte ^ (1 << bit)]))


def flipped_files(engine: Engine, library: Library, flips: int, chance: random.Random) -> int:
    """Flip one bit of one stored file *flips* times; return how often the doctor did not name exactly that file."""
    sizes = (1, 2, 700, 70_000, 300_000)
    kept = [library.objects.put_bytes(chance.randbytes(size)) for size in sizes]
    for digest in kept:
        library.objects.path(digest).chmod(0o644)
    assert examine(engine, library.path)["healthy"]
    missed = 0
    for _ in range(flips):
        digest = chance.choice(kept)
        path = library.objects.path(digest)
        where = (chance.randrange(path.stat().st_size), chance.randrange(8))
        flip(path, *where)
        findings = [finding["what"] for finding in examine(engine, library.path)["findings"]]
        missed += findings != [f"The file {digest[:12]}… no longer has the content it was stored with."]
        flip(path, *where)
    return missed


def flipped_databases(
    engine: Engine, library: Library, positions: Any, chance: random.Random
) -> Counter[str]:
    """Open and use the project with one bit of its database flipped, once per position; return how often each outcome
    occurred.
    """
    place, whole = library.path, library.path.with_name("whole.sqlite")
    engine.libraries.release(place)
    shutil.copyfile(place / DATABASE, whole)
    met: Counter[str] = Counter()
    for position in positions:
        for name in (f"{DATABASE}-wal", f"{DATABASE}-shm"):
            (place / name).unlink(missing_ok=True)
        shutil.copyfile(whole, place / DATABASE)
        flip(place / DATABASE, position, chance.randrange(8))
        met[_use_package(engine, place)] += 1
    return met


def _use_package(engine: Engine, place: Path) -> str:
    """Return how opening, examining and using the package ended, in the words of HTTP. Anything else is raised.

    Work in a project that the doctor calls damaged may also end in the general words of the gate ("faulted").
    """
    found: dict[str, Any] | None = None
    try:
        found = examine(engine, place)
        library = engine.libraries.get(place)
        result = engine.run(library, "shelf.create", {"name": "after"}, LOCAL_OWNER)
        engine.undo(library, [result.audit_id], LOCAL_OWNER)
        with library.db.read() as conn:
            conn.exec_driver_sql(
                "SELECT count(*), max(title) FROM shelf_book JOIN shelf ON shelf.id = shelf_id"
            )
    except Exception as error:
        refusal = error if isinstance(error, ServiceError) else refused_by_disk(error)
        if refusal is not None and refusal.status != 500:
            return "refused"
        if found is None or found["healthy"]:
            raise
        return "faulted"
    finally:
        engine.libraries.release(place)
    return "healthy" if found["healthy"] else "found"


def heads_of_pages(database: Path) -> list[int]:
    """Return the first bytes of every page: its kind, how many cells it has, where they begin."""
    pages = database.stat().st_size // PAGE_BYTES
    return [
        page * PAGE_BYTES + (100 if page == 0 else 0) + at for page in range(pages) for at in (0, 3, 4, 5)
    ]


@pytest.mark.slow
def test_every_changed_bit_of_a_stored_file_is_found(engine: Engine, library: Library) -> None:
    assert flipped_files(engine, library, 60, random.Random(1)) == 0


@pytest.mark.slow
def test_no_changed_bit_of_a_database_ends_in_anything_but_words(engine: Engine, library: Library) -> None:
    chance = random.Random(2)
    size = (library.path / DATABASE).stat().st_size
    met = flipped_databases(engine, library, [chance.randrange(size) for _ in range(60)], chance)
    assert met["found"] + met["refused"] > met["faulted"]


@pytest.mark.slow
def test_a_damaged_head_of_a_page_never_passes_for_health(engine: Engine, library: Library) -> None:
    chance = random.Random(3)
    heads = heads_of_pages(library.path / DATABASE)
    met = flipped_databases(engine, library, chance.choices(heads, k=60), chance)
    assert not met["healthy"]


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_ten_thousand_changed_bits(engine: Engine, library: Library) -> None:
    chance = random.Random(4)
    assert flipped_files(engine, library, 5_000, chance) == 0
    size = (library.path / DATABASE).stat().st_size
    flipped_databases(engine, library, [chance.randrange(size) for _ in range(4_000)], chance)
    heads = heads_of_pages(library.path / DATABASE)
    assert not flipped_databases(engine, library, chance.choices(heads, k=1_000), chance)["healthy"]
