"""A branch that holds a part of the project: what its owner may see of it, of some folders; the rest is not in it at all.

It is a new package, into which the rows are written that they would read, in one step; the project's log stays behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armarium.history import audit
from armarium.history.capture import key_columns, quote_name
from armarium.history.visibility import Visibility, WithheldRows
from armarium.history.visible_rows import VisibleRows
from armarium.principals import Principal
from armarium.projects.branches import BranchCard, link_or_copy, name_branch, note_card
from armarium.projects.libraries import Library
from armarium.projects.packages import DATABASE, no_lock, read_card
from armarium.store.database import Database, raw_of
from armarium.store.objects import ObjectStore
from armarium.store.tables import json_text, rules_of

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from armarium.engine import Engine


class _WithinFolders(Visibility):
    """Sees of a project what somebody may see who looks at *folders* only: these, what is beneath, and what leads to them."""

    def __init__(self, project: Library, folders: Sequence[str]) -> None:
        self._inner, self._folders = project.db.visibility, folders
        along = () if self._inner is None else self._inner.along
        super().__init__(project.db, project.schema, None, along)
        parts = None if self._inner is None else self._inner.rows.parts
        self.rows = VisibleRows(self.schema, parts, [table for rule in along for table in rule.tables])

    def find_withheld(self, conn: Connection, principal: Principal) -> WithheldRows:
        """Return all documents elsewhere, besides what is withheld from *principal*."""
        own = WithheldRows()
        if self._inner is not None and self._inner.limits(principal):
            own = self._inner.find_withheld(conn, principal)
        tree = self.rows.tree
        if tree is None:
            return own
        rules, name, (key,) = rules_of(tree).tree, quote_name(tree.name), map(quote_name, key_columns(tree))
        assert rules is not None
        parent = quote_name(rules.parent)
        # What is unique in a project stays, so that nothing makes it a second time.
        unique = [
            quote_name(column.name) for index in tree.indexes if index.unique for column in index.columns
        ]
        stays = "".join(
            f" UNION SELECT {key} FROM main.{name} WHERE {column} IS NOT NULL" for column in unique
        )
        outside = raw_of(conn).execute(
            "WITH RECURSIVE down(id) AS (SELECT value FROM json_each(?1)"
            f" UNION SELECT t.{key} FROM down JOIN main.{name} t ON t.{parent} = down.id),"
            f" named(id) AS (SELECT value FROM json_each(?1){stays}),"
            f" up(id) AS (SELECT id FROM named UNION SELECT t.{parent} FROM up JOIN main.{name} t ON t.{key} = up.id"
            f" WHERE t.{parent} IS NOT NULL)"
            f" SELECT {key} FROM main.{name} WHERE {key} NOT IN (SELECT id FROM down) AND {key} NOT IN (SELECT id FROM up)",
            (json_text(list(self._folders)),),
        )
        return WithheldRows(own.everything, own.nodes | {row[0] for row in outside}, own.parts)


def copy_visible(
    engine: Engine,
    project: Library,
    name: str,
    branch_id: str,
    place: Path,
    principal: Principal,
    sees: Principal,
    folders: Sequence[str],
    action_name: str,
) -> None:
    """Write into the empty package at *place* what *sees* may see of *project*, with the files that it names: of all of it,
    or of *folders*. Its first step is one of the action *action_name*.
    """
    visibility = _WithinFolders(project, folders) if folders else project.db.visibility
    assert visibility is not None
    db = Database(place / DATABASE, create=True)
    files: set[Any] = set()
    try:
        schema = engine.library_schema.fit(db)
        objects = ObjectStore(place / "objects", rules=engine.paths)
        copy = Library(place, read_card(place)["library_uuid"], db, objects, no_lock(), schema)
        with visibility.read(sees) as visible, db.write() as conn:
            source, raw = raw_of(visible), raw_of(conn)
            base = source.execute(
                "SELECT seq, id, row_hash FROM main.audit ORDER BY seq DESC LIMIT 1"
            ).fetchone()
            ctx, before, _ = engine.bus.open_step(conn, action_name, copy, principal, None, schema)
            for table in schema.tables:
                rules = rules_of(table)
                travels = rules.kind in ("tracked", "append-only") or rules.carried
                if not travels or rules.stays_here:
                    continue
                columns = ", ".join(quote_name(column.name) for column in table.columns)
                at = [number for number, column in enumerate(table.columns) if column.info.get("object")]
                insert = (
                    f"INSERT OR IGNORE INTO {quote_name(table.name)} ({columns})"
                    f" VALUES ({', '.join('?' * len(table.columns))})"
                )
                for row in source.execute(f"SELECT {columns} FROM {quote_name(table.name)}"):
                    raw.execute(insert, row)
                    files |= {row[position] for position in at}
            # A row that refers to one that is withheld would tell of it.
            while broken := raw.execute("PRAGMA foreign_key_check").fetchall():
                for table_name, number, _, _ in broken:
                    raw.execute(f"DELETE FROM {quote_name(table_name)} WHERE rowid = ?", (number,))
            name_branch(raw, name, ctx.now)
            begun = engine.bus.close_step(
                ctx, before, raw, {"branch_id": branch_id}, undoable=False, spends=False
            )
    finally:
        db.close()
        if folders:
            visibility.close()
    for digest in files - {None}:
        if project.objects.has(digest):
            target = objects.root / digest[:2]
            target.mkdir(exist_ok=True)
            link_or_copy(project.objects.root / digest[:2] / digest[2:], target / digest[2:])
    seq, base_id, digest = base or (0, None, audit.GENESIS)
    note_card(place, BranchCard(branch_id, project.uuid, seq, base_id, digest, begun.seq, partial=True))
