"""The routes of bake-offs that are written by hand: one begins one of two actions, the other answers a picture."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request, Response

from armarium.api import (
    REFUSALS,
    ActionContext,
    CurrentEngine,
    CurrentLibrary,
    CurrentPrincipal,
    act,
    json_response,
    written,
)
from armarium_recipes.actions.bakeoffs import keep_bakeoff
from armarium_recipes.bakeoffs.pictures import drawing, page
from armarium_recipes.bakeoffs.starting import plan_bakeoff
from armarium_recipes.queries.bakeoffs import read_bakeoff
from armarium_recipes.schemas.bakeoffs import Bakeoff, StartBakeoff

router = APIRouter(tags=["recipes"])


@router.post(
    "/api/recipes/project/bakeoffs",
    response_model=written(Bakeoff),
    responses=REFUSALS(404, 409),
    summary="Measure readers, or finders of lines, on the project's corrected pages (evaluation.run)",
)
def start_bakeoff(
    request: Request,
    engine: CurrentEngine,
    library: CurrentLibrary,
    principal: CurrentPrincipal,
    body: StartBakeoff,
) -> Response:
    """Nothing is written as a reading. Invalid with `ready` false and what is lacking for below 100 corrected lines on two
    pages, for a project that was not set up, and where no candidate can be scored."""
    if body.step == "find-lines":
        return act(request, "project.compare_line_finders", {"page_ids": body.page_ids})
    with library.db.read() as conn:
        plan = plan_bakeoff(conn, engine, library, principal, body)
    answer = {}

    def keep(ctx: ActionContext) -> None:
        planned = {page["document_id"] for page in ctx.answer["plan"]["pages"]}
        plan.corrected.keep(planned, "Its lines were changed while the bake-off was begun.")
        row = {
            "step": body.step,
            "material": plan.material,
            "volume": plan.volume,
            "pages": plan.corrected.pages,
            "left_out": plan.corrected.left_out,
            "lines": plan.corrected.lines,
            "candidates": plan.rows,
            "promote": int(body.promote),
        }
        answer.update(keep_bakeoff(ctx, ctx.answer["job_id"], row))

    outcome = engine.run(library, "evaluation.run", plan.evaluation, principal, in_transaction=keep)
    headers = {"X-Service-Audit-Id": outcome.audit_id}
    return json_response({**answer, "audit_id": outcome.audit_id}, headers=headers)


CLOSED = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"}
"""What the page of a bake-off may load: nothing, for all is in it."""


@router.get(
    "/api/recipes/project/bakeoffs/{bakeoff_id}/picture",
    response_class=Response,
    responses={
        **REFUSALS(404),
        200: {"content": {"image/png": {}, "text/html": {}}, "description": "The table as a picture."},
    },
    summary="The table of a bake-off as a picture, or as a page that needs nothing beside it",
)
def draw_bakeoff(
    engine: CurrentEngine,
    library: CurrentLibrary,
    bakeoff_id: Annotated[str, Path(max_length=64)],
    kind: Annotated[Literal["png", "html"], Query()] = "png",
) -> Response:
    """Bars with their intervals, and error against cost where any candidate costs something."""
    with library.db.read() as conn:
        told = read_bakeoff(conn, engine, library, bakeoff_id)
    if kind == "html":
        return Response(page(told), media_type="text/html", headers=CLOSED)
    return Response(drawing(told).as_png(), media_type="image/png")
