"""What is too much to be tried on every submission: a fair part of it is, and the whole among the slow tests."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from os import environ
from pathlib import Path
from typing import Any

import pytest

DAY = "PYTEST_ARMARIUM_DAY"
"""In the environment of a run of the tests: the day of the year on which it began, on which all its processes agree."""
SLOW_TOO = "PYTEST_ARMARIUM_SLOW_TOO"
"""In that environment where the slow tests are run too."""
MOST_BYTES = 250_000
"""Larger real files are only tried among the slow tests, if their folder has others."""


def note_run(config: pytest.Config) -> None:
    """Note for all processes of a run of the tests what is asked of them."""
    environ.setdefault(DAY, str(date.today().timetuple().tm_yday))
    if "not slow" not in config.option.markexpr:
        environ[SLOW_TOO] = "1"


def slow_too() -> bool:
    """Return whether the slow tests are run too."""
    return SLOW_TOO in environ


def examples(full: int) -> int:
    """Return how many examples a test generates: all among the slow tests, a third of them on every submission."""
    return full if slow_too() else full // 3


def today(parts: int) -> int:
    """Return the part of *parts* whose turn it is: another one each day."""
    return int(environ[DAY]) % parts


def one_a_day(cases: Sequence[Any]) -> list[Any]:
    """Return *cases* as parameters of a test: another one each day is for every submission, the others are slow."""
    return _parameters(cases, lambda number, _: number == today(len(cases)))


def sample(cases: Sequence[Any], count: int) -> list[Any]:
    """Return *cases* as parameters of a test: *count* of them, evenly spread, are for every submission, the others slow."""
    chosen = {number * len(cases) // count for number in range(count)}
    return _parameters(cases, lambda number, _: number in chosen)


def sample_of_files(files: Iterable[Path], folder: Path) -> list[Any]:
    """Return real files beneath *folder* as parameters of a test: of each source, which has a folder of its own, the
    smallest, the largest and one between are for every submission, and all that are odd.
    """
    files = [*files]
    chosen = set(spread(files))
    return _parameters(files, lambda _, file: file in chosen, lambda file: str(file.relative_to(folder)))


def spread(files: Iterable[Path]) -> list[Path]:
    """Return the files for every submission."""
    sources: dict[Path, list[Path]] = defaultdict(list)
    for file in sorted(files, key=lambda file: (file.stat().st_size, file)):
        sources[file.parent].append(file)
    chosen: set[Path] = set()
    for source, of_source in sources.items():
        light = [file for file in of_source if file.stat().st_size <= MOST_BYTES] or of_source[:1]
        chosen.update(light if "odd" in source.parts else (light[0], light[len(light) // 2], light[-1]))
    return sorted(chosen)


def _parameters(
    cases: Sequence[Any],
    is_chosen: Callable[[int, Any], bool],
    name: Callable[[Any], str | None] = lambda case: None,
) -> list[Any]:
    return [
        pytest.param(case, marks=() if is_chosen(number, case) else pytest.mark.slow, id=name(case))
        for number, case in enumerate(cases)
    ]
