"""A crash neither loses nor repeats anything, and a full or broken disk is reported with a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from armarium_testing.faults import strike
from armarium_testing.shim import compiler

HERE = {"PYTHONPATH": str(Path(__file__).parent)}
needs_compiler = pytest.mark.skipif(compiler() is None, reason="no C compiler here: the shim cannot be made")


def check_report(report: dict[str, Any]) -> None:
    assert report["faults"] == []
    assert report["dearest_restart"] < 5


@pytest.mark.slow
@pytest.mark.parametrize(
    "workload",
    [
        "workloads:SHELVES",
        "workloads:IMPORT",
        "workloads:TRANSFER",
        "workloads:CUTS",
        "run_workload:RUN",
        "recipe_workload:RECIPE_RUN",
        "judgements_workload:JUDGING",
        "knowledge_workload:KNOWING",
    ],
)
def test_random_kills(tmp_path: Path, workload: str) -> None:
    report = strike(workload, tmp_path, "--random", "6", env=HERE)
    check_report(report)
    assert report["kills"] == 6


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize(
    ("workload", "stride"),
    [
        ("workloads:SHELVES", "127"),
        ("workloads:FOLDING", "127"),
        ("workloads:IMPORT", "127"),
        ("workloads:TRANSFER", "127"),
        ("workloads:CUTS", "197"),
        ("knowledge_workload:KNOWING", "197"),
    ],
)
def test_kills_at_writes_syncs_and_renames(tmp_path: Path, workload: str, stride: str) -> None:
    check_report(strike(workload, tmp_path, "--every", stride, env=HERE))


@needs_compiler
@pytest.mark.slow
def test_a_move_is_settled_whatever_befell_the_other_project(tmp_path: Path) -> None:
    check_report(strike("interrupted_moves:MOVES", tmp_path, "--every", "311", "--first", "100", env=HERE))


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize(
    ("workload", "stride"), [("SHELVES", "197"), ("IMPORT", "1401"), ("TRANSFER", "1201"), ("CUTS", "1801")]
)
def test_a_disk_that_fails_is_refused_with_a_sentence(tmp_path: Path, workload: str, stride: str) -> None:
    report = strike(f"workloads:{workload}", tmp_path, "--errors", stride, env=HERE)
    check_report(report)
    assert report["errors"] > 0
    assert workload != "SHELVES" or report["refused_in_words"] > 0


def test_a_lost_step_would_be_detected(tmp_path: Path) -> None:
    """This tests the harness: a workload that claims a step it never made is detected."""
    late = strike("workloads:LIAR", tmp_path, "--random", "4", env=HERE)
    assert any("is lost" in fault for fault in late["faults"])


@needs_compiler
def test_a_refusal_that_changed_something_would_be_seen(tmp_path: Path) -> None:
    late = strike("workloads:LEAKY", tmp_path, "--errors", "1000", env=HERE)
    assert any("shelf.restock was refused and changed shelf" in fault for fault in late["faults"])


@needs_compiler
@pytest.mark.slow
def test_an_unfinished_transfer_would_be_detected(tmp_path: Path) -> None:
    """This tests the check: if nothing finishes what a kill left, unfinished transfers are detected."""
    late = strike("workloads:FORGETFUL", tmp_path, "--every", "97", env=HERE)
    assert any("were not finished" in fault for fault in late["faults"])


@pytest.mark.soak
@pytest.mark.timeout(0)
@pytest.mark.parametrize(
    "workload",
    [
        "workloads:SHELVES",
        "workloads:IMPORT",
        "workloads:TRANSFER",
        "workloads:CUTS",
        "run_workload:RUN",
        "recipe_workload:RECIPE_RUN",
        "judgements_workload:JUDGING",
        "knowledge_workload:KNOWING",
    ],
)
def test_a_thousand_kills(tmp_path: Path, workload: str) -> None:
    report = strike(workload, tmp_path, "--random", "500", env=HERE)
    check_report(report)
    assert report["kills"] == 500


@needs_compiler
@pytest.mark.soak
@pytest.mark.timeout(0)
@pytest.mark.parametrize("workload", ["SHELVES", "FOLDING", "IMPORT", "TRANSFER", "CUTS"])
def test_a_kill_and_each_error_at_every_call(tmp_path: Path, workload: str) -> None:
    check_report(strike(f"workloads:{workload}", tmp_path, "--every", "1", env=HERE))
    check_report(strike(f"workloads:{workload}", tmp_path / "errors", "--errors", "1", env=HERE))


@needs_compiler
@pytest.mark.soak
@pytest.mark.timeout(0)
def test_moves_are_settled_after_kills_at_a_hundred_calls(tmp_path: Path) -> None:
    check_report(strike("interrupted_moves:MOVES", tmp_path, "--every", "7", env=HERE))
