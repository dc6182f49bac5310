"""Places no caller's path may lead into: an engine's state, a project's package, dot folders of a home.

Each is recognised by its contents, not only by its name: a folder is checked when the path reaches it, so a renamed
package, a second spelling or a folder mounted elsewhere is closed all the same.
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
"""Folders that contain home folders."""

Identity = tuple[int, int]
"""Identifies a file or folder however it is spelled: its device and inode."""


class PathNotAllowed(Forbidden):
    """A path that leads where this caller, or every caller, may not read or write."""

    def __init__(self, detail: str, path: str) -> None:
        super().__init__(detail, code="path_not_allowed", path=path)


class Steps:
    """Checks a path from the root of the disk, one folder after another."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._homes = _homes()
        self._in_home = False

    def enter(
        self, folder: Path, status: os.stat_result, holds: Callable[[str], os.stat_result | None]
    ) -> None:
        """Enter *folder*, whose name was checked; *holds* looks up a name in it without following links.

        Raises PathNotAllowed where it is closed.
        """
        if folder.name.casefold().endswith(PACKAGE_SUFFIX) or _is_package(holds):
            raise self._refusal("inside a project, which keeps its own files")
        if any(holds(name) is not None for name in STATE_FILES):
            raise self._refusal("inside an engine's state folder, which holds its secrets")
        self._in_home = (status.st_dev, status.st_ino) in self._homes or folder.parent in _HOMES

    def name(self, name: str) -> None:
        """Check the next *name* on the path, of a folder or the file itself. Raises PathNotAllowed for a home's dot
        entries.
        """
        if self._in_home and name.startswith("."):
            raise self._refusal(f"inside {name[:80]} of a home, where settings and keys are kept")

    def _refusal(self, where: str) -> PathNotAllowed:
        return PathNotAllowed(
            f"{self._path} lies {where}. Copy the file to another folder and name it there.",
            str(self._path),
        )


STATE_FILES: Final = ("owner-token", "engine.sqlite")
"""The files by which an engine's state folder is recognised."""


def _is_package(holds: Callable[[str], os.stat_result | None]) -> bool:
    """Return whether a folder is a project's package, or a copy made for snapshots."""
    if holds("library.json") is None:
        return False
    objects = holds("objects")
    return holds("library.sqlite") is not None or (objects is not None and stat.S_ISDIR(objects.st_mode))


def _homes() -> set[Identity]:
    """Return the homes of the user who runs the engine and of root."""
    places = {os.path.expanduser("~"), os.path.expanduser("~root")}
    try:
        import pwd

        places.add(pwd.getpwuid(os.getuid()).pw_dir)
    except (ImportError, KeyError):
        pass
    identities = set()
    for place in places:
        try:
            status = os.stat(place)
        except OSError:
            continue
        identities.add((status.st_dev, status.st_ino))
    return identities
