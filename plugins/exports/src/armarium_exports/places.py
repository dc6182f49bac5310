"""Writes to places on this machine: whole files or nothing, never over files of others; which of those that
are there an earlier export wrote.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import orjson

from armarium_exports.errors import already_there, cannot_write, no_folder, not_ours

_UNFINISHED = re.compile(r"\.armarium-[0-9a-f]{16}\.part")
_given: set[Path] = set()
"""Names that this process gave to unfinished files and folders."""


def require_parent(place: Path) -> None:
    """Make sure that the folder which is to contain *place* exists, without what killed exports left there."""
    if not place.parent.is_dir():
        raise no_folder(str(place.parent))
    clear_leavings(place.parent)


def clear_leavings(folder: Path) -> None:
    """Remove the unfinished files and folders that killed exports left in *folder*; those of exports at work are
    locked and stay. Where the system has no such locks, all of them stay.
    """
    try:
        with os.scandir(folder) as entries:
            unfinished = [Path(entry.path) for entry in entries if _UNFINISHED.fullmatch(entry.name)]
    except OSError:
        return
    for path in unfinished:
        if path in _given or path.is_symlink():
            continue
        with suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY)
            try:
                if _lock(descriptor):
                    _remove(path)
            finally:
                os.close(descriptor)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink()


def _lock(descriptor: int) -> bool:
    """Lock an open file or folder until it is closed; False if another export holds it, or there are no locks here."""
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def file_place(place: Path, *, overwrite: bool) -> None:
    """Make sure that *place* may become a file: refused if something is there."""
    require_parent(place)
    if not os.path.lexists(place):
        return
    if not overwrite:
        raise already_there(str(place))
    if not place.is_file():
        raise not_ours(str(place), "it is not a file")


@contextmanager
def whole_file(place: Path) -> Iterator[BinaryIO]:
    """Yield a file to write that gets the name *place* when the block ends without an error; otherwise
    nothing has changed there.
    """
    fresh = free_name_beside(place)
    try:
        with fresh.open("xb") as file:
            _lock(file.fileno())
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, place)
    except OSError as error:
        raise cannot_write(str(place), error.strerror or str(error)) from None
    finally:
        fresh.unlink(missing_ok=True)
        _given.discard(fresh)


def free_name_beside(place: Path) -> Path:
    """Return a free name in the folder of *place* for an unfinished file, which no other export here clears away."""
    fresh = place.with_name(f".armarium-{secrets.token_hex(8)}.part")
    _given.add(fresh)
    return fresh


def find_free_stem(stem: str, taken: set[str], numbered: str) -> str:
    """Return *stem* if no file has it, else with a number in the form *numbered*; it is taken from now on."""
    number, free = 1, stem
    while free.casefold() in taken:
        number += 1
        free = numbered.format(stem, number)
    taken.add(free.casefold())
    return free


@contextmanager
def whole_folder(place: Path) -> Iterator[Path]:
    """Yield an empty folder next to *place* to write to; the block puts it in place with `settle`."""
    fresh = free_name_beside(place)
    lock = None
    try:
        fresh.mkdir()
        if os.name != "nt":  # where folders cannot be opened
            lock = os.open(fresh, os.O_RDONLY)
            _lock(lock)
        yield fresh
    except OSError as error:
        raise cannot_write(str(place), error.strerror or str(error)) from None
    finally:
        if lock is not None:
            os.close(lock)
        shutil.rmtree(fresh, ignore_errors=True)
        _given.discard(fresh)


@contextmanager
def replaced_folder(place: Path, manifest: str, *, overwrite: bool) -> Iterator[Path]:
    """Yield an empty folder for all files of an export, its *manifest* among them, which takes the place of an earlier one
    at *place* when the block ends without an error. Refused as `require_parent`, `listed_before` and `clash_refused` do.
    """
    require_parent(place)
    before = listed_before(place, manifest, overwrite=overwrite)
    with whole_folder(place) as fresh:
        yield fresh
        clash_refused(fresh, place, before)
        settle(fresh, place, before, manifest)


def settle(fresh: Path, place: Path, before: frozenset[str], manifest: str) -> list[str]:
    """Move the files of *fresh* to *place*; files named in *before* that are not among them are deleted.

    Paths of *before* are relative to *place*; none of them leads out of it. Returns those that could not be
    deleted. Killed in between, *manifest* names both the earlier and the new files, so that the next export
    finishes it.
    """
    if not place.exists():
        os.rename(fresh, place)
        return []
    inside = sorted(fresh.rglob("*"))
    paths_now = {path.relative_to(fresh).as_posix() for path in inside if not path.is_dir()}
    both = fresh / ".both"
    both.write_bytes(orjson.dumps({"files": sorted(before | paths_now)}))
    os.replace(both, place / manifest)
    for path in inside:
        inner = path.relative_to(fresh)
        if path.is_dir():
            (place / inner).mkdir(exist_ok=True)
        elif inner.as_posix() != manifest:
            os.replace(path, place / inner)
    undeleted = _delete(place, before - paths_now)
    if undeleted:
        # They stay the export's own: the next one tries again.
        contents = orjson.loads((fresh / manifest).read_bytes())
        contents["files"] += [Path(path).relative_to(place).as_posix() for path in undeleted]
        (fresh / manifest).write_bytes(orjson.dumps(contents))
    os.replace(fresh / manifest, place / manifest)
    return undeleted


def _delete(place: Path, names: frozenset[str]) -> list[str]:
    """Delete these files and the folders that are then empty; return those that could not be deleted."""
    undeleted = []
    for name in sorted(names):
        target = place / name
        if not _lies_in(place, name):
            continue
        try:
            target.unlink(missing_ok=True)
        except OSError:
            undeleted.append(str(target))
            continue
        for folder in target.parents:
            if folder == place:
                break
            with suppress(OSError):
                folder.rmdir()
    return undeleted


def clash_refused(fresh: Path, place: Path, before: frozenset[str]) -> None:
    """Refuse to let a file of *fresh* overwrite one at *place* that no export wrote."""
    for path in sorted(fresh.rglob("*")) if place.exists() else ():
        inner = path.relative_to(fresh)
        target = place / inner
        if not os.path.lexists(target):
            continue
        is_other = path.is_dir() != target.is_dir() or target.is_symlink()
        if is_other or (path.is_file() and inner.as_posix() not in before):
            why = "no export wrote it, and overwrite applies only to files of exports"
            raise not_ours(str(target), why)


def _lies_in(place: Path, name: str) -> bool:
    target = place / name
    return ".." not in Path(name).parts and target.parent.resolve().is_relative_to(place.resolve())


def checksum_of(path: Path) -> str | None:
    """Return the SHA-256 of the file at *path*; None if it is not a regular file."""
    if path.is_symlink() or not path.is_file():
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


LARGEST = 64 * 1024 * 1024


def listed_before(place: Path, manifest: str, *, overwrite: bool) -> frozenset[str]:
    """Return the files that the manifest at *place* names as an export's own; none if nothing is there.

    Refused if something is there without *overwrite*, or if it is not a folder that such an export wrote.
    """
    if not os.path.lexists(place):
        return frozenset()
    if not overwrite:
        raise already_there(str(place))
    if not place.is_dir():
        raise not_ours(str(place), "it is not a folder")
    if not any(place.iterdir()):
        return frozenset()
    try:
        file = place / manifest
        if file.stat().st_size > LARGEST:
            raise ValueError("too large")
        names = orjson.loads(file.read_bytes())["files"]
        return frozenset(name for name in names if isinstance(name, str))
    except (OSError, ValueError, KeyError, TypeError):
        raise not_ours(str(place), f"it contains no {manifest} of such an export") from None
