"""Pictures derived from other pictures: their files in the object store, and a note of what each was made
from.

The key of a note (the source's digest and what was done to it) determines the content. The notes are in the
package's `derived` folder and safe to delete: the picture is then made again.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import orjson

from armarium.api import Library, replacing


class Piece(NamedTuple):
    """A derived picture in the object store. Width and height in pixels."""

    checksum: str
    size_bytes: int
    mime_type: str
    width: int
    height: int


def find_remembered(library: Library, description: str) -> Piece | None:
    """Return the picture noted under this key, if its file still exists."""
    try:
        piece = Piece(*orjson.loads(_note(library, description).read_bytes()))
    except (OSError, TypeError, ValueError):
        return None
    return piece if library.objects.has(piece.checksum) else None


def remember(library: Library, description: str, piece: Piece) -> None:
    """Note *piece* under this key. If the note cannot be written, the picture is made again next time."""
    with suppress(OSError), replacing(_note(library, description)) as beside:
        beside.write_bytes(orjson.dumps(list(piece)))


def _note(library: Library, description: str) -> Path:
    key = hashlib.sha256(description.encode()).hexdigest()
    return library.derived_folder / "cuts" / key[:2] / f"{key}.json"
