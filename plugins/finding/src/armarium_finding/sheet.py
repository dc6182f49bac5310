"""The contact sheet of a proposal: every document with its pages, where it begins and why, as one picture."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from armarium.api import Library, PictureFont, ServiceError, is_among, open_image
from armarium_documents.api import documents, renditions, thumbnail_path, thumbnail_sources

if TYPE_CHECKING:
    from PIL import Image

Colour = tuple[int, int, int]

ACROSS = 8
CELL, PICTURE_HEIGHT = 168, 200
MARGIN, BAR = 24, 6
BLOCK_ROW = PICTURE_HEIGHT + 44
TITLE, TEXT, SMALL = 19.0, 14.0, 12.0
MOST_PAGES = 240
"""How many pages one sheet shows; the next sheet begins with the next document."""

PAPER: Colour = (250, 249, 246)
INK: Colour = (34, 34, 38)
FAINT: Colour = (112, 112, 118)
EMPTY: Colour = (226, 224, 218)
COLOURS: tuple[Colour, ...] = ((46, 98, 150), (176, 94, 32))
"""The colours of the documents' bars, in turn."""
ADJUSTED: Colour = (34, 128, 84)

NOTES = {
    "blank-verso": "blank verso",
    "blank-page": "blank",
    "duplicate-shot": "second shot",
    "no-reading": "not read",
}


def documents_from(proposal: Mapping[str, Any], first: int) -> tuple[list[dict[str, Any]], int | None]:
    """Return the documents of the sheet that begins with document *first*, and the first document of the next sheet."""
    chosen: list[dict[str, Any]] = []
    pages = 0
    for document in proposal["documents"]:
        if document["index"] < first:
            continue
        pages += len(document["page_ids"])
        if chosen and pages > MOST_PAGES:
            return chosen, int(document["index"])
        chosen.append(document)
    return chosen, None


def draw_sheet(library: Library, proposal: Mapping[str, Any], shown: Sequence[Mapping[str, Any]]) -> bytes:
    """Draw the sheet of the documents *shown*, as a PNG file. Of a very long document, the first 240 pages
    are drawn.
    """
    from PIL import Image

    page_ids = [page for document in shown for page in document["page_ids"][:MOST_PAGES]]
    with library.db.read() as conn:
        select_names = select(documents.c.id, documents.c.name).where(is_among(documents.c.id, page_ids))
        names = {row[0]: row[1] for row in conn.execute(select_names)}
        select_sources = thumbnail_sources.where(is_among(renditions.c.document_id, page_ids))
        files = {row.document_id: row.checksum for row in conn.execute(select_sources)}
    notes = {finding["page_id"]: NOTES[finding["kind"]] for finding in proposal["findings"]}
    joins = {join["page_id"]: join["probability"] for join in proposal["joins"]}
    blocks = [_Block(document, ACROSS * CELL) for document in shown]
    height = MARGIN + sum(block.height + MARGIN for block in blocks) + (0 if blocks else 40)
    sheet = Image.new("RGB", (ACROSS * CELL + 2 * MARGIN, height), PAPER)
    top = MARGIN
    for block in blocks:
        block.draw(sheet, top)
        for number, page_id in enumerate(block.pages):
            left = MARGIN + number % ACROSS * CELL
            line = top + block.head + number // ACROSS * BLOCK_ROW
            _draw_page(sheet, (left, line), _picture(library, files.get(page_id)))
            inner = joins.get(page_id) if number else None
            under = [
                names.get(page_id, ""),
                notes.get(page_id) or (f"join {inner:.0%}" if inner is not None else ""),
            ]
            for row, words in enumerate(under):
                _write(
                    sheet,
                    SMALL,
                    (left, line + PICTURE_HEIGHT + 16 + 15 * row),
                    words,
                    CELL - 12,
                    INK if not row else FAINT,
                )
        top += block.height + MARGIN
    if not blocks:
        _write(sheet, TEXT, (MARGIN, MARGIN + 16), "No documents.", 400, FAINT)
    file = io.BytesIO()
    sheet.save(file, "PNG", compress_level=3)
    return file.getvalue()


