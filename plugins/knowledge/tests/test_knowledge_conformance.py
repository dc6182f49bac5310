"""Knowledge keeps to the contract of plugins."""

from __future__ import annotations

from pathlib import Path

from armarium.api import Engine
from armarium_testing.conformance import exercise_plugin


def test_knowledge_passes_the_conformance_kit(engine: Engine, tmp_path: Path) -> None:
    assert exercise_plugin(engine, "knowledge", tmp_path / "kit") == []
