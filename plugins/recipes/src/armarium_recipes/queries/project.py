"""What the project keeps of its recipe, read."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection

from armarium.api import query
from armarium_recipes.project.files import file_answers
from armarium_recipes.project.saving import saved
from armarium_recipes.schemas.project import ProjectRecipe


@query("/api/recipes/project", summary="The project's answers and its recipe", answer=ProjectRecipe)
def get_project_recipe(conn: Connection) -> dict[str, Any]:
    """Also how its files stand: in step, edited, refused with the line, or both changed."""
    return {**saved(conn).answer(), "files": file_answers(conn)}


QUERIES = (get_project_recipe,)
