"""The files recipe/bakeoffs/<id>.yaml: each bake-off as it is answered, for people; the rows are authoritative."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from armarium.api import Library, replacing

log = logging.getLogger("armarium.recipes")
LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-")


def file_of(library: Library, bakeoff_id: str) -> Path:
    """Return the path of a bake-off's file. ValueError for a malformed id (letters, digits, hyphens, at most 64)."""
    if not 0 < len(bakeoff_id) <= 64 or not LETTERS.issuperset(bakeoff_id):
        raise ValueError("not an id of a bake-off")
    return library.recipe / "bakeoffs" / f"{bakeoff_id}.yaml"


def write_file(library: Library, bakeoff: Mapping[str, Any]) -> None:
    """Write the file of a bake-off, whole or not at all. A disk error is only logged, since the rows are
    authoritative.
    """
    import yaml

    path = file_of(library, str(bakeoff["id"]))
    text = yaml.safe_dump(dict(bakeoff), sort_keys=False, allow_unicode=True, width=120)
    try:
        with replacing(path) as beside:
            beside.write_text(text, "utf-8")
    except OSError:
        log.exception("the file of the bake-off %s could not be written", bakeoff["id"])
