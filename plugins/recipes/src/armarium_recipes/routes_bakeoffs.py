"""The handwritten routes of bake-offs: one starts one of two actions, the other answers a picture."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Path, Query, Request, Response

from armarium.api import (
    REFUSALS,
    CurrentEngine,
    CurrentLibrary,
    CurrentPrincipal,
    Router,
    act,
    json_response,
    written,
)
from armarium_recipes.actions.bakeoffs import begin_bakeoff
from armarium_recipes.bakeoffs.pictures import drawing, page
from armarium_recipes.queries.bakeoffs import read_bakeoff
from armarium_recipes.schemas.bakeoffs import Bakeoff, StartBakeoff

router = Router(tags=["recipes"])


@router.post(
    "/api/recipes/project/bakeoffs",
    response_model=written(Bakeoff),
    responses=REFUSALS(404, 409),
    summary="Measure readers, or line finders, on the project's corrected pages (evaluation.run)",
)
def start_bakeoff(
    request: Request,
    engine: CurrentEngine,
    library: CurrentLibrary,
    principal: CurrentPrincipal,
    body: StartBakeoff,
) -> Response:
    """No reading is written. Invalid, with `ready` false and what is missing, for fewer than 100 corrected
    lines on two pages, a project that is not set up, or if no candidate can be scored.
    """
    if body.step == "find-lines":
        return act(request, "project.compare_line_finders", {"page_ids": body.page_ids})
    outcome, answer = begin_bakeoff(engine, library, principal, body)
    headers = {"X-Service-Audit-Id": outcome.audit_id}
    return json_response({**answer, "audit_id": outcome.audit_id}, headers=headers)


CLOSED = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"}
"""What the page of a bake-off may load: nothing, because it is self-contained."""


@router.get(
    "/api/recipes/project/bakeoffs/{bakeoff_id}/picture",
    response_class=Response,
    responses={
        **REFUSALS(404),
        200: {"content": {"image/png": {}, "text/html": {}}, "description": "The table as a picture."},
    },
    summary="The table of a bake-off as a picture, or as a self-contained page",
)
def draw_bakeoff(
    engine: CurrentEngine,
    library: CurrentLibrary,
    bakeoff_id: Annotated[str, Path(max_length=64)],
    kind: Annotated[Literal["png", "html"], Query()] = "png",
) -> Response:
    """Bars with their intervals, and error against cost if any candidate costs something."""
    with library.db.read() as conn:
        bakeoff = read_bakeoff(conn, engine, library, bakeoff_id)
    if kind == "html":
        return Response(page(bakeoff), media_type="text/html", headers=CLOSED)
    return Response(drawing(bakeoff).as_png(), media_type="image/png")
