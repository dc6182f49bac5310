"""A recipe of each purpose that is killed at any moment ends with everything once, and is undone as one set."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from purpose_workload import ADDRESS, TRUTH

from armarium_testing.faults import strike
from armarium_testing.truthful_provider import TruthfulProvider

PURPOSES = ("TRANSCRIBE", "ENTITIES", "SEARCH", "TABLES", "TRANSLATE")
HERE = {"PYTHONPATH": str(Path(__file__).parent)}


@pytest.fixture
def provider() -> Iterator[TruthfulProvider]:
    """A provider that outlives the killed processes."""
    with TruthfulProvider(TRUTH) as truthful_provider:
        yield truthful_provider


def strike_purpose(purpose: str, kills: int, provider: TruthfulProvider, folder: Path) -> None:
    """Kill the recipe at *kills* random moments."""
    where = {**HERE, ADDRESS: f"{provider.url}/v1"}
    report = strike(f"purpose_workload:{purpose}", folder, "--random", str(kills), env=where)
    assert report["faults"] == []
    assert report["kills"] == kills
    assert provider.pictures


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("purpose", PURPOSES)
def test_random_kills(tmp_path: Path, provider: TruthfulProvider, purpose: str) -> None:
    strike_purpose(purpose, 3, provider, tmp_path)


@pytest.mark.soak
@pytest.mark.timeout(0)
@pytest.mark.parametrize("purpose", PURPOSES)
def test_two_hundred_kills(tmp_path: Path, provider: TruthfulProvider, purpose: str) -> None:
    strike_purpose(purpose, 200, provider, tmp_path)
