"""What an action works with while it runs, and its record afterwards: context, outcome, step, example."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel
from sqlalchemy import Connection, Table

from armarium.actions.rights import authorise, check_params, check_rows
from armarium.history.capture import history_name, holds, key_columns, quote_name
from armarium.history.locks import values_of_span
from armarium.history.spans import spans
from armarium.principals import Principal
from armarium.store.database import bulk_insert, raw_of

if TYPE_CHECKING:
    from armarium.actions.definition import Action
    from armarium.engine import Engine
    from armarium.history.schema import Schema
    from armarium.projects.libraries import Library

P = TypeVar("P", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of an action, and the audit row by which to undo it."""

    result: dict[str, Any] | None
    audit_id: str
    set_id: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """A committed step as the change stream and `armarium_step_committed` see it."""

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
    """What an action's `example` may use to set up a new project."""

    engine: Engine
    library: Library | None
    principal: Principal
    folder: Any
    """A temporary folder for files."""

    def run(self, name: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Run another action first and return its result."""
        return self.engine.run(self.library, name, params, self.principal).result or {}

    def file(self, name: str, data: bytes) -> Any:
        """Write a file with these bytes and return its path."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path


@dataclass
class ActionContext:
    """What `perform` works with: the transaction, the caller, and methods that record what was touched."""

    conn: Connection
    engine: Engine
    library: Library | None
    principal: Principal
    audit_id: str
    audit_seq: int
    now: str
    action_name: str
    schema: Schema
    heeds_locks: bool
    """Whether the caller may not write to what is locked."""
    any_locked: bool
    """Whether anything was locked when the step began."""
    set_id: str | None = None
    ran: dict[str, Action[Any]] = field(default_factory=dict)
    """Names of the actions that ran in this step: its own, and those run inside it."""
    guarded: dict[str, None] = field(default_factory=dict)
    """Nodes for whose descendants the step has queued work."""
    target_ids: dict[str, None] = field(default_factory=dict)
    changes: dict[str, dict[str, None]] = field(default_factory=dict)
    after_commit: list[Callable[[], None]] = field(default_factory=list)
    enqueued: bool = False
    answer: Any = None
    """The result of the step's action, for code that runs in the same transaction afterwards."""

    @property
    def run_id(self) -> str | None:
        """The run this step belongs to, or None."""
        return self.principal.run_id

    @property
    def project(self) -> Library:
        """The project of this step; only for actions of library scope."""
        assert self.library is not None, "an engine-wide action has no project"
        return self.library

    def run(self, name: str, params: Mapping[str, Any] | BaseModel) -> Any:
        """Run another action inside this step: one audit row, one undo."""
        nested = self.engine.actions.get(name)
        authorise(nested, self.principal, self.library)
        if self.library is not None and nested.scope != "engine":
            self.library.db.refuse_left_out(self.engine.actions.plugin_of(name))
        parsed = nested.parse(params)
        check_params(nested, parsed, self.principal)
        self.engine.paths.check(parsed, self.principal)
        return self.perform(nested, parsed)

    def perform(self, found: Action[P], params: P) -> Any:
        """Run the body of *found*, and record the rules that are checked when the step ends."""
        self.ran[found.name] = found
        earlier, self.target_ids = self.target_ids, {}
        try:
            return found.perform(self, params)
        finally:
            if found.guards_targets:
                self.guarded |= self.target_ids
            self.target_ids = earlier | self.target_ids

    def obey_laws_of(self, *names: str) -> None:
        """Apply the laws of the actions *names* to this step, its undo and its redo, as if they had run in it.

        For a family whose rows follow a step of another one: it writes them without an action of its own.
        """
        for name in names:
            self.ran.setdefault(name, self.engine.actions.get(name))

    def refuse_locked(self, *ids: str) -> None:
        """Raise 403 node_locked now for nodes *ids* beneath which the end of the step would refuse writes.

        For an action that carries on with the others when one is refused.
        """
        if self.heeds_locks and self.schema.locks is not None:
            self.schema.locks.refuse(raw_of(self.conn), ids)

    def check_rows(self) -> None:
        """Check now the rights over the rows changed so far, which are otherwise checked at the end: before their
        images are deleted.
        """
        check_rows(self, raw_of(self.conn))

    def enqueue(
        self,
        kind: str,
        args: Mapping[str, Any],
        *,
        title: str,
        total: int = 1,
        parent_id: str | None = None,
        model: str | None = None,
        subject: Mapping[str, Any] | None = None,
        lane: str | None = None,
        thread_id: str | None = None,
    ) -> str:
        """Queue a job of *total* pages in this transaction: it exists if and only if the step does.

        *lane*: a lane of the kind other than its default. *thread_id* makes the job a run with that id; all jobs
        beneath it belong to the run.
        """
        job_id = self.engine.jobs.enqueue(
            self.conn,
            kind,
            dict(args),
            title=title,
            total=total,
            parent_id=parent_id,
            model=model,
            subject=dict(subject) if subject else None,
            lane=lane,
            started_by=self.principal,
            thread_id=thread_id,
            job_id=thread_id,
        )
        self.enqueued = True
        self.note_changes(job_ids=[job_id])
        return job_id

    def target(self, *ids: str) -> None:
        """Add ids to the targets of the audit row."""
        for identity in ids:
            self.target_ids[identity] = None

    def note_changes(self, **ids: Iterable[str]) -> None:
        """Add ids to the change event: `document_ids=[…]`, `segment_ids=[…]` and so on."""
        for kind, values in ids.items():
            self.changes.setdefault(kind, {}).update(dict.fromkeys(values))

    def on_commit(self, then: Callable[[], None]) -> None:
        """Call *then* after the commit; an exception it raises is logged."""
        self.after_commit.append(then)

    def values_touched(self, table: Table, column: str) -> set[str]:
        """Return the values that *column* has or had in the rows of a tracked *table* that this step has changed so
        far.
        """
        tracked = self.schema.by_name.get(table.name)
        if tracked is None:
            return set()
        raw = raw_of(self.conn)
        return {
            value
            for part, where in spans(raw, [tracked], self.audit_seq).items()
            for value in values_of_span(raw, part, column, where)
        }

    def ids_moved(self, table: Table, columns: Sequence[str]) -> set[str]:
        """Return the ids of rows of a tracked *table* in which this step has changed one of *columns* so far, without
        rows that it inserted or deleted.
        """
        tracked = self.schema.by_name.get(table.name)
        if tracked is None:
            return set()
        raw = raw_of(self.conn)
        (key,) = map(quote_name, key_columns(tracked))
        changed = " OR ".join(holds(tracked.c[name], "h") for name in columns)
        return {
            row[0]
            for part, where in spans(raw, [tracked], self.audit_seq).items()
            for row in raw.execute(
                f"SELECT DISTINCT {key} FROM {quote_name(history_name(part))} h"
                f" WHERE seq BETWEEN ? AND ? AND op = 'U' AND ({changed})",
                where,
            )
        }

    def touched_tables(self, tables: Sequence[Table]) -> set[str]:
        """Return the names of those tracked *tables* in which this step has changed rows so far, in one statement."""
        here = [table for table in tables if table.name in self.schema.by_name]
        return {table.name for table in spans(raw_of(self.conn), here, self.audit_seq)}

    def provenance(self) -> dict[str, Any]:
        """Return the four fields that say who made a row, taken from the principal only."""
        return {
            "provenance_kind": self.principal.provenance_kind,
            "created_by": self.principal.name,
            "run_id": self.principal.run_id,
            "created_at": self.now,
        }

    def bulk_insert(self, table: Table, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> int:
        """Insert many rows as tuples (see `armarium.store.database.bulk_insert`)."""
        return bulk_insert(self.conn, table, columns, rows)
