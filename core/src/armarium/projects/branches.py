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
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armarium.errors import Conflict, NotFound, ServiceError
from armarium.file_names import plain_name
from armarium.history import audit
from armarium.principals import BRANCHES, project_of_branch
from armarium.projects.libraries import Library
from armarium.projects.packages import CARD
from armarium.projects.packages import read_card as read_card
from armarium.projects.registry import SUFFIX
from armarium.store.database import raw_of
from armarium.store.durable import flush_path
from armarium.store.objects import ObjectStore

if TYPE_CHECKING:
    from armarium.engine import Engine


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
    partial: bool = False
    """Whether it holds a part only: what somebody may see, or some folders; its log then begins anew."""


def card_of(library: Library) -> BranchCard | None:
    """Return what the card of *library* says of the branch that it is; None for a project."""
    fields = read_card(library.path).get("branch")
    try:
        return None if fields is None else BranchCard(**fields)
    except TypeError as error:
        raise Conflict(
            f"{library.path.name} is a branch, but its {CARD} does not say of which project. Make a new branch.",
            code="branch_damaged",
        ) from error


def folder_of(project: Path) -> Path:
    """Return the folder beside the project at *project* in which its branches lie."""
    return project.with_name(project.name.removesuffix(SUFFIX) + BRANCHES)


def place_of_branch(project: Path, name: str, branch_id: str) -> Path:
    """Return where the branch called *name* lies."""
    return folder_of(project) / f"{plain_name(name)[:60] or 'branch'}-{branch_id[-8:]}{SUFFIX}"


def name_branch(raw: sqlite3.Connection, name: str, now: str) -> None:
    """Give the branch its name, and no snapshots of its own, within its first step."""
    raw.execute(
        "DELETE FROM library_setting WHERE key IN ('snapshot_interval_seconds', 'snapshot_offsite_path')"
    )
    raw.execute(
        "INSERT INTO library_setting (key, value, updated_at) VALUES ('name', ?, ?)"
        " ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at",
        (json.dumps(name, ensure_ascii=False), now),
    )


def note_card(place: Path, card: BranchCard) -> None:
    """Write on the card of the package at *place* of which project it is a branch, here."""
    (place / CARD).write_text(card_text(place, card, None), encoding="utf-8")
    flush_path(place / CARD)


def card_text(place: Path, card: BranchCard, owner_name: str | None) -> str:
    """Return what the card of the package at *place* says of the branch, and of what whoever has it elsewhere is called."""
    fields = json.loads((place / CARD).read_text(encoding="utf-8"))
    fields |= {"branch": asdict(card), "owner_name": owner_name}
    return json.dumps({key: value for key, value in fields.items() if value is not None}, indent=2) + "\n"


def link_files(source: Path, target: Path) -> None:
    """Put every file of the object store *source* that *target* lacks into it: linked, or copied where the disk has no links."""
    for folder in source.iterdir() if source.is_dir() else ():
        if len(folder.name) != 2 or not folder.is_dir():
            continue
        (target / folder.name).mkdir(exist_ok=True)
        for file in folder.iterdir():
            link_or_copy(file, target / folder.name / file.name)
        flush_path(target / folder.name)


def link_or_copy(source: Path, target: Path) -> None:
    """Make *target* the same file as *source*, or a copy of it, unless it is there; a symbolic link stays one."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        if not target.exists():
            shutil.copy2(source, target, follow_symlinks=False)


def keep(temporary: Path, place: Path) -> None:
    """Give the branch at *temporary* its name."""
    os.rename(temporary, place)
    flush_path(place.parent)


def project_beside(branch: Path) -> Path:
    """Return where the project lies beside whose folder of branches the package at *branch* is."""
    return Path(project_of_branch(str(branch)))


def find_project(engine: Engine, branch: Path, project_uuid: str) -> Library | None:
    """Return the project *project_uuid* of the branch at *branch*, opened: beside it, else among those that this engine knows;
    None where it is neither. Raises what opening it does.
    """
    beside = project_beside(branch)
    opened = engine.libraries.open_at(str(beside))
    if opened is not None and opened.uuid == project_uuid:
        return opened
    known = [
        entry["path"] for entry in engine.libraries.list_registered() if entry["library_uuid"] == project_uuid
    ]
    for place in (beside, *known):
        if place != branch and Path(place).is_dir():
            project = engine.libraries.open_only(place)
            if project.uuid == project_uuid:
                return project
    return None


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
    if (
        broken is None
        and card.base_seq
        and not card.partial
        and (base is None or base[0] != card.base_digest)
    ):
        broken = "Its log does not begin with the step that it was made from."
    if broken is not None:
        raise Conflict(
            f"{library.name} cannot be trusted: {broken} Nothing was merged.", code="branch_damaged"
        )


def take_files(source: ObjectStore, target: ObjectStore, digests: set[str]) -> int:
    """Put the files *digests* that *target* lacks into it, each checked by its digest; return how many."""
    count = 0
    for digest in sorted(digests):
        if target.has(digest):
            continue
        with source.hold_file(digest) as path:
            digest_there = target.put_file(path)
        if digest_there != digest:
            raise Conflict(
                f"The file {digest[:12]}… of the branch no longer has the bytes it is named by. Nothing was merged.",
                code="branch_damaged",
            )
        count += 1
    return count


def entry_of(library: Library) -> dict[str, Any]:
    """Return a branch as the registry would show it: it is opened by its path, and not listed."""
    card = json.loads((library.path / CARD).read_text(encoding="utf-8"))
    created_at = str(card.get("created_at") or "")
    return {
        "id": library.uuid,
        "library_uuid": library.uuid,
        "path": str(library.path),
        "name": library.setting("name"),
        "is_open": True,
        "added_at": created_at,
        "last_accessed": created_at,
    }
