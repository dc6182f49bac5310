"""The conformance kit runs every action of the family from its example."""

from __future__ import annotations

from pathlib import Path

import pytest

from armarium.api import Engine
from armarium_testing.conformance import exercise_plugin


@pytest.mark.slow
def test_the_family_keeps_to_the_contract_of_plugins(engine: Engine, tmp_path: Path) -> None:
    """Actions are audited, undone and redone to the same digest, and refused to those who may not run them."""
    assert exercise_plugin(engine, "recipes", tmp_path / "kit") == []
