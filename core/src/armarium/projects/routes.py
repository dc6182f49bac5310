"""Projects over HTTP: known, open, by name; create, open, count, set, snapshot."""

from __future__ import annotations

from typing import Annotated, Any, get_args

from fastapi import Query, Request, Response
from pydantic import ConfigDict, create_model

from armarium.engine import Engine
from armarium.errors import Conflict, NotFound, ProjectOutOfReach, ServiceError
from armarium.jobs.schemas import ShownState
from armarium.messages import Message, written
from armarium.principals import caller
from armarium.projects import snapshots
from armarium.projects.actions import (
    SETTING_DEFAULTS,
    KnownLibrary,
    LibrarySettings,
    UnregisterResult,
)
from armarium.projects.branches import entry_of
from armarium.projects.libraries import Library
from armarium.projects.snapshot_actions import Snapshot, SnapshotParams, TakenSnapshot
from armarium.store.database_errors import is_the_disk
from armarium.store.rows import listed
from armarium.web.http import REFUSALS, CurrentEngine, CurrentLibrary, CurrentPrincipal, act, json_response
from armarium.web.routers import Router

library_router = Router(prefix="/api", tags=["project"])
registry_router = Router(prefix="/api/registry", tags=["registry"])

SnapshotTaken = create_model("SnapshotTaken", __base__=TakenSnapshot, audit_id=(str, ...))

COUNTED = ("documents", "pages", "segments", "readings", "entities", "claims")
"""Counts every project answers, 0 where no family provides the thing."""


class Statistics(Message):
    """How much is in a project; plugins may add counts of their own. `bytes` is the package's size on disk; null for a
    caller from whom something is withheld, since it is in the size too.
    """

    model_config = ConfigDict(extra="allow")

    documents: int
    pages: int
    segments: int
    readings: int
    entities: int
    claims: int
    bytes: int | None
    jobs: dict[ShownState, int]


Snapshots = listed(Snapshot, "Snapshots", "The snapshots of a project, newest first.")


@library_router.get(
    "/library/stats",
    response_model=Statistics,
    responses=REFUSALS(404, 409),
    summary="Statistics of a project",
)
def stats(engine: CurrentEngine, library: CurrentLibrary) -> Response:
    """Counts by the families that are loaded, bytes on disk, and jobs by state."""
    return json_response(statistics(engine, library))


def statistics(engine: Engine, library: Library) -> dict[str, Any]:
    """Return the counts of `GET /api/library/stats`."""
    counts: dict[str, Any] = dict.fromkeys(COUNTED, 0)
    with library.db.read() as conn:
        for plugin in engine.plugins.loaded:
            if plugin.stats is not None and plugin.name not in library.db.left_out:
                try:
                    counts.update(plugin.stats(conn))
                except Exception as error:
                    if isinstance(error, ServiceError) or is_the_disk(error):
                        raise
                    engine.plugins.note_fault(
                        plugin.name, f"It failed to count: {engine.plugins.words_for(error)}"
                    )
    states = {state: counts.pop(f"jobs_{state}", 0) for state in get_args(ShownState)}
    asks = caller()
    return {
        **counts,
        "bytes": None if asks is not None and asks.limited else size_of(library),
        "jobs": states,
    }


def size_of(library: Library) -> int:
    """Return the bytes of the package on disk; a file that vanishes meanwhile counts nothing."""
    total = 0
    for path in library.path.rglob("*"):
        try:
            if path.is_file() and not path.is_symlink():
                total += path.stat().st_size
        except OSError:
            continue
    return total


@library_router.get(
    "/library/settings",
    response_model=LibrarySettings,
    responses=REFUSALS(404, 409),
    summary="Settings of a project",
)
def read_settings(library: CurrentLibrary) -> Response:
    """With the defaults of settings that were never set."""
    stored = library.settings()
    return json_response({key: stored.get(key, default) for key, default in SETTING_DEFAULTS.items()})


@library_router.get(
    "/snapshots", response_model=Snapshots, responses=REFUSALS(404, 409), summary="Snapshots of a project"
)
def list_snapshots(library: CurrentLibrary, principal: CurrentPrincipal) -> Response:
    """Taken before migrations and Empty Trash, at the interval, and on demand."""
    items = [
        snapshots.told_to(principal, library.db, snapshot)
        for snapshot in snapshots.list_snapshots(library.path)
    ]
    return json_response({"items": items, "count": len(items)})


@library_router.post(
    "/snapshots",
    response_model=SnapshotTaken,
    responses=REFUSALS(404, 409),
    summary="Take a snapshot now (snapshot.take)",
)
def take_snapshot(request: Request, _: CurrentLibrary, body: SnapshotParams | None = None) -> Response:
    """503 and nothing changed when it cannot be taken; `copy_job_id` is the job that copies it to
    `snapshot_offsite_path`, where one is set.
    """
    return act(request, "snapshot.take", body or SnapshotParams())


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


@registry_router.get("", response_model=KnownLibraries, responses=REFUSALS(), summary="Known projects")
def known(engine: CurrentEngine, principal: CurrentPrincipal) -> Response:
    """A token bound to projects sees only those."""
    entries = [entry for entry in engine.libraries.list_registered() if principal.reaches(entry["path"])]
    return json_response({"libraries": entries, "count": len(entries)})


@registry_router.get(
    "/open", response_model=OpenLibraryHandlesResponse, responses=REFUSALS(), summary="Projects held open now"
)
def open_now(engine: CurrentEngine, principal: CurrentPrincipal) -> Response:
    """Never waits for a project that somebody else is opening."""
    ids = {entry["path"]: entry["id"] for entry in engine.libraries.list_registered()}
    items = [
        {"id": ids.get(str(library.path), library.uuid), "path": str(library.path), "is_open": True}
        for library in engine.libraries.open_now()
        if principal.reaches(str(library.path))
    ]
    return json_response({"items": items})


@registry_router.get(
    "/resolve", response_model=KnownLibrary, responses=REFUSALS(404, 409), summary="A project by name"
)
def resolve(
    engine: CurrentEngine,
    principal: CurrentPrincipal,
    name: Annotated[str, Query(min_length=1, max_length=4096)],
) -> Response:
    """By registered path first, then by shown name, ignoring case; 409 when two share the name. A branch, which is not
    registered, by its path while it is open.
    """
    open_here = engine.libraries.open_at(name)
    try:
        entry = entry_of(open_here) if open_here and open_here.is_branch else engine.libraries.resolve(name)
    except (NotFound, Conflict) as refusal:
        if principal.libraries is None:
            raise
        # A bound token must not learn the names of other projects.
        raise NotFound("No project of that name is within this token's reach.", known=[]) from refusal
    if not principal.reaches(entry["path"]):
        raise ProjectOutOfReach(entry["path"], required="read", role=principal.role)
    return json_response(entry)


@registry_router.delete(
    "/{path:path}",
    response_model=written(UnregisterResult),
    responses=REFUSALS(404, 409),
    summary="Unregister a project (library.unregister)",
)
def unregister(request: Request, path: str) -> Response:
    """With the path percent-encoded. An open project is released first; its package stays on disk."""
    return act(request, "library.unregister", {"path": path if path.startswith("/") else f"/{path}"})
