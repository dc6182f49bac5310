"""The access plugin passes the conformance kit like any plugin."""

from __future__ import annotations

from pathlib import Path

from armarium.engine import Engine
from armarium_testing.conformance import exercise_plugin


def test_the_actions_of_access_conform(core_engine: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "kit"
    folder.mkdir()
    assert [str(fault) for fault in exercise_plugin(core_engine, "auth", folder)] == []
