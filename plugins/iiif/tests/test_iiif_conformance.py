"""Every action of this family passes the conformance kit."""

from __future__ import annotations

from pathlib import Path

from armarium.engine import Engine
from armarium_testing.conformance import exercise_plugin


def test_the_plugin_conforms(engine: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "kit"
    folder.mkdir()
    assert exercise_plugin(engine, "iiif", folder) == []
