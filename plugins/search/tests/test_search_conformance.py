"""Search passes the suite that every plugin must pass."""

from __future__ import annotations

from pathlib import Path

from armarium.api import Engine
from armarium_testing.conformance import exercise_plugin


def test_search_passes_the_kit(engine: Engine, tmp_path: Path) -> None:
    assert exercise_plugin(engine, "search", tmp_path / "kit") == []
