"""Every action of this family obeys the rules of all actions."""

from __future__ import annotations

from pathlib import Path

from armarium.engine import Engine
from armarium_testing.conformance import exercise_plugin


def test_the_plugin_conforms(engine: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "kit"
    folder.mkdir()
    assert exercise_plugin(engine, "iiif", folder) == []
