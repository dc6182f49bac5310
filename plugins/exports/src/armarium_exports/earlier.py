"""Folders that an export wrote before: which of their files are its own."""

from __future__ import annotations

import os
from pathlib import Path

import orjson

from armarium_exports.errors import already_there, not_ours
from armarium_exports.places import clashes

LARGEST = 64 * 1024 * 1024


def listed_before(place: Path, manifest: str, *, overwrite: bool) -> frozenset[str]:
    """The files that the manifest at *place* names as an export's own; none where nothing lies there.

    Refused where something lies there and *overwrite* is not said, or it is not a folder that such an export wrote.
    """
    if not os.path.lexists(place):
        return frozenset()
    if not overwrite:
        raise already_there(str(place))
    if not place.is_dir():
        raise not_ours(str(place), "it is no folder")
    if not any(place.iterdir()):
        return frozenset()
    try:
        file = place / manifest
        if file.stat().st_size > LARGEST:
            raise ValueError("too large")
        stated = orjson.loads(file.read_bytes())["files"]
        return frozenset(one for one in stated if isinstance(one, str))
    except (OSError, ValueError, KeyError, TypeError):
        raise not_ours(str(place), f"it holds no {manifest} of such an export") from None


def clash_refused(fresh: Path, place: Path, before: frozenset[str]) -> None:
    """Refuse to write over a file at *place* that no export wrote."""
    found = clashes(fresh, place, before)
    if found is not None:
        raise not_ours(found, "no export wrote it, and overwrite is only for files that one wrote")
