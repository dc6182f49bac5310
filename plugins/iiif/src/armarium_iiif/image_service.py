"""The Image API over renditions: the picture an id names, its information document, and its pieces."""

from __future__ import annotations

import hashlib
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam, func, select

from armarium.api import Engine, Library, image_info
from armarium_documents.api import renditions
from armarium_iiif.errors import unknown_picture
from armarium_iiif.image_request import FORMATS, MAX_AREA, ImageRequest, parse_request
from armarium_iiif.pixels import Source, pictures_of, render
from armarium_iiif.places import IMAGE, Places

Json = dict[str, Any]

TILE: Final = 512

_R = renditions.c
_PICTURE = select(
    _R.id,
    _R.checksum,
    _R.pixel_width,
    _R.pixel_height,
    func.coalesce(func.json_extract(_R.params, "$.exif_orientation"), 1),
    _R.mime_type,
).where(_R.materialized, _R.checksum.is_not(None), _R.pixel_width > 0, _R.pixel_height > 0)
_BY_RENDITION = _PICTURE.where(_R.id == bindparam("identity"))
_BY_DOCUMENT = _PICTURE.where(_R.document_id == bindparam("identity"), _R.is_primary)


class Picture(NamedTuple):
    """A picture as the image service knows it. `lasting`: the id will always name the same bytes."""

    identifier: str
    source: Source
    lasting: bool

    @property
    def size(self) -> tuple[int, int]:
        return self.source.width, self.source.height


def picture(engine: Engine, library: Library, identifier: str) -> Picture:
    """Return the rendition of that id, or the primary one of the document of that id; NotFound."""
    with library.db.read() as conn:
        row = conn.execute(_BY_RENDITION, {"identity": identifier}).first()
        lasting = row is not None
        if row is None:
            row = conn.execute(_BY_DOCUMENT, {"identity": identifier}).first()
    if row is None:
        raise unknown_picture(identifier)
    most = engine.settings.max_image_pixels
    if (reduced := library.objects.find_reduced(row[1])) is not None:
        # In a branch that came as a file: another picture than the file's, which may come later under the same id.
        size = image_info(reduced).upright_size
        return Picture(identifier, Source(reduced, f"{row[1]} reduced", *size, 1, "image/jpeg", most), False)
    source = Source(library.objects.path(row[1]), row[1], row[2], row[3], int(row[4]), row[5], most)
    return Picture(identifier, source, lasting)


def information(places: Places, image: Picture) -> Json:
    """Return the information document (info.json)."""
    width, height = image.size
    factors = [1]
    while TILE * factors[-1] < max(width, height):
        factors.append(factors[-1] * 2)
    halved = [(max(1, round(width / factor)), max(1, round(height / factor))) for factor in reversed(factors)]
    sizes = [{"width": across, "height": down} for across, down in halved if across * down <= MAX_AREA]
    return {
        "@context": IMAGE,
        "id": places.image(image.identifier),
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
    image: Picture, region: str, size: str, rotation: str, quality: str, file_format: str
) -> tuple[ImageRequest, str]:
    """Return the requested piece of a picture and its ETag; BadImageRequest with the reason."""
    request = parse_request(image.size, region, size, rotation, quality, file_format)
    digest = hashlib.sha256(f"{image.source.checksum} {request.canonical}".encode()).hexdigest()
    return request, f'"{digest[:32]}"'


def piece_bytes(engine: Engine, library: Library, image: Picture, request: ImageRequest) -> bytes:
    """Return the encoded piece. NotFound if the file is missing from the project, Invalid if it is damaged."""
    if not image.source.path.is_file():
        library.objects.size(image.source.checksum)
    return render(pictures_of(engine), image.source, request)
