"""Which nodes each row belongs to, and which lock applies to a change, in plain Python: the oracle of the checks of rights."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Table

from armarium.engine import Engine
from armarium.history.capture import quote_name
from armarium.projects.libraries import Library
from armarium.store.database import raw_of
from armarium.store.tables import rules_of

Row = dict[str, Any]
Content = dict[str, dict[tuple[Any, ...], Row]]


class Model:
    """What the rows of a project say about who may change them."""

    def __init__(self, engine: Engine, library: Library) -> None:
        self.engine, self.library = engine, library
        self.tables: dict[str, Table] = {table.name: table for table in engine.library_schema.tracked}
        self.tree = next((table for table in self.tables.values() if rules_of(table).tree), None)

    def read(self) -> Content:
        """Read every tracked row."""
        content: Content = {}
        with self.library.db.read() as conn:
            raw = raw_of(conn)
            for name, table in self.tables.items():
                columns = [column.name for column in table.columns]
                keys = [column.name for column in table.primary_key.columns]
                rows = raw.execute(f"SELECT {', '.join(map(quote_name, columns))} FROM {quote_name(name)}")
                row_dicts = (dict(zip(columns, row, strict=True)) for row in rows)
                content[name] = {tuple(row[key] for key in keys): row for row in row_dicts}
        return content

    def nodes(self, content: Content) -> list[str]:
        """Return the existing nodes."""
        return [] if self.tree is None else [key[0] for key in content[self.tree.name]]

    def locks_itself(self, content: Content, node_id: str) -> bool:
        """Return whether a node has a lock of its own."""
        tree = None if self.tree is None else rules_of(self.tree).tree
        assert tree is not None
        assert self.tree is not None
        return bool(content[self.tree.name][(node_id,)][tree.locked])

    def is_locked(self, content: Content, node_id: str | None) -> bool:
        """Return whether a node, or one above it, is locked."""
        tree = None if self.tree is None else rules_of(self.tree).tree
        if tree is None or self.tree is None:
            return False
        visited: set[str] = set()
        while node_id is not None and node_id not in visited:
            visited.add(node_id)
            row = content[self.tree.name].get((node_id,))
            if row is None:
                return False
            if row[tree.locked]:
                return True
            node_id = row[tree.parent]
        return False

    def belongs(
        self, content: Content, table: str, row: Row, visited: frozenset[Any] = frozenset()
    ) -> set[str]:
        """Return the nodes a row belongs to."""
        rules = rules_of(self.tables[table])
        if rules.tree is not None:
            (key,) = (column.name for column in self.tables[table].primary_key.columns)
            return {row[key]} | ({row[rules.tree.parent]} - {None})
        strong = {row[rules.document]} - {None} if rules.document else set()
        if rules.through is not None:
            child, reference_name = rules.through
            place = (child, reference_name, row["id"])
            pointing = [other for other in content[child].values() if other[reference_name] == row["id"]]
            beneath = [] if place in visited else pointing
            return strong | {
                node for other in beneath for node in self.belongs(content, child, other, visited | {place})
            }
        weak: set[str] = set()
        for reference in self.tables[table].foreign_keys:
            column, target = reference.parent, reference.column.table.name
            value = row[column.name]
            place = (target, reference.column.name, value)
            if (
                value is None
                or target not in self.tables
                or column.name == rules.document
                or place in visited
            ):
                continue
            parents = [
                parent for parent in content[target].values() if parent[reference.column.name] == value
            ]
            nodes = {
                node
                for parent in parents
                for node in (
                    {value}
                    if rules_of(self.tables[target]).tree is not None
                    else self.belongs(content, target, parent, visited | {place})
                )
            }
            if column.nullable or target == table:
                weak |= nodes
            else:
                strong |= nodes
        return strong or weak

    def refuses(self, before: Content, after: Content, named: Iterable[str] = ()) -> bool:
        """Return whether an editor is refused the change from *before* to *after*, because of a lock in either state.

        *named* are nodes that the step guards although its rows do not refer to them.
        """
        if any(self.is_locked(after, node) for node in named):
            return True
        for table in self.tables:
            if not rules_of(self.tables[table]).heeds_locks:
                continue
            for key in before[table].keys() | after[table].keys():
                was, is_ = before[table].get(key), after[table].get(key)
                if was == is_:
                    continue
                for content, row in ((before, was), (after, is_)):
                    if row is not None and any(
                        self.is_locked(content, node)
                        for node in self._rights_asked(content, table, row, was, is_)
                    ):
                        return True
        return False

    def _rights_asked(
        self, content: Content, table: str, row: Row, was: Row | None, is_: Row | None
    ) -> set[str]:
        tree = rules_of(self.tables[table]).tree
        if tree is not None and was is not None and is_ is not None:
            moved = {name for name in was if was[name] != is_[name]}
            if moved == {tree.order}:
                return {row[tree.parent]} - {None}
        return self.belongs(content, table, row)
