"""The card of the shipped model, readable without the libraries that reading needs."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from armarium_reader_hand import CARD


def shipped_card() -> dict[str, Any]:
    """Return the card of the model in this package."""
    card: dict[str, Any] = json.loads(
        files("armarium_reader_hand").joinpath(CARD).read_text(encoding="utf-8")
    )
    return card
