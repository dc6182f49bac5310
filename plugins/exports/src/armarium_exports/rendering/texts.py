"""Plain text and Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from armarium_exports.pages import Line, ReadablePage
from armarium_source_model.api import words_by_line

_MARKS = re.compile(r"([\\`*_{}\[\]<>|~$])")
_AT_START = re.compile(r"^(\s*\d*)([#>+=-]|(?<=\d)[.)](?=\s|$))")


def plain_text(pages: Sequence[ReadablePage]) -> str:
    """Return lines as they are, paragraphs separated by an empty line, pages by a form feed."""
    return "\f".join(plain_page(page) for page in pages)


def plain_page(page: ReadablePage, notes: list[str] | None = None) -> str:
    """Return the text of a page; with *notes*, lines have the numbers of their notes, whose words are added."""
    parts = []
    for block in page.blocks:
        if block.rows is not None:
            parts.append("\n".join("\t".join(one_line(cell) for cell in row) for row in block.rows))
        else:
            parts.append("\n".join(_with_notes(line, notes) for line in block.lines))
    return "\n\n".join(parts) + "\n"


def _with_notes(line: Line, notes: list[str] | None) -> str:
    if notes is None or not line.notes:
        return line.text
    first = len(notes) + 1
    notes += line.notes
    return line.text + "".join(f" [{number}]" for number in range(first, len(notes) + 1))


def markdown(title: str, pages: Sequence[ReadablePage]) -> str:
    """Return a heading for each page, lines with their breaks, tables as tables, notes as footnotes; all text
    is escaped.
    """
    parts = [f"# {escape_markdown(one_line(title))}"]
    notes: list[str] = []
    for page in pages:
        parts += markdown_page(page, page.title if len(pages) > 1 or page.title != title else None, 2, notes)
    if notes:
        parts.append("\n".join(notes))
    return "\n\n".join(parts) + "\n"


def markdown_page(page: ReadablePage, title: str | None, level: int, notes: list[str]) -> list[str]:
    """Return the paragraphs of a page; the words of its footnotes are added to *notes*."""
    parts = [] if title is None else [f"{'#' * level} {escape_markdown(one_line(title))}"]
    for block in page.blocks:
        if block.rows is not None:
            parts.append(_table(block.rows))
            continue
        lines = []
        for line in block.lines:
            text = escape_markdown(one_line(line.text))
            for note in line.notes:
                notes.append(f"[^{len(notes) + 1}]: {escape_markdown(one_line(note))}")
                text += f"[^{len(notes)}]"
            lines.append(text)
        words = "\\\n".join(lines)
        parts.append(f"**{words}**" if block.is_heading else words)
    if makers := words_by_line([line.maker for line in page.lines]):
        parts.append(f"*{escape_markdown(makers)}.*")
    return parts


def _table(rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(escape_markdown(one_line(cell)) for cell in row)} |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])


def escape_markdown(text: str) -> str:
    """Escape *text* so that Markdown does not interpret any of it."""
    return _AT_START.sub(r"\1\\\2", _MARKS.sub(r"\\\1", text).replace("&", "&amp;"))


def one_line(text: str) -> str:
    """Return *text* with single blanks between its words."""
    return " ".join(text.split())
