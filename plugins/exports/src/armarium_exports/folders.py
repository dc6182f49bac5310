"""Which folders an export may be kept in."""

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
"""Folders within those of the system that contain users' files."""


class KeptFolder(MaterialPath):
    """A folder to keep an export in. It is refused, with a reason, if it is in a project or belongs to the system."""

    def check(self, rules: Any, principal: Principal) -> Path:
        """Like `MaterialPath`; Invalid (422) for a folder of a project or of the operating system."""
        try:
            real = super().check(rules, principal)
        except PathNotAllowed as refusal:
            # Someone who is granted single folders learns nothing about other places.
            if principal.role == "owner":
                self._refuse(Path(os.path.realpath(self)), "inside a project" in refusal.detail)
            raise
        self._refuse(real, False)
        return real

    def _refuse(self, real: Path, in_project: bool) -> None:
        if belongs_to_system(real):
            raise system_folder(self)
        if in_project or any(path.name.casefold().endswith(".library") for path in (real, *real.parents)):
            raise inside_project(self)


def belongs_to_system(place: PurePath) -> bool:
    """Return whether *place* is the root of a disk, or in a folder of the operating system."""
    if place.parent == place:
        return True
    if any(place.is_relative_to(own) for own in _OWN_IN_SYSTEM):
        return False
    return any(place.is_relative_to(folder) for folder in _SYSTEM)
