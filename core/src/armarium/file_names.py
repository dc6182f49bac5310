"""Names of files that every system accepts, made of names that people give."""

from __future__ import annotations

import re
from typing import Final

_UNFIT = re.compile(r'[/\\:*?"<>|\x00-\x1f]')
"""Characters that some file system does not allow in names."""

_DEVICES: Final = frozenset(
    {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(10))}
)
"""What Windows takes for a device, whatever its ending."""


def fitting_name(name: str) -> str:
    """Return *name* without the characters and device names that some system does not accept."""
    clean = _UNFIT.sub("_", name)
    return f"_{clean}" if clean.split(".")[0].strip().casefold() in _DEVICES else clean


def plain_name(title: str, longest: int = 80) -> str:
    """Return *title* as the first part of a file name on any system, at most *longest* bytes of UTF-8; "page" if nothing is
    left.
    """
    clean = _UNFIT.sub("_", title).strip(" .")
    return (
        fitting_name(clean.encode("utf-8", "replace")[:longest].decode("utf-8", "ignore").strip(" ."))
        or "page"
    )
