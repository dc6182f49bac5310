"""HTTP access to all actions, the audit log, and undo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import Path, Query, Request, Response
from pydantic import ConfigDict, Field

from armarium.actions import Params
from armarium.actions.rights import refuse_bound
from armarium.actions.undo import MAX_SET
from armarium.actions.wording import Wording
from armarium.engine import Engine
from armarium.errors import NotFound
from armarium.history import audit
from armarium.history.changes import changes_of
from armarium.messages import Message
from armarium.principals import Role
from armarium.store.database import raw_of
from armarium.store.rows import listed, paged
from armarium.web.http import (
    REFUSALS,
    CurrentEngine,
    CurrentPrincipal,
    OptionalLibrary,
    audit_header,
    json_response,
    library_required,
    owner_of,
    principal_of,
    run,
)
from armarium.web.routers import Router
from armarium.web.times import moment

if TYPE_CHECKING:
    from armarium.projects.libraries import Library

router = Router(prefix="/api/actions", tags=["actions"])

Log = Literal["project", "engine"]
AuditId = Annotated[str, Path(max_length=64)]
WhichLog = Annotated[
    Log, Query(alias="scope", description="The project's log, or the engine's own (owner only).")
]


class ActionEntry(Message):
    """One action: who may run it, and its JSON Schemas."""

    name: str
    summary: str
    plugin: str
    role: Role
    person_only: bool
    undoable: bool
    scope: Literal["library", "engine", "either"]
    params: dict[str, Any]
    result: dict[str, Any] | None = None


class ActionName(Message):
    """One action, in short."""

    name: str
    summary: str
    plugin: str
    role: Role
    scope: Literal["library", "engine", "either"]


ActionNamesAnswer = listed(ActionName, "ActionNamesAnswer", "Every action of this engine, in short.")


ActionRegistryAnswer = listed(ActionEntry, "ActionRegistryAnswer", "Every action of this engine, by name.")


class InvokeRequest(Params):
    """An action and its parameters; the author is set by the server and never sent."""

    name: str = Field(min_length=1, max_length=120)
    params: dict[str, Any] = Field(default_factory=dict)


class InvokeAnswer(Message):
    """The result of the action, and the audit row by which to undo it."""

    ok: Literal[True]
    result: dict[str, Any] | None = None
    audit_id: str


class Actor(Message):
    """Who ran the step."""

    kind: Literal["person", "machine"]
    name: str


class Touched(Message):
    """A document that a step is about."""

    id: str
    name: str


class AuditRow(Message):
    """One step of the audit log."""

    model_config = ConfigDict(extra="allow")

    id: str
    seq: int
    action_name: str
    actor: Actor
    client: str | None = None
    origin_window: str | None = None
    role: str
    target_ids: list[str]
    params: dict[str, Any]
    run_id: str | None = None
    set_id: str | None = None
    inverse_of: str | None = None
    undone: bool
    undoable: bool
    prev_hash: str
    row_hash: str
    created_at: str
    words: str
    """What the step did, in words that name what it was done to; for an undo or a redo, what the original step did."""
    reversal: Literal["undo", "redo"] | None = None
    about: list[Touched]
    """Documents among the step's targets, or to which the targets belong."""


AuditRows = paged(AuditRow, "AuditRows", "A page of the audit log, newest first.")


class RowChange(Message):
    """One row a step changed: for an update the columns that differ, for an insert or delete the whole row."""

    table: str
    label: str
    op: Literal["insert", "update", "delete"]
    key: dict[str, Any]
    before: dict[str, Any] | None = None
    after: dict[str, Any] | None = None


class AuditDetail(AuditRow):
    """One step with its changes."""

    changes: list[RowChange]
    changes_total: int


class ChainVerdict(Message):
    """Whether every row's hash follows from the row before; `detail` names the first that does not."""

    ok: bool
    rows: int
    detail: str | None = None


class UndoSet(Params):
    """Steps to undo, all or none."""

    audit_ids: list[Annotated[str, Field(max_length=64)]] = Field(min_length=1, max_length=MAX_SET)


class UndoAnswer(Message):
    """The new steps, whose undo as a set is the redo, and the steps undone."""

    audit_ids: list[str]
    undone: list[str]
    audit_id: str


@router.get("/registry", response_model=ActionRegistryAnswer, responses=REFUSALS(404), summary="Every action")
def registry(
    engine: CurrentEngine,
    _: CurrentPrincipal,
    name: Annotated[list[str], Query(max_length=100, description="only these")] = [],  # noqa: B006
) -> Response:
    """Every action with its JSON Schema, so that any caller can make all writes through one route; or those named, of which
    `GET /api/actions/names` is the short list.
    """
    action_names = {engine.actions.get(text).name for text in name}
    actions = [
        entry for entry in engine.actions.describe() if not action_names or entry["name"] in action_names
    ]
    return json_response({"items": actions, "count": len(actions)})


@router.get("/names", response_model=ActionNamesAnswer, responses=REFUSALS(), summary="The names of actions")
def names(engine: CurrentEngine, _: CurrentPrincipal) -> Response:
    """Every action by name, without its JSON Schemas: a tenth of the registry."""
    items = [
        {
            "name": action.name,
            "summary": action.summary,
            "plugin": engine.actions.plugin_of(action.name),
            "role": action.role,
            "scope": action.scope,
        }
        for action in engine.actions.all()
    ]
    return json_response({"items": items, "count": len(items)})


