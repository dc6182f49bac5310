"""Empty Trash, killed at any moment or on a failing disk: all or nothing, and no live page loses its file."""

from __future__ import annotations

from pathlib import Path

import pytest

from armarium_testing.faults import strike
from armarium_testing.shim import compiler

HERE = {"PYTHONPATH": str(Path(__file__).parent)}
needs_compiler = pytest.mark.skipif(compiler() is None, reason="no C compiler here: the shim cannot be made")


@pytest.mark.slow
def test_empty_trash_killed_at_random(tmp_path: Path) -> None:
    report = strike("empty_trash_workload:EMPTY_TRASH", tmp_path, "--random", "8", env=HERE)
    assert report["faults"] == []


@needs_compiler
@pytest.mark.slow
def test_empty_trash_killed_at_writes_syncs_and_renames(tmp_path: Path) -> None:
    report = strike("empty_trash_workload:EMPTY_TRASH", tmp_path, "--every", "23", env=HERE)
    assert report["faults"] == []


@needs_compiler
@pytest.mark.slow
def test_empty_trash_on_a_disk_that_fails(tmp_path: Path) -> None:
    report = strike("empty_trash_workload:EMPTY_TRASH", tmp_path, "--errors", "173", env=HERE)
    assert report["faults"] == []
    assert report["refused_in_words"] > 0


@needs_compiler
@pytest.mark.soak
@pytest.mark.timeout(0)
def test_empty_trash_struck_everywhere(tmp_path: Path) -> None:
    for options in (("--random", "500"), ("--every", "1"), ("--errors", "1")):
        report = strike("empty_trash_workload:EMPTY_TRASH", tmp_path / options[0][2:], *options, env=HERE)
        assert report["faults"] == []
