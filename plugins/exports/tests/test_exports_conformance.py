"""The conformance kit on exports: audited, undone, refused to those who may not, silent about words."""

from __future__ import annotations

from pathlib import Path

from armarium.api import Engine
from armarium_testing.conformance import exercise_plugin


def test_exports_keep_to_the_rules_of_every_family(engine: Engine, tmp_path: Path) -> None:
    assert exercise_plugin(engine, "exports", tmp_path / "kit") == []
