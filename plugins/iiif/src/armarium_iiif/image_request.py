"""Resolves an address of the Image API 3 into whole pixels; nothing is decoded here."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final

from armarium_documents.api import LONGEST_JPEG
from armarium_iiif.errors import BadImageRequest

FORMATS: Final = {"jpg": "image/jpeg", "png": "image/png", "webp": "image/webp"}
QUALITIES: Final = ("default", "color", "gray", "bitonal")
MAX_AREA: Final = 100_000_000
"""Pixels of one answer."""

LONGEST: Final = {"jpg": LONGEST_JPEG, "png": 2_000_000, "webp": 16_383}
"""The longest side a format can carry, in pixels."""

Region = tuple[int, int, int, int]

_WHOLE = re.compile(r"[0-9]{1,9}", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]{1,12})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class ImageRequest:
    """A request in pixels of the upright picture."""

    region: Region
    size: tuple[int, int]
    """Width and height of the region as asked for, before it is turned."""
    rotation: int
    mirrored: bool
    quality: str
    format: str
    canonical: str
    """The rest of the address as the API would have it written."""

    @property
    def mime_type(self) -> str:
        return FORMATS[self.format]


def parse_request(
    picture: tuple[int, int], region: str, size: str, rotation: str, quality: str, file_format: str
) -> ImageRequest:
    """Parse the parts of an address for a picture of a given size; BadImageRequest with the reason."""
    if file_format not in FORMATS:
        raise BadImageRequest(
            "format", file_format, f"is not offered here; choose one of {', '.join(FORMATS)}."
        )
    if quality not in QUALITIES:
        raise BadImageRequest("quality", quality, f"is not known; choose one of {', '.join(QUALITIES)}.")
    box = _region(picture, region)
    scaled, larger = _size(box, size, LONGEST[file_format])
    turn, mirrored = _rotation(rotation)
    width, height = scaled
    if max(width, height) > LONGEST[file_format]:
        raise BadImageRequest(
            "size",
            size,
            f"makes {width} x {height} pixels; a {file_format} has at most {LONGEST[file_format]} on a side.",
        )
    whole = box == (0, 0, *picture)
    canonical = "/".join(
        (
            "full" if whole else ",".join(map(str, box)),
            "max" if scaled == box[2:] else f"{'^' if larger else ''}{width},{height}",
            f"{'!' if mirrored else ''}{turn}",
            f"{'default' if quality == 'color' else quality}.{file_format}",
        )
    )
    return ImageRequest(box, scaled, turn, mirrored, quality, file_format, canonical)


def _region(picture: tuple[int, int], text: str) -> Region:
    width, height = picture
    if text == "full":
        return 0, 0, width, height
    if text == "square":
        side = min(picture)
        return (width - side) // 2, (height - side) // 2, side, side
    percent = text.startswith("pct:")
    numbers = text.removeprefix("pct:").split(",")
    pattern = _NUMBER if percent else _WHOLE
    if len(numbers) != 4 or not all(pattern.fullmatch(number) for number in numbers):
        raise BadImageRequest("region", text, "is none of full, square, x,y,w,h in pixels and pct:x,y,w,h.")
    if percent:
        x, y, w, h = (float(number) / 100 for number in numbers)
        left, top = round(x * width), round(y * height)
        right, bottom = round((x + w) * width), round((y + h) * height)
        if w > 0 and h > 0:
            # A region smaller than a pixel still covers part of the picture.
            right, bottom = max(right, left + 1), max(bottom, top + 1)
    else:
        left, top, w_pixels, h_pixels = (int(number) for number in numbers)
        right, bottom = left + w_pixels, top + h_pixels
    right, bottom = min(right, width), min(bottom, height)
    if right <= left or bottom <= top:
        raise BadImageRequest(
            "region", text, f"covers nothing of the picture, which has {width} x {height} pixels."
        )
    return left, top, right - left, bottom - top


def _size(box: Region, text: str, longest: int) -> tuple[tuple[int, int], bool]:
    """Return the requested width and height, and whether that enlarges the region; *longest* is the limit of max."""
    upscale = text.startswith("^")
    size_text = text.removeprefix("^")
    _, _, width, height = box
    if size_text == "max":
        most = min(_most(width, height), longest / max(width, height))
        scaled = _scale_size(width, height, most if upscale else min(1.0, most))
        if scaled[0] * scaled[1] > MAX_AREA:  # both sides were rounded up
            scaled = (max(1, scaled[0] - 1), max(1, scaled[1] - 1))
    elif size_text.startswith("pct:"):
        number = size_text.removeprefix("pct:")
        if not _NUMBER.fullmatch(number) or float(number) == 0:
            raise BadImageRequest("size", text, "is not a percentage above 0.")
        scaled = _scale_size(width, height, float(number) / 100)
    else:
        scaled = _in_numbers(width, height, size_text, text, upscale)
    if min(scaled) < 1:
        raise BadImageRequest("size", text, f"leaves nothing of a region of {width} x {height} pixels.")
    larger = scaled[0] > width or scaled[1] > height
    if larger and not upscale:
        raise BadImageRequest(
            "size",
            text,
            f"is larger than the region, which has {width} x {height} pixels; write ^{size_text} to enlarge it.",
        )
    if scaled[0] * scaled[1] > MAX_AREA:
        raise BadImageRequest(
            "size",
            text,
            f"makes {scaled[0] * scaled[1] / 1e6:.0f} million pixels; at most {MAX_AREA / 1e6:.0f} million are given.",
        )
    return scaled, larger


def _in_numbers(width: int, height: int, size_text: str, text: str, upscale: bool) -> tuple[int, int]:
    within = size_text.startswith("!")
    across, comma, down = size_text.removeprefix("!").partition(",")
    is_whole = all(_WHOLE.fullmatch(number) for number in (across, down) if number)
    if not comma or not is_whole or (within and not (across and down)) or not (across or down):
        raise BadImageRequest("size", text, "is none of max, w, ,h pct:n w,h and !w,h, with ^ to enlarge.")
    if within:
        scale = min(int(across) / width, int(down) / height)
        if int(across) == 0 or int(down) == 0:
            return 0, 0
        # "!w,h" is the largest that fits; without ^ that is never more than the region itself.
        return _scale_size(width, height, scale if upscale else min(scale, 1.0))
    if across and down:
        return int(across), int(down)
    if across:
        return int(across), max(1, round(int(across) * height / width)) if int(across) else 0
    return max(1, round(int(down) * width / height)) if int(down) else 0, int(down)


def _most(width: int, height: int) -> float:
    return math.sqrt(MAX_AREA / (width * height))


def _scale_size(width: int, height: int, scale: float) -> tuple[int, int]:
    return max(1, round(width * scale)), max(1, round(height * scale))


def _rotation(text: str) -> tuple[int, bool]:
    number = text.removeprefix("!")
    if not _NUMBER.fullmatch(number) or float(number) not in (0, 90, 180, 270, 360):
        raise BadImageRequest("rotation", text, "is none of 0, 90, 180 and 270, with ! to mirror first.")
    return int(float(number)) % 360, text.startswith("!")
