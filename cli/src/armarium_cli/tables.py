"""Tables for a terminal: drawn here, because importing the usual library takes longer than an engine takes to answer."""

from __future__ import annotations

import os
import shutil
import sys
import unicodedata
from collections.abc import Iterator, Sequence

WITHOUT_TERMINAL = 140
"""Width of a table that goes into a file or a pipe, in columns."""

WHOLE = ("id", "#", "when (UTC)")
"""Columns that are never folded: their contents are copied, or read at a glance."""

NARROWEST = 6
"""Width below which a column is not narrowed."""


def draw_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Return the lines of a table no wider than the terminal; wide cells are folded, ids and times never are."""
    cells = [[str(cell).expandtabs().split("\n") for cell in row] for row in rows]
    widths = [
        max([_width(name), *(_width(line) for row in cells for line in row[place])])
        for place, name in enumerate(columns)
    ]
    _squeeze(widths, [name in WHOLE for name in columns], _room())
    if title:
        yield title
    if any(columns):
        bold, plain = ("\x1b[1m", "\x1b[0m") if _has_colour() else ("", "")
        heads = [
            f"{bold}{_pad_text(name, width)}{plain}" for name, width in zip(columns, widths, strict=True)
        ]
        yield "┏" + "┳".join("━" * (width + 2) for width in widths) + "┓"
        yield "┃ " + " ┃ ".join(heads) + " ┃"
        yield "┡" + "╇".join("━" * (width + 2) for width in widths) + "┩"
    else:
        yield "┌" + "┬".join("─" * (width + 2) for width in widths) + "┐"
    for row in cells:
        folded = [
            [part for line in lines for part in _fold_line(line, width)]
            for lines, width in zip(row, widths, strict=True)
        ]
        for number in range(max(map(len, folded))):
            parts = [
                _pad_text(lines[number] if number < len(lines) else "", width)
                for lines, width in zip(folded, widths, strict=True)
            ]
            yield "│ " + " │ ".join(parts) + " │"
    yield "└" + "┴".join("─" * (width + 2) for width in widths) + "┘"


def _room() -> int:
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else WITHOUT_TERMINAL


def _has_colour() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def _squeeze(widths: list[int], fixed: list[bool], room: int) -> None:
    """Narrow the widest columns, one by one, by what is too much; not those that are *fixed*."""
    excess = sum(widths) + 3 * len(widths) + 1 - room
    while excess > 0:
        widest = max(
            (place for place, width in enumerate(widths) if not fixed[place] and width > NARROWEST),
            key=lambda place: widths[place],
            default=None,
        )
        if widest is None:
            return
        widths[widest] -= 1
        excess -= 1


def _fold_line(line: str, width: int) -> list[str]:
    """Return *line* in pieces no wider than *width*, broken at spaces where possible."""
    parts: list[str] = []
    while _width(line) > width:
        end = _count_fitting(line, width)
        space = line.rfind(" ", 1, end + 1)
        cut = space if space > 0 else end
        parts.append(line[:cut].rstrip())
        line = line[cut:].lstrip()
    return [*parts, line]


def _count_fitting(line: str, width: int) -> int:
    """Return how many letters of *line* fit, at least one."""
    used = 0
    for number, letter in enumerate(line):
        used += _width(letter)
        if used > width:
            return max(number, 1)
    return len(line)


def _pad_text(text: str, width: int) -> str:
    return text + " " * (width - _width(text))


def _width(text: str) -> int:
    """Return the columns that *text* takes: none for a combining mark, two for a wide letter."""
    if text.isascii():
        return len(text)
    return sum(
        0
        if unicodedata.category(letter) in ("Mn", "Me", "Cf")
        else 2
        if unicodedata.east_asian_width(letter) in "WF"
        else 1
        for letter in text
    )
