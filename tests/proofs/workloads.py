"""Work that is struck in the proofs: the core's own on shelves, and the main job's import, Trash and undo."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from armarium.db import Database
from armarium.engine import Engine
from armarium.libraries import Library
from armarium.plugins import Plugin
from armarium.principals import LOCAL_OWNER
from armarium.testing.faults import Say, Workload
from armarium.testing.shelf import shelf_plugin

PATIENCE = 6.0
"""Seconds for the jobs of an import; on a disk that keeps failing they cannot come to an end."""


def _nothing(engine: Engine, library: Library, folder: Path) -> None:
    return None


def _shelves(engine: Engine, library: Library, folder: Path, say: Say) -> None:
    for number in range(8):
        shelf = engine.run(library, "shelf.restock", {"name": f"shelf {number}"}, LOCAL_OWNER)
        say(f"step {shelf.audit_id}")
        digest = library.objects.put_bytes(f"file {number}".encode() * 500)
        say(f"file {digest}")
        many = engine.run(
            library, "shelf.add_many", {"shelf_id": shelf.result["id"], "titles": ["a"] * 50}, LOCAL_OWNER
        )
        say(f"step {many.audit_id}")
        if number % 3 == 1:
            done = engine.undo(library, [shelf.audit_id, many.audit_id], LOCAL_OWNER)
            say(f"step {done['audit_ids'][0]}")
        if number % 4 == 2:
            say(f"step {engine.run(library, 'snapshot.take', {}, LOCAL_OWNER).audit_id}")


def _shelves_whole(engine: Engine, library: Library, folder: Path, said: list[str]) -> list[str]:
    wrong: list[str] = []
    with library.db.read() as conn:
        for word in said:
            kind, _, identity = word.partition(" ")
            if (
                kind == "step"
                and not conn.exec_driver_sql("SELECT 1 FROM audit WHERE id = ?", (identity,)).first()
            ):
                wrong.append(f"the acknowledged step {identity} is lost")
            if kind == "file" and not library.objects.has(identity):
                wrong.append(f"the acknowledged file {identity[:12]} is lost")
        odd = conn.exec_driver_sql(
            "SELECT shelf_id, count(*) FROM shelf_book GROUP BY shelf_id HAVING count(*) NOT IN (2, 52)"
        ).all()
        wrong += [f"shelf {shelf} holds {number} books: a step was half done" for shelf, number in odd]
    return wrong


SHELVES = Workload(plugins=lambda: [shelf_plugin()], prepare=_nothing, work=_shelves, check=_shelves_whole)


def _lies(engine: Engine, library: Library, folder: Path, say: Say) -> None:
    say("step " + "0" * 32)
    # Most kills then come after the claim.
    time.sleep(0.3)


LIAR = Workload(plugins=lambda: [shelf_plugin()], prepare=_nothing, work=_lies, check=_shelves_whole)
"""Claims a step that was never made: the harness must find it out."""


def _careless_shelves() -> list[Plugin]:
    """The shelves over a database that does not wait for the disk: the fault that power cuts must show."""
    careful = Database._connect

    def careless(self: Database, *, reader: bool) -> sqlite3.Connection:
        conn = careful(self, reader=reader)
        conn.execute("PRAGMA synchronous=OFF")
        return conn

    Database._connect = careless  # type: ignore[method-assign]
    return [shelf_plugin()]


CARELESS = Workload(plugins=_careless_shelves, prepare=_nothing, work=_shelves, check=_shelves_whole)


def _page_files(engine: Engine, library: Library, folder: Path) -> None:
    from PIL import Image

    source = folder / "source"
    (source / "box").mkdir(parents=True)
    for number in range(12):
        Image.new("L", (64, 48), number * 20).save(source / f"{number:02}.png")
    Image.new("L", (32, 32), 7).save(source / "box" / "inner.jpg")
    (source / "no picture.jpg").write_text("words")


def _start_import(engine: Engine, library: Library, folder: Path) -> str:
    outcome = engine.run(library, "document.import", {"folder": str(folder / "source")}, LOCAL_OWNER)
    assert outcome.result is not None
    return str(outcome.result["job_id"])


def _import(engine: Engine, library: Library, folder: Path, say: Say) -> None:
    say(f"job {_start_import(engine, library, folder)}")
    engine.jobs.run_until_idle(library, PATIENCE)
    with library.db.read() as conn:
        ids = (
            conn.exec_driver_sql("SELECT id FROM document WHERE name LIKE '0%' ORDER BY name LIMIT 3")
            .scalars()
            .all()
        )
    gone = engine.run(library, "document.delete", {"ids": list(ids)}, LOCAL_OWNER)
    say(f"step {gone.audit_id}")
    engine.run(library, "document.restore", {"document_id": ids[0]}, LOCAL_OWNER)
    say(f"step {gone.audit_id}")


def _carry_on(engine: Engine, library: Library, folder: Path) -> None:
    engine.jobs.run_until_idle(library, 60)


def _imported_once(engine: Engine, library: Library, folder: Path, said: list[str]) -> list[str]:
    wrong: list[str] = []
    with library.db.read() as conn:
        rows = conn.exec_driver_sql(
            "SELECT d.name, count(*) FROM document d JOIN rendition r ON r.document_id = d.id GROUP BY d.name"
        ).all()
        missing = (
            conn.exec_driver_sql("SELECT checksum FROM rendition WHERE checksum IS NOT NULL").scalars().all()
        )
    wrong += [f"{name} came in {number} times" for name, number in rows if number != 1]
    wrong += [
        f"the file of {digest[:12]} is missing" for digest in missing if not library.objects.has(digest)
    ]
    if any(word.startswith("job ") for word in said) and len(rows) != 13:
        wrong.append(f"{len(rows)} of 13 files came in")
    return wrong


IMPORT = Workload(
    plugins=lambda: None, prepare=_page_files, work=_import, check=_imported_once, finish=_carry_on
)
