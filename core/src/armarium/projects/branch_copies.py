"""The copy of a project that a branch begins as: whole, or for whoever does not see all of it, what they see."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy.exc import DBAPIError

from armarium.errors import Unavailable, refused_by_disk
from armarium.history import audit
from armarium.history.capture import quote_name
from armarium.ids import new_id
from armarium.principals import Principal
from armarium.projects import partial_branches
from armarium.projects.branches import BranchCard, folder_of, link_files, name_branch, note_card
from armarium.projects.libraries import Library
from armarium.projects.packages import DATABASE, lay_out, no_lock
from armarium.projects.packages import read_card as read_card
from armarium.store.database import Database, raw_of
from armarium.store.objects import ObjectStore
from armarium.store.tables import rules_of

if TYPE_CHECKING:
    from armarium.engine import Engine


@contextmanager
def copy_project(
    engine: Engine,
    project: Library,
    name: str,
    branch_id: str,
    principal: Principal,
    sees: Principal | None = None,
    folders: Sequence[str] = (),
    *,
    action_name: str,
) -> Iterator[Path]:
    """Lend a complete copy of *project* as the branch *branch_id*, under a temporary name in the folder of its branches.

    Its first step, which takes out what the project alone has, is one of the action *action_name*. It holds only what *sees* may see, where something is withheld from them, and of *folders* alone where some are named. Whoever keeps it renames it within the block; otherwise it is removed. Raises Unavailable when the disk refuses.
    """
    folder = folder_of(project.path)
    temporary = folder / f".{new_id()[-12:]}.new"
    try:
        try:
            folder.mkdir(exist_ok=True)
            lay_out(temporary)
            visibility = project.db.visibility
            if folders or (sees is not None and visibility is not None and visibility.limits(sees)):
                as_seen = (sees or principal, folders, action_name)
                partial_branches.copy_visible(
                    engine, project, name, branch_id, temporary, principal, *as_seen
                )
            else:
                _copy(engine, project, name, branch_id, temporary, principal, action_name)
        except (OSError, sqlite3.Error, DBAPIError) as error:
            raise refused_by_disk(error) or Unavailable(
                f"The branch could not be made: {getattr(error, 'strerror', None) or error}. Nothing was left behind.",
                code="disk_error",
            ) from error
        yield temporary
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _copy(
    engine: Engine,
    project: Library,
    name: str,
    branch_id: str,
    place: Path,
    principal: Principal,
    action_name: str,
) -> None:
    project.db.backup(place / DATABASE)
    link_files(project.objects.root, place / "objects")
    for part in ("models", "recipe"):
        shutil.copytree(project.path / part, place / part, dirs_exist_ok=True, symlinks=True)
    db = Database(place / DATABASE)
    try:
        schema = engine.library_schema.fit(db)
        uuid = read_card(place)["library_uuid"]
        copy = Library(place, uuid, db, ObjectStore(place / "objects", rules=engine.paths), no_lock(), schema)
        with db.write() as conn:
            raw = raw_of(conn)
            base = audit.head(raw)
            base_id = raw.execute("SELECT id FROM audit WHERE seq = ?", (base.seq,)).fetchone()
            ctx, before, _ = engine.bus.open_step(conn, action_name, copy, principal, None, schema)
            raw.execute("PRAGMA defer_foreign_keys=ON")
            for table in reversed(schema.tables):
                if rules_of(table).stays_here:
                    raw.execute(f"DELETE FROM {quote_name(table.name)}")
            name_branch(raw, name, ctx.now)
            begun = engine.bus.close_step(
                ctx, before, raw, {"branch_id": branch_id}, undoable=False, spends=False
            )
    finally:
        db.close()
    note_card(
        place,
        BranchCard(
            branch_id, project.uuid, base.seq, base_id[0] if base_id else None, base.row_hash, begun.seq
        ),
    )
