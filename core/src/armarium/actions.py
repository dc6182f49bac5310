"""The action bus: the one way anything is written, audited, in one transaction, and undoable (architecture 4)."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, TypeVar, get_args

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError
from sqlalchemy import Connection, Table
from sqlalchemy.exc import IntegrityError

from armarium import audit, history
from armarium.db import Database, bulk_insert, raw_of
from armarium.errors import BadRequest, Conflict, Forbidden, Invalid, NotFound
from armarium.ids import new_id, now
from armarium.principals import Principal, Role

if TYPE_CHECKING:
    from armarium.engine import Engine
    from armarium.libraries import Library
    from armarium.undo import UndoContext

log = logging.getLogger("armarium.actions")

P = TypeVar("P", bound=BaseModel)


class _SourceTextMark:
    """Marks a field whose words belong to the source: they never enter the audit log."""


SourceText = Annotated[str, _SourceTextMark()]
"""A parameter that holds page text, a reading, a note: the audit row says only how long it was."""


class Params(BaseModel):
    """Base of every action's parameters: an unknown field is refused."""

    model_config = ConfigDict(extra="forbid")


class NoParams(Params):
    """For an action that takes nothing."""


@dataclass(frozen=True)
class Action(Generic[P]):
    """A named write. `perform` runs inside one transaction; what it changes can be undone without any inverse."""

    name: str
    summary: str
    params: type[P]
    perform: Callable[[ActionContext, P], Any]
    result: type[BaseModel] | None = None
    role: Role = "editor"
    person_only: bool = False
    undoable: bool = True
    scope: Literal["library", "engine", "either"] = "library"
    """Where it writes; `either`: in the library named, else in the engine's own database."""
    undo_name: str | None = None
    """The name of the row that takes it back, where a part gives one; else its own name."""
    example: Callable[[Example], dict[str, Any]] | None = None
    """Parameters that make it succeed, for the conformance kit; may run other actions first."""
    after_undo: Callable[[UndoContext], None] | None = None
    """Append-only notes and outside effects of taking it back; runs inside the undo's transaction."""

    def parse(self, params: Mapping[str, Any] | BaseModel) -> P:
        """*params* as this action's model; Invalid with one sentence and the list of faults."""
        if isinstance(params, self.params):
            return params
        try:
            return self.params.model_validate(params)
        except ValidationError as error:
            raise invalid_request(error, self.name) from error

    def describe(self, plugin: str) -> dict[str, Any]:
        """The registry's entry: what it is, who may, and its JSON Schemas."""
        return {
            "name": self.name,
            "summary": self.summary,
            "plugin": plugin,
            "role": self.role,
            "person_only": self.person_only,
            "undoable": self.undoable,
            "scope": self.scope,
            "params": self.params.model_json_schema(),
            "result": self.result.model_json_schema() if self.result else None,
        }


def action(
    name: str,
    *,
    params: type[P],
    summary: str,
    result: type[BaseModel] | None = None,
    role: Role = "editor",
    person_only: bool = False,
    undoable: bool = True,
    scope: Literal["library", "engine", "either"] = "library",
    undo_name: str | None = None,
    example: Callable[[Example], dict[str, Any]] | None = None,
    after_undo: Callable[[UndoContext], None] | None = None,
) -> Callable[[Callable[[ActionContext, P], Any]], Action[P]]:
    """Make the decorated function an `Action`; the name then *is* the action, its function `.perform`."""

    def make(perform: Callable[[ActionContext, P], Any]) -> Action[P]:
        return Action(
            name=name,
            summary=summary,
            params=params,
            perform=perform,
            result=result,
            role=role,
            person_only=person_only,
            undoable=undoable,
            scope=scope,
            undo_name=undo_name,
            example=example,
            after_undo=after_undo,
        )

    return make


def invalid_request(error: ValidationError, what: str) -> Invalid:
    """Pydantic's faults as one refusal (A 7): a sentence, and each fault without the value that was sent."""
    faults = [
        {"loc": list(fault["loc"]), "msg": fault["msg"], "type": fault["type"]}
        for fault in error.errors(include_input=False, include_url=False, include_context=False)
    ]
    first = faults[0]
    where = ".".join(str(part) for part in first["loc"]) or "the body"
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return Invalid(
        f"{what}: {where}: {first['msg']}{more}.",
        code="invalid_request",
        errors=faults,
    )


