"""Where the vectors of a project lie: a folder in its `derived`, made whole under another name and then put in place.

`matrix.npy` has a row for each passage (float32, of length 1), `pages.json` says which page each row is of and which text
of it, `about.json` who made them. The folder may be deleted at any time: likeness is not searched then.
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
    """The folder of the vectors in use."""
    return library.derived_folder / "search" / "vectors"


def making_of(library: Library, job_id: str) -> Path:
    """The folder in which a job makes new ones."""
    return library.derived_folder / "search" / f"making-{job_id}"


@dataclass
class KeptVectors:
    """The vectors of a project as they lie there."""

    folder: Path
    made: str
    """Which making of them it is."""
    embedder: str
    unrelated: float
    """The cosine that one in a hundred unrelated passages reaches: what counts as a likeness of 0.55."""
    matrix: Vectors
    documents: list[str]
    fingerprints: list[str]
    page_of_row: np.ndarray[Any, np.dtype[np.int64]]
    source: dict[str, Any] | None = None
    """The provider and model that gave them; None where they were learned from the project."""

    def likeness(self, cosines: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Cosines as likeness from 0 to 1, the same for every embedder: 0.55 is more than chance gives."""
        import numpy as np

        low = 0.55 * cosines / max(self.unrelated, 1e-6)
        high = 0.55 + 0.45 * (cosines - self.unrelated) / max(1 - self.unrelated, 1e-6)
        return np.clip(np.where(cosines <= self.unrelated, low, high), 0, 1)


def read(library: Library) -> KeptVectors | None:
    """The vectors of a project, None where there are none; read once, and again when they were made anew."""
    import numpy as np

    folder = folder_of(library)
    try:
        written = (folder / "about.json").read_bytes()
        about = orjson.loads(written)
        held: KeptVectors | None = library.held.get(_HELD)
        if held is not None and held.made == about["made"]:
            return held
        pages = orjson.loads((folder / "pages.json").read_bytes())
        matrix = np.load(folder / "matrix.npy", mmap_mode="r")
        rows = np.repeat(np.arange(len(pages["rows"])), pages["rows"])
        if len(rows) != len(matrix):
            return None
        kept = KeptVectors(
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
    library.held[_HELD] = kept
    return kept


def put_in_place(library: Library, making: Path) -> None:
    """Let the vectors that were made in *making* be those in use."""
    folder = folder_of(library)
    before = folder.with_name(f"{making.name}-before")
    if folder.exists():
        folder.rename(before)
    making.rename(folder)
    library.held.pop(_HELD, None)
    shutil.rmtree(before, ignore_errors=True)
