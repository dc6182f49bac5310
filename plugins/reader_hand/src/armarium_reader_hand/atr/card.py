"""The card of a recogniser: how it wants its pictures and what it reads. A card names no files."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from armarium_worker import Refused

LARGEST = 64 << 10
"""Bytes of a card."""
CHOICES = {
    "colour": ("rgb", "bgr"),
    "blank": ("first", "last"),
    "order": ("logical", "visual"),
}
TAGS = {
    "languages": r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*",
    "scripts": r"[A-Z][a-z]{3}",
    "writing": "hand|print",
}


@dataclass(frozen=True)
class Card:
    """What is known of a recogniser; every field may be left out.

    Pictures are scaled to *height* pixels (where the graph does not say it itself), and each channel becomes
    (value / 255 - *mean*) / *std*. *blank* says which class is CTC's, *order* whether letters come in the order in which they are
    read or from left to right.
    """

    title: str = ""
    licence: str = ""
    authors: str = ""
    page: str = ""
    languages: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    writing: tuple[str, ...] = ("hand", "print")
    height: int = 48
    mean: float = 0.5
    std: float = 0.5
    colour: str = "rgb"
    blank: str = "first"
    order: str = "logical"

    def as_json(self) -> str:
        """Return it as JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)


def read_card(data: bytes | str) -> Card:
    """Return the card in a JSON text; Refused with the field that is wrong."""
    try:
        values = json.loads(data) if len(data) <= LARGEST else None
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise Refused(f"The card is not a JSON object of at most {LARGEST >> 10} KiB.")
    unknown = sorted(set(values) - set(Card.__dataclass_fields__))
    if unknown:
        fields = ", ".join(Card.__dataclass_fields__)
        raise Refused(
            f"The card has an unknown field {unknown[0][:60]!r}; a card names no files or paths. Its fields may be: {fields}."
        )
    return Card(**{name: _value(name, value) for name, value in values.items()})


def _value(name: str, value: Any) -> Any:
    if name in CHOICES:
        return _check(name, value, value in CHOICES[name], " or ".join(CHOICES[name]))
    if name in TAGS:
        is_list = isinstance(value, list) and len(value) <= 500
        holds = is_list and all(isinstance(tag, str) and re.fullmatch(TAGS[name], tag) for tag in value)
        return tuple(_check(name, value, holds, "a list of tags"))
    if name == "height":
        return _check(name, value, type(value) is int and 8 <= value <= 512, "a whole number from 8 to 512")
    if name in ("mean", "std"):
        is_number = type(value) in (int, float) and abs(value) <= 256
        return float(_check(name, value, is_number and (name == "mean" or value > 0), "a number"))
    is_text = isinstance(value, str) and len(value) <= 500 and value.isprintable()
    if name == "page":
        is_text = is_text and (not value or re.fullmatch(r"https?://[^\s]+", value) is not None)
        return _check(name, value, is_text, "a web address")
    return _check(name, value, is_text, "a line of text")


def _check(name: str, value: Any, holds: bool, expected: str) -> Any:
    if not holds:
        raise Refused(f"The card's field {name} is {str(value)[:60]!r}; expected: {expected}.")
    return value


def letters_of(text: str) -> list[str]:
    """Return the letters of a dict.txt, one a line; a space is a line of one space."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    letters = lines[:-1] if lines[-1] == "" else lines
    for number, letter in enumerate(letters, 1):
        if not letter or len(letter) > 16 or any(ord(sign) < 32 for sign in letter):
            raise Refused(
                f"Line {number} of the alphabet (dict.txt) is not a letter: {letter[:20]!r}. Write one letter per line."
            )
    return letters


def fit_letters(letters: list[str], classes: int) -> list[str]:
    """Return the letters of *classes* classes beside the blank; PaddleOCR's networks have a space after those of dict.txt."""
    if classes == len(letters) + 2 and " " not in letters:
        return [*letters, " "]
    if classes != len(letters) + 1:
        raise Refused(
            f"The alphabet (dict.txt) has {len(letters)} letters and the network answers with {classes} classes, so they do not "
            f"belong together: it needs {classes - 1} letters, or {classes - 2} and a space."
        )
    return letters


def summary_of(card: Card) -> Mapping[str, Any]:
    """Return what the engine notes beside a model."""
    fields = asdict(card)
    return {
        name: fields[name]
        for name in ("title", "licence", "authors", "page", "languages", "scripts", "writing")
    }