class ActionRegistry:
    """The actions of one engine by name, each with the plugin that brings it."""

    def __init__(self) -> None:
        self._actions: dict[str, tuple[Action[Any], str]] = {}

    def add(self, found: Action[Any], plugin: str) -> None:
        """Register *found*; a name is never overwritten."""
        if found.name in self._actions:
            raise ValueError(f"the action {found.name} is registered twice")
        self._actions[found.name] = (found, plugin)

    def get(self, name: str) -> Action[Any]:
        """The action *name*; NotFound that points at the registry."""
        try:
            return self._actions[name][0]
        except KeyError:
            raise NotFound(
                f"There is no action {name[:80]!r}; GET /api/actions/registry lists those there are.",
                code="unknown_action",
            ) from None

    def find(self, name: str) -> Action[Any] | None:
        """The action *name*, or None when no loaded plugin brings it."""
        return self._actions[name][0] if name in self._actions else None

    def all(self) -> list[Action[Any]]:
        """Every action, by name."""
        return [self._actions[name][0] for name in sorted(self._actions)]

    def plugin_of(self, name: str) -> str:
        """The plugin that brings the action *name*."""
        return self._actions[name][1]

    def describe(self) -> list[dict[str, Any]]:
        """Every action's registry entry, by name."""
        return [self._actions[name][0].describe(self._actions[name][1]) for name in sorted(self._actions)]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an action answered, and the audit row to undo it by."""

    result: dict[str, Any] | None
    audit_id: str
    set_id: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """A committed step, as the change stream and `armarium_step_committed` see it."""

    name: str
    audit_id: str
    seq: int
    library: Library | None
    principal: Principal
    changed: dict[str, list[str]]
    target_ids: list[str]
    at: str
    set_id: str | None = None
    run_id: str | None = None
    inverse_of: str | None = None


@dataclass(frozen=True)
class Example:
    """What an action's `example` may use to prepare the ground in a fresh library."""

    engine: Engine
    library: Library | None
    principal: Principal
    folder: Any
    """A temporary folder (Path) for files."""

    def run(self, name: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Run another action first; its result."""
        return self.engine.run(self.library, name, params, self.principal).result or {}

    def file(self, name: str, data: bytes) -> Any:
        """A file with these bytes; its path."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path


@dataclass
class ActionContext:
    """What `perform` works with: the transaction, who asks, and where to say what was touched."""

    conn: Connection
    engine: Engine
    library: Library | None
    principal: Principal
    audit_id: str
    audit_seq: int
    now: str
    action_name: str
    set_id: str | None = None
    target_ids: dict[str, None] = field(default_factory=dict)
    changes: dict[str, dict[str, None]] = field(default_factory=dict)
    after_commit: list[Callable[[], None]] = field(default_factory=list)
    enqueued: bool = False

    @property
    def run_id(self) -> str | None:
        """The run this step belongs to, when a run makes it."""
        return self.principal.run_id

    @property
    def project(self) -> Library:
        """The library of this step; only for actions of library scope."""
        assert self.library is not None, "an engine-wide action has no library"
        return self.library

    def run(self, name: str, params: Mapping[str, Any] | BaseModel) -> Any:
        """Run another action inside this step: one gesture, one audit row, one undo."""
        nested = self.engine.actions.get(name)
        authorise(nested, self.principal, self.library)
        return nested.perform(self, nested.parse(params))

    def enqueue(
        self,
        kind: str,
        args: Mapping[str, Any],
        *,
        title: str,
        parent_id: str | None = None,
        model: str | None = None,
        subject: Mapping[str, Any] | None = None,
    ) -> str:
        """Put a job into the queue in this very transaction: it exists if and only if the step does."""
        from armarium.jobs.queue import enqueue

        job_id = enqueue(
            self.conn,
            kind,
            dict(args),
            title=title,
            parent_id=parent_id,
            model=model,
            subject=dict(subject) if subject else None,
            started_by=self.principal,
            kinds=self.engine.jobs.kinds,
        )
        self.enqueued = True
        self.changed(job_ids=[job_id])
        return job_id

    def target(self, *ids: str) -> None:
        """Name things in the audit row."""
        for identity in ids:
            self.target_ids[identity] = None

    def changed(self, **ids: Iterable[str]) -> None:
        """Name things in the change event: `document_ids=[…]`, `segment_ids=[…]` and so on (A 6)."""
        for kind, values in ids.items():
            self.changes.setdefault(kind, {}).update(dict.fromkeys(values))

    def on_commit(self, then: Callable[[], None]) -> None:
        """Call *then* once the step is on disk; what it raises is logged."""
        self.after_commit.append(then)

    def provenance(self) -> dict[str, Any]:
        """The four fields that say who made a row (A 1), from the principal and nowhere else."""
        return {
            "provenance_kind": self.principal.provenance_kind,
            "created_by": self.principal.name,
            "run_id": self.principal.run_id,
            "created_at": self.now,
        }

    def bulk_insert(self, table: Table, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> int:
        """Insert many rows as tuples (see `armarium.db.bulk_insert`)."""
        return bulk_insert(self.conn, table, columns, rows)


class Bus:
    """Runs actions: authorise, transact, audit, commit, then tell."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def run(
        self,
        library: Library | None,
        name: str,
        params: Mapping[str, Any] | BaseModel,
        principal: Principal,
        *,
        set_id: str | None = None,
        in_transaction: Callable[[ActionContext], None] | None = None,
    ) -> Outcome:
        """Run the action *name* as *principal*.

        *set_id* binds the step to others that are undone together. *in_transaction* is called in the same
        transaction after the action (a job writes its checkpoint there). Raises the refusals of `armarium.errors`;
        then nothing was changed.
        """
        found = self.engine.actions.get(name)
        authorise(found, principal, library)
        parsed = found.parse(params)
        db = self.database_of(found, library)
        db.refuse_unless_sound()
        try:
            with db.write() as conn:
                ctx, before, raw = self.open_step(conn, found.name, library, principal, set_id)
                result = found.perform(ctx, parsed)
                if in_transaction is not None:
                    in_transaction(ctx)
                self.close_step(ctx, before, raw, recorded(parsed), undoable=found.undoable)
        except (IntegrityError, sqlite3.IntegrityError) as error:
            raise clash(error) from error
        self.tell(ctx)
        answer = result.model_dump(mode="json") if isinstance(result, BaseModel) else result
        return Outcome(answer, ctx.audit_id, set_id)

    def database_of(self, found: Action[Any], library: Library | None) -> Database:
        """Where an action writes: the library's database, or the engine's own."""
        if found.scope == "engine" or (found.scope == "either" and library is None):
            return self.engine.state
        if library is None:
            raise BadRequest(
                f"{found.name} works in a project; name one with the header X-Service-Library-Path.",
                code="library_required",
            )
        return library.db

    def open_step(
        self, conn: Connection, name: str, library: Library | None, principal: Principal, set_id: str | None
    ) -> tuple[ActionContext, audit.Head, sqlite3.Connection]:
        """Begin a step in an open transaction: tracked tables take writes until `close_step`."""
        raw = raw_of(conn)
        before = audit.head(raw)
        history.begin_step(raw, before.seq + 1)
        ctx = ActionContext(
            conn=conn,
            engine=self.engine,
            library=library,
            principal=principal,
            audit_id=new_id(),
            audit_seq=before.seq + 1,
            now=now(),
            action_name=name,
            set_id=set_id,
        )
        return ctx, before, raw

    def close_step(
        self,
        ctx: ActionContext,
        before: audit.Head,
        raw: sqlite3.Connection,
        params: Mapping[str, Any],
        *,
        undoable: bool,
        inverse_of: str | None = None,
    ) -> audit.Head:
        """End a step: tracked tables refuse again, and its audit row is written."""
        history.end_step(raw)
        principal = ctx.principal
        targets = list(ctx.target_ids)
        after = audit.append(
            raw,
            before,
            {
                "seq": ctx.audit_seq,
                "id": ctx.audit_id,
                "action_name": ctx.action_name,
                "actor_kind": principal.kind,
                "actor_name": principal.name,
                "client": principal.client,
                "origin_window": principal.origin_window,
                "role": principal.role,
                "target_ids": orjson.dumps(targets[: audit.MAX_TARGETS]).decode(),
                "params": orjson.dumps(params).decode(),
                "changed": orjson.dumps(_bounded(ctx.changes)).decode(),
                "run_id": principal.run_id,
                "set_id": ctx.set_id,
                "inverse_of": inverse_of,
                "undoable": int(undoable),
                "created_at": ctx.now,
            },
        )
        audit.append_targets(raw, ctx.audit_seq, targets)
        return after

    def tell(self, ctx: ActionContext, *, inverse_of: str | None = None) -> None:
        """After the commit: outside effects, the change event, waiting jobs, the hook."""
        for then in ctx.after_commit:
            try:
                then()
            except Exception:
                log.exception("an effect after the commit of %s failed", ctx.action_name)
        step = Step(
            name=ctx.action_name,
            audit_id=ctx.audit_id,
            seq=ctx.audit_seq,
            library=ctx.library,
            principal=ctx.principal,
            changed={kind: list(ids) for kind, ids in ctx.changes.items()},
            target_ids=list(ctx.target_ids),
            at=ctx.now,
            set_id=ctx.set_id,
            run_id=ctx.run_id,
            inverse_of=inverse_of,
        )
        self.engine.events.publish(
            "change", change_data(step), str(ctx.library.path) if ctx.library is not None else None
        )
        if ctx.enqueued:
            self.engine.jobs.wake(ctx.library)
        self.engine.step_committed(step)


_ID_LISTS = (
    "document_ids",
    "entity_ids",
    "claim_ids",
    "artifact_ids",
    "representation_ids",
    "annotation_ids",
    "interpretation_ids",
    "segment_ids",
    "pass_ids",
    "job_ids",
)


def change_data(step: Step) -> dict[str, Any]:
    """A step as the change stream tells it (A 6)."""
    return {
        "event_id": step.audit_id,
        "ts": step.at,
        "type": step.name,
        "audit_id": step.audit_id,
        "actor": {"kind": step.principal.kind, "name": step.principal.name},
        "client": step.principal.client,
        "origin_window": step.principal.origin_window,
        "run_id": step.run_id,
        "metadata": {"set_id": step.set_id, "inverse_of": step.inverse_of},
        **{kind: step.changed.get(kind, []) for kind in _ID_LISTS},
    }


def authorise(found: Action[Any], principal: Principal, library: Library | None) -> None:
    """Refuse an action that *principal* may not run (A 5); the codes are those of A 7."""
    if found.scope != "engine" and library is not None and not principal.reaches(str(library.path)):
        raise Forbidden(
            f"This token does not reach the project {library.name}.",
            code="library_access_denied",
            library_path=str(library.path),
            required="write",
            role=principal.role,
        )
    if not principal.may(found.role):
        if found.role == "owner":
            raise Forbidden(f"Only the owner may do this ({found.name}).", code="owner_only")
        raise Forbidden(
            f"Your role here is {principal.role}; {found.name} needs {found.role}.",
            code="library_access_denied",
            library_path=str(library.path) if library else None,
            required="write",
            role=principal.role,
        )
    if found.person_only and principal.kind != "person":
        raise Forbidden(f"Only a person may do this ({found.name}), not a machine.", code="person_only")


def clash(error: IntegrityError | sqlite3.IntegrityError) -> Exception:
    """A broken constraint as a refusal in words; a refusal of the history triggers stays what it is, a bug."""
    text = str(error.orig) if isinstance(error, IntegrityError) else str(error)
    if "FOREIGN KEY" in text:
        return Conflict(
            "Something this step names is gone, or something else still needs what it removes; nothing was changed.",
            code="still_referenced",
        )
    if "UNIQUE" in text:
        return Conflict(
            f"There is one already ({text.split(':')[-1].strip()} must be unique); nothing was changed.",
            code="already_exists",
        )
    return error


@cache
def _source_fields(model: type[BaseModel]) -> frozenset[str]:
    def marked(annotation: Any) -> bool:
        return any(isinstance(part, _SourceTextMark) or marked(part) for part in get_args(annotation))

    return frozenset(
        name
        for name, info in model.model_fields.items()
        if any(isinstance(mark, _SourceTextMark) for mark in info.metadata) or marked(info.annotation)
    )


_LONGEST_WORD = 200
_LONGEST_LIST = 50


def recorded(params: BaseModel) -> dict[str, Any]:
    """What the audit row keeps of *params*: ids, numbers, settings; of words of a source only their length."""
    source = _source_fields(type(params))
    return {
        name: _count(getattr(params, name)) if name in source else _kept(getattr(params, name))
        for name in params.model_fields_set
        if name in type(params).model_fields
    }


def _kept(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_WORD else _count(value)
    if isinstance(value, BaseModel):
        return recorded(value)
    if isinstance(value, Mapping):
        return {"keys": sorted(str(key) for key in value)[:_LONGEST_LIST]}
    if isinstance(value, list | tuple | set | frozenset):
        return [_kept(item) for item in value] if len(value) <= _LONGEST_LIST else {"count": len(value)}
    return str(value)


def _count(value: Any) -> Any:
    if isinstance(value, str):
        return {"characters": len(value)}
    if isinstance(value, bytes):
        return {"bytes": len(value)}
    if isinstance(value, Mapping | list | tuple):
        return {"count": len(value)}
    return value


def _bounded(changes: Mapping[str, Mapping[str, None]]) -> dict[str, list[str]]:
    """The ids of the change event, at most 1,000 a kind in the audit row."""
    return {kind: list(ids)[: audit.MAX_TARGETS] for kind, ids in changes.items()}
