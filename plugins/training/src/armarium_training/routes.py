"""The one handwritten route of training: which lines the caller may train on depends on the rights records."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from armarium.api import REFUSALS, CurrentLibrary, CurrentPrincipal
from armarium_documents.api import pages_under
from armarium_training.line_sets import line_set
from armarium_training.schemas.training import TrainingSet
from armarium_training.starting import pages_of

router = APIRouter(tags=["training"])


@router.get(
    "/api/training/set",
    response_model=TrainingSet,
    responses=REFUSALS(404),
    summary="What a training set would contain, counted by the code that builds it",
)
def count_set(
    library: CurrentLibrary,
    principal: CurrentPrincipal,
    teacher: Annotated[str, Query(min_length=1, max_length=200)],
    scope_ids: Annotated[list[str], Query(min_length=1)],
    held_out_ids: Annotated[list[str] | None, Query()] = None,
) -> dict[str, Any]:
    """Count without writing or sending anything. NotFound for an unknown id, Invalid for a scope without pages."""
    with library.db.read() as conn:
        pages = pages_of(conn, scope_ids)
        held = pages_under(conn, held_out_ids) if held_out_ids else []
        found = line_set(conn, library, principal, teacher=teacher, page_ids=pages, held_out_ids=held)
    return found.manifest()
