"""Every job that asks a model passes the conformance kit for recipe jobs, with a provider on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from model_project import ModelProject

from armarium_model_jobs.recipe_jobs import RECIPE_JOBS
from armarium_testing.conformance import exercise_plugin
from armarium_testing.recipe_jobs import exercise_recipe_job

ANSWERS: dict[str, Any] = {
    "correct": lambda ids: {"lines": [{"id": ids[0], "text": "Dear Sir"}]},
    "translate-transliterate-normalise": lambda ids: {"lines": [{"id": ids[0], "text": "Muy señor mío"}]},
    "identify-signs": lambda ids: {"signs": [{"id": ids[0], "is_a": "A notary's mark"}]},
    "ask-a-model": lambda ids: "A gentleman.",
    "extract-to-a-table": lambda ids: {"rows": [{"lines": ids[:1], "cells": ["Sir", None]}]},
    "split-into-entries": lambda ids: {"entries": [{"first_line": ids[1], "heading": "Letter"}]},
}


@pytest.mark.parametrize("job_id", [job.id for job in RECIPE_JOBS])
def test_recipe_jobs_conform(project: ModelProject, tmp_path: Path, job_id: str) -> None:
    (tmp_path / "kit").mkdir()
    project.answers(ANSWERS[job_id])
    assert (
        exercise_recipe_job(project.engine, job_id, tmp_path / "kit", settings={"provider": "Loopback"}) == []
    )


def test_every_action_conforms(project: ModelProject, tmp_path: Path) -> None:
    (tmp_path / "kit").mkdir()
    assert exercise_plugin(project.engine, "model_jobs", tmp_path / "kit") == []
