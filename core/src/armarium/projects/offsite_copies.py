"""Copies of snapshots in a folder of the owner's choice, each with the files it needs, in case the disk is lost.

In that folder every project has one of its own, named after it and its id: `objects/` as in the package, to which files
are only added, `snapshots/` with the copies that are kept, and the package's card. Unfinished copies have a temporary
name; a copy that was killed resumes where it was.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armarium.errors import Invalid, NotFound, ServiceError, Unavailable
from armarium.guard.places import is_too_long
from armarium.projects import snapshots
from armarium.projects.libraries import ENGINE_ITSELF
from armarium.projects.packages import CARD
from armarium.projects.registry import SUFFIX
from armarium.store.durable import flush_path
from armarium.store.objects import ObjectStore

if TYPE_CHECKING:
    from armarium.guard.named_paths import PathRules
    from armarium.projects.libraries import Library


def checked_place(text: str, rules: PathRules) -> Path:
    """Return *text* as a folder that may hold copies; raises Invalid for one that may not.

    Raises PathNotAllowed for a closed folder, whoever set it: it is checked again whenever a snapshot is copied.
    """
    place = Path(text)
    why = None
    if "\0" in text or not place.is_absolute() or ".." in place.parts:
        why = "it is not a full path without '..'"
    elif is_too_long(place):
        why = "its path is longer than a disk takes"
    elif not place.is_dir():
        why = "there is no such folder"
    elif not os.access(place, os.W_OK | os.X_OK):
        why = "it cannot be written"
    if why is not None:
        raise Invalid(
            f"Snapshots cannot be copied to {text[:200]!r}: {why}. Name a folder outside every project, on another disk.",
            code="invalid_offsite_path",
        )
    return rules.material(text, ENGINE_ITSELF)


def home_of(library: Library, place: Path) -> Path:
    """Return this project's own folder in *place*."""
    return place / f"{library.path.name.removesuffix(SUFFIX)}-{library.uuid[-8:]}"


def copy_away(
    library: Library, snapshot: Path, place: Path, *, keep: int, on_file: Callable[[int, int], None]
) -> dict[str, Any]:
    """Copy the snapshot in the folder *snapshot* and what it needs; keep only the newest *keep* copies there.

    *on_file(done, total)* is called between two files and may raise to stop. Files that the project itself has lost or
    finds damaged are counted, not copied. Raises Unavailable when the folder refuses the copy.
    """
    home = home_of(library, place)
    try:
        needed = (snapshot / "objects.txt").read_text(encoding="ascii").split()
        object_store = ObjectStore(home / "objects")
        for part in (home, home / "snapshots", object_store.root):
            if part.is_symlink():
                raise OSError(errno.ELOOP, f"{part.name} there is a link to another place")
            part.mkdir(parents=True, exist_ok=True)
        object_store.clear_temporary()
        copied = lost = 0
        for number, digest in enumerate(needed):
            on_file(number, len(needed))
            if object_store.holds(digest):
                continue
            if _copy_file(library.objects, object_store, digest):
                copied += 1
            else:
                lost += 1
        on_file(len(needed), len(needed))
        _copy_folder(snapshot, home / "snapshots" / snapshot.name)
        shutil.copyfile(library.path / CARD, home / f".{CARD}.new")
        os.replace(home / f".{CARD}.new", home / CARD)
        flush_path(home)
        snapshots.remove_old(home, keep)
    except (OSError, ServiceError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise Unavailable(
            f"The snapshot is in the project, and was not copied to {place} ({reason}). "
            "See that the folder is there, can be written and has room; then retry this job.",
            code="offsite_failed",
        ) from error
    return {"path": str(home / "snapshots" / snapshot.name), "files_copied": copied, "files_lost": lost}


def _copy_file(source: ObjectStore, target: ObjectStore, digest: str) -> bool:
    """Return whether the file of *digest* is intact here and now exists there too."""
    try:
        with source.open(digest):
            pass
        stored_digest = target.put_file(source.path(digest))
    except (NotFound, FileNotFoundError):
        return False
    if stored_digest != digest:
        # Its bytes have changed: a copy would be no better than the file.
        target.remove(stored_digest)
        return False
    return True


def _copy_folder(source: Path, target: Path) -> None:
    if target.is_dir():
        return
    temporary = target.with_name(f".{target.name}.new")
    shutil.rmtree(temporary, ignore_errors=True)
    try:
        shutil.copytree(source, temporary)
        for file in temporary.iterdir():
            flush_path(file)
        os.rename(temporary, target)
        flush_path(target.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
