"""The configuration of the training, `base.toml`, where things are, and the card that the steps after it fill."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from armarium_reader_hand import CARD

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[2]
PACKAGE = HERE.parent / "src" / "armarium_reader_hand"


def settings(path: Path = HERE / "base.toml") -> dict[str, Any]:
    """Read the configuration at *path*."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def corpora() -> list[Path]:
    """The folders of the corpora, next to the checkout."""
    return [REPOSITORY / folder for folder in settings()["corpus"]["lines"]]


def write_card(card: dict[str, Any]) -> None:
    """Write the card of the model in the package."""
    text = json.dumps(card, ensure_ascii=False, indent=1) + "\n"
    (PACKAGE / CARD).write_text(text, encoding="utf-8")
