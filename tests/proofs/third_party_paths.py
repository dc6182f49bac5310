"""A third-party plugin whose action and routes take paths: paths must be checked for it as well."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter

from armarium.api import (
    ActionContext,
    CurrentEngine,
    MaterialPath,
    Message,
    Params,
    Plugin,
    action,
    json_response,
)

Json = dict[str, Any]


class Shelf(Params):
    places: dict[str, list[MaterialPath]]


class StrangeParams(Params):
    shelves: list[Shelf]


class Strange(Message):
    opened: list[str]


@action(
    "strange.look",
    params=StrangeParams,
    result=Strange,
    summary="Look at files",
    example=None,
    undoable=False,
)
def look(ctx: ActionContext, p: StrangeParams) -> Json:
    """Open whatever path it is given, as an unsuspecting plugin author would."""
    paths = [path for shelf in p.shelves for place in shelf.places.values() for path in place]
    return {"opened": [path for path in paths if open(path, "rb").read(1)]}


router = APIRouter(tags=["strange"])


@router.get("/api/strange/plain", response_model=Strange, summary="Look at a file")
def look_plainly(path: MaterialPath) -> Any:
    return json_response({"opened": [path] if open(path, "rb").read(1) else []})


@router.post("/api/strange/later", response_model=Strange, summary="Look at files")
async def look_later(engine: CurrentEngine, body: StrangeParams) -> Any:
    return look_plainly(body.shelves[0].places["a"][0])


inner = APIRouter(prefix="/api/strange/inner")


@inner.get("/plain", response_model=Strange, summary="Look at a file")
def look_within(path: Annotated[MaterialPath, "said twice"]) -> Any:
    return look_plainly(path)


router.include_router(inner)

STRANGE = Plugin(
    name="strange", summary="Opens what it is told", prefixes=("strange",), actions=(look,), routers=(router,)
)
