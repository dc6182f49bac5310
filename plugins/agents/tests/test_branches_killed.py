"""Branches made, taken and merged, killed at any moment or on a failing disk: each is whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from armarium_testing.faults import strike
from armarium_testing.shim import compiler

HERE = {"PYTHONPATH": str(Path(__file__).parent)}
needs_compiler = pytest.mark.skipif(compiler() is None, reason="no C compiler here: the shim cannot be made")


@pytest.mark.slow
def test_branches_killed_at_random(tmp_path: Path) -> None:
    report = strike("branch_workload:BRANCH", tmp_path, "--random", "8", env=HERE)
    assert report["faults"] == []


@needs_compiler
@pytest.mark.slow
def test_branches_killed_at_writes_syncs_and_renames(tmp_path: Path) -> None:
    report = strike("branch_workload:BRANCH", tmp_path, "--every", "113", env=HERE)
    assert report["faults"] == []


@needs_compiler
@pytest.mark.slow
def test_branches_on_a_disk_that_fails(tmp_path: Path) -> None:
    report = strike("branch_workload:BRANCH", tmp_path, "--errors", "601", env=HERE)
    assert report["faults"] == []
    assert report["refused_in_words"] > 0


@needs_compiler
@pytest.mark.soak
@pytest.mark.timeout(0)
def test_branches_struck_everywhere(tmp_path: Path) -> None:
    for options in (("--random", "300"), ("--every", "1"), ("--errors", "1")):
        report = strike("branch_workload:BRANCH", tmp_path / options[0][2:], *options, env=HERE)
        assert report["faults"] == []
