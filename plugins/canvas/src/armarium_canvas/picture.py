"""Draws a canvas: cards with existing thumbnails, notes, links, and a strip of unplaced things.

Drawing creates and changes nothing: a missing or damaged thumbnail leaves its card grey.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from armarium.api import PictureFont, ServiceError, open_image
from armarium_canvas.queries import Card, Note, Scene

if TYPE_CHECKING:
    from PIL import Image

CARD_WIDTH, CARD_HEIGHT = 120.0, 150.0
"""Size of a card for which none is saved, in card units."""

_MARGIN = 20.0
_GAP = 16.0
_LABEL = 34.0
"""Height of the two lines beneath a card's picture, in card units."""

_TEXT = 11.0
_SMALLEST_TEXT = 8.0
_SMALLEST_PICTURE = 6
_MOST_TURNED = 64_000_000
"""Pixels of things that are drawn turned, over one another; what would be more is drawn upright."""

_LONGEST_TEXT = 4_000
"""Characters of a note that are laid out; more do not fit any box."""

Colour = tuple[int, int, int]
_PAPER: Colour = (248, 248, 246)
_STRIP: Colour = (236, 236, 232)
_CARD: Colour = (255, 255, 255)
_GREY: Colour = (200, 200, 200)
_EDGE: Colour = (150, 150, 150)
_INK: Colour = (30, 30, 30)
_PALE_INK: Colour = (110, 110, 110)
_BLUE: Colour = (38, 98, 217)
_YELLOW: Colour = (255, 241, 150)
_YELLOW_EDGE: Colour = (204, 176, 60)
_LINE: Colour = (90, 90, 90)


