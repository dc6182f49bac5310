"""Editorial facts in a PAGE file: in the `custom` of their line, as other programs write tags of a line there."""

from __future__ import annotations

from collections.abc import Callable

from armarium_formats.page_model import PageSegment
from armarium_formats.pagexml.vocabulary import brace_free

TAGS = {
    "unclear": "unclear",
    "lost": "gap",
    "restored": "restored",
    "supplied": "supplied",
    "superfluous": "surplus",
    "deleted": "deleted",
    "added": "add",
}


def with_marks(custom: str | None, segment: PageSegment, lose: Callable[..., None]) -> str:
    """*custom* with a tag for each fact of the text that counts: its offset and length in characters, and what is said."""
    tags = [custom] if custom else []
    for mark in segment.texts[0].marks if segment.texts else ():
        start, end = mark.start or 0, len(segment.texts[0].text) if mark.end is None else mark.end
        said = {"offset": str(start), "length": str(end - start)} | dict(mark.stated)
        clean = {key: brace_free(value) for key, value in said.items()}
        if clean != said:
            lose("marks in editorial facts", "a `custom` has no braces and semicolons; they became blanks")
        tags.append(f"{TAGS[mark.kind]} {{{' '.join(f'{key}:{value};' for key, value in clean.items())}}}")
    return " ".join(tags)
