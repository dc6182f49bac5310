"""A killed engine loses no job and doubles no effect (quality row 6)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("kill_jobs.py")


def killed(
    folder: Path, seed: int, systematic: int, at_random: int, timeout: float, mutant: str = ""
) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(folder), str(seed), str(systematic), str(at_random), mutant],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    answer: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return answer


def check(answer: dict[str, object]) -> None:
    assert answer["states"] == {"done": 10 + 3 + 9 + 40}
    assert answer["doubled"] == 0
    assert answer["items"] == 10 * 4 + 9 * 2
    assert answer["pages"] == [40 + 18 + 40, 40 + 18 + 40]


@pytest.mark.skipif(sys.platform == "win32", reason="kills by signal, which Windows does not have")
def test_kills_around_every_early_commit_and_at_random(tmp_path: Path) -> None:
    answer = killed(tmp_path, 1, systematic=24, at_random=8, timeout=240)
    check(answer)
    assert answer["killed"] >= 20  # type: ignore[operator]


@pytest.mark.skipif(sys.platform == "win32", reason="kills by signal, which Windows does not have")
@pytest.mark.slow
@pytest.mark.parametrize("mutant", ["apart", "lost"])
def test_the_harness_notices_a_planted_fault(tmp_path: Path, mutant: str) -> None:
    answer = killed(
        tmp_path, 1, systematic=24 if mutant == "apart" else 8, at_random=0, timeout=240, mutant=mutant
    )
    with pytest.raises(AssertionError):
        check(answer)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(20))
def test_a_thousand_kills(tmp_path: Path, seed: int) -> None:
    check(killed(tmp_path, seed, systematic=30, at_random=20, timeout=900))
