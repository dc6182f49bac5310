"""Decoded pictures: cached upright and at halved sizes within a memory limit, and cut, scaled and encoded.

A viewer requests dozens of pieces of one page in succession. The page is decoded once, at the size the pieces
need (a JPEG can be decoded at a half, a quarter or an eighth), and cached while there is room.
"""

from __future__ import annotations

import io
import threading
import weakref
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from armarium.api import Engine, open_image
from armarium_iiif.image_request import ImageRequest

if TYPE_CHECKING:
    from PIL import Image

MEMORY: Final = 256 << 20
"""Bytes of decoded pictures that are kept, and that are being decoded at a time; one larger picture goes alone."""

LEVELS: Final = (8, 4, 2, 1)
"""What a picture is held divided by: the sizes a JPEG can be decoded at."""

LARGE: Final = 8_000_000
"""Pixels from which on a picture is worth decoding in part."""

GLANCES: Final = 1000
"""Pictures of which it is remembered that a part was asked for."""

JPEG_QUALITY: Final = 85
WEBP_QUALITY: Final = 80


class Source(NamedTuple):
    """A picture file: `width` and `height` as displayed, with `orientation` applied."""

    path: Path
    checksum: str
    width: int
    height: int
    orientation: int
    mime_type: str
    max_pixels: int


class DecodedPicture(NamedTuple):
    """A decoded picture: upright, divided by `level`, its first row being row `top` of the reduced picture."""

    image: Image.Image
    level: int
    top: int = 0


