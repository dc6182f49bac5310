"""A killed engine loses no job and repeats no effect."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from armarium_testing.shim import CLOCK_SHIM, build_shim, compiler

SCRIPT = Path(__file__).with_name("kill_jobs.py")
needs_compiler = pytest.mark.skipif(
    compiler() is None, reason="no C compiler here: the clock cannot be moved"
)


def kill_and_check(
    folder: Path, seed: int, systematic: int, at_random: int, timeout: float, mutant: str = "", **env: str
) -> dict[str, object]:
    process = subprocess.run(
        [sys.executable, str(SCRIPT), str(folder), str(seed), str(systematic), str(at_random), mutant],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env={**os.environ, **env},
    )
    assert process.returncode == 0, process.stderr[-3000:]
    answer: dict[str, object] = json.loads(process.stdout.splitlines()[-1])
    return answer


def check(answer: dict[str, object]) -> None:
    assert answer["states"] == {"done": 10 + 3 + 9 + 40}
    assert answer["doubled"] == 0
    assert answer["items"] == 10 * 4 + 9 * 2
    assert answer["pages"] == [40 + 18 + 40, 40 + 18 + 40]


@pytest.mark.skipif(sys.platform == "win32", reason="kills by signal, which Windows does not have")
def test_kills_around_every_early_commit_and_at_random(tmp_path: Path) -> None:
    answer = kill_and_check(tmp_path, 1, systematic=24, at_random=8, timeout=240)
    check(answer)
    assert answer["killed"] >= 20  # type: ignore[operator]


@pytest.mark.skipif(sys.platform == "win32", reason="kills by signal, which Windows does not have")
@pytest.mark.slow
@pytest.mark.parametrize("mutant", ["apart", "lost"])
def test_the_harness_notices_a_planted_fault(tmp_path: Path, mutant: str) -> None:
    answer = kill_and_check(
        tmp_path, 1, systematic=24 if mutant == "apart" else 8, at_random=0, timeout=240, mutant=mutant
    )
    with pytest.raises(AssertionError):
        check(answer)


def with_a_jumping_clock(folder: Path, seed: int, systematic: int, at_random: int) -> dict[str, object]:
    moved = folder / "moved"
    moved.write_bytes(bytes(8))
    shim = build_shim(folder / "shim", CLOCK_SHIM)
    env = {"CLOCK_SHIM_FILE": str(moved), "LD_PRELOAD": str(shim)}
    return kill_and_check(folder / "killed", seed, systematic, at_random, timeout=900, **env)


@needs_compiler
@pytest.mark.slow
def test_kills_while_the_clock_jumps_ten_years(tmp_path: Path) -> None:
    answer = with_a_jumping_clock(tmp_path, 1, systematic=10, at_random=6)
    check(answer)
    assert answer["killed"] >= 10  # type: ignore[operator]


@needs_compiler
@pytest.mark.soak
@pytest.mark.timeout(0)
@pytest.mark.parametrize("seed", range(4))
def test_two_hundred_kills_while_the_clock_jumps_ten_years(tmp_path: Path, seed: int) -> None:
    check(with_a_jumping_clock(tmp_path, seed, systematic=30, at_random=20))


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(20))
def test_a_thousand_kills(tmp_path: Path, seed: int) -> None:
    check(kill_and_check(tmp_path, seed, systematic=30, at_random=20, timeout=900))
