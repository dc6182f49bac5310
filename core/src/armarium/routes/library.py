"""Projects themselves over HTTP: make, open, count, set, snapshot (the implied routes of plugin core)."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import ConfigDict, create_model

from armarium import snapshots
from armarium.db_errors import is_the_disk
from armarium.engine import Engine
from armarium.errors import ServiceError
from armarium.http import REFUSALS, CurrentEngine, CurrentLibrary, act, json_response
from armarium.libraries import Library
from armarium.library_actions import (
    SETTING_DEFAULTS,
    CreateLibraryResult,
    KnownLibrary,
    LibrarySettings,
)
from armarium.messages import Message
from armarium.snapshot_actions import Snapshot, SnapshotParams, TakenSnapshot

router = APIRouter(prefix="/api", tags=["project"])

Created = create_model("CreatedLibrary", __base__=CreateLibraryResult, audit_id=(str, ...))
Opened = create_model("OpenedLibrary", __base__=KnownLibrary, audit_id=(str, ...))
SettingsSet = create_model("LibrarySettingsSet", __base__=LibrarySettings, audit_id=(str, ...))
SnapshotTaken = create_model("SnapshotTaken", __base__=TakenSnapshot, audit_id=(str, ...))

COUNTED = ("documents", "pages", "segments", "readings", "entities", "claims")
"""Counts every project answers, 0 where no family brings the thing."""


JOB_STATES = ("waiting", "running", "paused", "done", "failed", "cancelled")


class Statistics(Message):
    """How much is in a project. `bytes` is the package's size on disk; plugins may add counts of their own."""

    model_config = ConfigDict(extra="allow")

    documents: int
    pages: int
    segments: int
    readings: int
    entities: int
    claims: int
    bytes: int
    jobs: dict[Literal["waiting", "running", "paused", "done", "failed", "cancelled"], int]


class Snapshots(Message):
    """The snapshots of a project, newest first."""

    items: list[Snapshot]
    count: int


@router.get(
    "/library/stats", response_model=Statistics, responses=REFUSALS(404, 409), summary="How much is in it"
)
def stats(engine: CurrentEngine, library: CurrentLibrary) -> Response:
    """Counts by the families that are loaded, bytes on disk, and jobs by state."""
    return json_response(statistics(engine, library))


def statistics(engine: Engine, library: Library) -> dict[str, Any]:
    """The counts of `GET /api/library/stats`."""
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
    states = {state: counts.pop(f"jobs_{state}", 0) for state in JOB_STATES}
    return {**counts, "bytes": size_of(library), "jobs": states}


def size_of(library: Library) -> int:
    """Bytes of the package on disk; a file that vanishes meanwhile counts nothing."""
    total = 0
    for path in library.path.rglob("*"):
        try:
            if path.is_file() and not path.is_symlink():
                total += path.stat().st_size
        except OSError:
            continue
    return total


@router.get(
    "/library/settings",
    response_model=LibrarySettings,
    responses=REFUSALS(404, 409),
    summary="Settings of a project",
)
def read_settings(library: CurrentLibrary) -> Response:
    """Defaults stand where nothing was set."""
    stored = library.settings()
    return json_response({key: stored.get(key, default) for key, default in SETTING_DEFAULTS.items()})


@router.get(
    "/snapshots", response_model=Snapshots, responses=REFUSALS(404, 409), summary="Snapshots of a project"
)
def list_snapshots(library: CurrentLibrary) -> Response:
    """Taken before migrations and Empty Trash, by the interval, and on demand."""
    items = snapshots.listed(library.path)
    return json_response({"items": items, "count": len(items)})


@router.post(
    "/snapshots",
    response_model=SnapshotTaken,
    responses=REFUSALS(404, 409),
    summary="Take a snapshot now (snapshot.take)",
)
def take_snapshot(request: Request, _: CurrentLibrary, body: SnapshotParams | None = None) -> Response:
    """503 and nothing changed when it cannot be made; `copy_job_id` copies it to `snapshot_offsite_path`, where one is set."""
    return act(request, "snapshot.take", body or SnapshotParams())
