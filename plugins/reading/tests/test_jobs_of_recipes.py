"""Finding lines, reading lines and reading pages as recipe jobs that pass the conformance kit."""

from __future__ import annotations

from pathlib import Path

import pytest
from reading_project import ReadingProject

from armarium.api import Engine, NotFound
from armarium_testing.recipe_jobs import exercise_recipe_job


@pytest.mark.parametrize("job_id", ["find-lines", "read-a-line", "read-a-page"])
def test_the_recipe_job_passes_its_kit(engine: Engine, tmp_path: Path, job_id: str) -> None:
    (tmp_path / "kit").mkdir()
    assert exercise_recipe_job(engine, job_id, tmp_path / "kit", settings={"reader": "fake"}) == []


def test_inputs_and_outputs_are_those_of_the_specification(engine: Engine) -> None:
    told = {job.id: (job.layer, job.takes, job.gives) for job in engine.recipe_jobs.values()}
    assert told == {
        "find-lines": ("lines", ("page_image",), ("lines",)),
        "read-a-line": ("reading", ("lines",), ("line_readings",)),
        "read-a-page": ("reading", ("page_image",), ("page_reading",)),
        "transcribe-speech": ("reading", ("recording",), ("line_readings",)),
    }


def test_the_placement_is_known_before_queueing(engine: Engine, project: ReadingProject) -> None:
    job = engine.recipe_jobs["read-a-line"]
    assert job.find_placement(engine, project.library, job.parse({"reader": "fake"})).model == "fake:fake"
    with pytest.raises(NotFound, match="no reader called nobody"):
        job.find_placement(engine, project.library, job.parse({"reader": "nobody"}))


def test_a_job_of_one_page_names_the_pass(project: ReadingProject) -> None:
    page = project.page()
    _, found = project.job("reading.find_lines", scope_ids=[page])
    _, read = project.job("reading.read_lines", scope_ids=[page])
    (pass_id,) = project.passes(page)
    assert found["result"]["output"] == read["result"]["output"] == {"pass_id": pass_id}
