"""Every installed format driver survives broken files: no crash, none over 2 s or 512 MB.

Each driver is fuzzed in a process of its own, so that a crash of a C parser is detected as well. `make test` reads a
few hundred mutations per driver, `make soak` a million (ARMARIUM_FUZZ_INPUTS sets how many).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from armarium.errors import Invalid
from armarium_formats.api import Format, PageModel, PageSegment, ReadContext
from proofs.format_mutations import all_drivers, mutate, seeds

SCRIPT = Path(__file__).with_name("format_mutations.py")
READERS = sorted(name for name, driver in all_drivers().items() if driver.reads)
SHORT = 300
FULL = int(os.environ.get("ARMARIUM_FUZZ_INPUTS", "1000000"))
SECONDS, MEGABYTES = 2.0, 512


def fuzz(name: str, first: int, count: int, seconds: float = SECONDS) -> list[dict[str, Any]]:
    """Return the findings of the process for one driver; a process that died is a finding."""
    command = [sys.executable, str(SCRIPT), name, str(first), str(count), str(seconds), str(MEGABYTES)]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    found = [json.loads(row) for row in process.stdout.splitlines()]
    if process.returncode or not found or "inputs" not in found[-1]:
        found.append(
            {
                "driver": name,
                "wrong": f"the process died ({process.returncode}): {process.stderr[-2000:]}",
                "number": first,
            }
        )
    return found


def faults(found: list[dict[str, Any]]) -> list[str]:
    return [f"{item['driver']} {item['wrong']} (input {item['number']})" for item in found if "wrong" in item]


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_a_driver_holds_under_broken_files(name: str) -> None:
    # Thirty times the allowed time, so that no test fails because of a busy machine.
    assert faults(fuzz(name, 0, SHORT, 30 * SECONDS)) == []


@pytest.mark.soak
@pytest.mark.parametrize("name", READERS)
def test_a_driver_holds_under_a_million_broken_files(name: str) -> None:
    share = 10_000
    with ThreadPoolExecutor(max_workers=max(1, (os.cpu_count() or 2) // 2)) as several:
        parts = several.map(lambda first: fuzz(name, first, min(share, FULL - first)), range(0, FULL, share))
        found_parts = [one for part in parts for one in part]
    assert faults(found_parts) == []
    assert sum(item.get("inputs", 0) for item in found_parts) == FULL


def test_an_input_is_made_again_by_its_number() -> None:
    files = seeds(all_drivers()["hocr"])
    made = [mutate(files, "hocr", number) for number in range(50)]
    assert made == [mutate(files, "hocr", number) for number in range(50)]
    assert len(set(made)) > 45


class FaultyDriver(Format):
    """A driver with every fault the harness must detect: a crash, an invalid page, a refusal without a sentence,
    endless work.
    """

    name, label, extensions, reads = "fragile", "Fragile", (".x",), True

    def __init__(self, fault: str) -> None:
        self.fault = fault

    def read(self, data: bytes, context: ReadContext) -> list[PageModel]:
        if self.fault == "crash":
            raise KeyError("page")
        if self.fault == "terse":
            raise Invalid("bad")
        if self.fault == "slow":
            while True:
                pass
        return [PageModel(1, 1, segments=[PageSegment("", "line")])]


@pytest.mark.parametrize(
    ("fault", "words"), [("crash", "KeyError"), ("terse", "refuses with 422 'bad'"), ("unsound", "has no id")]
)
def test_a_fragile_driver_is_found_out(fault: str, words: str) -> None:
    from proofs.format_mutations import find_fault

    assert words in str(find_fault(FaultyDriver(fault), b"x"))


def test_endless_work_and_hunger_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from proofs import format_mutations

    monkeypatch.setattr(format_mutations, "all_drivers", lambda: {"fragile": FaultyDriver("slow")})
    monkeypatch.setattr(format_mutations, "seeds", lambda driver: [])
    monkeypatch.setattr(format_mutations, "mutate", lambda files, name, number: b"x")
    first, _ = format_mutations.run("fragile", 0, 1, 0.05, 512)
    assert "more than 0.05 seconds" in first["wrong"]
    monkeypatch.setattr(format_mutations, "all_drivers", lambda: {"fragile": FaultyDriver("unsound")})
    monkeypatch.setattr(format_mutations, "find_fault", lambda driver, data: None)
    (hungry, _) = format_mutations.run("fragile", 0, 1, 1, -1)
    assert "MB of memory" in hungry["wrong"]
