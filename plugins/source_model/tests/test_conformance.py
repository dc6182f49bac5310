"""Every action of the source model passes the conformance kit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from armarium_testing.conformance import exercise_plugin


def test_actions_conform(engine: Any, tmp_path: Path) -> None:
    assert [str(fault) for fault in exercise_plugin(engine, "source_model", tmp_path / "kit")] == []
