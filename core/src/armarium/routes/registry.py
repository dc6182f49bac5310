"""The registry of projects over HTTP: known, open, by name, release, unregister (part A 4.1)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from armarium.errors import Conflict, Forbidden, NotFound
from armarium.http import REFUSALS, CurrentEngine, CurrentPrincipal, act, json_response
from armarium.library_actions import KnownLibrary, UnregisterResult
from armarium.messages import Message, written

router = APIRouter(prefix="/api/registry", tags=["registry"])


class KnownLibraries(Message):
    """The registered projects."""

    libraries: list[KnownLibrary]
    count: int


class OpenLibraryHandle(Message):
    """A project the engine holds open."""

    id: str
    path: str
    is_open: bool


class OpenLibraryHandlesResponse(Message):
    """The open projects, from a snapshot that waits for nobody."""

    items: list[OpenLibraryHandle]


@router.get("", response_model=KnownLibraries, responses=REFUSALS(), summary="Known projects")
def known(engine: CurrentEngine, principal: CurrentPrincipal) -> Response:
    """A token bound to projects sees those only."""
    found = [entry for entry in engine.libraries.known() if principal.reaches(entry["path"])]
    return json_response({"libraries": found, "count": len(found)})


@router.get(
    "/open", response_model=OpenLibraryHandlesResponse, responses=REFUSALS(), summary="Projects held open now"
)
def open_now(engine: CurrentEngine, principal: CurrentPrincipal) -> Response:
    """Never waits for a project that is being opened by somebody else."""
    ids = {entry["path"]: entry["id"] for entry in engine.libraries.known()}
    items = [
        {"id": ids.get(str(library.path), library.uuid), "path": str(library.path), "is_open": True}
        for library in engine.libraries.open_now()
        if principal.reaches(str(library.path))
    ]
    return json_response({"items": items})


@router.get(
    "/resolve", response_model=KnownLibrary, responses=REFUSALS(404, 409), summary="A project by name"
)
def resolve(
    engine: CurrentEngine,
    principal: CurrentPrincipal,
    name: Annotated[str, Query(min_length=1, max_length=4096)],
) -> Response:
    """By registered path first, then by shown name, ignoring case; 409 when two share the name."""
    try:
        found = engine.libraries.resolve(name)
    except (NotFound, Conflict) as refusal:
        if principal.libraries is None:
            raise
        # What other projects are called is none of a bound token's business.
        raise NotFound("No project of that name is within this token's reach.", known=[]) from refusal
    if not principal.reaches(found["path"]):
        raise Forbidden(
            "This token does not reach that project. Ask the owner for one that does.",
            code="library_access_denied",
            library_path=found["path"],
            required="read",
            role=principal.role,
        )
    return json_response(found)


@router.delete(
    "/{path:path}",
    response_model=written(UnregisterResult),
    responses=REFUSALS(404, 409),
    summary="Unregister a project (library.unregister)",
)
def unregister(request: Request, path: str) -> Response:
    """The path percent-encoded. An open project is released first; its package stays on disk."""
    return act(request, "library.unregister", {"path": path if path.startswith("/") else f"/{path}"})
