"""The route whose body is a plain list: the order of saved searches."""

from __future__ import annotations

from typing import Annotated

from fastapi import Body, Query, Request, Response

from armarium.api import REFUSALS, CurrentLibrary, Router, act, written
from armarium_search.schemas import FolderPath, Id, Reordered

router = Router(tags=["search"])


@router.post(
    "/api/search/saved/reorder",
    response_model=written(Reordered),
    responses=REFUSALS(404),
    summary="Put the saved searches of a folder in order (saved_search.reorder)",
)
def reorder_saved(
    request: Request,
    _: CurrentLibrary,
    search_ids: Annotated[list[Id], Body(max_length=10_000)],
    folder_path: Annotated[FolderPath, Query()] = "/",
) -> Response:
    """Put those named first, in the order given; the others follow in their previous order."""
    return act(request, "saved_search.reorder", {"folder_path": folder_path, "search_ids": search_ids})
