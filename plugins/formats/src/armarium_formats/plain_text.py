"""Plain text: the lines of a page in reading order, a blank line between regions. Written, not read."""

from __future__ import annotations

from typing import ClassVar

from armarium_formats.driver import Format, Loss, WriteContext, Written
from armarium_formats.page_model import PageModel, PageSegment


class PlainText(Format):
    """Plain text, UTF-8, one line of the page a line of the file."""

    name = "plain-text"
    label = "Plain text"
    extensions: ClassVar[tuple[str, ...]] = (".txt",)
    writes = True
    aliases: ClassVar[tuple[str, ...]] = ("text", "txt", "plaintext", "plain_text")

    def write(self, page: PageModel, context: WriteContext) -> Written:
        parents: dict[int, PageSegment] = {}
        for segment in page.walk():
            for child in segment.children:
                parents[id(child)] = segment
        paragraphs: list[list[str]] = []
        owner: PageSegment | None = None
        sequence = page.in_order()
        for segment in sequence:
            text = _text_of(segment)
            if text is None:
                continue
            region = _region_of(segment, parents)
            if not paragraphs or region is not owner:
                paragraphs.append([])
                owner = region
            paragraphs[-1].append(text)
        content = "\n\n".join("\n".join(lines) for lines in paragraphs)
        losses = [
            Loss(what, count, "plain text holds text only")
            for what, count in (
                ("shapes", sum(1 for segment in sequence if segment.points)),
                ("baselines", sum(1 for segment in sequence if segment.baseline)),
                (
                    "kinds of regions",
                    sum(1 for segment in sequence if segment.kind == "region" and segment.kind_raw),
                ),
                ("alternative readings", sum(max(0, len(segment.texts) - 1) for segment in sequence)),
                (
                    "languages, scripts and directions",
                    sum(1 for s in sequence if s.language or s.script or s.direction),
                ),
            )
            if count
        ]
        return Written(content + "\n" if content else "", losses)


def _text_of(segment: PageSegment) -> str | None:
    """What a segment adds: a line its text or its words', a region its own only where it has no parts with text."""
    if segment.kind == "word":
        return None
    if segment.kind == "line":
        if segment.text:
            return segment.text.replace("\r\n", "\n").rstrip("\n")
        words = [word.text for word in segment.in_order() if word.kind == "word" and word.text]
        return " ".join(words) or None
    if segment.text and not any(part.text for part in segment.walk() if part is not segment):
        return segment.text.replace("\r\n", "\n").rstrip("\n")
    return None


def _region_of(segment: PageSegment, parents: dict[int, PageSegment]) -> PageSegment | None:
    while segment.kind != "region":
        above = parents.get(id(segment))
        if above is None:
            return None
        segment = above
    return segment
