"""Branches on disk: a package beside its project that holds a copy of it as it was at a named step, to be worked on freely.

A branch is a project like any other, but for its card, which says of which project it is, and that the registry does not
list it. Its files are those of the project, linked where the disk can. What it changed since is found and merged by
`armarium.history.merging`.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy.exc import DBAPIError

from armarium.errors import Conflict, NotFound, ServiceError, Unavailable, refused_by_disk
from armarium.file_names import plain_name
from armarium.history import audit
from armarium.history.capture import quote_name
from armarium.ids import new_id
from armarium.principals import BRANCHES, Principal, project_of_branch
from armarium.projects.libraries import Library
from armarium.projects.packages import CARD, DATABASE, lay_out, no_lock
from armarium.projects.packages import read_card as read_card
from armarium.projects.registry import SUFFIX
from armarium.store.database import Database, raw_of
from armarium.store.durable import flush_path
from armarium.store.objects import ObjectStore
from armarium.store.tables import rules_of

if TYPE_CHECKING:
    from armarium.engine import Engine

CREATE = "branches.create"
"""The name of the first step of a branch: what the project alone has is taken out of the copy."""


@dataclass(frozen=True, slots=True)
class BranchCard:
    """What the card of a branch says: of which project it is a copy, and as of which step."""

    id: str
    project_uuid: str
    base_seq: int
    base_id: str | None
    base_digest: str
    """The hash of the project's log at that step."""
    begun_seq: int
    """The step of the branch's own log after which its changes count."""


def card_of(library: Library) -> BranchCard | None:
    """Return what the card of *library* says of the branch that it is; None for a project."""
    stated = read_card(library.path).get("branch")
    try:
        return None if stated is None else BranchCard(**stated)
    except TypeError as error:
        raise Conflict(
            f"{library.path.name} is a branch, but its {CARD} does not say of which project. Make a new branch.",
            code="branch_damaged",
        ) from error


def folder_of(project: Path) -> Path:
    """Return the folder beside the project at *project* in which its branches lie."""
    return project.with_name(project.name.removesuffix(SUFFIX) + BRANCHES)


@contextmanager
def copy_project(
    engine: Engine, project: Library, name: str, branch_id: str, principal: Principal
) -> Iterator[Path]:
    """Lend a complete copy of *project* as the branch *branch_id*, under a temporary name in the folder of its branches.

    Whoever keeps it renames it within the block; otherwise it is removed. Raises Unavailable when the disk refuses.
    """
    folder = folder_of(project.path)
    temporary = folder / f".{new_id()[-12:]}.new"
    try:
        folder.mkdir(exist_ok=True)
        lay_out(temporary)
        _copy(engine, project, name, branch_id, temporary, principal)
    except (OSError, sqlite3.Error, DBAPIError) as error:
        shutil.rmtree(temporary, ignore_errors=True)
        raise refused_by_disk(error) or Unavailable(
            f"The branch could not be made: {getattr(error, 'strerror', None) or error}. Nothing was left behind.",
            code="disk_error",
        ) from error
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    try:
        yield temporary
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def place_of_branch(project: Path, name: str, branch_id: str) -> Path:
    """Return where the branch called *name* lies."""
    return folder_of(project) / f"{plain_name(name)[:60] or 'branch'}-{branch_id[-8:]}{SUFFIX}"


