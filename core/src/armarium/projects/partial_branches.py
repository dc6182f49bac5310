"""A branch for somebody from whom something of the project is withheld: what they may not see is not in it at all.

It is a new package, into which the rows are written that they would read, in one step; the project's log stays behind.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from armarium.history import audit
from armarium.history.capture import quote_name
from armarium.principals import Principal
from armarium.projects.branches import CREATE, BranchCard, link_or_copy, name_branch, note_card
from armarium.projects.libraries import Library
from armarium.projects.packages import DATABASE, no_lock, read_card
from armarium.store.database import Database, raw_of
from armarium.store.objects import ObjectStore
from armarium.store.tables import rules_of

if TYPE_CHECKING:
    from armarium.engine import Engine


def copy_visible(
    engine: Engine,
    project: Library,
    name: str,
    branch_id: str,
    place: Path,
    principal: Principal,
    sees: Principal,
) -> None:
    """Write into the empty package at *place* what *sees* may see of *project*, with the files that it names."""
    visibility = project.db.visibility
    assert visibility is not None
    db = Database(place / DATABASE, create=True)
    files: set[Any] = set()
    try:
        schema = engine.library_schema.fit(db)
        objects = ObjectStore(place / "objects", rules=engine.paths)
        copy = Library(place, read_card(place)["library_uuid"], db, objects, no_lock(), schema)
        with visibility.read(sees) as shown, db.write() as conn:
            source, raw = raw_of(shown), raw_of(conn)
            base = source.execute(
                "SELECT seq, id, row_hash FROM main.audit ORDER BY seq DESC LIMIT 1"
            ).fetchone()
            ctx, before, _ = engine.bus.open_step(conn, CREATE, copy, principal, None, schema)
            for table in schema.tables:
                if rules_of(table).kind not in ("tracked", "append-only") or rules_of(table).stays_here:
                    continue
                columns = ", ".join(quote_name(column.name) for column in table.columns)
                at = [number for number, column in enumerate(table.columns) if column.info.get("object")]
                insert = (
                    f"INSERT OR IGNORE INTO {quote_name(table.name)} ({columns})"
                    f" VALUES ({', '.join('?' * len(table.columns))})"
                )
                for row in source.execute(f"SELECT {columns} FROM {quote_name(table.name)}"):
                    raw.execute(insert, row)
                    files |= {row[one] for one in at}
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
    for digest in files - {None}:
        if project.objects.has(digest):
            target = objects.root / digest[:2]
            target.mkdir(exist_ok=True)
            link_or_copy(project.objects.root / digest[:2] / digest[2:], target / digest[2:])
    seq, base_id, digest = base or (0, None, audit.GENESIS)
    note_card(place, BranchCard(branch_id, project.uuid, seq, base_id, digest, begun.seq, partial=True))
