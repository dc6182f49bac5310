"""What a move examines and cuts in the project it leaves: later changes, aliases, other families' references."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table

from armarium.api import ActionContext, Engine, is_among, list_steps, quote_name, raw_of, rules_of
from armarium_documents.actions.transfer.planning import list_cuts, load_of
from armarium_documents.actions.trash import send_to_trash
from armarium_documents.queries.carrying import CarriedTable
from armarium_documents.queries.tree import id_list, nodes_of


def cut_ties(ctx: ActionContext, documents: Sequence[str]) -> list[dict[str, Any]]:
    """Cut all references, each family its own, within this step; return them as the answer lists them."""
    ties = load_of(ctx.engine).find_ties(ctx.conn, documents)
    for tie, rows in ties:
        ids = [row[0] for row in rows]
        if isinstance(tie.cut, Table):
            ctx.conn.execute(tie.cut.delete().where(is_among(tie.cut.c.id, ids)))
        else:
            tie.cut(ctx, ids, documents)
    return list_cuts(ties)


def aliases(conn: Connection, documents: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return the aliases elsewhere in the project that point at *documents*."""
    listed = id_list(documents)
    return (
        raw_of(conn)
        .execute(
            "SELECT a.id, a.name, 'What “' || a.name || '” points at is moved to another project; aliases stay within"
            " a project.' FROM document a WHERE a.alias_target_id IS NOT NULL AND a.deleted_at IS NULL"
            " AND a.alias_target_id IN (SELECT value FROM json_each(?))"
            " AND a.id NOT IN (SELECT value FROM json_each(?)) ORDER BY a.id",
            (listed, listed),
        )
        .fetchall()
    )


def cut_aliases(ctx: ActionContext, ids: list[str], documents: Sequence[str]) -> None:
    """Send those aliases to the Trash, each as an item of its own."""
    if ids:
        send_to_trash(ctx, nodes_of(ctx.conn, ids))
        ctx.note_changes(document_ids=ids)


def changed_since(
    engine: Engine, raw: sqlite3.Connection, marks: Mapping[str, int], documents: Sequence[str]
) -> bool:
    """Return whether any row that depends on *documents* was written after *marks* (`Selection.marks`)."""
    tables = {table.name: table for table in load_of(engine).tables}
    listed = id_list(documents)
    permanent = ("document.empty_trash", "document.transfer_given_up")
    if list_steps(raw, actions=permanent, after=marks.get("audit", 0), limit=1):
        # Images were removed permanently, so the sequence numbers of later ones are no longer conclusive.
        return True
    for table in tables.values():
        mark = marks.get(table.name, 0)
        tracked = rules_of(table.table).kind == "tracked"
        source = quote_name(f"{table.name}__history") if tracked else quote_name(table.name)
        if not raw.execute(f"SELECT 1 FROM {source} WHERE rowid > ? LIMIT 1", (mark,)).fetchone():
            continue
        moved = "(SELECT value FROM json_each(?1))"
        conditions = [f"{_owner(tables, table, 'h')} IN {moved}"]
        join = ""
        if tracked:
            keys = " AND ".join(
                f"t.{quote_name(column.name)} = h.{quote_name(column.name)}"
                for column in table.table.primary_key.columns
            )
            join = f" LEFT JOIN {quote_name(table.name)} t ON {keys}"
            conditions.append(f"{_owner(tables, table, 't')} IN {moved}")
        if table.name == "document":
            # The image of an update holds only the columns that changed; the others are read from the row
            # itself.
            conditions.append(f"h.parent_id IN {moved} OR t.parent_id IN {moved}")
        if raw.execute(
            f"SELECT 1 FROM {source} h{join} WHERE h.rowid > ?2 AND ({' OR '.join(conditions)}) LIMIT 1",
            (listed, mark),
        ).fetchone():
            return True
    return False


def _owner(tables: Mapping[str, CarriedTable], table: CarriedTable, alias: str, depth: int = 0) -> str:
    """Return SQL for the document that a row of *table* belongs to, by its own column or its parents'."""
    if table.owner is not None:
        return f"{alias}.{quote_name(table.owner)}"
    for column, parent in table.required:
        if parent in tables and parent != table.name and depth < 8:
            other = tables[parent]
            key = _pointed_at(table.table, column)
            inner = f"p{depth}"
            return (
                f"(SELECT {_owner(tables, other, inner, depth + 1)} FROM {quote_name(parent)} {inner}"
                f" WHERE {inner}.{quote_name(key)} = {alias}.{quote_name(column)})"
            )
    return "NULL"


def _pointed_at(table: Table, column: str) -> str:
    (key,) = table.c[column].foreign_keys
    return str(key.column.name)