@router.post(
    "/invoke", response_model=InvokeAnswer, responses=REFUSALS(404, 409, 412, 500), summary="Run any action"
)
def invoke(request: Request, body: InvokeRequest, _: CurrentPrincipal) -> Response:
    """Runs the named action. An action that works in a project needs the project named; an engine-wide one does not."""
    outcome = run(request, body.name, body.params)
    return json_response(
        {"ok": True, "result": outcome.result, "audit_id": outcome.audit_id},
        headers={**audit_header(outcome.audit_id), "Cache-Control": "no-store"},
    )


@router.get("/audit", response_model=AuditRows, responses=REFUSALS(404, 409), summary="The audit log")
def audit_rows(
    request: Request,
    engine: CurrentEngine,
    library: OptionalLibrary,
    scope: WhichLog = "project",
    action: Annotated[str | None, Query(max_length=120)] = None,
    actor: Annotated[str | None, Query(max_length=200)] = None,
    target_id: Annotated[str | None, Query(max_length=4096)] = None,
    run_id: Annotated[str | None, Query(max_length=200)] = None,
    set_id: Annotated[str | None, Query(max_length=64)] = None,
    since: Annotated[str | None, Query(max_length=40)] = None,
    until: Annotated[str | None, Query(max_length=40)] = None,
    undone: bool | None = None,
    seq: Annotated[int | None, Query(ge=1, le=10**12, description="The number of one step.")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    offset: Annotated[int, Query(ge=0, le=10**12)] = 0,
) -> Response:
    """Newest first, restricted by every filter given."""
    home = _log(request, engine, library, scope)
    with home.read() as conn:
        items, total = audit.select_rows(
            conn,
            action=action,
            actor=actor,
            target_id=target_id,
            run_id=run_id,
            set_id=set_id,
            since=moment("since", since),
            until=moment("until", until, last=True),
            undone=undone,
            seq=seq,
            limit=limit,
            offset=offset,
        )
        Wording(engine.actions, engine.plugins.loaded, home.schema).add_to(conn, items)
    return json_response(
        {"items": items, "count": len(items), "total": total, "limit": limit, "offset": offset}
    )


@router.get(
    "/audit/verify",
    response_model=ChainVerdict,
    responses=REFUSALS(404, 409),
    summary="Verify the audit chain",
)
def verify(
    request: Request, engine: CurrentEngine, library: OptionalLibrary, scope: WhichLog = "project"
) -> Response:
    """Reads the whole log and detects an altered, missing or inserted row."""
    # The hash chain can only be verified as a whole; the answer contains nothing of any row.
    with _log(request, engine, library, scope).read_all() as conn:
        fault = audit.verify_chain(conn)
        _, rows = audit.select_rows(conn, limit=0)
    return json_response({"ok": fault is None, "rows": rows, "detail": fault})


@router.get(
    "/audit/{audit_id}",
    response_model=AuditDetail,
    responses=REFUSALS(404, 409),
    summary="One step with what it changed",
)
def audit_row(
    request: Request,
    engine: CurrentEngine,
    library: OptionalLibrary,
    audit_id: AuditId,
    scope: WhichLog = "project",
    limit: Annotated[int, Query(ge=1, le=1000, description="Changed rows to show.")] = 100,
    offset: Annotated[int, Query(ge=0, le=10**12)] = 0,
) -> Response:
    """What each row was before and after the step; 404 when no step has that id."""
    home = _log(request, engine, library, scope)
    with home.read() as conn:
        row = audit.select_row(conn, audit_id)
        if row is None:
            raise NotFound(
                f"No step {audit_id} is in this audit log; the history of the project lists its steps.",
                code="unknown_step",
            )
        Wording(engine.actions, engine.plugins.loaded, home.schema).add_to(conn, [row])
    with home.read_all() as conn:
        if home.visibility is not None:
            # A step may have touched rows that it does not name among its targets.
            home.visibility.refuse_showing_step(raw_of(conn), row["seq"], principal_of(request))
        changes, total = changes_of(conn, home.schema, row["seq"], limit=limit, offset=offset)
    return json_response({**row, "changes": changes, "changes_total": total})


@router.post(
    "/audit/undo", response_model=UndoAnswer, responses=REFUSALS(404, 409), summary="Undo a set of steps"
)
def undo_set(request: Request, engine: CurrentEngine, library: OptionalLibrary, body: UndoSet) -> Response:
    """Newest first, in one transaction, all or none; undoing the answer's audit_ids as a set is the redo."""
    return _undo(request, engine, library, body.audit_ids)


@router.post(
    "/audit/{audit_id}/undo",
    response_model=UndoAnswer,
    responses=REFUSALS(404, 409),
    summary="Undo one step",
)
def undo_one(
    request: Request, engine: CurrentEngine, library: OptionalLibrary, audit_id: AuditId
) -> Response:
    """404 and 409 carry `reason`: changed, already-undone, gone or not-undoable."""
    return _undo(request, engine, library, [audit_id])


def _undo(request: Request, engine: Engine, library: Library | None, audit_ids: list[str]) -> Response:
    if library is None:
        # Without a project only engine-wide steps can be meant; for any other id the project must be named.
        with engine.state.read() as conn:
            if any(audit.select_row(conn, audit_id) is None for audit_id in audit_ids):
                raise library_required()
    answer = engine.undo(library, audit_ids, principal_of(request))
    audit_id = answer["audit_ids"][0]
    return json_response({**answer, "audit_id": audit_id}, headers=audit_header(audit_id))


def _log(request: Request, engine: Engine, library: Library | None, scope: Log) -> Any:
    """Return the database of the requested log: the project's, or the engine's own for the owner."""
    if scope == "engine":
        refuse_bound(owner_of(request), required="read")
        return engine.state
    if library is None:
        raise library_required()
    return library.db
