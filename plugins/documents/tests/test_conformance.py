"""Every action of documents passes the conformance kit: refusals, audit, undo and redo to the same digest."""

from __future__ import annotations

from pathlib import Path

from armarium.api import Engine
from armarium_testing.conformance import exercise_plugin


def test_actions_conform(engine: Engine, tmp_path: Path) -> None:
    assert exercise_plugin(engine, "documents", tmp_path / "kit") == []
