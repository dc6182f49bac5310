"""Opens files and folders that a caller named along the very path that was checked, even if it is changed meanwhile.

The path is walked folder by folder from the root of the disk, each held open while the next is looked up in it. So what
is checked (`armarium.guard.closed_places`) and what is opened are the same.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from armarium.errors import Invalid, not_a_file
from armarium.guard.closed_places import PathNotAllowed, Steps

_STEP: Final = (
    getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
)
_FILE: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_FOLDER: Final = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_NOTHING_THERE: Final = (errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EPERM, errno.ENAMETOOLONG)
"""A path that does not exist yet is checked by whoever opens it once it exists."""

_LOOK: Final = getattr(os, "O_PATH", os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)) | getattr(
    os, "O_NOFOLLOW", 0
)
_BY_STEPS: Final = {os.open, os.stat} <= os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")


IsClosed = Callable[[os.stat_result], bool]
"""Tells whether a file with several names is one that no caller may open under any of them."""


def open_plain(path: Path, is_closed: IsClosed | None, *, within: Path | None = None) -> BinaryIO:
    """Open the ordinary file at *path* for reading; *path* is absolute and was resolved when it was checked.

    No link is followed anywhere on the path, so that what was allowed then is what is read now: a file or folder that
    has become a link since is `Invalid`, and so is what is not an ordinary file (a pipe is not waited for).
    `PathNotAllowed` where the path leads into a closed place, or where *is_closed* (the engine's or a project's
    `is_closed`) holds for the opened file. *within* is a folder that the engine itself created for uploads: only what
    lies beneath it is checked. OSError where it cannot be opened.
    """
    with _worded_faults(path):
        descriptor = _open(path, _FILE, within)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise not_a_file()
            if is_closed is not None and status.st_nlink > 1 and is_closed(status):
                raise own_file(path)
            return os.fdopen(descriptor, "rb")
        except BaseException:
            os.close(descriptor)
            raise


def look_over(path: Path, is_closed: IsClosed) -> None:
    """Check the resolved *path* as far as it exists; refusals as of `open_plain`."""
    with _worded_faults(path):
        try:
            descriptor = _open(path, _LOOK)
        except OSError as error:
            if error.errno in _NOTHING_THERE:
                return
            raise
        try:
            status = os.fstat(descriptor)
            if stat.S_ISREG(status.st_mode) and status.st_nlink > 1 and is_closed(status):
                raise own_file(path)
        finally:
            os.close(descriptor)


def own_file(path: Path) -> PathNotAllowed:
    """Return the refusal of a file that also belongs to the engine, under another name."""
    return PathNotAllowed(
        f"{path} is another name of a file that the engine or a project keeps. Copy the file and name the copy.",
        str(path),
    )


def is_too_long(path: Path) -> bool:
    """Return whether no disk can hold a file of this name or path, so that any access to it would be an error."""
    try:
        path.lstat()
    except OSError as error:
        return error.errno == errno.ENAMETOOLONG
    return False


def names_in(path: Path) -> list[tuple[str, bool]]:
    """Return the names in the folder at *path* and whether each is a folder (not a link to one); refusals as of
    `open_plain`.
    """
    with _worded_faults(path):
        descriptor = _open(path, _FOLDER)
        try:
            with os.scandir(descriptor if os.scandir in os.supports_fd else path) as entries:
                return [(entry.name, _is_folder(entry)) for entry in entries]
        finally:
            os.close(descriptor)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    with suppress(OSError):
        return entry.is_dir(follow_symlinks=False)
    return False


def _open(path: Path, how: int, within: Path | None = None) -> int:
    """Return a descriptor of *path*, of which every folder was checked."""
    steps = Steps(path)
    own = {*within.parents, within} if within is not None and path.is_relative_to(within) else set()
    here = Path(path.anchor)
    folder = os.open(path.anchor, _STEP) if _BY_STEPS else None
    try:
        for part in path.parts[1:-1]:
            here = here / part
            if here not in own:
                steps.name(part)
            if folder is not None:
                inner = os.open(part, _STEP, dir_fd=folder)
                os.close(folder)
                folder = inner
            if here not in own:
                _enter(steps, here, folder)
        if len(path.parts) > 1:
            steps.name(path.name)
        descriptor = os.open(path if folder is None else (path.name or "."), how, dir_fd=folder)
    finally:
        if folder is not None:
            os.close(folder)
    try:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode) and path not in own:
            _enter(steps, path, descriptor)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _enter(steps: Steps, folder: Path, descriptor: int | None) -> None:
    def holds(name: str) -> os.stat_result | None:
        return _status(name, descriptor) if _BY_STEPS else _status(folder / name, None)

    steps.enter(folder, os.lstat(folder) if descriptor is None else os.fstat(descriptor), holds)


def _status(path: str | Path, folder: int | None) -> os.stat_result | None:
    try:
        return os.stat(path, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return None


@contextmanager
def _worded_faults(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK) or (
            error.errno == errno.ENOTDIR and any(part.is_symlink() for part in (path, *path.parents))
        ):
            raise Invalid(
                "It, or a folder above it, became a link while it was being read; nothing of it was taken.",
                code="became_a_link",
            ) from None
        if error.errno == errno.ENXIO:  # a socket, or a pipe without a reader or writer at the other end
            raise not_a_file() from None
        raise
