"""Folders that an export is kept in: where they may lie."""

from __future__ import annotations

import os
from pathlib import Path, PurePath
from typing import Any

from armarium.api import MaterialPath, PathNotAllowed, Principal
from armarium_exports.errors import inside_project, system_folder

_SYSTEM = (
    *("/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr"),
    *("/var", "/System", "/Library", "/Applications", "/private/etc", "/private/var", "C:/Windows"),
    *("C:/Program Files", "C:/Program Files (x86)", "C:/ProgramData"),
)
_OWN_IN_SYSTEM = ("/var/folders", "/var/tmp", "/private/var/folders", "/private/var/tmp", "/usr/local/share")
"""Folders in those of the system that hold what people make."""


class KeptFolder(MaterialPath):
    """A folder to keep an export in. It is refused in words where it lies in a project or belongs to the system."""

    def check(self, rules: Any, principal: Principal) -> Path:
        """As of `MaterialPath`; Invalid (422) for a folder of a project or of the operating system."""
        if principal.role != "owner":
            # Whom folders are granted one by one is told nothing of what lies elsewhere.
            return super().check(rules, principal)
        real = Path(os.path.realpath(self))
        if belongs_to_system(real):
            raise system_folder(self)
        if any(one.name.casefold().endswith(".library") for one in (real, *real.parents)):
            raise inside_project(self)
        try:
            return super().check(rules, principal)
        except PathNotAllowed as refusal:
            if "inside a project" in refusal.detail:
                raise inside_project(self) from None
            raise


def belongs_to_system(place: PurePath) -> bool:
    """Whether *place* is the root of a disk, or lies in a folder of the operating system."""
    if place.parent == place:
        return True
    if any(place.is_relative_to(own) for own in _OWN_IN_SYSTEM):
        return False
    return any(place.is_relative_to(folder) for folder in _SYSTEM)
