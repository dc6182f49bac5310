"""Rows 16 and 18: the import of a folder of 2,000 PAGE files against the parsers of kraken and ocrd alone, and the
memory that an import of 10,000 pages takes.

What is timed is the job that reads a folder's layout files, from its start to its end, as the queue records it: it
walks the folder, pairs the files with their pictures, reads, checks and places them (in a worker process too, which the
warm-up round has started), stores their bytes and writes passes and segments as audited steps with their checkpoints,
each flushed to disk. The preceding import of the pictures, and thumbnails, are excluded.

kraken is measured where ``armarium runtime install kraken`` was run on this machine, or with the interpreter that
``ARMARIUM_KRAKEN_PYTHON`` names; ocrd where it is installed beside the project, or with ``ARMARIUM_OCRD_PYTHON``.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import count
from pathlib import Path

from armarium.web.serving import settle_memory
from benchmarks.alto_export import kraken_python
from benchmarks.harness import Result, compare
from benchmarks.places import OWNER, running_engine, scratch_folder

FILES = 2_000
REGIONS, LINES = 3, 12
"""Regions and lines of one file; only layout, as line finders write it."""
WIDTH, HEIGHT = 2400, 3600
MEMORY_PAGES = 10_000
MEMORY_LIMIT = 400.0
"""Megabytes."""
ALL_LINES = FILES * REGIONS * LINES

_SPACE = "http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"


def measure(rounds: int) -> list[Result]:
    """Measure lines a second against each parser alone; megabytes at the peak, and their growth."""
    results: list[Result] = []
    with scratch_folder() as folder:
        write_files(folder / "box" / "page", FILES)
        for name, python, limit in _peers():
            with (
                running_engine(folder / name) as (engine, library),
                bare_parser(python, name, folder / "box" / "page") as bare,
            ):
                numbers = count()

                def ours(engine=engine, library=library, numbers=numbers) -> float:  # type: ignore[no-untyped-def]
                    # Other files each time: the bytes of those imported before are in the store.
                    box = folder / "next"
                    write_box(box, FILES, next(numbers) * FILES)
                    seconds = layouts_seconds(engine, library, box)
                    shutil.rmtree(box)
                    return ALL_LINES / seconds

                results.append(
                    compare(
                        16,
                        f"import of a folder of {FILES:,} PAGE files of {REGIONS * LINES} lines, audited, in bounded steps",
                        engine=ours,
                        peer=lambda bare=bare: ALL_LINES / bare(),  # type: ignore[misc]
                        peer_name=f"{name}'s parser alone",
                        unit="lines a second",
                        rounds=rounds,
                        limit=limit,
                        bound="at least",
                    )
                )
    results += _memory()
    return results


def _peers() -> Iterator[tuple[str, Path, float | None]]:
    kraken = kraken_python()
    if kraken is not None:
        yield "kraken", kraken, 0.5
    ocrd = Path(os.environ.get("ARMARIUM_OCRD_PYTHON") or sys.executable)
    check = [str(ocrd), "-c", "import ocrd_models.ocrd_page"]
    if subprocess.run(check, capture_output=True, check=False).returncode == 0:
        yield "ocrd", ocrd, None


def layouts_seconds(engine, library, box: Path) -> float:  # type: ignore[no-untyped-def]
    """Import a folder into a new one; return how long the job that read its layout files took."""
    place = engine.run(library, "document.create", {"name": "Pages"}, OWNER).result["id"]
    engine.run(library, "document.import", {"folder": str(box), "parent_id": place}, OWNER)
    engine.jobs.run_until_idle(library, 24 * 3600)
    with library.db.read() as conn:
        started, finished, result = conn.exec_driver_sql(
            "SELECT started_at, finished_at, result FROM job WHERE kind = 'ingest-layouts' ORDER BY seq DESC LIMIT 1"
        ).one()
    assert json.loads(result)["passes"] == FILES, result
    return (datetime.fromisoformat(finished) - datetime.fromisoformat(started)).total_seconds()


def write_box(folder: Path, many: int, first: int = 0) -> None:
    """Write *many* small pictures, no two alike, and a PAGE file for each in the folder `page`; numbered from *first*
    on.
    """
    from PIL import Image

    write_files(folder / "page", many, first)
    for one in range(first, first + many):
        image = Image.new("L", (240, 360), one % 256)
        image.putpixel((one % 240, one // 240 % 360), 255 - one % 256)
        image.save(folder / f"{one:05}.jpg", quality=30)


def write_files(folder: Path, count: int, first: int = 0) -> None:
    """Write *count* PAGE files of a layout without texts, no two alike."""
    folder.mkdir(parents=True)
    for number in range(first, first + count):
        (folder / f"{number:05}.xml").write_text(page_file(number), encoding="utf-8")


def page_file(number: int) -> str:
    """Return a PAGE file of regions and lines with outlines of 24 points and baselines of 5."""
    parts = [
        f'<?xml version="1.0" encoding="UTF-8"?>\n<PcGts xmlns="{_SPACE}"><Metadata><Creator>bench {number}</Creator>'
        "<Created>2026-01-01T00:00:00</Created><LastChange>2026-01-01T00:00:00</LastChange></Metadata>"
        f'<Page imageFilename="{number:05}.jpg" imageWidth="{WIDTH}" imageHeight="{HEIGHT}">'
    ]
    for region in range(REGIONS):
        top = 40 + region * 1150 + number % 7
        parts.append(
            f'<TextRegion id="r{region}"><Coords points="60,{top} 2300,{top} 2300,{top + 1100} 60,{top + 1100}"/>'
        )
        for line in range(LINES):
            y = top + 5 + line * 90
            upper = [(70 + step * 200, y - step % 3 + 3) for step in range(12)]
            lower = [(x, y + 70 + x % 2) for x, _ in reversed(upper)]
            outline = " ".join(f"{x},{y}" for x, y in (*upper, *lower))
            base = " ".join(f"{70 + step * 550},{y + 60 - step % 2}" for step in range(5))
            parts.append(
                f'<TextLine id="r{region}l{line}"><Coords points="{outline}"/><Baseline points="{base}"/></TextLine>'
            )
        parts.append("</TextRegion>")
    parts.append("</Page></PcGts>")
    return "".join(parts)


@contextmanager
def bare_parser(python: Path, which: str, folder: Path) -> Iterator[Callable[[], float]]:
    """Yield a function that runs a parser in its own interpreter and returns the seconds that all files took."""
    script = Path(__file__).with_name("bare_parse.py")
    command = [str(python), str(script), which, str(folder), str(ALL_LINES)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        asked, said = process.stdin, process.stdout

        def once() -> float:
            asked.write("again\n")
            asked.flush()
            return float(said.readline())

        yield once
        asked.close()


def _memory() -> list[Result]:
    """Measure the peak of a process that imports a folder of pictures and PAGE files, and its growth after the first
    tenth.
    """
    with scratch_folder() as folder:
        process = subprocess.run(
            [sys.executable, "-m", "benchmarks.many_pages", str(folder), str(MEMORY_PAGES)],
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parent.parent,
        )
    seen = json.loads(process.stdout.splitlines()[-1])
    what = f"import of {MEMORY_PAGES:,} pages with their PAGE files as a folder"
    return [
        Result(
            18,
            f"peak memory of an {what}",
            "MB",
            seen["peak"],
            MEMORY_LIMIT,
            "the limit",
            seen["peak"] / MEMORY_LIMIT,
            "at most",
            1,
        ),
        Result(
            18,
            f"peak memory at the end of an {what}",
            "MB",
            seen["peak"],
            seen["early"],
            "the peak after a tenth of it",
            seen["peak"] / seen["early"],
            "at most",
            1.15,
        ),
    ]


def watched_import(folder: Path, count: int) -> dict[str, float]:
    """Import *count* small pictures with a PAGE file each; return the peak in megabytes after a tenth and at the end,
    of the engine and the workers it started together.
    """
    import resource

    import psutil

    def peak() -> float:
        if sys.platform == "darwin":
            own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 * 1024)
            return own + sum(child.memory_info().rss for child in psutil.Process().children()) / (1024 * 1024)
        # Linux includes in ru_maxrss what the program that started this one used before it.
        return sum(map(_high_water, [os.getpid(), *(child.pid for child in psutil.Process().children())]))

    # As in `armarium serve`, which the command line also uses.
    settle_memory()
    tenth = count // 10
    write_box(folder / "part0", tenth)
    write_box(folder / "part1", count - tenth, tenth)
    seen: dict[str, float] = {}
    with running_engine(folder / "engine") as (engine, library):
        for part, name in ((0, "early"), (1, "peak")):
            engine.run(library, "document.import", {"folder": str(folder / f"part{part}")}, OWNER)
            engine.jobs.run_until_idle(library, 24 * 3600)
            seen[name] = peak()
        with library.db.read() as conn:
            (made,) = conn.exec_driver_sql("SELECT count(*) FROM segment_pass").one()
        assert made == count, (made, count)
    return seen


def _high_water(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024


if __name__ == "__main__":
    print(json.dumps(watched_import(Path(sys.argv[1]), int(sys.argv[2]))))
