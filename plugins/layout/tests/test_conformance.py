"""Every action and every recipe job of layout passes its conformance kit."""

from __future__ import annotations

from pathlib import Path

import pytest

from armarium.api import Engine
from armarium_layout.recipe_jobs import RECIPE_JOBS
from armarium_testing.conformance import exercise_plugin
from armarium_testing.recipe_jobs import exercise_recipe_job


def test_actions_conform(engine: Engine, tmp_path: Path) -> None:
    assert exercise_plugin(engine, "layout", tmp_path / "kit") == []


@pytest.mark.parametrize("job_id", [job.id for job in RECIPE_JOBS])
def test_recipe_jobs_conform(engine: Engine, tmp_path: Path, job_id: str) -> None:
    (tmp_path / "kit").mkdir()
    assert exercise_recipe_job(engine, job_id, tmp_path / "kit") == []
