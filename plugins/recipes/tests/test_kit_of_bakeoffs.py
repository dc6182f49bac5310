"""The conformance kit, run over everything that bake-offs add."""

from __future__ import annotations

from pathlib import Path

import pytest

from armarium.api import Engine
from armarium_testing.conformance import exercise_plugin


@pytest.mark.slow
def test_recipes_pass_the_kit(engine: Engine, tmp_path: Path) -> None:
    assert exercise_plugin(engine, "recipes", tmp_path / "kit") == []
