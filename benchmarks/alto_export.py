"""Rows 16 and 17: PAGE and ALTO written and read by a format driver, against kraken's serialization and parser.

kraken is measured where ``armarium runtime install kraken`` was run on this machine, or with the interpreter that
``ARMARIUM_KRAKEN_PYTHON`` names; without it nothing is.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from armarium.api import Settings
from armarium_formats.alto.driver import Alto
from armarium_formats.api import Format, PageModel, PageSegment, PageText, ReadContext, WriteContext
from armarium_formats.pagexml.driver import PageXml
from benchmarks.harness import Result, compare, seconds
from benchmarks.places import scratch_folder

REGIONS, LINES = 10, 50
WIDTH, HEIGHT = 2400, 3600
TIMES = 10


def measure(rounds: int) -> list[Result]:
    """Measure the ratios of lines a second: written and checked (as exports are), and parsed."""
    python = kraken_python()
    if python is None:
        return []
    page = page_model()
    results: list[Result] = []
    with scratch_folder() as folder, bare_kraken(python, folder) as bare:
        drivers: tuple[tuple[Format, str], ...] = ((PageXml(), "pagexml"), (Alto(), "alto"))
        for driver, template in drivers:
            results.append(
                compare(
                    17,
                    f"export of {REGIONS * LINES} lines as {driver.label}, checked against its schema",
                    engine=lambda driver=driver: rate(lambda: write(driver, page)),  # type: ignore[misc]
                    peer=lambda template=template: TIMES * REGIONS * LINES / bare(f"write {template}"),  # type: ignore[misc]
                    peer_name="kraken.serialization, unchecked",
                    unit="lines a second",
                    rounds=rounds,
                    limit=2,
                    bound="at least",
                )
            )
            file = folder / f"{template}.xml"
            data = driver.write(page, WriteContext()).content.encode()
            file.write_bytes(data)
            results.append(
                compare(
                    16,
                    f"parsing {driver.label} of {REGIONS * LINES} lines, nothing stored",
                    engine=lambda driver=driver, data=data: rate(  # type: ignore[misc]
                        lambda: driver.read(data, ReadContext("page.xml"))
                    ),
                    peer=lambda file=file: TIMES * REGIONS * LINES / bare(f"read {file}"),  # type: ignore[misc]
                    peer_name="kraken's parser",
                    unit="lines a second",
                    rounds=rounds,
                    limit=0.5,
                    bound="at least",
                )
            )
    return results


def rate(act: Callable[[], object]) -> float:
    """Return the lines a second of *act*, run several times."""
    return TIMES * REGIONS * LINES / seconds(lambda: [act() for _ in range(TIMES)])


def write(driver: Format, page: PageModel) -> None:
    """Write a file as an export does, checked."""
    assert driver.validate(driver.write(page, WriteContext()).content) == []


def page_model() -> PageModel:
    """Return a page of lines with outlines of 24 points, baselines of 5 and texts."""
    regions: list[PageSegment] = []
    for number in range(REGIONS):
        left, top = 60 + number % 2 * 1180, 40 + number // 2 * 700
        page_segment = PageSegment(f"r{number}", "region", "TextRegion", box(left, top, 1100, 680))
        for row in range(LINES):
            y = top + 5 + row * 13
            upper = [(left + 10 + step * 90, y - step % 3) for step in range(12)]
            lower = [(x, y + 12 + x % 2) for x, _ in reversed(upper)]
            line = PageSegment(f"r{number}l{row}", "line", points=[*upper, *lower])
            line.baseline = [(left + 10 + step * 247, y + 10 - step % 2) for step in range(5)]
            line.texts = [PageText(f"line {row} of the region {number}, a row of some words & marks")]
            page_segment.children.append(line)
        regions.append(page_segment)
    return PageModel(WIDTH, HEIGHT, "page.jpg", regions)


def box(left: int, top: int, wide: int, high: int) -> list[tuple[float, float]]:
    """Return four corners."""
    return [(left, top), (left + wide, top), (left + wide, top + high), (left, top + high)]


def kraken_python() -> Path | None:
    """Return the interpreter that has kraken, or None."""
    answer = os.environ.get("ARMARIUM_KRAKEN_PYTHON")
    if answer:
        return Path(answer)
    paths = sorted((Settings().state_dir / "runtimes").glob("kraken*/bin/python"))
    return paths[0] if paths else None


@contextmanager
def bare_kraken(python: Path, folder: Path) -> Iterator[Callable[[str], float]]:
    """Run kraken in its own interpreter with the same lines; for each action it returns the seconds that *TIMES* of it
    took.
    """
    script = Path(__file__).with_name("bare_kraken_export.py")
    with subprocess.Popen(
        [python, script, str(TIMES)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        asked, said = process.stdin, process.stdout
        page = page_model()
        for region in page.segments:
            for line in region.children:
                asked.write(f"line\t{region.id}\t{line.id}\t{line.baseline}\t{line.points}\t{line.text}\n")
        asked.flush()

        def once(deed: str) -> float:
            asked.write(f"{deed}\n")
            asked.flush()
            return float(said.readline())

        yield once
        asked.close()
