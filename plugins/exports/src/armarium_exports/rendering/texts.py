"""Plain text and Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from armarium_exports.pages import ReadablePage
from armarium_source_model.api import words_by_line

_MARKS = re.compile(r"([\\`*_{}\[\]<>|~$])")
_AT_START = re.compile(r"^(\s*\d*)([#>+=-]|(?<=\d)[.)](?=\s|$))")


def plain_text(pages: Sequence[ReadablePage]) -> str:
    """Return lines as they are, paragraphs separated by an empty line, pages by a form feed."""
    return "\f".join(_plain(page) for page in pages)


def _plain(page: ReadablePage) -> str:
    parts = []
    for block in page.blocks:
        if block.rows is not None:
            parts.append("\n".join("\t".join(_one_line(cell) for cell in row) for row in block.rows))
        else:
            parts.append("\n".join(line.text for line in block.lines))
    return "\n\n".join(parts) + "\n"


def markdown(title: str, pages: Sequence[ReadablePage]) -> str:
    """Return a heading for each page, lines with their breaks, tables as tables, notes as footnotes; all text
    is escaped.
    """
    parts = [f"# {escape_markdown(_one_line(title))}"]
    notes: list[str] = []
    for page in pages:
        if len(pages) > 1 or page.title != title:
            parts.append(f"## {escape_markdown(_one_line(page.title))}")
        for block in page.blocks:
            if block.rows is not None:
                parts.append(_table(block.rows))
                continue
            lines = []
            for line in block.lines:
                text = escape_markdown(_one_line(line.text))
                for note in line.notes:
                    notes.append(f"[^{len(notes) + 1}]: {escape_markdown(_one_line(note))}")
                    text += f"[^{len(notes)}]"
                lines.append(text)
            words = "\\\n".join(lines)
            parts.append(f"**{words}**" if block.is_heading else words)
        if made := words_by_line([line.maker for line in page.lines]):
            parts.append(f"*{escape_markdown(made)}.*")
    if notes:
        parts.append("\n".join(notes))
    return "\n\n".join(parts) + "\n"


def _table(rows: Sequence[Sequence[str]]) -> str:
    shown = [f"| {' | '.join(escape_markdown(_one_line(cell)) for cell in row)} |" for row in rows]
    return "\n".join([shown[0], "|" + " --- |" * len(rows[0]), *shown[1:]])


def escape_markdown(text: str) -> str:
    """Escape *text* so that Markdown does not interpret any of it."""
    return _AT_START.sub(r"\1\\\2", _MARKS.sub(r"\\\1", text).replace("&", "&amp;"))


def _one_line(text: str) -> str:
    return " ".join(text.split())
