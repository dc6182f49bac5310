"""The core's own tables and actions about projects: create, open, release, unregister, settings, snapshot."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, field_validator
from sqlalchemy import Column, MetaData, Table, Text, delete, select

from armarium.actions import ActionContext, Params, Route, action, authorise
from armarium.errors import Conflict, Invalid, NotFound
from armarium.guard.named_paths import MaterialPath, PackagePath
from armarium.guard.spelling import ScriptCode
from armarium.history.undo_checks import refusal
from armarium.messages import Message, Sent
from armarium.names.proper import ProperName, ShortName
from armarium.projects import branches, offsite_copies
from armarium.projects.registry import library_known, register
from armarium.projects.snapshot_actions import interval_set
from armarium.store.tables import Json, json_text, tracked

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from armarium.actions.undo import UndoContext
    from armarium.projects.libraries import Library

OF_THE_PACKAGE = (
    *("name", "snapshot_interval_seconds"),
    *("snapshot_retention_count", "snapshot_offsite_path"),
)
"""Settings of a package and not of its material: those of a branch are not merged."""

library_metadata = MetaData()

library_setting = Table(
    "library_setting",
    library_metadata,
    Column("key", Text, primary_key=True),
    Column("value", Json, nullable=False),
    Column("updated_at", Text, nullable=False),
    info=tracked(label="setting", monotonic=("updated_at",), own_keys=OF_THE_PACKAGE),
)


class LibraryPath(Params):
    """Names a project package by its full path."""

    path: Annotated[PackagePath, Field(description="Full path of the .library folder.")]


class CreateLibraryParams(LibraryPath):
    """A package to create."""

    name: ProperName | None = Field(
        default=None, min_length=1, max_length=200, description="Name shown to people."
    )

    @field_validator("path", mode="before")
    @classmethod
    def _in_the_home(cls, path: Any) -> Any:
        """Who makes a project may say ~ for the home of whoever runs the engine, which a browser does not know."""
        return os.path.expanduser(path) if isinstance(path, str) and path.startswith("~/") else path


class CreateLibraryResult(Message):
    """The package that was created."""

    path: str
    created: bool
    tables_initialized: bool
    library_uuid: str


class KnownLibrary(Message):
    """A registered project."""

    id: str
    library_uuid: str
    path: str
    name: str | None = None
    is_open: bool
    added_at: str
    last_accessed: str
    snapshot_interval_seconds: int = 0
    snapshot_retention_count: int = 10
    snapshot_offsite_path: str | None = None


class ReleaseLibraryResult(Message):
    """The result of releasing a project."""

    status: Literal["released", "not_open"]
    path: str
    registered: bool
    jobs_stopped: int
    jobs_waiting: int
    conversion_stopped: bool


class UnregisterResult(Message):
    """A project that is no longer registered; its package stays on disk."""

    status: Literal["unregistered"] = "unregistered"
    path: str


def _known_id(ctx: ActionContext, place: Path) -> str | None:
    """Return the id by which the project at *place* is registered; None where it is not."""
    return ctx.conn.execute(select(library_known.c.id).where(library_known.c.path == str(place))).scalar()


def _registration_undone(undone: UndoContext) -> None:
    """Release a project that is no longer registered, under release's refusals; its package stays on disk.

    Whoever may open a project but not write in it cannot unregister it this way either.
    """
    step, libraries = undone.step, undone.step.engine.libraries
    if undone.redo:
        return
    authorise(step.engine.actions.get("library.unregister"), step.principal, None)
    place = libraries.check_path(undone.params["path"])
    if _known_id(step, place) is not None or libraries.open_at(str(place)) is None:
        return
    try:
        step.run("library.release", {"path": str(place)})
    except Conflict as refused:
        raise refusal("changed", undone.audit_id, refused.detail.rstrip(".")) from refused


@action(
    "library.create",
    result=CreateLibraryResult,
    summary="Create a new project package and open it; its undo unregisters it and leaves the package",
    route=Route("POST", "/api/library"),
    words="Created the project",
    scope="engine",
    bound=True,
    after_undo=_registration_undone,
)
def create_library(ctx: ActionContext, p: CreateLibraryParams) -> dict[str, Any]:
    """Create the package under a temporary name, seed it, rename it, register it."""
    library = ctx.engine.libraries.create(p.path, p.name, ctx.principal)
    register(ctx.conn, library)
    ctx.target(library.uuid)
    return {
        "path": str(library.path),
        "created": True,
        "tables_initialized": True,
        "library_uuid": library.uuid,
    }


@action(
    "library.open",
    result=KnownLibrary,
    summary="Open and register an existing project package",
    route=Route("POST", "/api/library/open"),
    scope="engine",
    bound=True,
    role="viewer",
    after_undo=_registration_undone,
)
def open_library(ctx: ActionContext, p: LibraryPath) -> dict[str, Any]:
    """Open the package (409 when another engine holds it) and register it."""
    library = ctx.engine.libraries.open_only(p.path)
    ctx.target(library.uuid)
    return branches.entry_of(library) if library.is_branch else register(ctx.conn, library)


@action(
    "library.release",
    result=ReleaseLibraryResult,
    summary="Close a project and stop its background work; it stays registered",
    route=Route("POST", "/api/registry/release"),
    scope="engine",
    bound=True,
    undoable=False,
)
def release_library(ctx: ActionContext, p: LibraryPath) -> dict[str, Any]:
    """Refused (409) while a workflow run or batch waits or runs in it, and for the engine's global library."""
    libraries = ctx.engine.libraries
    place = p.path.real
    registered = _known_id(ctx, place) is not None
    library = libraries.open_at(str(place))
    answer = {"status": "not_open", "path": str(place), "registered": registered}
    if library is None:
        if not registered and not place.is_dir():
            raise NotFound(
                f"There is no project at {place}.", code="library_not_found", library_path=str(place)
            )
        return {**answer, "jobs_stopped": 0, "jobs_waiting": 0, "conversion_stopped": False}
    if ctx.engine.is_global(library):
        raise Conflict(
            "The engine's global library is always open and cannot be released.", code="global_library"
        )
    busy = ctx.engine.jobs.holding(library)
    if busy:
        raise Conflict(
            f"{library.name} has work that must end first: {'; '.join(busy)}. Stop or finish it, then release.",
            code="library_busy",
            busy=busy,
        )
    converting = _is_converting(library)
    stopped, waiting = ctx.engine.jobs.detach(library)
    ctx.target(library.uuid)
    libraries.release(place)
    counts = {"jobs_stopped": stopped, "jobs_waiting": waiting, "conversion_stopped": converting}
    return {**answer, "status": "released", **counts}


