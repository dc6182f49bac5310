"""Reads of the project's saved recipe."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection

from armarium.api import Engine, Library, query
from armarium_recipes.project.automatic import automatic
from armarium_recipes.project.files import file_answers
from armarium_recipes.project.noticing import notice
from armarium_recipes.project.plan import make_plan
from armarium_recipes.project.saving import read_saved
from armarium_recipes.schemas.project import Automatic, ProjectRecipe, StartPlan


@query(
    "/api/recipes/project",
    summary="The project's answers and its recipe",
    answer=ProjectRecipe,
    prepare=notice,
)
def get_project_recipe(conn: Connection) -> dict[str, Any]:
    """Also the state of its files: in step, edited, refused with the line, or both changed."""
    return {**read_saved(conn).answer(), "files": file_answers(conn)}


@query(
    "/api/recipes/project/start",
    summary="What Start would do",
    answer=StartPlan,
    name="get_start_plan",
    prepare=notice,
)
def get_start_plan(conn: Connection, engine: Engine, library: Library) -> dict[str, Any]:
    """Its cards in order, what is skipped and why, what must be downloaded first, and the probable cost."""
    return make_plan(engine, library, conn).answer()


@query(
    "/api/recipes/project/automatic", summary="What happens automatically", answer=Automatic, prepare=notice
)
def get_automatic(conn: Connection, engine: Engine, library: Library) -> dict[str, Any]:
    """When pages are added, and when a reading is corrected. Nothing is written."""
    return automatic(engine, make_plan(engine, library, conn))
