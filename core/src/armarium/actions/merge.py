"""Writing a merge as one step: under the rights of everything that made the changes, and within what laws demand.

As for undo, which it resembles: it needs the same rights as the steps whose changes it brings, and obeys their laws.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Sequence

import orjson
from sqlalchemy import Integer, Table

from armarium.actions.context import ActionContext
from armarium.actions.rights import authorise_step
from armarium.errors import Conflict
from armarium.history import tree_cycles
from armarium.history.audit import parts_of
from armarium.history.capture import key_columns, quote_name
from armarium.history.merge_plans import MergePlan, write_plan
from armarium.history.merging import Change
from armarium.history.net_differences import places
from armarium.ids import new_id
from armarium.store.database import raw_of
from armarium.store.tables import rules_of


def write_merge(
    ctx: ActionContext,
    plan: MergePlan,
    source: sqlite3.Connection,
    changes: Sequence[Change],
    pages: Collection[str],
) -> None:
    """Write the rows of *plan* in the step *ctx*; *changes* are what is merged of the *source*, on these *pages*. What was noted
    there of them, in tables that only grow or whose rows are carried, comes along.

    Raises what the actions of those steps would raise for this caller, and Conflict where a row would come to lie beneath
    itself.
    """
    steps = {step for change in changes for step in change.steps}
    ctx.ran |= authorise_step(ctx.engine, _actions_of(source, steps), ctx.principal, ctx.library)
    raw = raw_of(ctx.conn)
    tables = {table.name: table for table, _ in plan.updates.values()}
    newest = tree_cycles.newest(raw, tables.values())
    write_plan(raw, ctx.schema, plan, ctx.now)
    for table, since in newest.items():
        circle = tree_cycles.made_since(raw, table, since, ctx.audit_seq, ctx.engine.actions.title_of)
        if circle is not None:
            raise Conflict(
                f"The merge was refused: {circle.why}. Merge without what was moved, or move it back first.",
                code="merge_refused",
            )
    planned_places = plan.places
    planned_changes = [change for change in changes if change.place in planned_places]
    for table in ctx.schema.tables:
        rules = rules_of(table)
        if rules.document is not None and (rules.kind == "append-only" or rules.carried):
            if "audit_id" in table.columns:
                _bring_notes_of_steps(ctx, table, source, planned_changes)
            elif planned_changes:
                _bring_records(ctx, table, source, pages)


def _bring_notes_of_steps(
    ctx: ActionContext, table: Table, source: sqlite3.Connection, written: Iterable[Change]
) -> None:
    """Note again, as of this step, what was noted where the source withdrew, joined or split something that is written here."""
    remade: dict[int, set[object]] = {}
    for change in written:
        document, row = rules_of(change.table).document, change.theirs or change.base
        if rules_of(change.table).structure is not None and document is not None and row is not None:
            for step in change.steps:
                remade.setdefault(step, set()).add(row[places(change.table)[document]])
    at, stamp = _growing_columns(table), {"audit_id": ctx.audit_id, "created_at": ctx.now}
    page = at.index(str(rules_of(table).document))
    for step, on_pages in sorted(remade.items()):
        query = (
            f"SELECT {_as_list(at)} FROM {quote_name(table.name)} WHERE audit_id = (SELECT id FROM audit WHERE seq = ?)"
            f" ORDER BY {_as_list(_numbers(table))}"
        )
        rows = [
            [
                new_id() if name == "id" else stamp.get(name, value)
                for name, value in zip(at, row, strict=True)
            ]
            for row in source.execute(query, (step,))
            if row[page] in on_pages
        ]
        _append(ctx, table, at, rows)


def _bring_records(
    ctx: ActionContext, table: Table, source: sqlite3.Connection, pages: Collection[str]
) -> None:
    """Bring the rows about *pages* that are not here yet: what was asked of a model stays said of what it read."""
    at, document = _growing_columns(table), quote_name(str(rules_of(table).document))
    query = (
        f"SELECT {_as_list(at)} FROM {quote_name(table.name)} WHERE {document} IN (SELECT value FROM json_each(?))"
        f" ORDER BY {_as_list(_numbers(table) or key_columns(table))}"
    )
    _append(ctx, table, at, source.execute(query, (orjson.dumps(list(pages)).decode(),)))


def _append(ctx: ActionContext, table: Table, names: list[str], rows: Iterable[Sequence[object]]) -> None:
    raw_of(ctx.conn).executemany(
        f"INSERT OR IGNORE INTO {quote_name(table.name)} ({_as_list(names)}) VALUES ({', '.join('?' * len(names))})",
        rows,
    )


def _numbers(table: Table) -> list[str]:
    """Return the columns by which the rows of a table that only grows are numbered, in each project anew."""
    return [column.name for column in table.primary_key.columns if isinstance(column.type, Integer)]


def _growing_columns(table: Table) -> list[str]:
    return [column.name for column in table.columns if column.name not in _numbers(table)]


def _as_list(names: Iterable[str]) -> str:
    return ", ".join(map(quote_name, names))


def _actions_of(raw: sqlite3.Connection, steps: Iterable[int]) -> list[str]:
    """Return the actions that ran in *steps*; those that were undone left nothing to merge."""
    names: dict[str, None] = {}
    rows = raw.execute(
        "SELECT seq, action_name FROM audit WHERE seq IN (SELECT value FROM json_each(?)) AND NOT undone ORDER BY seq",
        (orjson.dumps(sorted(set(steps))).decode(),),
    )
    for seq, name in rows.fetchall():
        names[name] = None
        names |= dict.fromkeys(parts_of(raw, seq))
    return list(names)