def _copy(
    engine: Engine, project: Library, name: str, branch_id: str, place: Path, principal: Principal
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
            ctx, before, _ = engine.bus.open_step(conn, CREATE, copy, principal, None, schema)
            raw.execute("PRAGMA defer_foreign_keys=ON")
            for table in reversed(schema.tables):
                if rules_of(table).stays_here:
                    raw.execute(f"DELETE FROM {quote_name(table.name)}")
            for key in ("snapshot_interval_seconds", "snapshot_offsite_path"):
                raw.execute("DELETE FROM library_setting WHERE key = ?", (key,))
            raw.execute(
                "INSERT INTO library_setting (key, value, updated_at) VALUES ('name', ?, ?)"
                " ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at",
                (json.dumps(name, ensure_ascii=False), ctx.now),
            )
            begun = engine.bus.close_step(ctx, before, raw, {"branch_id": branch_id}, undoable=False)
    finally:
        db.close()
    card = json.loads((place / CARD).read_text(encoding="utf-8"))
    card["branch"] = asdict(
        BranchCard(
            branch_id, project.uuid, base.seq, base_id[0] if base_id else None, base.row_hash, begun.seq
        )
    )
    (place / CARD).write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
    flush_path(place / CARD)


def link_files(source: Path, target: Path) -> None:
    """Put every file of the object store *source* into *target*: linked, or copied where the disk has no links."""
    for folder in source.iterdir() if source.is_dir() else ():
        if len(folder.name) != 2 or not folder.is_dir():
            continue
        (target / folder.name).mkdir(exist_ok=True)
        for file in folder.iterdir():
            link_or_copy(file, target / folder.name / file.name)
        flush_path(target / folder.name)


def link_or_copy(source: Path, target: Path) -> None:
    """Make *target* the same file as *source*, or a copy of it; a symbolic link stays one."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)


def keep(temporary: Path, place: Path) -> None:
    """Give the branch at *temporary* its name."""
    os.rename(temporary, place)
    flush_path(place.parent)


def project_beside(branch: Path) -> Path:
    """Return where the project lies beside whose folder of branches the package at *branch* is."""
    return Path(project_of_branch(str(branch)))


def find_package(project: Path, stated: str, branch_id: str) -> Path | None:
    """Return where the branch *branch_id* lies: at *stated*, beside the project, else in any folder of branches there.

    A project that was renamed or moved with its branches finds them again; None where it does not.
    """
    first = project.parent / stated
    for place in (first, *sorted(project.parent.glob(f"*{BRANCHES}/*{SUFFIX}"))):
        try:
            card = read_card(place) if place.is_dir() else {}
        except ServiceError:
            continue
        if (card.get("branch") or {}).get("id") == branch_id:
            return place
    return None


def open_branch(engine: Engine, project: Library, stated: str, branch_id: str) -> tuple[Library, BranchCard]:
    """Return the branch *branch_id* of *project*, opened. Raises NotFound where it is gone, Conflict where it is another
    project's.
    """
    place = find_package(project.path, stated, branch_id)
    if place is None:
        raise NotFound(
            f"The branch is no longer at {stated}: put its package back beside the project, or delete the branch.",
            code="branch_missing",
        )
    library = engine.libraries.open_only(place)
    card = card_of(library)
    if card is None or card.project_uuid != project.uuid:
        raise of_another_project(library.name, project.name)
    return library, card


of_another_project = Conflict.saying(
    "branch_of_another_project",
    "{branch} is a branch of another project, and cannot be merged into {project}.",
)


def refuse_tampered(library: Library, card: BranchCard) -> None:
    """Raise Conflict where the log of a branch was changed by hand, or does not begin with the step that its card names."""
    with library.db.read_all() as conn:
        broken = audit.verify_chain(conn)
        base = raw_of(conn).execute("SELECT row_hash FROM audit WHERE seq = ?", (card.base_seq,)).fetchone()
    if broken is None and card.base_seq and (base is None or base[0] != card.base_digest):
        broken = "Its log does not begin with the step that it was made from."
    if broken is not None:
        raise Conflict(
            f"{library.name} cannot be trusted: {broken} Nothing was merged.", code="branch_damaged"
        )


def take_files(source: ObjectStore, target: ObjectStore, digests: set[str]) -> int:
    """Put the files *digests* that *target* lacks into it, each checked by its digest; return how many."""
    taken = 0
    for digest in sorted(digests):
        if target.has(digest):
            continue
        with source.hold_file(digest) as path:
            found = target.put_file(path)
        if found != digest:
            raise Conflict(
                f"The file {digest[:12]}… of the branch no longer has the bytes it is named by. Nothing was merged.",
                code="branch_damaged",
            )
        taken += 1
    return taken


def entry_of(library: Library) -> dict[str, Any]:
    """Return a branch as the registry would show it: it is opened by its path, and not listed."""
    card = json.loads((library.path / CARD).read_text(encoding="utf-8"))
    made = str(card.get("created_at") or "")
    return {
        "id": library.uuid,
        "library_uuid": library.uuid,
        "path": str(library.path),
        "name": library.setting("name"),
        "is_open": True,
        "added_at": made,
        "last_accessed": made,
    }
