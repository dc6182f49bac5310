"""The folder of a training in progress: lines, pictures, checkpoint, and at the end model and card."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from armarium.api import Library

LINES, PICTURES, CARD = "lines.json", "pictures.bin", "card.json"
MODEL, MERGED = "model", "merged"
"""Folders of a vision model: as it is taken in, and as it was trained."""


def staging(library: Library, job_id: str) -> Path:
    """Return the folder of the training *job_id*, in the project's own derived files: pages never leave the project."""
    return library.derived_folder / "training" / job_id


def staged_card(folder: Path) -> dict[str, Any] | None:
    """Return the card of a finished training; it is written last."""
    try:
        card = json.loads((folder / CARD).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return card if isinstance(card, dict) else None


def staged_model(folder: Path) -> Path | None:
    """Return the finished model's file; for a model that is a folder, its config.json."""
    whole = folder / MODEL / "config.json"
    if whole.is_file():
        return whole
    paths = sorted(folder.glob("model.*"))
    return next((path for path in paths if path.suffix != ".part"), None)