def _is_converting(library: Library) -> bool:
    """Return whether a conversion of older results runs in it, which is shown apart from other work."""
    query = "SELECT 1 FROM job WHERE kind = 'convert-older-results' AND state = 'running'"
    with library.db.read() as conn:
        return conn.exec_driver_sql(query).first() is not None


@action(
    "library.unregister",
    result=UnregisterResult,
    summary="Unregister a project; its package stays on disk",
    scope="engine",
    bound=True,
)
def unregister_library(ctx: ActionContext, p: LibraryPath) -> dict[str, Any]:
    """An open project is released first, under release's refusals. Its package stays, so this needs no owner."""
    place = p.path.real
    known_id = _known_id(ctx, place)
    if known_id is None:
        raise NotFound(
            f"No project at {place} is registered.", code="library_not_found", library_path=str(place)
        )
    ctx.run("library.release", {"path": str(place)})
    ctx.conn.execute(delete(library_known).where(library_known.c.id == known_id))
    ctx.target(known_id)
    return {"status": "unregistered", "path": str(place)}


class ScriptRow(Sent):
    """A script the project works with: its ISO 15924 code, or a private one declared with a name."""

    code: ScriptCode
    name: ProperName
    encoding: Literal["full", "part", "none", "not-established"] | None = None
    declared: bool = False


class LibrarySettings(Params):
    """Settings of one project; absent leaves a setting as it is, null clears it."""

    name: ProperName | None = None
    reading_rule: Literal["strict", "relaxed"] | None = None
    local_only_ai: bool | None = None
    """Whether this project uses only models on this machine, and no catalogue of models elsewhere."""
    compute_place: ShortName | None = None
    """Where very many pages are read when a request names no flavor: `local`, `dask:local:4`, `dask:tls://host:8786`, a machine class of
    the model hub."""
    trainer: ShortName | None = None
    """Which trainer trains a line reader that begins from nothing."""
    entity_types: list[ShortName] | None = Field(default=None, max_length=200)
    scripts: list[ScriptRow] | None = Field(default=None, max_length=500)
    snapshot_interval_seconds: int | None = Field(default=None, ge=0, le=31_536_000)
    snapshot_retention_count: int | None = Field(default=None, ge=1, le=1000)
    snapshot_offsite_path: MaterialPath | None = None

    @field_validator("entity_types", "scripts")
    @classmethod
    def _each_once(cls, values: list[Any] | None) -> list[Any] | None:
        names = [name.code if isinstance(name, ScriptRow) else name for name in values or ()]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"{twice} is listed twice; name it once")
        return values


SETTING_DEFAULTS: dict[str, Any] = {
    "name": None,
    "reading_rule": "strict",
    "local_only_ai": False,
    "compute_place": None,
    "trainer": None,
    "entity_types": [],
    "scripts": [],
    "snapshot_interval_seconds": 0,
    "snapshot_retention_count": 10,
    "snapshot_offsite_path": None,
}


def _settings_told(ctx: ActionContext, keys: Collection[str]) -> None:
    """Notify the registry and the planned snapshot of changed settings."""
    library, engine = ctx.project, ctx.engine
    if "snapshot_interval_seconds" in keys:
        interval_set(ctx)
    ctx.on_commit(lambda: engine.libraries.show(library))


def _settings_undone(undone: UndoContext) -> None:
    _settings_told(undone.step, undone.target_ids)


@action(
    "library.set",
    result=LibrarySettings,
    summary="Change the settings of a project",
    route=Route("PATCH", "/api/library/settings"),
    words="Changed the settings of the project",
    role="owner",
    after_undo=_settings_undone,
)
def set_library(ctx: ActionContext, p: LibrarySettings) -> dict[str, Any]:
    """Each setting is a row, so each change can be undone."""
    if not p.model_fields_set:
        raise Invalid("No setting was named; send at least one.", code="invalid_request")
    values = p.model_dump(mode="json")
    if p.snapshot_offsite_path is not None:
        offsite_copies.checked_place(p.snapshot_offsite_path, ctx.engine.paths)
    for key in p.model_fields_set:
        row = {"key": key, "value": json_text(values[key]), "now": ctx.now}
        if values[key] is None:
            ctx.conn.execute(delete(library_setting).where(library_setting.c.key == key))
        else:
            ctx.conn.exec_driver_sql(
                "INSERT INTO library_setting (key, value, updated_at) VALUES (:key, :value, :now) "
                "ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at",
                row,
            )
        ctx.target(key)
    _settings_told(ctx, p.model_fields_set)
    stored = {
        row.key: row.value for row in ctx.conn.execute(select(library_setting.c.key, library_setting.c.value))
    }
    return {**SETTING_DEFAULTS, **{key: value for key, value in stored.items() if key in SETTING_DEFAULTS}}
