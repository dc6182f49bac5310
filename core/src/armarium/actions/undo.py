"""Undo: row images are written back by set-based SQL, all or none; a redo is the undo of an undo.

There are no handwritten inverses. A set is undone step by step, newest first, in one transaction, so a foreign step
between two of the set's is detected and refused rather than silently overwritten.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from armarium.actions import ActionContext, Bus
from armarium.actions.rights import LawBrokenError, authorise_step, refuse_bound
from armarium.errors import Conflict, Invalid, NotFound, ServiceError
from armarium.history import tree_cycles
from armarium.history.audit import parts_of
from armarium.history.capture import history_name
from armarium.history.row_images import delete_inserted, ops_of, write_back
from armarium.history.schema import Schema
from armarium.history.spans import span, spans
from armarium.history.undo_checks import Row, check, check_references, check_uses, refusal
from armarium.ids import new_id
from armarium.principals import Principal
from armarium.store.database import Database, raw_of

if TYPE_CHECKING:
    from armarium.projects.libraries import Library

MAX_SET = 10_000
"""How many steps one call may undo."""


@dataclass(frozen=True)
class UndoContext:
    """What an action's `after_undo` may use: the undo's own step, and the step that was undone."""

    step: ActionContext
    audit_id: str
    params: dict[str, Any]
    target_ids: list[str]
    redo: bool
    """True when this undoes an undo, that is, redoes the step."""


def undo(bus: Bus, library: Library | None, audit_ids: Sequence[str], principal: Principal) -> dict[str, Any]:
    """Undo the steps *audit_ids*, newest first, in one transaction, all or none.

    Returns `{"audit_ids": new rows, "undone": rows undone}`. Raises NotFound or Conflict with `{detail, code:
    undo_refused, reason, audit_id}`; reason is changed, already-undone, gone or not-undoable.
    """
    if not audit_ids:
        raise Invalid("audit_ids is empty: name at least one step to undo.", code="invalid_request")
    if len(audit_ids) > MAX_SET:
        raise Invalid(
            f"One call undoes at most {MAX_SET} steps; {len(audit_ids)} were named.", code="too_many"
        )
    db, schema = _find_log(bus, library, audit_ids[0])
    home = library if library is not None and db is library.db else None
    undos: list[tuple[ActionContext, str]] = []
    db.refuse_unless_sound()
    with ExitStack() as both:
        partners = _partners(both, bus, home, audit_ids)
        try:
            with db.write() as conn:
                raw = raw_of(conn)
                rows = sorted(
                    (_row(raw, audit_id) for audit_id in dict.fromkeys(audit_ids)), key=lambda row: -row.seq
                )
                rows = _with_sets(bus, raw, rows)
                set_id = new_id() if len(rows) > 1 else None
                for row in rows:
                    # Read again: undoing a newer step of the set may have put this one back into effect.
                    current = _row(raw, row.id)
                    undos.append((_take_back(bus, conn, schema, home, current, principal, set_id), row.id))
                    for partner in partners.get(row.id, ()):
                        undos += _take_back_partner(bus, partner, raw, current, principal, set_id)
                for row in rows:
                    check_uses(raw, schema, row, bus.engine.actions.title_of)
        except (IntegrityError, sqlite3.IntegrityError) as error:
            raise refusal("changed", rows[-1].id, "a later step depends on what this one made") from error
        own = [ctx for ctx, _ in undos if ctx.library is home]
    for ctx, undone_id in undos:
        bus.tell(ctx, inverse_of=undone_id)
    return {"audit_ids": [ctx.audit_id for ctx in own], "undone": [row.id for row in rows]}


def _with_sets(bus: Bus, raw: sqlite3.Connection, rows: list[Row]) -> list[Row]:
    """Return *rows* and, for those whose action `undoes_sets`, all steps written by the work they started."""
    rows_by_id = {row.id: row for row in rows}
    begun = {_origin_id(raw, row) for row in rows}
    for row in rows:
        name, _, redo = _origin(raw, row)
        action = bus.engine.actions.find(name)
        if action is None or not action.undoes_sets:
            continue
        if redo:
            # Of the steps that were taken back together with it, those whose origin its own work wrote.
            query = (
                "WITH RECURSIVE back(id, origin) AS (SELECT id, id FROM audit WHERE undone = 0 AND inverse_of IS NOT NULL "
                "AND set_id = (SELECT set_id FROM audit WHERE id = ?) "
                "UNION ALL SELECT back.id, a.inverse_of FROM back JOIN audit AS a ON a.id = back.origin "
                "WHERE a.inverse_of IS NOT NULL) "
                "SELECT back.id FROM back JOIN audit AS a ON a.id = back.origin "
                "WHERE a.inverse_of IS NULL AND a.set_id IN (SELECT value FROM json_each(?))"
            )
            own = _row(raw, _origin_id(raw, row)).target_ids
            ids = raw.execute(query, (row.id, orjson.dumps(own).decode())).fetchall()
        else:
            query = (
                "SELECT id FROM audit WHERE set_id IN (SELECT value FROM json_each(?)) "
                "AND undone = 0 AND undoable = 1 AND inverse_of IS NULL"
            )
            members = raw.execute(query, (orjson.dumps(row.target_ids).decode(),)).fetchall()
            # For a member that was undone and redone, the step that redid it counts.
            ids = [(_find_standing_step(raw, step_id),) for (step_id,) in members if step_id not in begun]
        rows_by_id |= {step_id: _row(raw, step_id) for (step_id,) in ids if step_id not in rows_by_id}
    return sorted(rows_by_id.values(), key=lambda row: -row.seq)


@dataclass(frozen=True, slots=True)
class _Partner:
    """The other half of a step across two projects: its project, with a transaction open there, and the step it began
    as.
    """

    library: Library
    conn: Connection
    origin_id: str


def _partners(
    both: ExitStack, bus: Bus, library: Library | None, audit_ids: Sequence[str]
) -> dict[str, list[_Partner]]:
    """Yield the steps in other projects that go with *audit_ids*, by those ids; the writers are taken here and released
    by *both*.

    They commit after the project's own, so that a refusal on either side leaves both unchanged.
    """
    partners: dict[str, list[_Partner]] = {}
    if library is None:
        return partners
    two_sided = []
    with library.db.read() as conn:
        raw = raw_of(conn)
        for row in (_row(raw, audit_id) for audit_id in audit_ids):
            action = bus.engine.actions.find(_origin(raw, row)[0])
            if action is not None and action.partner is not None:
                two_sided.append((row, action.partner, _origin_id(raw, row)))
    if not two_sided:
        return partners
    both.enter_context(bus.engine.lock_across())
    writers: dict[Path, Connection] = {}
    for row, partner_of, origin in two_sided:
        partner = partner_of(bus.engine, library, origin)
        if partner is None:
            continue
        other, other_id = partner
        if other.path not in writers:
            other.db.refuse_unless_sound()
            writers[other.path] = both.enter_context(other.db.write())
        partners.setdefault(row.id, []).append(_Partner(other, writers[other.path], other_id))
    return partners


def _take_back_partner(
    bus: Bus,
    partner: _Partner,
    raw: sqlite3.Connection,
    row: Row,
    principal: Principal,
    set_id: str | None,
) -> list[tuple[ActionContext, str]]:
    """Bring the other half into the state in which *row*, just undone, leaves its own: undone or in effect again."""
    theirs = raw_of(partner.conn)
    current = _row(theirs, partner.origin_id)
    if current.undone == _row(raw, _origin_id(raw, row)).undone:
        return []
    if current.undone:
        # It is redone by undoing the newest undo of it.
        (newest,) = theirs.execute(
            "WITH RECURSIVE chain(id) AS (VALUES (?)"
            " UNION SELECT a.id FROM chain JOIN audit a ON a.inverse_of = chain.id)"
            " SELECT a.id FROM chain JOIN audit a ON a.id = chain.id WHERE a.undone = 0 ORDER BY a.seq DESC LIMIT 1",
            (current.id,),
        ).fetchone()
        current = _row(theirs, newest)
    try:
        ctx = _take_back(
            bus, partner.conn, partner.library.schema, partner.library, current, principal, set_id
        )
    except Conflict as error:
        raise refusal(
            str(error.fields.get("reason", "changed")),
            row.id,
            f"its other half, step {current.id} in {partner.library.name}, cannot be. {error.detail}",
        ) from error
    return [(ctx, current.id)]


def _find_log(bus: Bus, library: Library | None, audit_id: str) -> tuple[Database, Schema]:
    """Return the log that contains the step: the project's, else the engine's own."""
    engine = bus.engine
    if library is not None:
        with library.db.read() as conn:
            raw = raw_of(conn)
            if raw.execute("SELECT 1 FROM audit WHERE id = ?", (audit_id,)).fetchone():
                return library.db, library.schema
    with engine.state.read() as conn:
        raw = raw_of(conn)
        if raw.execute("SELECT 1 FROM audit WHERE id = ?", (audit_id,)).fetchone():
            return engine.state, engine.engine_schema
    raise _unknown(audit_id)


def _unknown(audit_id: str) -> ServiceError:
    return NotFound(
        f"No step {audit_id[:64]} is in the audit log; the history of the project lists its steps.",
        code="undo_refused",
        reason="gone",
        audit_id=audit_id,
    )


def _row(raw: sqlite3.Connection, audit_id: str) -> Row:
    row = raw.execute(
        "SELECT seq, id, action_name, inverse_of, undoable, undone, gone, params, target_ids, changed "
        "FROM audit WHERE id = ?",
        (audit_id,),
    ).fetchone()
    if row is None:
        raise _unknown(audit_id)
    seq, identity, name, inverse_of, undoable, undone, gone, params, targets, changed = row
    return Row(
        seq=seq,
        id=identity,
        action_name=name,
        inverse_of=inverse_of,
        undoable=bool(undoable),
        undone=bool(undone),
        gone=bool(gone),
        params=orjson.loads(params),
        target_ids=orjson.loads(targets),
        changed=orjson.loads(changed),
    )


def _take_back(
    bus: Bus,
    conn: Connection,
    schema: Schema,
    library: Library | None,
    row: Row,
    principal: Principal,
    set_id: str | None,
) -> ActionContext:
    """Undo one step inside the open transaction; the undo is a step of its own."""
    raw = raw_of(conn)
    original, origin, redo = _origin(raw, row)
    action = bus.engine.actions.find(original)
    ran = authorise_step(bus.engine, [original, *parts_of(raw, origin)], principal, library)
    if library is None:
        # Checked even for an action that a bound token may run: the action checks the reach itself, its undo does not.
        refuse_bound(principal, required="write")
    if row.gone:
        raise refusal("gone", row.id, "what it changed was removed for good by Empty Trash")
    if row.undone:
        raise refusal("already-undone", row.id, "it was undone already")
    if not row.undoable:
        raise refusal(
            "not-undoable",
            row.id,
            f"a step of this kind ({bus.engine.actions.title_of(original)}) is for good",
        )
    _refuse_unknown_tables(raw, schema, row)
    touched = spans(raw, schema.tracked, row.seq)
    for table, changed_span in touched.items():
        check(raw, table, row, changed_span, bus.engine.actions.title_of)
    name = (action.undo_name if action is not None and not redo else None) or original
    ctx, before, _ = bus.open_step(conn, name, library, principal, set_id, schema)
    ctx.ran |= ran
    ctx.target(*row.target_ids)
    if any(action.guards_targets for action in ran.values()):
        ctx.guarded |= dict.fromkeys(row.target_ids)
    ctx.note_changes(**row.changed)
    if not schema.defers:
        # Only when needed: setting it makes SQLite recompile every statement of the connection.
        raw.execute("PRAGMA defer_foreign_keys=ON")
    newest = tree_cycles.newest(raw, touched)
    ops = {table: ops_of(raw, table, where) for table, where in touched.items()}
    for table, changed_span in reversed(touched.items()):
        delete_inserted(raw, table, changed_span, ops[table])
    for table, changed_span in touched.items():
        write_back(raw, table, changed_span, ops[table], ctx.now)
    for table, changed_span in touched.items():
        # Undoing a step removes only rows that the step inserted.
        if "I" in ops[table]:
            check_references(raw, schema, table, row, changed_span, bus.engine.actions.title_of)
    for table, since in newest.items():
        if (
            circle := tree_cycles.made_since(raw, table, since, row.seq, bus.engine.actions.title_of)
        ) is not None:
            raise refusal("changed", row.id, circle.why, later_audit_id=circle.later)
    try:
        if action is not None and action.after_undo is not None:
            action.after_undo(UndoContext(ctx, row.id, row.params, row.target_ids, redo=redo))
        bus.close_step(ctx, before, raw, {"audit_id": row.id}, undoable=True, inverse_of=row.id)
    except LawBrokenError as broken:
        raise _as_undo_refusal(row, broken.refusal) from broken
    except Conflict as error:
        raise _as_undo_refusal(row, error) from error
    _mark(raw, row)
    return ctx


def _as_undo_refusal(row: Row, cause: ServiceError) -> ServiceError:
    """Return the refusal of an undo that would leave what *cause* forbids, because of what came later; its own code is
    the field `because`.
    """
    if cause.code == "undo_refused":
        return cause
    beside = {name: value for name, value in cause.fields.items() if name not in ("reason", "audit_id")}
    reason = str(cause.fields.get("reason", "changed"))
    return refusal(reason, row.id, cause.detail, **beside, because=cause.code)


def _origin(raw: sqlite3.Connection, row: Row) -> tuple[str, int, bool]:
    """Return the action at the start of a chain of undos and redos, its step, and whether undoing *row* redoes it."""
    name, seq, inverse_of, depth = row.action_name, row.seq, row.inverse_of, 0
    while inverse_of is not None:
        name, seq, inverse_of = raw.execute(
            "SELECT action_name, seq, inverse_of FROM audit WHERE id = ?", (inverse_of,)
        ).fetchone()
        depth += 1
    return name, seq, depth % 2 == 1


def _origin_id(raw: sqlite3.Connection, row: Row) -> str:
    """Return the id of the step at the start of a chain of undos and redos."""
    identity, inverse_of = row.id, row.inverse_of
    while inverse_of is not None:
        identity = inverse_of
        (inverse_of,) = raw.execute("SELECT inverse_of FROM audit WHERE id = ?", (identity,)).fetchone()
    return identity


def _find_standing_step(raw: sqlite3.Connection, audit_id: str) -> str:
    """Return the step by which *audit_id* is in effect: itself, or the last step that redid it."""
    query = (
        "SELECT redo.id FROM audit AS undo JOIN audit AS redo ON redo.inverse_of = undo.id "
        "WHERE undo.inverse_of = ? AND redo.undone = 0"
    )
    later_row = raw.execute(query, (audit_id,)).fetchone()
    return audit_id if later_row is None else _find_standing_step(raw, later_row[0])


def _mark(raw: sqlite3.Connection, row: Row) -> None:
    """Mark the row undone; along the chain it undid, the steps are alternately in effect again and undone again."""
    undone, current = 1, row
    raw.execute("UPDATE audit SET undone = 1 WHERE seq = ?", (row.seq,))
    while current.inverse_of is not None:
        undone = 1 - undone
        raw.execute("UPDATE audit SET undone = ? WHERE id = ?", (undone, current.inverse_of))
        current = _row(raw, current.inverse_of)


def _refuse_unknown_tables(raw: sqlite3.Connection, schema: Schema, row: Row) -> None:
    """Refuse to undo a step that touched tables of a plugin that is not installed here: it could only be undone in
    part.
    """
    # In lower case, as SQLite compares names; the file may spell them differently.
    tables_with_history = {history_name(table).lower() for table in schema.tracked}
    for (name,) in raw.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE '%\\_\\_history' ESCAPE '\\'"
    ).fetchall():
        if (
            name.lower() not in tables_with_history
            and span(raw, name.removesuffix("__history"), row.seq) is not None
        ):
            raise refusal(
                "not-undoable",
                row.id,
                f"it changed {name.removesuffix('__history')}, which belongs to a plugin that is not installed here",
            )
