"""Plain text: the lines of a page in reading order, a blank line between regions; read as lines without
shapes.
"""

from __future__ import annotations

import json
import re
from typing import ClassVar, Final

from armarium.api import Invalid
from armarium_formats.decoding import decode, reads_as_text
from armarium_formats.driver import Format, ReadContext, WriteContext, WrittenPage, as_losses
from armarium_formats.file_guess import is_marked, seems_no_prose
from armarium_formats.page_model import PageModel, PageSegment, PageText

MAX_LINES: Final = 100_000
_BREAK = re.compile("\r\n|[\r\n\x85\u2028\u2029]")
_MARKUP = re.compile(r"\s*<(?:[A-Za-z][\w.:-]*(?:[\s/>]|$)|!--|!DOCTYPE|\?)", re.IGNORECASE)


class PlainText(Format):
    """Plain text in UTF-8: one line of the file per line of the page, a form feed between pages."""

    name = "plain-text"
    label = "Plain text"
    extensions: ClassVar[tuple[str, ...]] = (".txt",)
    reads = True
    writes = True
    aliases: ClassVar[tuple[str, ...]] = ("text", "txt", "plaintext", "plain_text")

    def sniff(self, data: bytes) -> float:
        """Return 0.2 for text that is not markup, JSON, RTF, PDF, table or placeholder: all other formats
        come first.
        """
        decoded = decode(data[:262_144])
        text = decoded.text
        if not text.strip() or not reads_as_text(decoded):
            return 0.0
        if _MARKUP.match(text) or seems_no_prose(text) is not None or is_marked(data):
            return 0.0
        return 0.0 if text.lstrip()[:1] in ("{", "[") and _is_json(data) else 0.2

    def read(self, data: bytes, context: ReadContext) -> list[PageModel]:
        """Read each paragraph as a region, each line as a line, without shapes; the size is the picture's."""
        decoded = decode(data)
        if not decoded.text.strip() or not reads_as_text(decoded):
            raise Invalid(
                f"{context.filename} contains no text: it is empty, or made of bytes that are not "
                "characters.",
                code="not_text",
            )
        breaks = sum(decoded.text.count(mark) for mark in "\n\r\f\x85\u2028\u2029")
        if breaks > 10 * MAX_LINES:
            raise _too_long(context.filename)
        sheets = decoded.text.removesuffix("\n").removesuffix("\f").split("\f")
        width, height = context.page_size or (0, 0)
        pages: list[PageModel] = []
        lines = 0
        for sheet in sheets:
            page = PageModel(width, height, notes=[f"{decoded.note}."] if decoded.note else [])
            region: PageSegment | None = None
            for row in _BREAK.split(sheet):
                if not row.strip():
                    region = None
                    continue
                lines += 1
                if lines > MAX_LINES:
                    raise _too_long(context.filename)
                if region is None:
                    region = PageSegment(f"paragraph-{len(page.segments) + 1}", "region")
                    page.segments.append(region)
                region.children.append(PageSegment(f"line-{lines}", "line", texts=[PageText(row.rstrip())]))
            pages.append(page)
        return pages

    def write(self, page: PageModel, context: WriteContext) -> WrittenPage:
        parents: dict[int, PageSegment] = {}
        for segment in page.walk():
            for child in segment.children:
                parents[id(child)] = segment
        paragraphs: list[list[str]] = []
        owner: PageSegment | None = None
        sequence = page.in_order()
        for segment in sequence:
            text = text_of(segment)
            if text is None:
                continue
            region = _region_of(segment, parents)
            if not paragraphs or region is not owner:
                paragraphs.append([])
                owner = region
            paragraphs[-1].append(text)
        content = "\n\n".join("\n".join(lines) for lines in paragraphs)
        parts: list[PageModel | PageSegment] = [page, *sequence]
        stated = sum(1 for part in parts if part.language or part.script or part.direction)
        lost = {
            (what, "plain text contains only text"): count
            for what, count in (
                ("shapes", sum(1 for segment in sequence if segment.points)),
                ("baselines", sum(1 for segment in sequence if segment.baseline)),
                ("kinds of regions", sum(1 for part in sequence if part.kind == "region" and part.kind_raw)),
                ("who stands behind the lines", len(page.makers())),
                ("alternative readings", sum(max(0, len(segment.texts) - 1) for segment in sequence)),
                ("languages, scripts and directions", stated),
            )
        }
        return WrittenPage(content + "\n" if content else "", as_losses(lost))


def _too_long(name: str) -> Invalid:
    return Invalid(
        f"{name} contains more than {MAX_LINES:,} lines; split it into one file per page.",
        code="too_many_lines",
    )


def _is_json(data: bytes) -> bool:
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True


def text_of(segment: PageSegment) -> str | None:
    """Return a segment's text: a line's own or its words', a region's own only if no part has text."""
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
