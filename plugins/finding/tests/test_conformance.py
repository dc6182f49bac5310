"""Finding held to what every plugin is held to."""

from __future__ import annotations

from pathlib import Path

from armarium.api import Engine
from armarium_testing.conformance import exercise_plugin
from armarium_testing.recipe_jobs import exercise_recipe_job


def test_actions_conform(engine: Engine, tmp_path: Path) -> None:
    assert exercise_plugin(engine, "finding", tmp_path / "kit") == []


def test_the_recipe_job_conforms(engine: Engine, tmp_path: Path) -> None:
    assert exercise_recipe_job(engine, "find-documents-in-a-folder", tmp_path) == []
