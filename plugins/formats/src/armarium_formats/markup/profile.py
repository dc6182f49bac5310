"""An XML format as a table: which elements and attributes may occur where, and their values.

One line per element: its children in order (`?` optional, `*` any number, `+` at least one, `(A|B)*` any
mixture, `(A,B?)+` a repeated sequence, `=type` text of that type, `ANY` any element), then its attributes
after `@` as name:type, `!` marking required ones. An indented line continues the row above.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Element:
    """One element of a format: its content in order and its attributes with their types."""

    name: str
    content: tuple[str, ...]
    attributes: dict[str, str] = field(default_factory=dict)
    required: frozenset[str] = frozenset()


def read_elements(table: str, macros: Mapping[str, str]) -> dict[str, Element]:
    """Return every element of a table by name; `macros` are words in it that stand for several."""
    found: dict[str, Element] = {}
    for line in unfold(table):
        left, _, right = line.partition("@")
        name, *content = _expand(left, macros)
        pairs = [pair.rsplit(":", 1) for pair in _expand(right, macros)]
        found[name] = Element(
            name,
            tuple(content),
            {key: kind.rstrip("!") for key, kind in pairs},
            frozenset(key for key, kind in pairs if kind.endswith("!")),
        )
    return found


def read_words(table: str) -> dict[str, frozenset[str]]:
    """Return the types that are lists of words: one line per type, `name: word word …`."""
    return {line.split(":", 1)[0]: frozenset(line.split(":", 1)[1].split()) for line in unfold(table)}


def unfold(table: str) -> list[str]:
    """Return the rows of a table; an indented line continues the row above."""
    return table.replace("\n  ", " ").strip().splitlines()


def _expand(text: str, macros: Mapping[str, str]) -> list[str]:
    """Return the tokens of a row with its macros expanded."""
    found: list[str] = []
    for token in text.split():
        found += _expand(macros[token], macros) if token in macros else [token]
    return found
