"""A branch as one file, for somebody without this machine: packed, carried about, and taken back beside its project.

The file is a ZIP of the package, which opens as a project wherever it is unpacked. Files that the project has itself may be
left out; what the branch added is always in it.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import sqlite3
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from armarium.errors import Conflict, Invalid, Unavailable, refused_by_disk
from armarium.guard import check_archive, image_info, open_image, open_plain
from armarium.history import audit
from armarium.history.net_differences import live_rows, touched_since
from armarium.ids import new_id
from armarium.projects.branches import (
    BranchCard,
    card_text,
    folder_of,
    link_files,
    note_card,
    of_another_project,
    refuse_tampered,
)
from armarium.projects.libraries import Library
from armarium.projects.packages import CARD, DATABASE, lay_out, no_lock, open_database, read_card
from armarium.projects.registry import SUFFIX
from armarium.store.database import raw_of
from armarium.store.durable import flush
from armarium.store.name_order import register_name_key
from armarium.store.objects import REDUCED, ObjectStore

if TYPE_CHECKING:
    from armarium.engine import Engine

Pictures = Literal["no", "reduced", "all"]
LONG_SIDE = 1_600
"""Pixels of the longer side of a reduced picture."""
MOST_BYTES = 1 << 42
MOST_FILES = 10_000_000
_CHUNK = 1 << 20


def pack(branch: Library, card: BranchCard, target: Path, pictures: Pictures, owner_name: str | None) -> int:
    """Write the branch as one file to *target*, which must not exist; return its bytes. Raises Unavailable (503).

    Whoever works in it on a machine of their own is called *owner_name* in its log.
    """
    beside = target.with_name(f".{new_id()[-12:]}.new")
    copy = beside.with_suffix(".sqlite")
    inside = branch.path.name
    try:
        branch.db.backup(copy)
        # What was deleted must not stay readable in free pages.
        raw = sqlite3.connect(copy)
        try:
            register_name_key(raw)
            raw.execute("VACUUM")
        finally:
            raw.close()
        with zipfile.ZipFile(beside, "x", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(f"{inside}/{CARD}", card_text(branch.path, card, owner_name))
            archive.write(copy, f"{inside}/{DATABASE}")
            here = set(branch.objects.digests())
            whole = here if pictures == "all" else added_files(branch, card)
            for digest in sorted(here if pictures == "reduced" else whole):
                with branch.objects.hold_file(digest) as path:
                    name = f"{digest[:2]}/{digest[2:]}"
                    if digest in whole:
                        archive.write(path, f"{inside}/objects/{name}", zipfile.ZIP_STORED)
                    elif (small := _reduce_picture(path)) is not None:
                        archive.writestr(f"{inside}/{REDUCED}/{name}.jpg", small)
        with beside.open("rb") as file:
            flush(file.fileno())
        if target.exists():
            raise Conflict(f"{target.name} already exists; choose another name.", code="already_exists")
        os.rename(beside, target)
    except (OSError, sqlite3.Error) as error:
        raise refused_by_disk(error) or Unavailable(
            f"{target.name} could not be written: {error}. Nothing was left behind.", code="disk_error"
        ) from error
    finally:
        beside.unlink(missing_ok=True)
        copy.unlink(missing_ok=True)
    return target.stat().st_size


def _reduce_picture(path: Path) -> bytes | None:
    """Return the picture at *path* upright as a JPEG of at most `LONG_SIDE` pixels; None where it is not a single picture."""
    from PIL import ImageOps

    side = (LONG_SIDE, LONG_SIDE)
    try:
        if image_info(path).frames != 1:
            return None
        with open_image(path, shrink_to=side) as image:
            upright = ImageOps.exif_transpose(image).convert("RGB")
    except Invalid:
        return None
    upright.thumbnail(side)
    buffer = io.BytesIO()
    upright.save(buffer, "JPEG", quality=80)
    return buffer.getvalue()


def added_files(branch: Library, card: BranchCard) -> set[str]:
    """Return the files that the branch has and that rows name which it made or changed."""
    return {digest for digest in files_of_its_own(branch, card) if branch.objects.has(digest)}


def files_of_its_own(branch: Library, card: BranchCard) -> set[str]:
    """Return the files that rows of the branch name which it made or changed, whether they are there or not."""
    digests: set[str] = set()
    with branch.db.read_all() as conn:
        raw = raw_of(conn)
        for table in branch.schema.tracked:
            at = [number for number, column in enumerate(table.columns) if column.info.get("object")]
            if at:
                rows = live_rows(raw, table, touched_since(raw, table, card.begun_seq).keys())
                digests |= {
                    row[position] for row in rows.values() for position in at if row[position] is not None
                }
    return digests


@contextmanager
def unpack_branch(engine: Engine, project: Library, source: Path) -> Iterator[tuple[Path, BranchCard]]:
    """Lend the branch in the file *source*, unpacked under a temporary name beside *project*, and its card.

    Its files are checked by their digests, its log by its hashes; files that it lacks are the project's. Raises Invalid for
    what is not a branch, Conflict for another project's or one that was changed by hand.
    """
    folder = folder_of(project.path)
    temporary = folder / f".{new_id()[-12:]}.new"
    try:
        try:
            folder.mkdir(exist_ok=True)
            lay_out(temporary)
            _unpack(source, temporary, engine)
            link_files(project.objects.root, temporary / "objects")
            card = _check(engine, project, source, temporary)
        except OSError as error:
            raise refused_by_disk(error) or Unavailable(
                f"{source.name} could not be unpacked: {error.strerror or error}.", code="disk_error"
            ) from error
        yield temporary, card
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _unpack(source: Path, target: Path, engine: Engine) -> None:
    names: set[str] = set()
    with open_plain(source, engine.paths.is_closed) as file:
        members = check_archive(source, max_bytes=MOST_BYTES, max_members=MOST_FILES)
        with zipfile.ZipFile(file) as archive:
            for member in members:
                parts = member.filename.split("/")
                if len(parts) < 2 or not parts[0].endswith(SUFFIX):
                    raise no_branch(source.name)
                inner = parts[1:]
                if inner in ([CARD], [DATABASE]):
                    _write(archive, member, target / inner[0])
                    names.add(inner[0])
                elif len(inner) == 3 and inner[0] == "objects":
                    _take_object(archive, member, target, inner[1], inner[2])
    if names != {CARD, DATABASE}:
        raise no_branch(source.name)


def _take_object(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path, first: str, rest: str
) -> None:
    digest = first + rest
    if len(first) != 2 or len(digest) != 64 or set(digest) - set("0123456789abcdef"):
        raise no_branch(Path(archive.filename or "The file").name)
    place = target / "objects" / first / rest
    place.parent.mkdir(exist_ok=True)
    if _write(archive, member, place) != digest:
        raise Conflict(
            f"The file {digest[:12]}… in the branch does not have the bytes it is named by. Nothing was taken.",
            code="branch_damaged",
        )
    place.chmod(0o444)


def _write(archive: zipfile.ZipFile, member: zipfile.ZipInfo, place: Path) -> str:
    """Unpack one member, never more than its header states; return its digest."""
    digest, remaining = hashlib.sha256(), member.file_size
    try:
        with archive.open(member) as source, place.open("wb") as target:
            while chunk := source.read(_CHUNK):
                remaining -= len(chunk)
                if remaining < 0:
                    raise Invalid(f"{member.filename!r} is longer than it says.", code="archive_bomb")
                digest.update(chunk)
                target.write(chunk)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as fault:
        raise Invalid(f"{member.filename!r} in the archive is damaged.", code="archive_damaged") from fault
    return digest.hexdigest()


def _check(engine: Engine, project: Library, source: Path, place: Path) -> BranchCard:
    fields = read_card(place)
    if not fields["branch"]:
        raise no_branch(source.name)
    try:
        card = BranchCard(**fields["branch"])
    except TypeError as error:
        raise no_branch(source.name) from error
    if card.project_uuid != project.uuid:
        raise of_another_project(source.name, project.name)
    note_card(place, card)
    db = open_database(place)
    try:
        objects = ObjectStore(place / "objects", rules=engine.paths)
        copy = Library(place, fields["library_uuid"], db, objects, no_lock(), project.schema, True)
        refuse_tampered(copy, card)
    finally:
        db.close()
    return card


def refuse_diverged(here: Library, received: Path) -> None:
    """Raise Conflict where the branch *here* holds steps that the one at *received* does not."""
    with here.db.read_all() as conn:
        end = audit.head(raw_of(conn))
    raw = sqlite3.connect(received / DATABASE)
    try:
        row = raw.execute("SELECT row_hash FROM audit WHERE seq = ?", (end.seq,)).fetchone()
    finally:
        raw.close()
    if end.seq and (row is None or row[0] != end.row_hash):
        raise Conflict(
            f"{here.name} has also been worked on here since it was sent away, so taking the file would lose that work. Merge it "
            "first, and delete the branch here.",
            code="branch_diverged",
        )


no_branch = Invalid.saying(
    "no_branch", "{name} is not a branch. Name a file that `armarium branch create --to` wrote."
)
