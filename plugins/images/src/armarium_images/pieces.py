"""Pictures made of other pictures: their bytes in the object store, and a note of what was made from what.

What a picture holds follows from the words it is remembered by (its source's digest and what was done to it). The note
lies in the package's `derived` folder, safe to delete: then the picture is made once more.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import orjson

from armarium.api import Library


class Piece(NamedTuple):
    """The bytes of one made picture in the object store. Width and height in pixels."""

    checksum: str
    size_bytes: int
    mime_type: str
    width: int
    height: int


def find_remembered(library: Library, told: str) -> Piece | None:
    """The picture remembered by these words, where it was made and its bytes are still there."""
    try:
        piece = Piece(*orjson.loads(_note(library, told).read_bytes()))
    except (OSError, TypeError, ValueError):
        return None
    return piece if library.objects.has(piece.checksum) else None


def remember(library: Library, told: str, piece: Piece) -> None:
    """Note that *piece* is what these words tell. Where the disk takes no note the picture is made once more."""
    target = _note(library, told)
    temporary: Path | None = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=target.parent)
        temporary = Path(name)
        with os.fdopen(descriptor, "wb") as file:
            file.write(orjson.dumps(list(piece)))
        os.replace(temporary, target)
    except OSError:
        if temporary is not None:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


def _note(library: Library, told: str) -> Path:
    key = hashlib.sha256(told.encode()).hexdigest()
    return library.derived_folder / "cuts" / key[:2] / f"{key}.json"
