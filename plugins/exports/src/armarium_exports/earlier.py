"""Folders that an export wrote before: which of their files belong to it."""

from __future__ import annotations

import os
from pathlib import Path

import orjson

from armarium_exports.errors import already_there, not_ours
from armarium_exports.places import clashes

LARGEST = 64 * 1024 * 1024


def listed_before(place: Path, manifest: str, *, overwrite: bool) -> frozenset[str]:
    """Return the files that the manifest at *place* names as an export's own; none if nothing is there.

    Refused if something is there without *overwrite*, or if it is not a folder that such an export wrote.
    """
    if not os.path.lexists(place):
        return frozenset()
    if not overwrite:
        raise already_there(str(place))
    if not place.is_dir():
        raise not_ours(str(place), "it is not a folder")
    if not any(place.iterdir()):
        return frozenset()
    try:
        file = place / manifest
        if file.stat().st_size > LARGEST:
            raise ValueError("too large")
        stated = orjson.loads(file.read_bytes())["files"]
        return frozenset(one for one in stated if isinstance(one, str))
    except (OSError, ValueError, KeyError, TypeError):
        raise not_ours(str(place), f"it contains no {manifest} of such an export") from None


def clash_refused(fresh: Path, place: Path, before: frozenset[str]) -> None:
    """Refuse to overwrite a file at *place* that no export wrote."""
    found = clashes(fresh, place, before)
    if found is not None:
        raise not_ours(found, "no export wrote it, and overwrite applies only to files of exports")
