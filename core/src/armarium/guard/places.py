"""Files and folders that a caller named: opened on the way that was looked over, however somebody changes it meanwhile.

The way is walked folder by folder from the root of the disk, each held open while the next is looked up in it. So what
is judged (`armarium.guard.closed_places`) and what is opened are the same.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from armarium.errors import Invalid, NotAFile
from armarium.guard.closed_places import PathNotAllowed, Steps

_STEP: Final = (
    getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
)
_FILE: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_FOLDER: Final = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_NOTHING_THERE: Final = (errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EPERM, errno.ENAMETOOLONG)
"""What is there for nobody is judged by whoever opens it, if it comes to be there."""

_LOOK: Final = getattr(os, "O_PATH", os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)) | getattr(
    os, "O_NOFOLLOW", 0
)
_BY_STEPS: Final = {os.open, os.stat} <= os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")


IsClosed = Callable[[os.stat_result], bool]
"""Whether a file with more than one name is one that no caller may have under any of them."""


def open_plain(path: Path, is_closed: IsClosed | None, *, within: Path | None = None) -> BinaryIO:
    """The ordinary file at *path* for reading; *path* is whole and was resolved when it was looked over.

    No link is followed on any part of the way, so that what was allowed then is what is read now: a file or a folder
    above it that became a link since is `Invalid`, and so is what is no ordinary file (a pipe is not waited for).
    `PathNotAllowed` where the way leads into a closed place, or where *is_closed* (the engine's or a library's
    `is_closed`) says so of the file that was opened. *within* is a folder that the engine itself made for what it was
    sent: only what lies beneath it is judged. OSError where it cannot be opened.
    """
    with _worded_faults(path):
        descriptor = _open(path, _FILE, within)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise NotAFile()
            if is_closed is not None and status.st_nlink > 1 and is_closed(status):
                raise own_file(path)
            return os.fdopen(descriptor, "rb")
        except BaseException:
            os.close(descriptor)
            raise


def look_over(path: Path, is_closed: IsClosed) -> None:
    """Judge the way to *path*, which was resolved, as far as it is there; refusals as of `open_plain`."""
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
    """The refusal of a file that is also the engine's, under another name."""
    return PathNotAllowed(
        f"{path} is another name of a file that the engine or a project keeps. Copy what is meant and name the copy.",
        str(path),
    )


def is_too_long(path: Path) -> bool:
    """Whether no disk holds a file of this name or path: any look at it would be an error."""
    try:
        path.lstat()
    except OSError as error:
        return error.errno == errno.ENAMETOOLONG
    return False


def names_in(path: Path) -> list[tuple[str, bool]]:
    """The names in the folder at *path* and whether each is a folder (not a link to one); refusals as of `open_plain`."""
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
    """A descriptor of what lies at *path*, all of whose way was judged."""
    steps = Steps(path)
    own = {*within.parents, within} if within is not None and path.is_relative_to(within) else set()
    here = Path(path.anchor)
    held = os.open(path.anchor, _STEP) if _BY_STEPS else None
    try:
        for part in path.parts[1:-1]:
            here = here / part
            if here not in own:
                steps.name(part)
            if held is not None:
                inner = os.open(part, _STEP, dir_fd=held)
                os.close(held)
                held = inner
            if here not in own:
                _enter(steps, here, held)
        if len(path.parts) > 1:
            steps.name(path.name)
        found = os.open(path if held is None else (path.name or "."), how, dir_fd=held)
    finally:
        if held is not None:
            os.close(held)
    try:
        if stat.S_ISDIR(os.fstat(found).st_mode) and path not in own:
            _enter(steps, path, found)
    except BaseException:
        os.close(found)
        raise
    return found


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
        if error.errno == errno.ENXIO:  # a socket, or a pipe at whose other end nobody is
            raise NotAFile() from None
        raise
