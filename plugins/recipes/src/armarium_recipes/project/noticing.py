"""Edits of files in the folder `recipe` while the project is open: noticed the next time the recipe is used."""

from __future__ import annotations

import os
import time

from armarium.api import Engine, Library, asking
from armarium_recipes.project import files
from armarium_recipes.project.yaml_text import Unreadable

STILL = 0.2
"""For how many seconds a file must be unchanged before it is read: an editor may be writing it."""
MOST_LOOKS = 20

_SEEN, _LOCK = "recipes.files.seen", "recipes.files.noticing"

Seen = tuple[tuple[int, int, int] | None, ...]
"""The size and inode of each editable file when it was written; None if there is none."""


def notice(engine: Engine, library: Library) -> None:
    """Take in edits made by hand since the last look, or refuse them, as when the project is opened. Called
    before a read or a write begins, never within one. If nothing changed it costs looking at three file
    names.
    """
    stats = _look(library)
    if library.held.get(_SEEN) == stats:
        return
    with files.lock_of(library, _LOCK):
        stats = _look(library)
        if library.held.get(_SEEN) == stats:
            return
        if _is_edited(library):
            stats = _still(library)
            # As the engine, whoever asks: nobody knows who edited the file.
            with asking(None):
                files.settle(engine, library)
        library.held[_SEEN] = stats


def before_action(engine: Engine, library: Library | None, _: object) -> None:
    """Like `notice`, for use before an action."""
    if library is not None:
        notice(engine, library)


def _look(library: Library) -> Seen:
    seen: list[tuple[int, int, int] | None] = []
    for name in files.EDITABLE:
        try:
            stat = os.lstat(library.recipe / name)
        except OSError:
            seen.append(None)
        else:
            seen.append((stat.st_mtime_ns, stat.st_size, stat.st_ino))
    return tuple(seen)


def _is_edited(library: Library) -> bool:
    """Return whether a file differs from the one on which the project last agreed."""
    with library.db.read_all() as conn:
        noted = files.noted_files(conn)
    for name in files.EDITABLE:
        agreed = noted[name].digest if name in noted else None
        try:
            if files.digest_of(files.read_file(library, name)) != agreed:
                return True
        except Unreadable:
            return True
    return False


def _still(library: Library) -> Seen:
    """Return the state of the files once nobody has written them for a moment."""
    for _ in range(MOST_LOOKS):
        stats = _look(library)
        age = time.time() - max((stat[0] for stat in stats if stat is not None), default=0) / 1e9
        if not 0 <= age < STILL:
            break
        time.sleep(STILL - age)
    return stats
