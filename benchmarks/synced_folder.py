"""Row 35: the first writing of a synced folder against the plain exporter, and the cost of watching many files.

The peer exports the same pages one after the other and writes each file plainly. `ARMARIUM_SYNC_PAGES` and
`ARMARIUM_SYNC_FILES` set how many pages and watched files.
"""

from __future__ import annotations

import os
import resource
import shutil
import time
from pathlib import Path
from typing import Any

from armarium.api import Engine, Library, raw_of
from armarium_formats.api import export_page
from armarium_sync.principal import KEEPER
from armarium_sync.writing import QUIET, Writer
from benchmarks.harness import Result, compare, seconds
from benchmarks.places import OWNER, running_engine, scratch_folder

PAGES = int(os.environ.get("ARMARIUM_SYNC_PAGES", "10000"))
FILES = int(os.environ.get("ARMARIUM_SYNC_FILES", "100000"))
WATCHED_FOR = float(os.environ.get("ARMARIUM_SYNC_SECONDS", "60"))
LINES = 30

_LINE = (
    '<TextLine id="l{0}"><Coords points="60,{1} 540,{1} 540,{2} 60,{2}"/>'
    "<TextEquiv><Unicode>Line {0} of a letter</Unicode></TextEquiv></TextLine>"
)


def page_file(number: int) -> str:
    """Return a PAGE file of LINES lines."""
    lines = "".join(_LINE.format(one, 20 + one * 12, 30 + one * 12) for one in range(LINES))
    return (
        '<?xml version="1.0"?><PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"><Metadata>'
        f"<Creator>{number}</Creator><Created>2026-01-01T00:00:00</Created><LastChange>2026-01-01T00:00:00</LastChange>"
        '</Metadata><Page imageFilename="a.png" imageWidth="600" imageHeight="400"><TextRegion id="r">'
        f'<Coords points="50,10 550,10 550,390 50,390"/>{lines}</TextRegion></Page></PcGts>'
    )


def measure(rounds: int) -> list[Result]:
    """Measure seconds of the first writing; megabytes and the fraction of a core while watching."""
    with scratch_folder() as folder, running_engine(folder) as (engine, library):
        pages = make_pages(engine, library)
        written = compare(
            35,
            f"first writing of a synced folder of {PAGES:,} pages",
            engine=lambda: first_writing(engine, library, folder / "synced"),
            peer=lambda: plain_export(engine, library, pages, folder / "plain"),
            peer_name="the plain exporter",
            unit="seconds",
            rounds=min(rounds, 3),
            limit=1.3,
        )
    with scratch_folder() as folder, running_engine(folder, jobs=True) as (engine, library):
        changed = changed_page(engine, library, folder / "changed")
    with scratch_folder() as folder, running_engine(folder, jobs=True) as (engine, library):
        return [written, changed, *watching(engine, library, folder / "watched")]


def make_pages(engine: Engine, library: Library) -> list[str]:
    """Create PAGES pages, each with a pass; return their ids."""
    ids = []
    for number in range(PAGES):
        result = engine.run(library, "document.create", {"name": f"page {number}", "doc_type": "page"}, OWNER)
        ids.append(str((result.result or {})["id"]))
        body = {"document_id": ids[-1], "file": page_file(number), "filename": "a.xml"}
        engine.run(library, "format.import", body, OWNER)
    return ids


def first_writing(engine: Engine, library: Library, place: Path) -> float:
    """Return the seconds from linking the folder to the last file."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    tied = engine.run(library, "sync.tie", {"path": str(place), "formats": ["pagexml"]}, OWNER).result or {}

    def write() -> None:
        Writer(engine, library, tied["id"], KEEPER).run(quiet=0.0)

    took = seconds(write)
    assert len(list((place / "pagexml").iterdir())) == 2 * PAGES
    engine.run(library, "sync.untie", {"folder_id": tied["id"]}, OWNER)
    with library.db.write() as conn:
        for table in ("sync_file", "sync_version", "sync_tied"):
            conn.exec_driver_sql(f"DELETE FROM {table}")
    return took


def plain_export(engine: Engine, library: Library, pages: list[str], place: Path) -> float:
    """Return the seconds of exporting every page and writing it plainly."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()

    def write() -> None:
        for page in pages:
            export: dict[str, Any] = export_page(engine, library, page, "pagexml")
            (place / f"{page}.xml").write_text(export["content"], "utf-8")

    return seconds(write)


def changed_page(engine: Engine, library: Library, place: Path) -> Result:
    """Measure the seconds from a correction until the page's file on disk has it, the slowest of five."""
    place.mkdir()
    result = engine.run(library, "document.create", {"name": "a letter", "doc_type": "page"}, OWNER)
    page = str((result.result or {})["id"])
    body = {"document_id": page, "file": page_file(1), "filename": "a.xml"}
    engine.run(library, "format.import", body, OWNER)
    engine.run(library, "sync.tie", {"path": str(place), "formats": ["pagexml"]}, OWNER)
    with library.db.read() as conn:
        (line,) = raw_of(conn).execute("SELECT id FROM segment WHERE kind = 'line' LIMIT 1").fetchone()
    waited = []
    for number in range(5):
        _wait_for(place, "Line 1 of a letter" if number == 0 else f"correction {number - 1}.")
        said = f"correction {number}."
        engine.run(library, "representation.create", {"segment_id": line, "text": said}, OWNER)
        began = time.perf_counter()
        _wait_for(place, said)
        waited.append(time.perf_counter() - began)
    allowed = QUIET + 1.0
    return Result(
        35,
        f"a changed page on the disk, after {QUIET:.0f} s of quiet",
        "s",
        max(waited),
        allowed,
        "allowed",
        max(waited) / allowed,
        limit=1.0,
    )


def _wait_for(place: Path, words: str) -> None:
    """Wait until the only layout file has *words*, a minute at most."""
    until = time.monotonic() + 60
    while not any(words in path.read_text("utf-8") for path in place.glob("pagexml/*.xml")):
        if time.monotonic() > until:
            raise RuntimeError(f"the file never had {words!r}")
        time.sleep(0.01)


def watching(engine: Engine, library: Library, place: Path) -> list[Result]:
    """Measure an idle watch over FILES files."""
    place.mkdir()
    for number in range(FILES):
        if number % 1000 == 0:
            (place / str(number)).mkdir()
        (place / str(number // 1000 * 1000) / f"{number}.txt").write_bytes(b"x")
    tied = engine.run(library, "sync.tie", {"path": str(place), "formats": ["pagexml"]}, OWNER).result or {}
    before = resident()
    engine.run(library, "sync.intake", {"folder_id": tied["id"], "on": True}, OWNER)
    engine.jobs.run_until_idle(library, 600)
    time.sleep(5)
    spent = time.process_time()
    time.sleep(WATCHED_FOR)
    share = (time.process_time() - spent) / WATCHED_FOR
    more = resident() - before
    return [
        Result(
            35, f"watching {FILES:,} files: memory", "MB", more, 100.0, "allowed", more / 100.0, limit=1.0
        ),
        Result(
            35,
            f"watching {FILES:,} files: of a core",
            "%",
            share * 100,
            1.0,
            "allowed",
            share * 100,
            limit=1.0,
        ),
    ]


def resident() -> float:
    """Return the megabytes in memory."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * resource.getpagesize() / 1e6
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
