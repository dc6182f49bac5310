"""Places no caller's path leads into: an engine's state, a project's package, dot folders of a home.

Each is known by what it is, not only by its name: a folder is judged when the way has come to it, by what it holds, so
a renamed package, a second spelling or a folder mounted elsewhere is closed all the same.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Final

from armarium.errors import Forbidden

PACKAGE_SUFFIX: Final = ".library"

_HOMES: Final = (Path("/home"), Path("/Users"))
"""Folders whose folders are people's homes."""

Identity = tuple[int, int]
"""What tells a file or folder from every other, however it is spelled: its device and its number there."""


class PathNotAllowed(Forbidden):
    """A path that leads where this caller, or every caller, may not read or write."""

    def __init__(self, detail: str, path: str) -> None:
        super().__init__(detail, code="path_not_allowed", path=path)


class Steps:
    """Judges a way from the root of the disk, one folder after another."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._homes = _homes()
        self._in_home = False

    def enter(
        self, folder: Path, status: os.stat_result, holds: Callable[[str], os.stat_result | None]
    ) -> None:
        """Go into *folder*, whose name was taken; *holds* looks at a name in it without following links.

        PathNotAllowed where it is closed.
        """
        if folder.name.casefold().endswith(PACKAGE_SUFFIX) or _is_package(holds):
            raise self._refusal("inside a project, which keeps its own files")
        if any(holds(name) is not None for name in STATE_FILES):
            raise self._refusal("inside an engine's state folder, which holds its secrets")
        self._in_home = (status.st_dev, status.st_ino) in self._homes or folder.parent in _HOMES

    def name(self, name: str) -> None:
        """Take the next *name* on the way, of a folder or the file itself. PathNotAllowed for a home's dot entries."""
        if self._in_home and name.startswith("."):
            raise self._refusal(f"inside {name[:80]} of a home, where settings and keys are kept")

    def _refusal(self, where: str) -> PathNotAllowed:
        return PathNotAllowed(
            f"{self._path} lies {where}. Copy what is meant to another folder and name it there.",
            str(self._path),
        )


STATE_FILES: Final = ("owner-token", "engine.sqlite")
"""What tells an engine's state folder from any other."""


def _is_package(holds: Callable[[str], os.stat_result | None]) -> bool:
    """Whether a folder is a project's package, or the copy of one that snapshots are taken to."""
    if holds("library.json") is None:
        return False
    objects = holds("objects")
    return holds("library.sqlite") is not None or (objects is not None and stat.S_ISDIR(objects.st_mode))


def _homes() -> set[Identity]:
    """The homes of who runs the engine and of the system's owner."""
    places = {os.path.expanduser("~"), os.path.expanduser("~root")}
    try:
        import pwd

        places.add(pwd.getpwuid(os.getuid()).pw_dir)
    except (ImportError, KeyError):
        pass
    found = set()
    for place in places:
        try:
            status = os.stat(place)
        except OSError:
            continue
        found.add((status.st_dev, status.st_ino))
    return found
