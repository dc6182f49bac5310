"""The plugin of background work is held to what any plugin is held to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from armarium.testing.conformance import exercise_plugin


def test_the_actions_on_background_work_conform(house: Any, tmp_path: Path) -> None:
    folder = tmp_path / "kit"
    folder.mkdir()
    assert [str(fault) for fault in exercise_plugin(house.engine, "jobs", folder)] == []
