"""Locks: which nodes the rows of a step belong to, and the refusal where one of these is locked.

The core knows no family here. One table states that its rows are nodes (`tables.Tree`); every tracked table whose
`document` column, foreign keys or `through` lead there is covered, third-party tables too.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import Column, Connection, Table

from armarium.errors import Forbidden
from armarium.history.capture import history_name, holds, key_columns, quote_name
from armarium.history.spans import spans
from armarium.principals import Principal
from armarium.store.database import raw_of
from armarium.store.tables import json_text, rules_of

if TYPE_CHECKING:
    from armarium.history.schema import Schema


class Link(NamedTuple):
    """A column that says what a row belongs to."""

    column: str
    table: Table
    key: str


class Locks:
    """The lockable nodes of one kind of database, and how its tracked tables refer to them."""

    def __init__(self, tracked: Sequence[Table], tree: Table) -> None:
        rules = rules_of(tree).tree
        assert rules is not None
        self.tree, self.rules = tree, rules
        (self.key,) = key_columns(tree)
        self._any = f"SELECT 1 FROM {quote_name(tree.name)} WHERE {quote_name(rules.locked)} LIMIT 1"
        self.links = _links(tracked, tree)
        self.tables = [tree, *(table for table in self.links if rules_of(table).heeds_locks)]

    def has_any(self, raw: sqlite3.Connection) -> bool:
        """Return whether anything is locked at all."""
        return raw.execute(self._any).fetchone() is not None

    def refuse(self, raw: sqlite3.Connection, ids: Iterable[str]) -> None:
        """Raise 403 node_locked where one of the nodes *ids* is locked or lies beneath a locked one."""
        table, parent = quote_name(self.tree.name), quote_name(self.rules.parent)
        locked = raw.execute(
            "WITH RECURSIVE up(id) AS (SELECT value FROM json_each(?)"
            f" UNION SELECT t.{parent} FROM up JOIN {table} t ON t.{quote_name(self.key)} = up.id"
            f" WHERE t.{parent} IS NOT NULL)"
            f" SELECT t.{quote_name(self.rules.name)}, t.{quote_name(self.key)} FROM up"
            f" JOIN {table} t ON t.{quote_name(self.key)} = up.id WHERE t.{quote_name(self.rules.locked)} LIMIT 1",
            (json_text(list(ids)),),
        ).fetchone()
        if locked is not None:
            raise node_locked(*locked)

    def refuse_step(self, raw: sqlite3.Connection, audit_seq: int) -> None:
        """Refuse the open step *audit_seq* where a row it changed belongs, or belonged, to a locked node.

        Only the owner may change a lock.
        """
        for changed_span in spans(raw, [self.tree], audit_seq).values():
            self._refuse_locking(raw, changed_span)
        self.refuse(raw, self.nodes_touched(raw, audit_seq))

    def nodes_touched(self, raw: sqlite3.Connection, audit_seq: int) -> set[str]:
        """Return the nodes that rows changed by step *audit_seq* belong, or belonged, to.

        A row that moved counts where it was and where it is; so does a node, and a node inserted or deleted within the
        step counts itself.
        """
        nodes: set[str] = set()
        waiting: list[tuple[Link, set[str]]] = []
        for table, changed_span in spans(raw, self.tables, audit_seq).items():
            if table is self.tree:
                nodes |= self._nodes_touched(raw, changed_span)
                continue
            for link in self.links[table]:
                waiting.append((link, values_of_span(raw, table, link.column, changed_span)))
        followed: dict[tuple[str, str], set[str]] = {}
        while waiting:
            link, values = waiting.pop()
            if link.table is self.tree:
                nodes |= values
                continue
            known_keys = followed.setdefault((link.table.name, link.key), set())
            fresh = values - known_keys
            known_keys |= fresh
            if fresh:
                waiting += [(on, _follow(raw, link, on.column, fresh)) for on in self.links[link.table]]
        return nodes

    def _refuse_locking(self, raw: sqlite3.Connection, where: tuple[int, int]) -> None:
        """Refuse a lock that was set or removed to all but the owner; a deleted node that was locked counts as locked."""
        live, history = quote_name(self.tree.name), quote_name(history_name(self.tree))
        key, locked, name = (quote_name(column) for column in (self.key, self.rules.locked, self.rules.name))
        removed_rows = raw.execute(
            f"SELECT {name}, {key} FROM {history} WHERE seq BETWEEN ? AND ? AND op = 'D' AND {locked} LIMIT 1",
            where,
        ).fetchone()
        if removed_rows is not None:
            raise node_locked(*removed_rows)
        turned = raw.execute(
            f"SELECT 1 FROM {history} h LEFT JOIN {live} t ON t.{key} = h.{key} WHERE h.seq BETWEEN ? AND ? AND"
            f" (h.op = 'U' AND {holds(self.tree.c[self.rules.locked], 'h')} OR h.op = 'I' AND t.{locked}) LIMIT 1",
            where,
        ).fetchone()
        if turned is not None:
            raise Forbidden("Only the owner may lock or unlock a node.", code="owner_only")

    def _nodes_touched(self, raw: sqlite3.Connection, where: tuple[int, int]) -> set[str]:
        rules, history = self.rules, quote_name(history_name(self.tree))
        nodes = values_of_span(raw, self.tree, rules.parent, where)
        moved_alone = "0"
        if rules.order is not None:
            others = [
                column.name for column in self.tree.columns if column.name not in (self.key, rules.order)
            ]
            moved_alone = " AND ".join(
                ["op = 'U'", "kept IS NULL", *(f"{quote_name(name)} IS NULL" for name in others)]
            )
        rows = raw.execute(
            f"SELECT DISTINCT {quote_name(self.key)} FROM {history} WHERE seq BETWEEN ? AND ? AND NOT ({moved_alone})",
            where,
        )
        return nodes | {row[0] for row in rows}


node_locked = Forbidden.saying(
    "node_locked",
    "“{name}” is locked: only an owner may change it and what lies beneath. Ask an owner to unlock it.",
    document_id="node_id",
)


def refuse_locked(conn: Connection, schema: Schema, principal: Principal, ids: Iterable[str]) -> None:
    """Raise 403 node_locked now, for *principal*, where a step that wrote beneath the nodes *ids* would be refused.

    Every step is checked for its rows when it ends. An earlier check is for an action that carries on with the others
    when one is refused, and for work that takes long before its first row.
    """
    if schema.locks is not None and not principal.may("owner"):
        schema.locks.refuse(raw_of(conn), ids)


def _links(tracked: Sequence[Table], tree: Table) -> dict[Table, list[Link]]:
    """Return table to the columns by which its rows belong to nodes, for tables of which some do.

    A row belongs to what its `document` column names, to what it cannot exist without (foreign keys that are never
    null), and to what the rows of the table that it names as `through` belong to. Where a table has none of these, every
    foreign key counts.
    """
    (key,) = key_columns(tree)
    by_name = {table.name: table for table in tracked}
    certain: dict[Table, list[Link]] = {}
    possible: dict[Table, list[Link]] = {}
    for table in tracked:
        if table is tree:
            continue
        owner = rules_of(table).document
        certain[table] = [Link(owner, tree, key)] if owner is not None else []
        possible[table] = []
        through = rules_of(table).through
        if through is not None and through[0] in by_name:
            (own,) = key_columns(table)
            certain[table].append(Link(own, by_name[through[0]], through[1]))
        for reference in table.foreign_keys:
            column: Column[object] = reference.parent
            target = by_name.get(reference.column.table.name)
            if target is None or column.name == owner:
                continue
            kind = possible if column.nullable or target is table else certain
            kind[table].append(Link(column.name, target, reference.column.name))
    links_by_table: dict[Table, list[Link]] = {}

    def leading(links: dict[Table, list[Link]]) -> dict[Table, list[Link]]:
        return {
            table: links_of_table
            for table, links_of_table in links.items()
            if table not in links_by_table
            and any(link.table is tree or link.table in links_by_table for link in links_of_table)
        }

    while more := leading(certain) or leading(possible):
        links_by_table |= more
    covered = {tree, *links_by_table}
    return {
        table: [link for link in links if link.table in covered] for table, links in links_by_table.items()
    }


def values_of_span(raw: sqlite3.Connection, table: Table, column: str, where: tuple[int, int]) -> set[str]:
    """Return what *column* held in the rows of a step, before, between and after its changes."""
    live, history, name = quote_name(table.name), quote_name(history_name(table)), quote_name(column)
    keys = ", ".join(quote_name(key) for key in key_columns(table))
    rows = raw.execute(
        f"SELECT {name} FROM {history} WHERE seq BETWEEN ? AND ? AND {name} IS NOT NULL"
        f" UNION SELECT {name} FROM {live} WHERE {name} IS NOT NULL"
        f" AND ({keys}) IN (SELECT {keys} FROM {history} WHERE seq BETWEEN ? AND ?)",
        (*where, *where),
    )
    return {row[0] for row in rows}


def _follow(raw: sqlite3.Connection, link: Link, column: str, values: set[str]) -> set[str]:
    """Return what *column* holds in the rows that *link* leads to. A row deleted in this step is itself among its rows."""
    rows = raw.execute(
        f"SELECT DISTINCT {quote_name(column)} FROM {quote_name(link.table.name)}"
        f" WHERE {quote_name(link.key)} IN (SELECT value FROM json_each(?)) AND {quote_name(column)} IS NOT NULL",
        (json_text(list(values)),),
    )
    return {row[0] for row in rows}
