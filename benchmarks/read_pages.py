"""Row 5: reading pages as a job of the engine against the bare reader on the same files, models loaded on both sides.

kraken is measured where ``armarium runtime install kraken`` was run on this machine; else only RapidOCR is.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from armarium.api import Engine, Library, Settings
from armarium_demo.samples import write_sample_pages
from benchmarks.harness import Result, compare, seconds
from benchmarks.places import OWNER, running_engine, scratch_folder

PAGES = 4
KRAKEN_PAGES = 1
"""kraken takes a minute a page where it has two cores."""
PATIENCE = 900.0
LIMIT = 1.03


def measure(rounds: int) -> list[Result]:
    """Measure seconds per page with RapidOCR, find and read; and with kraken, line finding."""
    with scratch_folder() as folder:
        borrow_runtimes(folder / "state")
        files = write_sample_pages(folder / "pages", count=PAGES)
        with running_engine(folder, jobs=True, compute_priority="fast") as (engine, library):
            pages = _import(engine, library, folder / "pages")
            results = [_with_rapidocr(engine, library, pages, files, rounds)]
            if "kraken" in engine.runtimes.list_declared() and engine.runtimes.is_installed("kraken"):
                results.append(_with_kraken(engine, library, pages, files, rounds))
            return results


def _with_rapidocr(
    engine: Engine, library: Library, pages: list[str], files: list[Path], rounds: int
) -> Result:
    from rapidocr import RapidOCR

    bare: Callable[[str], Any] = RapidOCR(params={"Global.log_level": "critical"})
    return compare(
        5,
        f"reading {PAGES} pages as a job, RapidOCR",
        engine=lambda: (
            seconds(lambda: _job(engine, library, "reading.read_pages", pages, "rapidocr")) / PAGES
        ),
        peer=lambda: seconds(lambda: [bare(str(file)) for file in files]) / PAGES,
        peer_name="bare RapidOCR",
        unit="s a page",
        rounds=rounds,
        limit=LIMIT,
    )


def _with_kraken(
    engine: Engine, library: Library, pages: list[str], files: list[Path], rounds: int
) -> Result:
    pages, files = pages[:KRAKEN_PAGES], files[:KRAKEN_PAGES]
    with _bare_kraken(engine.runtimes.python_of("kraken"), files) as bare:
        return compare(
            5,
            f"finding the lines of {KRAKEN_PAGES} page as a job, kraken",
            engine=lambda: (
                seconds(lambda: _job(engine, library, "reading.find_lines", pages, "kraken")) / KRAKEN_PAGES
            ),
            peer=lambda: bare() / KRAKEN_PAGES,
            peer_name="bare kraken",
            unit="s a page",
            rounds=rounds,
            limit=LIMIT,
        )


@contextmanager
def _bare_kraken(python: Path, files: list[Path]) -> Iterator[Callable[[], float]]:
    script = Path(__file__).with_name("bare_kraken.py")
    with subprocess.Popen(
        [python, script, *files], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        asked, said = process.stdin, process.stdout

        def once() -> float:
            asked.write("go\n")
            asked.flush()
            return float(said.readline())

        yield once
        asked.close()


def borrow_runtimes(state: Path) -> None:
    """Let the measurement's engine use the runtimes that are installed for this machine's own engine."""
    installed = Settings().state_dir / "runtimes"
    if installed.is_dir():
        state.mkdir(mode=0o700, parents=True)
        (state / "runtimes").symlink_to(installed, target_is_directory=True)


def _import(engine: Engine, library: Library, folder: Path) -> list[str]:
    """Import the sample pages, wait until their thumbnails exist too, and return the pages."""
    from armarium_documents.api import pages_under

    started = engine.run(library, "document.import", {"folder": str(folder)}, OWNER).result or {}
    wait_until_done(engine, library, started["job_id"])
    engine.jobs.run_until_idle(library, PATIENCE)
    with library.db.read() as conn:
        tops = [row[0] for row in conn.exec_driver_sql("SELECT id FROM document WHERE parent_id IS NULL")]
        pages = pages_under(conn, tops)
    if len(pages) != PAGES:
        raise RuntimeError(f"{PAGES} pages were written and {len(pages)} imported")
    return pages


def _job(engine: Engine, library: Library, action: str, pages: list[str], reader: str) -> None:
    started = engine.run(library, action, {"scope_ids": pages, "reader": reader}, OWNER).result or {}
    wait_until_done(engine, library, started["job_id"])


def wait_until_done(engine: Engine, library: Library, job_id: str) -> None:
    """Wait for the end of a job; raise RuntimeError if it did not succeed."""
    state = engine.jobs.wait(library, job_id, PATIENCE)
    if state != "done":
        raise RuntimeError(f"the job {job_id} ended {state}")
