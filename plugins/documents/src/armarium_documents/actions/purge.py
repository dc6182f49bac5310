"""Empty Trash: removes its contents permanently, with every dependent row, history image and file.

Dependent rows are derived from the tables' declarations (foreign keys and the document column), so that a
family added later needs no code here.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Table

from armarium.api import ActionContext, Library, Route, action, make_permanent, purging, raw_of, rules_of
from armarium_documents.api import sources_folder
from armarium_documents.models import documents
from armarium_documents.queries.dataset.answer import forget_columns
from armarium_documents.queries.files import thumbnail_path
from armarium_documents.queries.transfers import arriving
from armarium_documents.queries.trash import IN_TRASH, moves, resting_on, to_remove
from armarium_documents.queries.tree import id_list
from armarium_documents.schemas.trash import EmptyParams, EmptyResult


@action(
    "document.empty_trash",
    result=EmptyResult,
    summary="Remove everything in the Trash permanently, after a snapshot; this cannot be undone.",
    route=Route("POST", "/api/documents/trash/empty"),
    words="Emptied the Trash",
    person_only=True,
    undoable=False,
)
def empty_trash(ctx: ActionContext, p: EmptyParams) -> dict[str, Any]:
    """Raises Unavailable (503) and removes nothing if no snapshot can be made; Forbidden for a machine, and
    for an editor if something in it is locked.
    """
    raw = raw_of(ctx.conn)
    made_permanent = moves(raw)
    # Copies that a transfer is still writing lie hidden in the Trash and are left alone.
    parameters = {"held": id_list(arriving(raw))}
    items, nodes = raw.execute(
        f"SELECT count(*) FILTER (WHERE trash_root_id = id), count(*) FROM document WHERE {IN_TRASH}",
        parameters,
    ).fetchone()
    removed = {"items": items, "documents": nodes, "statements": 0, "entities": 0, "files": 0}
    if nodes == 0:
        return {"removed": removed, "bytes_freed": 0, "snapshot_id": None, "made_permanent": []}
    # Taken while holding the writer, so that nothing can come between the copy and the removal.
    snapshot_id = ctx.project.snapshot("before Empty Trash")["id"]
    purge = Purge(ctx)
    # A node that an undo restored alone may be live while its folder is not: it moves to Sources.
    raw.execute(
        "UPDATE document SET parent_id = ? WHERE deleted_at IS NULL AND parent_id IN"
        " (SELECT id FROM document WHERE deleted_at IS NOT NULL)",
        (sources_folder(ctx.conn).id,),
    )
    ids = to_remove(raw)
    for kind, rows in resting_on(ctx.engine, ctx.conn, ids).items():
        for table, keys in rows:
            removed[kind] += len(keys)
            purge.choose(table, keys)
    purge.choose(documents, ids)
    digests = purge.remove()
    orphans = [digest for digest in digests if not purge.is_referenced(digest)]
    size = sum(ctx.project.objects.size(digest) for digest in orphans if ctx.project.objects.has(digest))
    removed["files"] = len(orphans)
    library = ctx.project
    ctx.on_commit(lambda: remove_files(library, purge, orphans))
    ctx.note_changes(document_ids=ids)
    return {
        "removed": removed,
        "bytes_freed": size,
        "snapshot_id": snapshot_id,
        "made_permanent": made_permanent,
    }


class Purge:
    """The rows to remove permanently, found through foreign keys over the tables of every loaded family."""

    def __init__(self, ctx: ActionContext) -> None:
        self.ctx = ctx
        self.raw = raw_of(ctx.conn)
        self.conn = ctx.conn
        self.tables = ctx.project.schema.tables
        self.chosen: dict[str, Table] = {}

    def choose(self, table: Table, keys: list[str]) -> None:
        """Mark the rows *keys* of *table*, and transitively all rows that cannot exist without them."""
        self._mark(table, ((key,) for key in keys))
        waiting = [table]
        while waiting:
            parent = waiting.pop()
            for child, column in self._hanging_on(parent):
                if self._mark_children(parent, child, column):
                    waiting.append(child)

    def remove(self) -> list[str]:
        """Delete the marked rows and their history, clear references to them; return the files they named."""
        self._keep_withheld()
        self._clear_pointers()
        digests: set[str] = set()
        for table in self.chosen.values():
            for column in _object_columns(table):
                digests |= self._digests_of(table, column)
        with purging(self.conn):
            for table in reversed([table for table in self.tables if table.name in self.chosen]):
                self.raw.execute(
                    f"DELETE FROM {_q(table.name)} WHERE {_key(table)} IN ({self._select_marks(table)})"
                )
            # The rows that record which document an image belongs to go with the images.
            self.ctx.check_rows()
            self._close_steps()
            for table in self.chosen.values():
                if rules_of(table).kind == "tracked":
                    self._forget(table)
        return sorted(digests)

    def _keep_withheld(self) -> None:
        visibility = self.ctx.project.db.visibility
        if visibility is not None:
            marks = (self.raw.execute(self._select_marks(table)) for table in self.chosen.values())
            visibility.keep_withheld(
                self.raw, [row[0] for rows in marks for row in rows if isinstance(row[0], str)]
            )

    def _close_steps(self) -> None:
        """Mark steps as not undoable if undoing them would make a remaining row refer to a removed one."""
        for parent in self.chosen.values():
            for child, column in () if parent is documents else self._hanging_on(parent):
                if rules_of(child).kind == "tracked":
                    make_permanent(self.conn, child, f"{_q(column)} IN ({self._select_marks(parent)})")

    def _forget(self, table: Table) -> None:
        """Remove the history images of the marked rows and mark the steps that made them as not undoable."""
        marked = f"{_key(table)} IN ({self._select_marks(table)})"
        make_permanent(self.conn, table, marked)
        self.raw.execute(f"DELETE FROM {_q(f'{table.name}__history')} WHERE {marked}")

    def is_referenced(self, digest: str, raw: sqlite3.Connection | None = None) -> bool:
        """Return whether any row, or any image that an undo could restore, still names the file *digest*."""
        raw = raw or self.raw
        for table in self.tables:
            for column in _object_columns(table):
                names = [table.name] + (
                    [f"{table.name}__history"] if rules_of(table).kind == "tracked" else []
                )
                for name in names:
                    if raw.execute(
                        f"SELECT 1 FROM {_q(name)} WHERE {_q(column)} = ? LIMIT 1", (digest,)
                    ).fetchone():
                        return True
        return False

    def _hanging_on(self, parent: Table) -> Iterator[tuple[Table, str]]:
        """Yield (table, column) of what goes with rows of *parent*: a non-null foreign key, a document column."""
        for child in self.tables:
            owner = rules_of(child).document
            if parent is documents and owner is not None and child is not documents:
                yield child, owner
            for key in child.foreign_keys:
                column = key.parent
                if key.column.table.name == parent.name and not column.nullable and column.name != owner:
                    yield child, column.name

    def _mark(self, table: Table, keys: Iterator[tuple[str]]) -> bool:
        name = f"purge_{table.name}"
        if table.name not in self.chosen:
            self.raw.execute(f"CREATE TEMP TABLE IF NOT EXISTS {_q(name)} (k TEXT PRIMARY KEY) WITHOUT ROWID")
            self.raw.execute(f"DELETE FROM temp.{_q(name)}")
            self.chosen[table.name] = table
        return self.raw.executemany(f"INSERT OR IGNORE INTO temp.{_q(name)} VALUES (?)", keys).rowcount > 0

    def _mark_children(self, parent: Table, child: Table, column: str) -> bool:
        sources = [child.name] + ([f"{child.name}__history"] if rules_of(child).kind == "tracked" else [])
        added = False
        for source in sources:
            # A row that now names something else (a mention moved to another entity) no longer depends on it;
            # rows that belong to a document stay with the document.
            is_past = source != child.name and parent is not documents
            live = (
                f" AND {_key(child)} NOT IN (SELECT {_key(child)} FROM {_q(child.name)})" if is_past else ""
            )
            rows = self.raw.execute(
                f"SELECT {_key(child)} FROM {_q(source)} WHERE {_q(column)} IN ({self._select_marks(parent)}){live}"
            ).fetchall()
            if rows:
                added = self._mark(child, iter(rows)) or added
        return added

    def _select_marks(self, table: Table) -> str:
        return f"SELECT k FROM temp.{_q(f'purge_{table.name}')}"

    def _clear_pointers(self) -> None:
        """Set references to removed rows to null in the rows that remain."""
        for child in self.tables:
            for key in child.foreign_keys:
                parent = self.chosen.get(key.column.table.name)
                if parent is None or not key.parent.nullable:
                    continue
                stays = (
                    f" AND {_key(child)} NOT IN ({self._select_marks(child)})"
                    if child.name in self.chosen
                    else ""
                )
                self.raw.execute(
                    f"UPDATE {_q(child.name)} SET {_q(key.parent.name)} = NULL"
                    f" WHERE {_q(key.parent.name)} IN ({self._select_marks(parent)}){stays}"
                )

    def _digests_of(self, table: Table, column: str) -> set[str]:
        sources = [table.name] + ([f"{table.name}__history"] if rules_of(table).kind == "tracked" else [])
        return {
            row[0]
            for source in sources
            for row in self.raw.execute(
                f"SELECT DISTINCT {_q(column)} FROM {_q(source)} WHERE {_q(column)} IS NOT NULL"
                f" AND {_key(table)} IN ({self._select_marks(table)})"
            )
        }


def remove_files(library: Library, purge: Purge, digests: list[str]) -> None:
    """Remove files that nothing names; checked again under the writer, so that no import loses its file."""
    forget_columns(library)
    for digest in digests:
        with library.db.write() as conn:
            if not purge.is_referenced(digest, raw_of(conn)):
                library.objects.remove(digest)
        thumbnail_path(library, digest).unlink(missing_ok=True)
        (library.derived_folder / "upright" / digest[:2] / f"{digest}.png").unlink(missing_ok=True)


def _object_columns(table: Table) -> list[str]:
    return [column.name for column in table.columns if column.info.get("object")]


def _key(table: Table) -> str:
    """Return the SQL that identifies rows of *table*, both in it and in its history."""
    keys = [_q(column.name) for column in table.primary_key.columns]
    return keys[0] if len(keys) == 1 else f"json_array({', '.join(keys)})"


def _q(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
