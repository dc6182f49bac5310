"""Blanks of XML and HTML: a run of them is one, and marks of characters move with that."""

from __future__ import annotations

from collections.abc import Iterable

from armarium_formats.page_model import TextMark


def collapse_blanks(raw: str) -> tuple[str, list[int]]:
    """Collapse the spaces of a text; also return the new position of each position of *raw*."""
    out: list[str] = []
    places = []
    for char in raw:
        if char in " \t\r\n":
            places.append(len(out) if not out or out[-1] != " " else len(out) - 1)
            if out and out[-1] != " ":
                out.append(" ")
        else:
            places.append(len(out))
            out.append(char)
    text = "".join(out).rstrip(" ")
    places.append(len(out))
    return text, [min(place, len(text)) for place in places]


def styles_on(raw: str, text: str, runs: Iterable[tuple[int, int, str]]) -> list[TextMark]:
    """Return the styles of stretches of *raw*, whose blanks were collapsed to *text*; of stretches that touch one."""
    collapsed, places = collapse_blanks(raw)
    if collapsed != text:
        return []
    marks: list[TextMark] = []
    for first, last, rend in runs:
        inside = raw[first:last]
        start, end = places[first + len(inside) - len(inside.lstrip())], places[first + len(inside.rstrip())]
        before = marks[-1] if marks else None
        if (
            start < end
            and before is not None
            and before.stated["rend"] == rend
            and before.end is not None
            and not text[before.end : start].strip()
        ):
            marks[-1] = TextMark("style", before.start, end, before.stated)
        elif start < end:
            marks.append(TextMark("style", start, end, {"rend": rend}))
    return marks
