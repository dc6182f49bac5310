"""What other families may use of IIIF: a picture decoded upright, where that of a referenced canvas is, and language maps."""

from armarium_iiif.downloads import download_picture as download_picture
from armarium_iiif.downloads import public_addresses as public_addresses
from armarium_iiif.image_service import Picture as Picture
from armarium_iiif.image_service import picture as picture
from armarium_iiif.pixels import decode as decode
from armarium_iiif.queries.references import Reference as Reference
from armarium_iiif.queries.references import reference_of as reference_of
from armarium_iiif.texts import language_map as language_map
