"""Renditions for people and readers: enhanced, background removed, binarised (OpenCV).

Each has the pixel size of its upright source, so that shapes measured on one are valid on the other.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from armarium.api import Library, open_image
from armarium_documents.api import LONGEST_JPEG
from armarium_images.pieces import Piece, find_remembered, remember
from armarium_images.schemas import Treatment

if TYPE_CHECKING:
    from PIL import Image

    # OpenCV's own types only say that it is an array.
    Pixels = Any

JPEG_QUALITY = 92

_LIGHT_SIDE = 1000
"""The longest side, in pixels, at which the light that fell on the paper is estimated: it changes slowly."""
_WHITEST = 235
"""Where the paper is taken away: what is lighter than this part of 255 of the paper around it is paper."""

_DARKER = 1.5
"""The exponent that darkens what is left when the paper is taken away."""


def treat_picture(
    library: Library, checksum: str, name: str, how: Treatment, contrast: float, *, max_pixels: int
) -> Piece:
    """Return the picture *checksum* treated; made if it is not remembered.

    *contrast* (1 to 8) is how far `enhanced` raises local contrast. Raises Invalid with the reason for a
    damaged picture, Unavailable when the project's disk is full.
    """
    lift = f" {contrast:g}" if how == "enhanced" else ""
    description = f"{checksum} {how}{lift} q{JPEG_QUALITY}"
    remembered = find_remembered(library, description)
    if remembered is not None:
        return remembered
    library.objects.size(checksum)
    with library.objects.hold_file(checksum) as path:
        source = open_image(path, max_pixels=max_pixels, name=f"“{name}”")
    piece = store(library, treat(source, how, contrast), source.info.get("icc_profile"))
    remember(library, description, piece)
    return piece


def treat(source: Image.Image, how: Treatment, contrast: float = 2.0) -> Image.Image:
    """Return *source* upright and treated: L or RGB, mode 1 if binarised."""
    import numpy
    from PIL import Image, ImageOps

    pixels = numpy.asarray(plain(ImageOps.exif_transpose(source)))
    if how == "enhanced":
        return Image.fromarray(_enhance_contrast(pixels, contrast))
    if how == "background-removed":
        return Image.fromarray(_without_paper(pixels))
    return Image.fromarray(ink_of(pixels)).convert("1", dither=Image.Dither.NONE)


def plain(image: Image.Image) -> Image.Image:
    """Convert to 8 bits per channel, grey or RGB; transparency becomes white."""
    from PIL import Image

    if image.mode in ("L", "RGB"):
        return image
    if image.mode in ("1", "I", "I;16", "I;16B", "F"):
        if image.mode != "1":
            low, high = image.getextrema()
            scale = 255.0 / (high - low) if high > low else 0.0  # type: ignore[operator]
            image = image.convert("F").point(lambda value: value * scale - low * scale)  # type: ignore[operator]
        return image.convert("L")
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        flattened = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", flattened.size, "white"), flattened).convert("RGB")
    return image.convert("RGB")


def _estimate_paper(channel: Pixels) -> Pixels:
    """Return the lightness of the paper behind the writing, as large as *channel*; nowhere 0."""
    import cv2
    import numpy

    height, width = channel.shape
    scale = min(1.0, _LIGHT_SIDE / max(height, width))
    small = cv2.resize(
        channel,
        (max(1, round(width * scale)), max(1, round(height * scale))),
        interpolation=cv2.INTER_AREA,
    )
    # Strokes are dark and narrow: the local maximum is the paper; the median removes specks.
    reach = max(3, max(small.shape) // 40 | 1)
    paper = cv2.medianBlur(
        cv2.dilate(small, numpy.ones((reach, reach), numpy.uint8)), min(2 * reach + 1, 101)
    )
    grown = cv2.resize(paper, (width, height), interpolation=cv2.INTER_LINEAR)
    return numpy.maximum(grown, 1).astype(numpy.uint8)


def _even_light(channel: Pixels, to: float) -> Pixels:
    """Return *channel* as if evenly lit: paper becomes *to*."""
    import cv2

    return cv2.divide(channel, _estimate_paper(channel), scale=to)


def _enhance_contrast(pixels: Pixels, contrast: float) -> Pixels:
    import cv2
    import numpy

    colour = pixels.ndim == 3
    parts: list[Any] = list(cv2.split(cv2.cvtColor(pixels, cv2.COLOR_RGB2LAB))) if colour else [pixels]
    # The paper keeps its own lightness: an old page does not turn white.
    tone = float(numpy.median(_estimate_paper(parts[0])))
    lifted = cv2.createCLAHE(clipLimit=contrast, tileGridSize=(8, 8)).apply(_even_light(parts[0], tone))
    parts[0] = cv2.addWeighted(lifted, 1.5, cv2.GaussianBlur(lifted, (0, 0), 1.2), -0.5, 0)
    return cv2.cvtColor(cv2.merge(parts), cv2.COLOR_LAB2RGB) if colour else parts[0]


def _without_paper(pixels: Pixels) -> Pixels:
    import cv2
    import numpy

    parts: list[Any] = list(cv2.split(pixels)) if pixels.ndim == 3 else [pixels]
    # Anything lighter than `_WHITEST` is paper and becomes white; the rest is darkened, so that faint ink
    # stays legible.
    values = numpy.minimum(numpy.arange(256) / _WHITEST, 1.0)
    curve = numpy.rint(255 * values**_DARKER).astype(numpy.uint8)
    whitened = [cv2.LUT(_even_light(part, 255.0), curve) for part in parts]
    return cv2.merge(whitened) if len(whitened) > 1 else whitened[0]


def ink_of(pixels: Pixels) -> Pixels:
    """Return the ink of a picture (rows by columns, grey or RGB, 8 bits): 0 for ink, 255 elsewhere."""
    import cv2

    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY) if pixels.ndim == 3 else pixels
    flat = cv2.GaussianBlur(_even_light(grey, 255.0), (0, 0), 0.8)
    around = max(11, max(flat.shape) // 60 | 1)
    return cv2.adaptiveThreshold(flat, 255, cv2.ADAPTIVE_THRESH_GAUSSIAN_C, cv2.THRESH_BINARY, around, 15)


def store(library: Library, image: Image.Image, profile: bytes | None) -> Piece:
    """Encode a derived picture (1, L or RGB) and store it in the project, with a colour profile if it fits."""
    file = io.BytesIO()
    if image.mode == "1" or max(image.size) > LONGEST_JPEG:
        image.save(file, "PNG")
        mime_type = "image/png"
    else:
        # A profile of another colour model (CMYK, say) does not fit a picture converted to RGB.
        fits = profile is not None and profile[16:20] == {"L": b"GRAY", "RGB": b"RGB "}[image.mode]
        image.save(
            file, "JPEG", quality=JPEG_QUALITY, subsampling=0, **({"icc_profile": profile} if fits else {})
        )
        mime_type = "image/jpeg"
    data = file.getvalue()
    return Piece(library.objects.put_bytes(data), len(data), mime_type, image.width, image.height)
