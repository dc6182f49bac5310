"""Row 30: the hand reader as a job against a bare loop of onnxruntime, and a manuscript page from photograph
to text.

The latter is stated next to kraken finding and reading the lines of the same page, if ARMARIUM_BENCH_KRAKEN
names an interpreter with kraken (or its runtime is installed) and ARMARIUM_BENCH_KRAKEN_MODEL a recognition
model; how well that model reads makes no difference to the time. What is missing is reported.
"""

from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import armarium_worker
from armarium.api import Engine, Library
from armarium_demo.samples import SampleLine, SamplePage, manuscript_page
from benchmarks.bare_hand import BareLoop
from benchmarks.harness import Result, compare, seconds
from benchmarks.places import OWNER, running_engine, scratch_folder
from benchmarks.read_pages import borrow_runtimes, wait_until_done

PAGES = 4
LIMIT = 1.05
WHOLE_LINES, WHOLE_LIMIT = 35, 3.0


def measure(rounds: int) -> list[Result]:
    """Measure seconds per page with given lines; and of one page from its picture alone."""
    with scratch_folder() as folder:
        borrow_runtimes(folder / "state")
        (folder / "pages").mkdir()
        pages = [manuscript_page(seed) for seed in range(1, PAGES + 1)]
        files = []
        for number, page in enumerate(pages, 1):
            files.append(folder / "pages" / f"{number}.jpg")
            files[-1].write_bytes(page.jpeg)
        with running_engine(folder, jobs=True, compute_priority="fast") as (engine, library):
            ids = import_pages(engine, library, folder / "pages")
            results = [_lines(engine, library, ids, pages, files, rounds)]
            results.append(_unnamed_reader(engine, library, ids, pages, rounds))
            return [*results, *_whole_page(engine, library, ids[0], files[0], rounds)]


def _lines(
    engine: Engine, library: Library, ids: list[str], pages: list[SamplePage], files: list[Path], rounds: int
) -> Result:
    for identity, page in zip(ids, pages, strict=True):
        draw_lines(engine, library, identity, page)
    shapes = [[_shape(line) for line in page.lines] for page in pages]
    bare = BareLoop(os.cpu_count() or 1)
    return compare(
        30,
        f"reading the lines of {PAGES} manuscript pages as a job, hand reader",
        engine=lambda: seconds(lambda: _job(engine, library, "reading.read_lines", ids, "hand")) / PAGES,
        peer=lambda: (
            seconds(lambda: [bare.read(file, lines) for file, lines in zip(files, shapes, strict=True)])
            / PAGES
        ),
        peer_name="a bare loop of onnxruntime",
        unit="s a page",
        rounds=rounds,
        limit=LIMIT,
        note=f"{sum(map(len, shapes)) / PAGES:.0f} lines a page",
    )


def _unnamed_reader(
    engine: Engine, library: Library, ids: list[str], pages: list[SamplePage], rounds: int
) -> Result:
    """State the seconds from photograph to text for 35 lines of a page alone, no reader named: found, tried by each reader, read."""

    def once() -> float:
        took = seconds(lambda: _job(engine, library, "reading.find_lines", ids[:1], "rapidocr"))
        read = seconds(lambda: _job(engine, library, "reading.read_lines", ids[:1], None))
        return took + read * WHOLE_LINES / len(pages[0].lines)

    once()
    taken = statistics.median(once() for _ in range(rounds))
    return Result(
        30,
        f"a page of {WHOLE_LINES} lines from photograph to text, no reader named, as jobs",
        "s",
        taken,
        WHOLE_LIMIT,
        "the limit",
        taken / WHOLE_LIMIT,
        limit=1.0,
        note=f"reading measured on {len(pages[0].lines)} lines, in proportion",
    )


def draw_lines(engine: Engine, library: Library, identity: str, page: SamplePage) -> None:
    """Create the true lines of *page* as a pass of the document *identity*."""
    result = engine.run(library, "segment.pass_create", {"document_id": identity, "name": "Drawn"}, OWNER)
    pass_id = str((result.result or {})["id"])
    segments = [
        {"document_id": identity, "pass_id": pass_id, "kind": "line", **_place(line, page)}
        for line in page.lines
    ]
    engine.run(library, "segment.create_many", {"segments": segments}, OWNER)