class _Block:
    """One document on the sheet: a bar, a title, its reasons, and rows of pages."""

    def __init__(self, document: Mapping[str, Any], width: int) -> None:
        self.document = document
        self.width = width
        self.pages: list[str] = document["page_ids"][:MOST_PAGES]
        self.reasons = _wrap_text(" ".join(document["reasons"]), width)
        self.head = BAR + 36 + 18 * len(self.reasons)
        self.height = self.head + BLOCK_ROW * -(-len(self.pages) // ACROSS)

    def draw(self, sheet: Image.Image, top: int) -> None:
        """Draw its bar, title and reasons."""
        from PIL import ImageDraw

        document = self.document
        colour = ADJUSTED if document["adjusted_by"] else COLOURS[document["index"] % len(COLOURS)]
        pen = ImageDraw.Draw(sheet)
        pen.rectangle((MARGIN, top, MARGIN + self.width, top + BAR), fill=colour)
        count = len(document["page_ids"])
        labels = [f"{document['index']}. {document['name']}", "1 page" if count == 1 else f"{count} pages"]
        if document["adjusted_by"]:
            labels.append("set by a person")
        elif document["confidence"] is not None:
            labels.append(f"{document['confidence']:.0%} sure")
        if document["parties"]:
            labels.append(", ".join(document["parties"]))
        if document["state"] != "proposed":
            labels.append(document["state"])
        _write(sheet, TITLE, (MARGIN, top + BAR + 24), "  ·  ".join(labels), self.width, INK, "Medium")
        for row, line in enumerate(self.reasons):
            _write(sheet, TEXT, (MARGIN, top + BAR + 44 + 18 * row), line, self.width, FAINT)


def _wrap_text(text: str, width: int) -> list[str]:
    """Return at most three lines of *text*, the last one shortened if there is more."""
    font = _font(TEXT)
    lines: list[str] = []
    line, reach, space = "", 0.0, font.width(" ")
    for word in text.split():
        wide = font.width(word)
        if line and reach + space + wide > width:
            lines.append(line)
            line, reach = word, wide
        else:
            line, reach = (f"{line} {word}", reach + space + wide) if line else (word, wide)
    lines += [line] if line else []
    return lines if len(lines) <= 3 else [*lines[:2], f"{lines[2]} …"]


def _write(
    sheet: Image.Image,
    size: float,
    at: tuple[int, int],
    text: str,
    width: int,
    colour: Colour,
    style: str = "Regular",
) -> None:
    font = _font(size, style)
    long = font.width(text)
    if long > width:
        text = f"{text[: max(1, int(len(text) * width / long) - 2)]}…"
    if text:
        font.write(sheet, at, text, colour)


@lru_cache(maxsize=8)
def _font(size: float, style: str = "Regular") -> PictureFont:
    return PictureFont(size, style)


def _picture(library: Library, checksum: str | None) -> Image.Image | None:
    if checksum is None:
        return None
    try:
        return open_image(thumbnail_path(library, checksum), shrink_to=(CELL, PICTURE_HEIGHT)).convert("RGB")
    except (OSError, ServiceError):
        return None


def _draw_page(sheet: Image.Image, at: tuple[int, int], picture: Image.Image | None) -> None:
    from PIL import ImageDraw

    room = (CELL - 12, PICTURE_HEIGHT)
    if picture is None:
        box = (at[0], at[1], at[0] + room[0], at[1] + room[1])
        ImageDraw.Draw(sheet).rectangle(box, fill=EMPTY)
        _write(sheet, SMALL, (at[0] + 8, at[1] + 20), "no picture", room[0], FAINT)
        return
    picture.thumbnail(room)
    sheet.paste(picture, at)
