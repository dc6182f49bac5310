"""Row 57: `ARMARIUM_BENCH_VOLUME` pages (2,000) of forty lines with a picture of six megapixels as one file: memory of the
process while it writes.
"""

from __future__ import annotations

import os
from pathlib import Path

from benchmarks.harness import Result
from benchmarks.places import running_engine, scratch_folder
from benchmarks.record_exports import draw

PAGES = int(os.environ.get("ARMARIUM_BENCH_VOLUME", "2000"))
ALLOWED = 400.0
WRITTEN = (
    ("word", False),
    ("word", True),
    ("pdf", False),
    ("plain-text", False),
    ("markdown", False),
    ("tei", False),
)
"""Formats, and whether with the picture beside the text."""


def measure(rounds: int) -> list[Result]:
    """Measure the peak megabytes of each, those of the engine itself included."""
    from armarium_documents.api import pages_under
    from armarium_exports.rendering.volume.writing import write_volume

    results: list[Result] = []
    with scratch_folder() as folder, running_engine(folder) as (engine, library):
        draw(engine, library, PAGES)
        with library.db.read() as conn:
            box = conn.exec_driver_sql("SELECT id FROM document WHERE name = 'Box'").scalar_one()
            pages = pages_under(conn, [box])
        for name, facsimile in WRITTEN:
            Path("/proc/self/clear_refs").write_text("5")
            with (folder / name).open("wb") as into:
                write_volume(engine, library, pages, name, into, facsimile=facsimile, watch=lambda *_: None)
            status = Path("/proc/self/status").read_text().splitlines()
            peak = float(next(one for one in status if one.startswith("VmHWM")).split()[1]) / 1e3
            what = f"{PAGES:,} pages as one file, {name}{' with pictures' if facsimile else ''}: memory"
            results.append(Result(57, what, "MB", peak, ALLOWED, "allowed", peak / ALLOWED, limit=1.0))
    return results
