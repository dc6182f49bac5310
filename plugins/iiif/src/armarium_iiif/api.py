"""What other families may use of IIIF: a picture decoded upright, and language maps."""

from __future__ import annotations

from armarium_iiif.image_service import Picture, picture
from armarium_iiif.pixels import decode
from armarium_iiif.texts import language_map

__all__ = ["Picture", "decode", "language_map", "picture"]
