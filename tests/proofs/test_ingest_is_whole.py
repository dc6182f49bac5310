"""Files imported together are all imported or none, and a folder's layout files are read once each, whatever is killed."""

from __future__ import annotations

from pathlib import Path

import pytest

from armarium_testing.faults import strike
from armarium_testing.shim import compiler

HERE = {"PYTHONPATH": str(Path(__file__).parent)}
needs_compiler = pytest.mark.skipif(compiler() is None, reason="no C compiler here: the shim cannot be made")


@pytest.mark.slow
def test_random_kills(tmp_path: Path) -> None:
    report = strike("ingest_workload:INGEST", tmp_path, "--random", "8", env=HERE)
    assert report["faults"] == []
    assert report["kills"] == 8


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("how", [("--every", "97"), ("--errors", "901")])
def test_kills_and_errors_at_writes_syncs_and_renames(tmp_path: Path, how: tuple[str, str]) -> None:
    assert strike("ingest_workload:INGEST", tmp_path, *how, env=HERE)["faults"] == []


@needs_compiler
@pytest.mark.soak
@pytest.mark.timeout(0)
def test_a_kill_and_each_error_at_every_call(tmp_path: Path) -> None:
    for how, number in (("--every", "1"), ("--errors", "1"), ("--random", "500")):
        assert strike("ingest_workload:INGEST", tmp_path / how[2:], how, number, env=HERE)["faults"] == []
