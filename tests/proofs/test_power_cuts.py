"""A power cut loses no acknowledged write: a separate file system is shut down under the engine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from proofs.power import why_not

pytestmark = pytest.mark.skipif(why_not() is not None, reason=why_not() or "")


def cut(workload: str, folder: Path, cuts: int) -> dict[str, Any]:
    ran = subprocess.run(
        [
            sys.executable,
            "-m",
            "power",
            workload,
            str(folder / "cuts"),
            f"--cuts={cuts}",
        ],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
        capture_output=True,
        text=True,
    )
    if "failed to setup loop device" in ran.stderr or "mount:" in ran.stderr:
        pytest.skip(f"no file system can be mounted here: {ran.stderr.strip()[:200]}")
    assert ran.returncode == 0, ran.stderr[-2000:]
    report: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return report


@pytest.mark.slow
@pytest.mark.parametrize("workload", ["workloads:SHELVES", "workloads:FOLDING", "knowledge_workload:KNOWING"])
def test_a_power_cut_loses_no_acknowledged_write(tmp_path: Path, workload: str) -> None:
    report = cut(workload, tmp_path, 6)
    assert (report["kills"], report["faults"]) == (6, [])


@pytest.mark.slow
def test_a_database_that_does_not_wait_for_the_disk_is_found_out(tmp_path: Path) -> None:
    assert any("is lost" in fault for fault in cut("workloads:CARELESS", tmp_path, 8)["faults"])


@pytest.mark.soak
@pytest.mark.timeout(0)
@pytest.mark.parametrize("workload", ["workloads:SHELVES", "workloads:FOLDING", "knowledge_workload:KNOWING"])
def test_two_hundred_power_cuts(tmp_path: Path, workload: str) -> None:
    report = cut(workload, tmp_path, 200)
    assert (report["kills"], report["faults"]) == (200, [])