def _place(line: SampleLine, page: SamplePage) -> dict[str, Any]:
    shape = _shape(line)
    left, top, width, height = shape.rect

    def parts(points: Sequence[tuple[float, float]]) -> list[list[float]]:
        return [[x / page.width, y / page.height] for x, y in points]

    rect = [left / page.width, top / page.height, width / page.width, height / page.height]
    return {"anchor": {"rect": rect, "polygon": parts(line.polygon)}, "baseline": parts(line.baseline)}


def _shape(line: SampleLine) -> armarium_worker.LineShape:
    xs, ys = zip(*line.polygon, strict=True)
    rect = (min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys))
    return armarium_worker.LineShape(rect, list(line.polygon), list(line.baseline))


def _whole_page(engine: Engine, library: Library, page: str, file: Path, rounds: int) -> list[Result]:
    """State the time of finding lines by RapidOCR and reading them by the hand reader; kraken does both, if
    it is installed.
    """
    python, model = _kraken(engine)
    if python is None or model is None:
        print(
            "reading_hands: no kraken with a recognition model (ARMARIUM_BENCH_KRAKEN, ARMARIUM_BENCH_KRAKEN_MODEL); "
            "a whole page is left out.",
            file=sys.stderr,
        )
        return []
    import armarium_reader_kraken

    package = Path(str(armarium_reader_kraken.__file__)).parent
    threads = os.cpu_count() or 1
    kraken = armarium_worker.WorkerProcess(
        "armarium_reader_kraken.reader:KrakenReader",
        python=python,
        packages={package.name: package},
        threads=threads,
    )
    asked: dict[str, Any] = {"image": str(file), "model": str(model), "language": None}
    asked |= {"max_pixels": engine.settings.max_image_pixels}

    def ours() -> float:
        return seconds(lambda: find_and_read(engine, library, [page]))

    try:
        return [
            compare(
                30,
                "a manuscript page from photograph to text, lines by RapidOCR, text by the hand reader, as jobs",
                engine=ours,
                peer=lambda: seconds(lambda: kraken.call("read_page", asked)),
                peer_name="kraken, lines and text, in a worker of its own",
                unit="s a page",
                rounds=rounds,
                note=f"{threads} cores",
            )
        ]
    finally:
        kraken.kill()


def _kraken(engine: Engine) -> tuple[Path | None, Path | None]:
    python, model = os.environ.get("ARMARIUM_BENCH_KRAKEN"), os.environ.get("ARMARIUM_BENCH_KRAKEN_MODEL")
    if python is None and engine.runtimes.is_installed("kraken"):
        python = str(engine.runtimes.python_of("kraken"))
    return Path(python) if python else None, Path(model) if model else None


def import_pages(engine: Engine, library: Library, folder: Path) -> list[str]:
    """Import pages and wait for their thumbnails; return their ids in the order of their names."""
    started = engine.run(library, "document.import", {"folder": str(folder)}, OWNER).result or {}
    wait_until_done(engine, library, started["job_id"])
    engine.jobs.run_until_idle(library, 600.0)
    with library.db.read() as conn:
        asked = "SELECT id FROM document WHERE doc_type = 'file' ORDER BY name"
        return [row[0] for row in conn.exec_driver_sql(asked)]


def find_and_read(engine: Engine, library: Library, pages: list[str]) -> None:
    """Find the lines of pages by RapidOCR and read them by the hand reader."""
    _job(engine, library, "reading.find_lines", pages, "rapidocr")
    _job(engine, library, "reading.read_lines", pages, "hand")


def _job(engine: Engine, library: Library, action: str, pages: list[str], reader: str | None) -> None:
    started = engine.run(library, action, {"scope_ids": pages, "reader": reader}, OWNER).result or {}
    wait_until_done(engine, library, started["job_id"])
