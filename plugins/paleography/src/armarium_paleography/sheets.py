"""Draws a sheet: pictures side by side at one height, each with its source; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from armarium.api import PictureFont

if TYPE_CHECKING:
    from PIL import Image

WIDTH, MARGIN, GAP = 1600, 28, 16
"""In pixels: the width of the sheet, its margin, the gap between pictures."""
PAPER, INK, FAINT, RULE = (250, 248, 243), (38, 36, 34), (120, 116, 110), (222, 217, 208)
TITLE, CAPTION = 24, 13
"""Font sizes of the title and of the captions, in pixels."""
LOWEST_CAPTION = 90
"""In pixels: the least width for a picture, so that its caption can be read."""


@dataclass(frozen=True)
class Piece:
    """One picture, at the sheet's height or lower if it is too long for the sheet, and its caption."""

    image: Image.Image
    caption: str


def fit_image(image: Image.Image, height: int) -> Image.Image:
    """Scale *image* to *height* pixels, or lower if it would not fit the width of the sheet."""
    from PIL import Image

    scale = min(height / image.height, (WIDTH - 2 * MARGIN) / image.width)
    size = max(1, round(image.width * scale)), max(1, round(image.height * scale))
    return image.resize(size, Image.Resampling.LANCZOS)


def draw_sheet(title: str, notes: Sequence[str], pieces: Sequence[Piece], height: int) -> Image.Image:
    """Draw the sheet: its title, notes, and the pictures in rows."""
    from PIL import Image, ImageDraw

    rows: list[list[tuple[int, Piece]]] = []
    x = WIDTH
    for piece in pieces:
        room = max(piece.image.width, LOWEST_CAPTION)
        if x + room > WIDTH - MARGIN:
            rows.append([])
            x = MARGIN
        rows[-1].append((x, piece))
        x += room + GAP
    top = MARGIN + round(1.6 * TITLE) + round(1.5 * CAPTION) * len(notes) + GAP
    step = height + round(2.2 * CAPTION) + GAP
    sheet = Image.new("RGB", (WIDTH, top + max(1, len(rows)) * step + MARGIN), PAPER)
    write(sheet, (MARGIN, MARGIN + TITLE), title, TITLE, INK, WIDTH - 2 * MARGIN)
    y = MARGIN + round(1.6 * TITLE) + CAPTION
    for note in notes:
        write(sheet, (MARGIN, y), note, CAPTION, FAINT, WIDTH - 2 * MARGIN)
        y += round(1.5 * CAPTION)
    pen = ImageDraw.Draw(sheet)
    for number, row in enumerate(rows):
        y = top + number * step
        for x, piece in row:
            # The lower edges of the pictures of a row are aligned, like letters on a line.
            place = (x, y + height - piece.image.height)
            sheet.paste(piece.image.convert("RGB"), place)
            right, bottom = place[0] + piece.image.width, place[1] + piece.image.height
            pen.rectangle((place[0] - 1, place[1] - 1, right, bottom), outline=RULE)
            room = max(piece.image.width, LOWEST_CAPTION)
            write(sheet, (x, y + height + round(1.5 * CAPTION)), piece.caption, CAPTION, FAINT, room)
    return sheet


def write(
    sheet: Image.Image,
    at: tuple[float, float],
    text: str,
    size: float,
    colour: tuple[int, int, int],
    room: float,
) -> None:
    """Write *text*, shortened with an ellipsis if it is wider than *room*."""
    font = PictureFont(size)
    if font.width(text) > room:
        low, high = 0, len(text)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if font.width(f"{text[:middle]}…") <= room else (low, middle - 1)
        text = f"{text[:low]}…"
    font.write(sheet, at, text, colour)
