"""Static IIIF pictures (Image API 3, level 0): every tile that a viewer requests is a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armarium_iiif.api import Picture, decode

if TYPE_CHECKING:
    from PIL import Image

TILE = 512
QUALITY = 85
THUMBNAIL, SHOWN = 240, 1600
"""The longest side in pixels of pictures in lists, and of pages without a viewer."""


@dataclass(frozen=True)
class Pyramid:
    """The pictures of a page: full sizes by factor, the smallest first."""

    width: int
    height: int
    factors: tuple[int, ...]

    @property
    def sizes(self) -> list[tuple[int, int]]:
        """Return the picture's size divided by each factor, the smallest first; a partial pixel counts as one."""
        return [(-(-self.width // factor), -(-self.height // factor)) for factor in reversed(self.factors)]

    def nearest(self, side: int) -> tuple[int, int]:
        """Return the largest of the sizes within *side* pixels, else the smallest."""
        fitting = [size for size in self.sizes if max(size) <= side]
        return fitting[-1] if fitting else self.sizes[0]


def pyramid_of(width: int, height: int) -> Pyramid:
    """Return factors up to the first at which the whole picture is one thumbnail."""
    factors = [1]
    while max(width, height) / factors[-1] > THUMBNAIL:
        factors.append(factors[-1] * 2)
    return Pyramid(width, height, tuple(factors))


def write_tiles(picture: Picture, folder: Path) -> Pyramid:
    """Write the tiles and full sizes of *picture* below *folder*; Invalid if it cannot be decoded."""
    from PIL import Image

    image = decode(picture.source, 1).image
    profile = image.info.get("icc_profile")
    pyramid = pyramid_of(image.width, image.height)
    level, shown_size = image, pyramid.nearest(SHOWN)
    for factor, size in zip(pyramid.factors, reversed(pyramid.sizes), strict=True):
        if level.size != size:
            level = level.resize(size, Image.Resampling.BOX)
        if max(size) <= SHOWN:
            _save(level, folder / "full" / f"{size[0]},{size[1]}", profile)
        if size == shown_size:
            # Level 0 requests the size "max"; the information document states that it is not larger than
            # this.
            _save(level, folder / "full" / "max", profile)
        if max(size) > TILE:
            for region, box in _tiles(image.size, factor, size):
                across, down = box[2] - box[0], box[3] - box[1]
                _save(level.crop(box), folder / region / f"{across},{down}", profile)
    return pyramid


def _tiles(
    whole: tuple[int, int], factor: int, size: tuple[int, int]
) -> Iterator[tuple[str, tuple[int, int, int, int]]]:
    """Yield (region of the whole picture, box of the level) of each tile."""
    for top in range(0, size[1], TILE):
        for left in range(0, size[0], TILE):
            right, bottom = min(left + TILE, size[0]), min(top + TILE, size[1])
            x, y = left * factor, top * factor
            w, h = min(TILE * factor, whole[0] - x), min(TILE * factor, whole[1] - y)
            yield f"{x},{y},{w},{h}", (left, top, right, bottom)


def _save(image: Image.Image, folder: Path, profile: Any) -> None:
    place = folder / "0"
    place.mkdir(parents=True, exist_ok=True)
    more = {"icc_profile": profile} if profile and image.mode == "RGB" else {}
    image.save(place / "default.jpg", "JPEG", quality=QUALITY, **more)