class Rect(NamedTuple):
    """A rectangle in card units, or in pixels of the picture."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def middle(self) -> tuple[float, float]:
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2


def draw_canvas(scene: Scene, thumbnail: Callable[[str], Path], max_size: int) -> bytes:
    """Return the canvas as a PNG of at most *max_size* pixels; one card unit is at most one pixel.

    *thumbnail* returns the path of the thumbnail for a checksum.
    """
    return _Drawing(scene, thumbnail, max_size).png()


class _Drawing:
    def __init__(self, scene: Scene, thumbnail: Callable[[str], Path], max_size: int) -> None:
        from PIL import Image, ImageDraw

        self.scene = scene
        self.thumbnail = thumbnail
        self.rects = {item.id: _rect_of(item) for item in scene.placed}
        table = _bounding_rect(
            _turn_rect(self.rects[item.id], item.place[4]) for item in scene.placed if item.place is not None
        )
        self.strip: Rect | None = None
        whole = table or Rect(0, 0, 0, 0)
        if scene.unplaced or scene.not_drawn:
            self.strip = self._lay_strip(table)
            whole = _bounding_rect([self.strip] if table is None else [table, self.strip]) or whole
        wide = whole.right - whole.left + 2 * _MARGIN
        high = whole.bottom - whole.top + 2 * _MARGIN
        self.scale = min(1.0, max_size / max(wide, high))
        self.origin = (whole.left - _MARGIN, whole.top - _MARGIN)
        size = (
            max(1, min(max_size, math.ceil(wide * self.scale))),
            max(1, min(max_size, math.ceil(high * self.scale))),
        )
        self.image = Image.new("RGB", size, _PAPER)
        self.pen = ImageDraw.Draw(self.image)
        self.turned = 0
        self.pictures: dict[tuple[str, int, int], Image.Image | None] = {}

    def png(self) -> bytes:
        if self.strip is not None:
            self._draw_strip(self.strip)
        for line in self.scene.lines:
            self._draw_line(line.source_id, line.target_id, line.text)
        for item in (*self.scene.placed, *self.scene.unplaced):
            self._draw_thing(item)
        file = io.BytesIO()
        self.image.save(file, "PNG", compress_level=3)
        return file.getvalue()

    def _lay_strip(self, table: Rect | None) -> Rect:
        """Lay out the unplaced things in rows below the canvas, as wide as the canvas or about square."""
        items = self.scene.unplaced
        cell_wide, cell_high = CARD_WIDTH + _GAP, CARD_HEIGHT + _GAP
        across = math.ceil(math.sqrt(len(items) * 1.4))
        left, top = 0.0, 0.0
        if table is not None:
            left, top = table.left, table.bottom + 2 * _MARGIN
            across = max(across, int((table.right - table.left) // cell_wide))
        columns = max(1, min(across, len(items)))
        head = 2 * _TEXT + _GAP
        for number, item in enumerate(items):
            x = left + _GAP + (number % columns) * cell_wide
            y = top + head + (number // columns) * cell_high
            self.rects[item.id] = Rect(x, y, x + CARD_WIDTH, y + CARD_HEIGHT)
        rows = math.ceil(len(items) / columns)
        right = max(left + _GAP + columns * cell_wide, left + 2 * CARD_WIDTH)
        return Rect(left, top, right, top + head + rows * cell_high)

    def _draw_strip(self, strip: Rect) -> None:
        rect = self._pixels(strip)
        self.pen.rectangle(rect, fill=_STRIP, outline=_EDGE)
        missing = self.scene.not_drawn
        words = f"Not placed: {len(self.scene.unplaced) + missing}"
        if missing:
            words += f", {missing} of them not drawn"
        self._write(words, rect.left + 8 * self.scale, rect.top + 18 * self.scale, rect.right, _INK)

    def _draw_line(self, source_id: str, target_id: str, text: str) -> None:
        ends = [self.rects.get(source_id), self.rects.get(target_id)]
        if ends[0] is None or ends[1] is None:
            return
        start, end = self._pixels(ends[0]).middle, self._pixels(ends[1]).middle
        self.pen.line((*start, *end), fill=_LINE, width=max(1, round(2 * self.scale)))
        if text:
            x, y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
            self._write(text, x + 4, y - 4, x + 200 * self.scale, _PALE_INK)

    def _draw_thing(self, item: Card | Note) -> None:
        """Draw a card or note; one with an angle on a layer of its own, rotated clockwise about its centre."""
        from PIL import Image, ImageDraw

        rect = self._pixels(self.rects[item.id])
        angle = item.place[4] % 360 if item.place is not None else 0.0
        size = (math.ceil(rect.right - rect.left), math.ceil(rect.bottom - rect.top))
        if not angle or self.turned + size[0] * size[1] > _MOST_TURNED:
            self._draw_upright(item, rect)
            return
        self.turned += size[0] * size[1]
        table = self.image, self.pen
        sheet = self.image = Image.new("RGB", size, _PAPER)
        self.pen = ImageDraw.Draw(sheet)
        self._draw_upright(item, Rect(0, 0, size[0] - 1, size[1] - 1))
        self.image, self.pen = table
        smooth = Image.Resampling.BICUBIC
        shape = Image.new("L", size, 255).rotate(-angle, smooth, expand=True)
        sheet = sheet.rotate(-angle, smooth, expand=True, fillcolor=_EDGE)
        x, y = rect.middle
        self.image.paste(sheet, (round(x - sheet.width / 2), round(y - sheet.height / 2)), shape)

    def _draw_upright(self, item: Card | Note, rect: Rect) -> None:
        if isinstance(item, Card):
            self._draw_card(item, rect)
        else:
            self._draw_note(item, rect)

    def _draw_card(self, card: Card, rect: Rect) -> None:
        edge, width = (_BLUE, max(2, round(3 * self.scale))) if card.is_group else (_EDGE, 1)
        self.pen.rectangle(rect, fill=_CARD, outline=edge, width=width)
        inset = width + 3 * self.scale
        inner = Rect(
            rect.left + inset,
            rect.top + inset,
            rect.right - inset,
            rect.bottom - max(_LABEL * self.scale, 2.4 * self._text_size) - width,
        )
        self._draw_thumbnail(card.thumbnail, inner)
        size = self._text_size
        left, right = rect.left + width + 2, rect.right - width - 2
        foot = rect.bottom - width - 0.35 * size
        # A long name is shortened in favour of the count, which is shown in full.
        count = f" ({card.members})" if card.is_group else ""
        if rect.bottom - rect.top > 2.6 * size:
            self._write(card.name, left, foot - 1.15 * size, right, _INK, ending=count)
        self._write(card.id[:8], left, foot, None, _BLUE if card.is_group else _PALE_INK)

    def _draw_thumbnail(self, checksum: str | None, place: Rect) -> None:
        wide, high = int(place.right - place.left), int(place.bottom - place.top)
        if min(wide, high) < 1:
            return
        picture = None
        if checksum is not None and max(wide, high) >= _SMALLEST_PICTURE:
            picture = self._picture(checksum, wide, high)
        if picture is None:
            self.pen.rectangle(place, fill=_GREY)
            return
        x = place.left + (wide - picture.width) / 2
        y = place.top + (high - picture.height) / 2
        self.image.paste(picture, (round(x), round(y)))

    def _picture(self, checksum: str, wide: int, high: int) -> Image.Image | None:
        key = (checksum, wide, high)
        if key not in self.pictures:
            self.pictures[key] = self._read(checksum, wide, high)
        return self.pictures[key]

    def _read(self, checksum: str, wide: int, high: int) -> Image.Image | None:
        """Return the cached thumbnail fitted into *wide* by *high* pixels; None if there is none that can be read."""
        path = self.thumbnail(checksum)
        if not path.is_file():
            return None
        try:
            image = open_image(path, shrink_to=(wide, high)).convert("RGB")
        except (OSError, ServiceError):
            return None
        scale = min(wide / image.width, high / image.height)
        return image.resize((max(1, int(image.width * scale)), max(1, int(image.height * scale))))

    def _draw_note(self, note: Note, rect: Rect) -> None:
        self.pen.rectangle(rect, fill=_YELLOW, outline=_YELLOW_EDGE)
        size = self._text_size
        pad = max(2.0, 5 * self.scale)
        line = rect.top + pad + size
        for words in self._wrap_text(note.text, rect.right - rect.left - 2 * pad):
            if line > rect.bottom - 0.3 * size:
                break
            self._write(words, rect.left + pad, line, rect.right - pad, _INK)
            line += 1.25 * size

    def _wrap_text(self, text: str, width: float) -> Iterator[str]:
        """Wrap *text* into lines of *width* pixels; a word longer than a line is broken."""
        font = PictureFont(self._text_size)
        for paragraph in text[:_LONGEST_TEXT].splitlines():
            line = ""
            for word in paragraph.split():
                longer = f"{line} {word}" if line else word
                if font.width(longer) <= width:
                    line = longer
                    continue
                if line:
                    yield line
                while font.width(word) > width:
                    fits = _count_fitting(font, word, width)
                    if fits >= len(word):
                        break
                    yield word[:fits]
                    word = word[fits:]
                line = word
            yield line

    @property
    def _text_size(self) -> float:
        return max(_SMALLEST_TEXT, round(_TEXT * self.scale, 1))

    def _write(
        self, text: str, x: float, y: float, right: float | None, colour: Colour, *, ending: str = ""
    ) -> None:
        """Draw one line with its baseline beginning at (x, y), shortened with dots at *right* but for
        *ending*.
        """
        text = " ".join(text[:_LONGEST_TEXT].split())
        if not text:
            return
        font = PictureFont(self._text_size)
        if right is not None and font.width(text + ending) > right - x:
            fits = _count_fitting(font, text, right - x - font.width("..." + ending))
            text = f"{text[:fits].rstrip()}..."
        font.write(self.image, (x, y), text + ending, colour)

    def _pixels(self, rect: Rect) -> Rect:
        left, top = self.origin
        # A card is at least one pixel, and never inverted by rounding.
        x, y = (rect.left - left) * self.scale, (rect.top - top) * self.scale
        return Rect(
            x,
            y,
            max(x + 1, (rect.right - left) * self.scale),
            max(y + 1, (rect.bottom - top) * self.scale),
        )


def _rect_of(item: Card | Note) -> Rect:
    """Return the rectangle of a placed thing around its centre, 120 by 150 if no size is stored."""
    assert item.place is not None
    x, y, w, h, _ = item.place
    wide = CARD_WIDTH if w is None else w
    high = CARD_HEIGHT if h is None else h
    return Rect(x - wide / 2, y - high / 2, x + wide / 2, y + high / 2)


def _turn_rect(rect: Rect, angle: float) -> Rect:
    """Return the upright rectangle around *rect* rotated by *angle* degrees about its centre."""
    across, down = (round(abs(turn(math.radians(angle))), 9) for turn in (math.cos, math.sin))
    wide, high = rect.right - rect.left, rect.bottom - rect.top
    half_wide, half_high = (across * wide + down * high) / 2, (down * wide + across * high) / 2
    x, y = rect.middle
    return Rect(x - half_wide, y - half_high, x + half_wide, y + half_high)


def _bounding_rect(rects: Iterable[Rect]) -> Rect | None:
    """Return the smallest rectangle around *rects*; None for none."""
    all_rects = list(rects)
    if not all_rects:
        return None
    return Rect(
        min(rect.left for rect in all_rects),
        min(rect.top for rect in all_rects),
        max(rect.right for rect in all_rects),
        max(rect.bottom for rect in all_rects),
    )


def _count_fitting(font: PictureFont, text: str, width: float) -> int:
    """Return how many characters of *text* fit *width* pixels, at least one."""
    low, high = 1, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if font.width(text[:middle]) <= width:
            low = middle
        else:
            high = middle - 1
    return low
