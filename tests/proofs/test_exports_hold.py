"""Whatever a reader makes of a broken file, every writer writes it as a valid file, or says why not."""

from __future__ import annotations

import os

import pytest

from armarium.errors import ServiceError
from armarium_formats.api import FormatDriver, PageModel, ReadContext
from armarium_testing.formats import NOW
from proofs.format_mutations import COMPANIONS, SIZE, all_drivers, mutate, seeds

DRIVERS = all_drivers()
READERS = sorted(name for name, driver in DRIVERS.items() if driver.reads)
SHORT = 200
FULL = int(os.environ.get("ARMARIUM_FUZZ_INPUTS", "1000000")) // 100


def pages_of(driver: FormatDriver, data: bytes) -> list[PageModel]:
    """Return the first pages of a mutation; none when it is refused."""
    try:
        return driver.read(data, ReadContext("fuzzed", SIZE, COMPANIONS))[:2]
    except ServiceError:
        return []


def faults(name: str, numbers: range) -> tuple[list[str], int]:
    """Return the mutations of a reader's files on which some writer fails, each with the fault; and how many pages were
    read.
    """
    reader, found, read = DRIVERS[name], [], 0
    # Nearly every mutation of another format's file would be refused and prove nothing here.
    files = [seed for seed in seeds(reader) if pages_of(reader, seed)]
    for number in numbers:
        for page in pages_of(reader, mutate(files, name, number)):
            read += 1
            for writer in (driver for driver in DRIVERS.values() if driver.writes):
                try:
                    problems = writer.validate(writer.write(page, NOW).content)
                except Exception as fault:
                    problems = [repr(fault)]
                found += [f"input {number} as {writer.name}: {problem}" for problem in problems[:1]]
    return found, read


def check_exports(name: str, numbers: range) -> None:
    found, read = faults(name, numbers)
    assert found == []
    # If every mutation were refused, nothing would be proved.
    assert read >= len(numbers) // 12, f"only {read} pages were read of {len(numbers)} files"


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_what_is_read_from_a_broken_file_is_written_valid(name: str) -> None:
    check_exports(name, range(SHORT))


@pytest.mark.soak
@pytest.mark.parametrize("name", READERS)
def test_what_is_read_from_very_many_broken_files_is_written_valid(name: str) -> None:
    check_exports(name, range(FULL))