class DecodedPictures:
    """The decoded pictures of one engine: an LRU cache in which two callers decode nothing twice."""

    def __init__(self, memory: int = MEMORY) -> None:
        self.memory = memory
        self.decoded = 0
        """How many pictures were decoded since the start."""
        self._kept: OrderedDict[tuple[str, int], Image.Image] = OrderedDict()
        self._kept_bytes = 0
        self._decoding: set[tuple[str, int]] = set()
        self._decoding_bytes = 0
        self._glanced: OrderedDict[tuple[str, int], None] = OrderedDict()
        self._changed = threading.Condition()

    @property
    def held_bytes(self) -> int:
        """Return the bytes of the cached pictures."""
        return self._kept_bytes

    def forget(self) -> None:
        """Discard all cached pictures."""
        with self._changed:
            self._kept.clear()
            self._glanced.clear()
            self._kept_bytes = 0

    def get(self, source: Source, level: int, rows: tuple[int, int] | None = None) -> DecodedPicture:
        """Return the upright picture divided by *level* or by less.

        *rows* is the range of rows needed; None for all. The first request for a part of a picture decodes it
        down to that part only; a second request makes it worth decoding and caching whole.
        """
        key = (source.checksum, level)
        size = 4 * (source.width // level + 1) * (source.height // level + 1)
        with self._changed:
            while True:
                picture = self._finer(source.checksum, level)
                if picture is not None:
                    return picture
                in_part = rows is not None and self._first_glance(source, level, rows)
                if (in_part or key not in self._decoding) and (
                    not self._decoding_bytes or self._decoding_bytes + size <= self.memory
                ):
                    break
                self._changed.wait()
            if not in_part:
                self._decoding.add(key)
            self._decoding_bytes += size
            # Make room before using it.
            self._shrink(max(0, self.memory - size))
        try:
            picture = decode(source, level, rows if in_part else None)
            with self._changed:
                self.decoded += not in_part
                if not in_part:
                    self._keep(key, picture.image)
            return picture
        finally:
            with self._changed:
                if not in_part:
                    self._decoding.discard(key)
                self._decoding_bytes -= size
                self._changed.notify_all()

    def _first_glance(self, source: Source, level: int, rows: tuple[int, int]) -> bool:
        """Return whether to decode only the top of a picture: its first request, and not for its foot."""
        if source.orientation != 1 or source.mime_type not in ("image/jpeg", "image/png"):
            return False
        if rows[1] > 0.9 * source.height or source.width * source.height < LARGE * level * level:
            return False
        key = (source.checksum, level)
        if key in self._glanced or key in self._decoding:
            return False
        self._glanced[key] = None
        while len(self._glanced) > GLANCES:
            self._glanced.popitem(last=False)
        return True

    def _finer(self, checksum: str, level: int) -> DecodedPicture | None:
        """Return the coarsest cached picture that is fine enough."""
        for divided in LEVELS:
            if divided > level:
                continue
            # One twice as fine is used instead of decoding again; a still finer one would cost more to
            # shrink.
            if divided * 2 < level:
                break
            image = self._kept.get((checksum, divided))
            if image is not None:
                self._kept.move_to_end((checksum, divided))
                return DecodedPicture(image, divided)
        return None

    def _keep(self, key: tuple[str, int], image: Image.Image) -> None:
        self._kept[key] = image
        self._kept_bytes += _bytes(image)
        self._shrink(self.memory, but=key)

    def _shrink(self, limit: int, but: tuple[str, int] | None = None) -> None:
        while self._kept_bytes > limit and self._kept:
            key = next(iter(self._kept))
            if key == but:
                break
            self._kept_bytes -= _bytes(self._kept.pop(key))


def _bytes(image: Image.Image) -> int:
    # Pillow stores a pixel of three bands in four bytes.
    return image.width * image.height * (1 if image.mode == "L" else 4)


_engines: weakref.WeakKeyDictionary[Engine, DecodedPictures] = weakref.WeakKeyDictionary()
_making = threading.Lock()


def pictures_of(engine: Engine) -> DecodedPictures:
    """Return the decoded pictures of an engine; they are released with it."""
    with _making:
        decoded_pictures = _engines.get(engine)
        if decoded_pictures is None:
            decoded_pictures = _engines[engine] = DecodedPictures()
        return decoded_pictures


def decode(source: Source, level: int, rows: tuple[int, int] | None = None) -> DecodedPicture:
    """Decode the picture upright, in grey or RGB, divided by *level*; *rows* alone if stored upright."""
    turned = source.orientation >= 5
    width, height = (source.height, source.width) if turned else (source.width, source.height)
    shrink = (max(1, width // level), max(1, height // level)) if level > 1 else None
    box: tuple[int, int, int, int] | None = None
    top = 0
    if rows is not None:
        # A few more than requested: shrinking uses the neighbours of a pixel.
        top = max(0, rows[0] // level - 8)
        bottom = -(-rows[1] // level) + 8
        stored = 1 if source.mime_type == "image/jpeg" else level
        box = 0, top * stored, source.width, bottom * stored
    image = open_image(
        source.path, max_pixels=source.max_pixels, shrink_to=shrink, box=box, name="The picture"
    )
    if box is not None and _is_deep(image):
        # The white point depends on the lightest pixel of all: a part alone would be lighter than its
        # neighbours.
        image = open_image(source.path, max_pixels=source.max_pixels, shrink_to=shrink, name="The picture")
        top = 0
    profile = image.info.get("icc_profile")
    image = _turn_upright(_on_paper(image), source.orientation if source.mime_type != "image/tiff" else 1)
    if level > 1 and image.width > 1.5 * source.width / level:
        image = image.reduce(level)
    image.info = {"icc_profile": profile} if profile and b"sRGB" not in profile else {}
    return DecodedPicture(image, level, top)


def _turn_upright(image: Image.Image, orientation: int) -> Image.Image:
    from PIL import Image

    turn = Image.Transpose
    transposition = {
        2: turn.FLIP_LEFT_RIGHT,
        3: turn.ROTATE_180,
        4: turn.FLIP_TOP_BOTTOM,
        5: turn.TRANSPOSE,
        6: turn.ROTATE_270,
        7: turn.TRANSVERSE,
        8: turn.ROTATE_90,
    }.get(orientation)
    return image if transposition is None else image.transpose(transposition)


def _is_deep(image: Image.Image) -> bool:
    """Return whether a pixel has more than eight bits."""
    return image.mode.startswith("I") or image.mode == "F"


def _on_paper(image: Image.Image) -> Image.Image:
    """Convert to grey or RGB: transparent pixels become white, 16 bits become 8."""
    from PIL import Image

    if image.mode in ("L", "RGB"):
        return image
    if image.mode == "1":
        return image.convert("L")
    if _is_deep(image):
        _, highest = image.getextrema()
        assert isinstance(highest, int | float)
        scale = 255 / max(float(highest), 1.0)
        return image.point(lambda value: value * scale + 0).convert("L")
    if image.mode in ("LA", "RGBA", "PA") or "transparency" in image.info:
        over = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", over.size, "white"), over).convert("RGB")
    return image.convert("RGB")


def level_for(request: ImageRequest) -> int:
    """Return the coarsest level that still has every pixel the request needs."""
    _, _, width, height = request.region
    across, down = request.size
    # A tile at the edge is a few pixels, rounded up: its scale alone would call for a finer level.
    return next(
        level
        for level in LEVELS
        if level == 1 or (across <= -(-width // level) and down <= -(-height // level))
    )


def render(pictures: DecodedPictures, source: Source, request: ImageRequest) -> bytes:
    """Return the requested piece, encoded. Invalid with the reason for a damaged file."""
    _, top, _, height = request.region
    decoded = pictures.get(source, level_for(request), (top, top + height))
    profile = decoded.image.info.get("icc_profile")
    piece = _cut(decoded, source, request)
    if request.mirrored or request.rotation:
        piece = _turn_image(piece, request)
    if request.quality in ("gray", "bitonal"):
        piece, profile = piece.convert("L"), None
    if request.quality == "bitonal":
        edge = _threshold(piece)
        piece = piece.point(lambda value: 255 if value > edge else 0)
    return _encode_image(piece, request, profile)


def _cut(decoded: DecodedPicture, source: Source, request: ImageRequest) -> Image.Image:
    from PIL import Image

    image, level = decoded.image, decoded.level
    left, top, width, height = request.region
    if level == 1 and request.size == (width, height):
        if request.region == (0, 0, *image.size):
            return image
        return image.crop((left, top - decoded.top, left + width, top - decoded.top + height))
    across, down = image.width / source.width, -(-source.height // level) / source.height
    box = (
        left * across,
        top * down - decoded.top,
        min((left + width) * across, image.width),
        min((top + height) * down - decoded.top, image.height),
    )
    if request.size == image.size and box == (0, 0, *image.size):
        return image
    return image.resize(request.size, Image.Resampling.BICUBIC, box=box, reducing_gap=2.0)


def _turn_image(image: Image.Image, request: ImageRequest) -> Image.Image:
    from PIL import Image

    turn = Image.Transpose
    if request.mirrored:
        image = image.transpose(turn.FLIP_LEFT_RIGHT)
    # Pillow rotates counterclockwise, the Image API clockwise.
    turns = {90: turn.ROTATE_270, 180: turn.ROTATE_180, 270: turn.ROTATE_90}
    return image.transpose(turns[request.rotation]) if request.rotation in turns else image


def _threshold(image: Image.Image) -> int:
    """Return the grey that best separates ink from paper (Otsu's method)."""
    counts = image.histogram()[:256]
    total = sum(counts)
    whole = sum(grey * count for grey, count in enumerate(counts))
    best, edge, below, weight = -1.0, 127, 0, 0
    for grey, count in enumerate(counts):
        weight += count
        below += grey * count
        if weight == 0 or weight == total:
            continue
        between = (whole * weight - below * total) ** 2 / (weight * (total - weight))
        if between > best:
            best, edge = between, grey
    return edge


def _encode_image(image: Image.Image, request: ImageRequest, profile: bytes | None) -> bytes:
    file = io.BytesIO()
    extra = {"icc_profile": profile} if profile and image.mode == "RGB" else {}
    if request.format == "jpg":
        image.save(file, "JPEG", quality=JPEG_QUALITY, **extra)
    elif request.format == "webp":
        image.save(file, "WEBP", quality=WEBP_QUALITY, method=2, **extra)
    else:
        if request.quality == "bitonal":
            image = image.convert("1")
        image.save(file, "PNG", compress_level=3, **extra)
    return file.getvalue()
