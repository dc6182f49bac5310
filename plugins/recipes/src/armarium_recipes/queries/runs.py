"""Reads of the recipe's runs."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection

from armarium.api import query
from armarium_recipes.project.summary import list_run_rows, run_answer, seen_row, summary_of
from armarium_recipes.schemas.runs import RecipeRun, RecipeRuns, RunSummary


@query("/api/recipes/project/runs", summary="The runs of the recipe", answer=RecipeRuns)
def list_recipe_runs(conn: Connection) -> dict[str, Any]:
    """Newest first, each with its cards."""
    items = [run_answer(conn, row) for row in list_run_rows(conn)]
    return {"items": items, "count": len(items)}


@query("/api/recipes/project/runs/{job_id}", summary="A run of the recipe", answer=RecipeRun)
def get_recipe_run(conn: Connection, job_id: str) -> dict[str, Any]:
    """The state of each card, what the run waits for, and how long it will probably take."""
    return run_answer(conn, seen_row(conn, job_id))


@query(
    "/api/recipes/project/runs/{job_id}/summary",
    summary="What a run of the recipe produced",
    answer=RunSummary,
)
def get_recipe_run_summary(conn: Connection, job_id: str) -> dict[str, Any]:
    """Counts, the pages that failed and what can be done about them, and what was not run; not finished while
    it runs.
    """
    return summary_of(conn, job_id)
