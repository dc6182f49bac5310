"""The job that runs a recipe."""

from __future__ import annotations

from typing import Literal

from armarium.api import JobKind, Params
from armarium_recipes.project.run_rows import KIND
from armarium_recipes.project.running import note_run_cancelled, run_recipe
from armarium_recipes.project.summary import describe_run


class RunArgs(Params):
    """What started the run; everything else is in the row of the run."""

    run: Literal["person", "import"] = "person"


RUN_A_RECIPE = JobKind(
    name=KIND,
    lane="recipes",
    summary="Run the recipe of a project.",
    run=run_recipe,
    args=RunArgs,
    # It waits for imports, downloads and other runs, however long they take.
    retries=1_000_000,
    on_cancel=note_run_cancelled,
    describe=describe_run,
)
