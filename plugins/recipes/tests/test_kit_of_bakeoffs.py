"""The conformance kit over all that recipes bring."""

from __future__ import annotations

from pathlib import Path

import pytest

from armarium.api import Engine
from armarium_testing.conformance import exercise_plugin


@pytest.mark.slow
def test_recipes_pass_the_kit(engine: Engine, tmp_path: Path) -> None:
    assert exercise_plugin(engine, "recipes", tmp_path / "kit") == []
