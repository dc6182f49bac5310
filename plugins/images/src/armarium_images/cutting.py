"""Cuts pieces out of pictures, stores them as objects, and remembers them so that a step only writes rows.

The content of a piece follows from the source's digest, its rectangle and its orientation (see `pieces`).
Every picture is opened through the guard.
"""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from armarium.api import Library, ServiceError, open_image
from armarium_images.orientation import INVERSE, UPRIGHT, Box, turn_box
from armarium_images.pieces import Piece, find_remembered, remember

if TYPE_CHECKING:
    from PIL import Image

JPEG_QUALITY = 95
"""A piece of a JPEG is encoded once more; at this quality writing shows no second loss."""

REFUSALS_HELD = 16
"""Refused pictures that are remembered between the cutting ahead of a step and the step."""

_ORIENTATION_TAG = 0x0112


class Frame(NamedTuple):
    """A source's picture: the upright frame that boxes and fractions refer to, and how the file is stored."""

    source_id: str
    name: str
    rendition_id: str
    checksum: str
    width: int
    height: int
    orientation: int
    as_stored: bool
    """The piece is to stand as the bytes do, not upright (auto_orient false)."""

    @property
    def turned_back(self) -> int:
        """Return the orientation that would turn a piece upright; 1 if pieces are."""
        return self.orientation if self.as_stored else UPRIGHT


def cut_pieces(library: Library, frame: Frame, boxes: Sequence[Box], *, max_pixels: int) -> list[Piece]:
    """Return the pieces *boxes* of *frame*; the picture is opened only if one does not exist yet.

    Raises Invalid with the reason for a damaged picture, Unavailable when the project's disk is full. A
    refusal is remembered: a step requests again what was cut ahead of it, while holding the writer.
    """
    remembered = [find_remembered(library, _outside_words(frame, box)) for box in boxes]
    if all(piece is not None for piece in remembered):
        return [piece for piece in remembered if piece is not None]
    library.objects.size(frame.checksum)
    stored = library.objects.path(frame.checksum)
    refused: dict[tuple[object, ...], ServiceError] = library.held.setdefault("images.refused", {})
    # With the file's time, so that a repaired file is examined again.
    picture = (frame.checksum, frame.name, os.stat(stored).st_mtime_ns, max_pixels)
    known_refusal = refused.pop(picture, None)
    if known_refusal is not None:
        raise known_refusal.with_traceback(None)
    try:
        with library.objects.hold_file(frame.checksum) as path:
            return _cut_all(library, frame, boxes, remembered, path, max_pixels)
    except ServiceError as refusal:
        if refusal.status < 500:
            while len(refused) >= REFUSALS_HELD:
                refused.pop(next(iter(refused)), None)
            refused[picture] = refusal
        raise


def _cut_all(
    library: Library,
    frame: Frame,
    boxes: Sequence[Box],
    remembered: Sequence[Piece | None],
    path: Path,
    max_pixels: int,
) -> list[Piece]:
    name = f"“{frame.name}”"
    left, top = 0, 0
    if frame.orientation == UPRIGHT:
        missing = [box for box, piece in zip(boxes, remembered, strict=True) if piece is None]
        left, top = min(box.left for box in missing), min(box.top for box in missing)
        right = max(box.left + box.width for box in missing)
        bottom = max(box.top + box.height for box in missing)
        image = open_image(path, max_pixels=max_pixels, name=name, box=(left, top, right, bottom))
    else:
        image = open_image(path, max_pixels=max_pixels, name=name)
    # Pillow applies the orientation of a TIFF when it decodes it, and then omits the tag.
    turn = _orientation_of(image) if frame.orientation != UPRIGHT else UPRIGHT
    profile, lossy = image.info.get("icc_profile"), image.format == "JPEG"
    pieces = []
    for box, remembered_piece in zip(boxes, remembered, strict=True):
        if remembered_piece is None:
            remembered_piece = _store(
                library,
                _cut(image, frame, box._replace(left=box.left - left, top=box.top - top), turn),
                lossy=lossy,
                profile=profile,
            )
            remember(library, _outside_words(frame, box), remembered_piece)
        pieces.append(remembered_piece)
    return pieces


def _orientation_of(image: Image.Image) -> int:
    value = image.getexif().get(_ORIENTATION_TAG, UPRIGHT)
    return value if value in INVERSE else UPRIGHT


def _cut(image: Image.Image, frame: Frame, box: Box, turn: int) -> Image.Image:
    """Cut out the piece; only its own pixels are rotated."""
    stored = turn_box(INVERSE[turn], box, frame.width, frame.height)
    corners = (stored.left, stored.top, stored.left + stored.width, stored.top + stored.height)
    piece = _turn_image(image if corners == (0, 0, *image.size) else image.crop(corners), turn)
    return _turn_image(piece, INVERSE[frame.orientation]) if frame.as_stored else piece


def _turn_image(image: Image.Image, orientation: int) -> Image.Image:
    from PIL.Image import Transpose

    transpositions = {
        2: Transpose.FLIP_LEFT_RIGHT,
        3: Transpose.ROTATE_180,
        4: Transpose.FLIP_TOP_BOTTOM,
        5: Transpose.TRANSPOSE,
        6: Transpose.ROTATE_270,
        7: Transpose.TRANSVERSE,
        8: Transpose.ROTATE_90,
    }
    return image.transpose(transpositions[orientation]) if orientation in transpositions else image


def _store(library: Library, image: Image.Image, *, lossy: bool, profile: bytes | None) -> Piece:
    """Encode a piece: JPEG for a part of a JPEG, else lossless."""
    file = io.BytesIO()
    if image.mode == "CMYK":
        image, profile = image.convert("RGB"), None
    if lossy and image.mode in ("L", "RGB"):
        image.save(file, "JPEG", quality=JPEG_QUALITY, subsampling=0, icc_profile=profile)
        mime_type = "image/jpeg"
    elif image.mode in ("1", "L", "LA", "P", "RGB", "RGBA", "I;16"):
        # The EXIF data of the whole is not copied to a part: its orientation would rotate the part again.
        image.save(file, "PNG", icc_profile=profile, exif=b"")
        mime_type = "image/png"
    else:
        image.save(file, "TIFF")
        mime_type = "image/tiff"
    data = file.getvalue()
    return Piece(library.objects.put_bytes(data), len(data), mime_type, image.width, image.height)


def _outside_words(frame: Frame, box: Box) -> str:
    return f"{frame.checksum} {frame.orientation} {frame.as_stored} {tuple(box)} q{JPEG_QUALITY}"
