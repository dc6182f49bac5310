"""A runtime on disk: its interpreter, its size, and the marker of a complete installation."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

MARKER = "armarium-runtime.json"


def read_marker(place: Path) -> dict[str, Any] | None:
    """Return the marker of a complete installation in *place*, else None."""
    try:
        marker = json.loads((place / MARKER).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return marker if isinstance(marker, dict) and interpreter(place).exists() else None


def interpreter(place: Path) -> Path:
    """Return the Python interpreter of an environment."""
    return place / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def tree_size(place: Path) -> int:
    """Return the bytes of all files below a folder; links are not followed."""
    return sum(path.lstat().st_size for path in place.rglob("*") if not path.is_dir() or path.is_symlink())
