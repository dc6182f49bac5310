"""Where the vectors of a project are stored: a folder in its `derived`, written under another name and then
put in place.

`matrix.npy` has a row for each passage (float32, of length 1), `pages.json` says which page each row belongs
to and which text of it, `about.json` who computed them. The folder may be deleted at any time: then
similarity is not searched.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from armarium.api import Library

if TYPE_CHECKING:
    import numpy as np

    from armarium_search.vectors.embedders import Vectors


_HELD = "search.vectors"


def folder_of(library: Library) -> Path:
    """Return the folder of the vectors in use."""
    return library.derived_folder / "search" / "vectors"


def making_of(library: Library, job_id: str) -> Path:
    """Return the folder in which a job prepares new ones."""
    return library.derived_folder / "search" / f"making-{job_id}"


@dataclass
class KeptVectors:
    """The vectors of a project as stored."""

    folder: Path
    made: str
    """Identifies the run that computed them."""
    embedder: str
    unrelated: float
    """The cosine that one in a hundred unrelated passages reaches: it is mapped to a similarity of 0.55."""
    matrix: Vectors
    documents: list[str]
    fingerprints: list[str]
    page_of_row: np.ndarray[Any, np.dtype[np.int64]]
    source: dict[str, Any] | None = None
    """The provider and model that computed them; None if they were learned from the project."""

    def likeness(self, cosines: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Map cosines to a similarity from 0 to 1, comparable between embedders: 0.55 is more than chance gives."""
        import numpy as np

        low = 0.55 * cosines / max(self.unrelated, 1e-6)
        high = 0.55 + 0.45 * (cosines - self.unrelated) / max(1 - self.unrelated, 1e-6)
        return np.clip(np.where(cosines <= self.unrelated, low, high), 0, 1)


def read(library: Library) -> KeptVectors | None:
    """Return the vectors of a project, None if there are none; cached until they are computed again."""
    import numpy as np

    folder = folder_of(library)
    try:
        about_bytes = (folder / "about.json").read_bytes()
        about = orjson.loads(about_bytes)
        kept: KeptVectors | None = library.held.get(_HELD)
        if kept is not None and kept.made == about["made"]:
            return kept
        pages = orjson.loads((folder / "pages.json").read_bytes())
        matrix = np.load(folder / "matrix.npy", mmap_mode="r")
        rows = np.repeat(np.arange(len(pages["rows"])), pages["rows"])
        if len(rows) != len(matrix):
            return None
        vectors = KeptVectors(
            folder,
            about["made"],
            about["embedder"],
            about["unrelated"],
            matrix,
            pages["documents"],
            pages["fingerprints"],
            rows,
            about.get("source"),
        )
    except (OSError, ValueError, KeyError):
        return None
    library.held[_HELD] = vectors
    return vectors


def put_in_place(library: Library, making: Path) -> None:
    """Put the vectors prepared in *making* into use."""
    folder = folder_of(library)
    before = folder.with_name(f"{making.name}-before")
    if folder.exists():
        folder.rename(before)
    making.rename(folder)
    library.held.pop(_HELD, None)
    shutil.rmtree(before, ignore_errors=True)
