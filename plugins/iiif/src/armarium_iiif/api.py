"""What other families may use of IIIF: a picture decoded upright, where that of a referenced canvas is, and language maps."""

from __future__ import annotations

from armarium_iiif.downloads import download_picture, public_addresses
from armarium_iiif.image_service import Picture, picture
from armarium_iiif.pixels import decode
from armarium_iiif.queries.references import Reference, reference_of
from armarium_iiif.texts import language_map

__all__ = [
    "Picture",
    "Reference",
    "decode",
    "download_picture",
    "language_map",
    "picture",
    "public_addresses",
    "reference_of",
]
