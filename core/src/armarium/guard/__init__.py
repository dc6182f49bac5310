"""Limits for untrusted bytes: XML, HTML, images and ZIP archives are opened here and nowhere else.

Every refusal is `Invalid` with a sentence that names the file, what is wrong with it and what was expected. Nothing
here writes, fetches or stores anything; every function may be called from any thread.
"""

from armarium.guard.archives import check_archive, names_are_guessed, read_member
from armarium.guard.closed_places import PathNotAllowed
from armarium.guard.documents import MAX_XML_BYTES, parse_xml
from armarium.guard.hypertext import parse_html
from armarium.guard.images import (
    MAX_IMAGE_PIXELS,
    TAKEN_IMAGES,
    ImageInfo,
    OpenedImage,
    image_info,
    image_kind,
    open_image,
    open_pages,
)
from armarium.guard.places import IsClosed, names_in, open_plain

__all__ = [
    "MAX_IMAGE_PIXELS",
    "MAX_XML_BYTES",
    "TAKEN_IMAGES",
    "ImageInfo",
    "IsClosed",
    "OpenedImage",
    "PathNotAllowed",
    "check_archive",
    "image_info",
    "image_kind",
    "names_are_guessed",
    "names_in",
    "open_image",
    "open_pages",
    "open_plain",
    "parse_html",
    "parse_xml",
    "read_member",
]
