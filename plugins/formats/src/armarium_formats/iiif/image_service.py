"""The Image API over renditions: which picture an id names, its information document, and its pieces."""

from __future__ import annotations

import hashlib
from typing import Any, Final, NamedTuple

from armarium.api import Engine, Library, raw_of
from armarium_formats.iiif.errors import NoSuchPicture
from armarium_formats.iiif.image_request import FORMATS, MAX_AREA, ImageRequest, parse_request
from armarium_formats.iiif.pixels import Source, pictures_of, render
from armarium_formats.iiif.places import IMAGE, Places

Json = dict[str, Any]

TILE: Final = 512

_PICTURE = """
SELECT r.id, r.checksum, r.pixel_width, r.pixel_height, COALESCE(json_extract(r.params, '$.exif_orientation'), 1),
 r.mime_type FROM rendition r WHERE {} AND r.materialized AND r.checksum IS NOT NULL AND r.pixel_width > 0
 AND r.pixel_height > 0
"""
_BY_RENDITION = _PICTURE.format("r.id = ?")
_BY_DOCUMENT = _PICTURE.format("r.document_id = ? AND r.is_primary")


class Picture(NamedTuple):
    """A picture as the image service knows it. `lasting`: the id will always name these very bytes."""

    identifier: str
    source: Source
    lasting: bool

    @property
    def size(self) -> tuple[int, int]:
        return self.source.width, self.source.height


def picture(engine: Engine, library: Library, identifier: str) -> Picture:
    """The rendition of that id, or the primary one of the document of that id; NoSuchPicture."""
    with library.db.read() as conn:
        raw = raw_of(conn)
        row = raw.execute(_BY_RENDITION, (identifier,)).fetchone()
        lasting = row is not None
        if row is None:
            row = raw.execute(_BY_DOCUMENT, (identifier,)).fetchone()
    if row is None:
        raise NoSuchPicture(identifier)
    source = Source(
        library.objects.path(row[1]), row[1], row[2], row[3], int(row[4]), row[5], engine.settings.max_image_pixels
    )  # fmt: skip
    return Picture(identifier, source, lasting)


def information(places: Places, found: Picture) -> Json:
    """The information document (info.json)."""
    width, height = found.size
    factors = [1]
    while TILE * factors[-1] < max(width, height):
        factors.append(factors[-1] * 2)
    halved = [(max(1, round(width / factor)), max(1, round(height / factor))) for factor in reversed(factors)]
    sizes = [{"width": across, "height": down} for across, down in halved if across * down <= MAX_AREA]
    return {
        "@context": IMAGE,
        "id": places.image(found.identifier),
        "type": "ImageService3",
        "protocol": "http://iiif.io/api/image",
        "profile": "level2",
        "width": width,
        "height": height,
        "maxArea": MAX_AREA,
        "sizes": sizes,
        "tiles": [{"width": TILE, "height": TILE, "scaleFactors": factors}],
        "preferredFormats": ["jpg"],
        "extraFormats": [name for name in FORMATS if name not in ("jpg", "png")],
        "extraQualities": ["color", "gray", "bitonal"],
        "extraFeatures": ["canonicalLinkHeader", "mirroring", "profileLinkHeader", "sizeUpscaling"],
    }


def piece(
    found: Picture, region: str, size: str, rotation: str, quality: str, file_format: str
) -> tuple[ImageRequest, str]:
    """The piece of a picture that an address asks for, and its ETag; BadImageRequest in words."""
    request = parse_request(found.size, region, size, rotation, quality, file_format)
    digest = hashlib.sha256(f"{found.source.checksum} {request.canonical}".encode()).hexdigest()
    return request, f'"{digest[:32]}"'


def piece_bytes(engine: Engine, library: Library, found: Picture, request: ImageRequest) -> bytes:
    """The piece, encoded. NotFound where the file is lost from the project, Invalid where it is damaged."""
    library.objects.size(found.source.checksum)
    return render(pictures_of(engine), found.source, request)
