"""Files and folders that a caller named: opened on the way that was looked over, however somebody changes it meanwhile."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from armarium.errors import Invalid

_STEP: Final = (
    getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
)
_FILE: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_FOLDER: Final = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_BY_STEPS: Final = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")


def open_plain(path: Path) -> BinaryIO:
    """The ordinary file at *path* for reading; *path* is whole and was resolved when it was looked over.

    No link is followed on any part of the way, so that what was allowed then is what is read now: a file or a folder
    above it that became a link since is `Invalid`, and so is what is no ordinary file (a pipe is not waited for).
    OSError where it cannot be opened.
    """
    with _told(path):
        descriptor = _open(path, _FILE)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise Invalid("It is not an ordinary file.", code="not_a_file")
            return os.fdopen(descriptor, "rb")
        except BaseException:
            os.close(descriptor)
            raise


def is_too_long(path: Path) -> bool:
    """Whether no disk holds a file of this name or path: any look at it would be an error."""
    try:
        path.lstat()
    except OSError as error:
        return error.errno == errno.ENAMETOOLONG
    return False


def names_in(path: Path) -> list[tuple[str, bool]]:
    """The names in the folder at *path* and whether each is a folder (not a link to one); refusals as of `open_plain`."""
    with _told(path):
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


def _open(path: Path, how: int) -> int:
    if not _BY_STEPS:
        return os.open(path, how)
    *above, name = path.parts[1:] or (".",)
    folder = os.open(path.anchor, _STEP)
    try:
        for part in above:
            inner = os.open(part, _STEP, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(name, how, dir_fd=folder)
    finally:
        os.close(folder)


@contextmanager
def _told(path: Path) -> Iterator[None]:
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
            raise Invalid("It is not an ordinary file.", code="not_a_file") from None
        raise
