"""Writes to places on this machine: whole files or nothing, never over files of others."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from armarium_exports.errors import already_there, cannot_write, no_folder, not_ours


def require_parent(place: Path) -> None:
    """Make sure that the folder which is to contain *place* exists."""
    if not place.parent.is_dir():
        raise no_folder(str(place.parent))


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
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, place)
    except OSError as error:
        raise cannot_write(str(place), error.strerror or str(error)) from None
    finally:
        fresh.unlink(missing_ok=True)


def free_name_beside(place: Path) -> Path:
    """Return a free name in the folder of *place* for an unfinished file."""
    return place.with_name(f".{secrets.token_hex(8)}.part")


@contextmanager
def whole_folder(place: Path) -> Iterator[Path]:
    """Yield an empty folder next to *place* to write to; the block puts it in place with `settle`."""
    fresh = free_name_beside(place)
    try:
        fresh.mkdir()
        yield fresh
    except OSError as error:
        raise cannot_write(str(place), error.strerror or str(error)) from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def settle(fresh: Path, place: Path, before: frozenset[str]) -> list[str]:
    """Move the files of *fresh* to *place*; files named in *before* that are not among them are deleted.

    Paths of *before* are relative to *place*; none of them leads out of it. Returns those that could not be
    deleted.
    """
    if not place.exists():
        os.rename(fresh, place)
        return []
    now = set()
    for path in sorted(fresh.rglob("*")):
        inner = path.relative_to(fresh)
        if path.is_dir():
            (place / inner).mkdir(exist_ok=True)
        else:
            now.add(inner.as_posix())
            os.replace(path, place / inner)
    left = []
    for name in sorted(before - now):
        target = place / name
        if not _lies_in(place, name):
            continue
        try:
            target.unlink(missing_ok=True)
        except OSError:
            left.append(str(target))
            continue
        for folder in target.parents:
            if folder == place:
                break
            with suppress(OSError):
                folder.rmdir()
    return left


def clashes(fresh: Path, place: Path, before: frozenset[str]) -> str | None:
    """Return a path at *place* where a file of *fresh* would replace one that no export wrote; None if there
    is none.
    """
    if not place.exists():
        return None
    for path in sorted(fresh.rglob("*")):
        inner = path.relative_to(fresh)
        target = place / inner
        if not os.path.lexists(target):
            continue
        if path.is_dir() != target.is_dir() or target.is_symlink():
            return str(target)
        if path.is_file() and inner.as_posix() not in before:
            return str(target)
    return None


def _lies_in(place: Path, name: str) -> bool:
    target = place / name
    return ".." not in Path(name).parts and target.parent.resolve().is_relative_to(place.resolve())


def checksum_of(path: Path) -> str | None:
    """Return the SHA-256 of the file at *path*; None if it is not a regular file."""
    if path.is_symlink() or not path.is_file():
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def plain_name(title: str, longest: int = 80) -> str:
    """Return *title* as the first part of a file name on any system, at most *longest* bytes of UTF-8; "page"
    if nothing is left.
    """
    clean = "".join("_" if one in '/\\:*?"<>|' or ord(one) < 32 else one for one in title).strip(" .")
    cut = clean.encode("utf-8", "replace")[:longest].decode("utf-8", "ignore").strip(" .")
    reserved = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
    return f"_{cut}" if cut.split(".")[0].casefold() in reserved else cut or "page"
