"""Exchanges two paths atomically, and renames without replacing: what POSIX lacks and the kernels of Linux and macOS offer."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

_NOREPLACE, _EXCHANGE = 1, 2  # linux/fs.h: RENAME_NOREPLACE, RENAME_EXCHANGE
_MAC_EXCL, _MAC_SWAP = 4, 2  # sys/stdio.h: RENAME_EXCL, RENAME_SWAP
_AT_FDCWD = -100
_UNABLE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM)


def exchange(one: Path, other: Path) -> bool:
    """Exchange two files or folders in one step; return False if this disk cannot. FileNotFoundError if one is gone."""
    return _rename_by_system(one, other, _EXCHANGE, _MAC_SWAP)


def put_where_nothing_is(source: Path, target: Path) -> None:
    """Rename *source* to *target*; FileExistsError if something is there, and then nothing was changed."""
    if _rename_by_system(source, target, _NOREPLACE, _MAC_EXCL):
        return
    if sys.platform == "win32":
        os.rename(source, target)  # refuses to replace
        return
    try:
        os.link(source, target, follow_symlinks=False)
    except FileExistsError:
        if not os.path.samestat(source.lstat(), target.lstat()):
            raise
    except OSError as error:
        if error.errno not in (*_UNABLE, errno.EMLINK, errno.EXDEV):
            raise
        # A disk without links of any kind (FAT): checking and renaming is all it offers.
        if target.is_symlink() or target.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from None
        os.rename(source, target)
        return
    os.unlink(source)


def _rename_by_system(source: Path, target: Path, on_linux: int, on_mac: int) -> bool:
    call = _renamer()
    if call is None:
        return False
    before, after = os.fsencode(source), os.fsencode(target)
    if sys.platform == "darwin":
        failed = call(before, after, on_mac)
    else:
        failed = call(_AT_FDCWD, before, _AT_FDCWD, after, on_linux)
    if not failed:
        return True
    number = ctypes.get_errno()
    if number in _UNABLE:
        return False
    raise OSError(number, os.strerror(number), str(target))


@cache
def _renamer() -> Any | None:
    name = {"linux": "renameat2", "darwin": "renamex_np"}.get(sys.platform)
    if name is None:
        return None
    try:
        rename = getattr(ctypes.CDLL(None, use_errno=True), name)
    except (OSError, AttributeError):
        return None
    if sys.platform == "darwin":
        rename.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint]
    else:
        rename.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    return rename
