"""Reads the lines of a training: their pictures, the instructions, and the answers."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Line:
    """A line to train on: its picture as an encoded image, the instruction, the whole answer, and the text in it."""

    picture: bytes
    prompt: str
    answer: str
    text: str
    for_validation: bool

    def image(self) -> Any:
        """Return the picture, decoded."""
        from PIL import Image

        return Image.open(io.BytesIO(self.picture)).convert("RGB")


def read_lines(folder: Path) -> list[Line]:
    """Return the lines in *folder*: `lines.json` says how many bytes of `pictures.bin` each one's picture
    takes, in order.
    """
    entries = json.loads((folder / "lines.json").read_text("utf-8"))["lines"]
    return list(_lines(entries, (folder / "pictures.bin").read_bytes()))


def _lines(entries: list[dict[str, Any]], pictures: bytes) -> Iterator[Line]:
    at = 0
    for entry in entries:
        picture = pictures[at : at + entry["bytes"]]
        at += entry["bytes"]
        yield Line(picture, entry["prompt"], entry["answer"], entry["text"], bool(entry["for_validation"]))


def transcription_in(answer: str) -> str:
    """Return the transcription in a model's *answer*, on one line: what follows its thinking, or is given
    with its reasons.
    """
    text = answer.rpartition("</think>")[2].strip()
    if text.startswith("{"):
        try:
            fields = json.loads(text)
        except ValueError:
            fields = None
        if isinstance(fields, dict) and isinstance(fields.get("transcription"), str):
            text = fields["transcription"]
    return " ".join(text.split())
