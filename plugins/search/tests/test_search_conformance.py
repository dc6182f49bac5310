"""Search passes the suite that every plugin must pass."""

from __future__ import annotations

from pathlib import Path

from armarium.api import Engine
from armarium_testing.conformance import exercise_plugin
from armarium_testing.recipe_jobs import exercise_recipe_job


def test_search_passes_the_kit(engine: Engine, tmp_path: Path) -> None:
    assert exercise_plugin(engine, "search", tmp_path / "kit") == []


def test_make_a_vector_passes_the_kit(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "kit").mkdir()
    assert exercise_recipe_job(engine, "make-a-vector", tmp_path / "kit") == []
