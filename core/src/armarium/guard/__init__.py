"""Limits for untrusted bytes: XML, HTML, images and ZIP archives are opened here and nowhere else.

Every refusal is `Invalid` with a sentence that names the file, what is wrong with it and what was expected. Nothing
here writes, fetches or stores anything; every function may be called from any thread.
"""

from armarium.guard.archives import check_archive as check_archive
from armarium.guard.archives import names_are_guessed as names_are_guessed
from armarium.guard.archives import read_member as read_member
from armarium.guard.closed_places import PathNotAllowed as PathNotAllowed
from armarium.guard.documents import MAX_XML_BYTES as MAX_XML_BYTES
from armarium.guard.documents import parse_xml as parse_xml
from armarium.guard.hypertext import parse_html as parse_html
from armarium.guard.images import MAX_IMAGE_PIXELS as MAX_IMAGE_PIXELS
from armarium.guard.images import TAKEN_IMAGES as TAKEN_IMAGES
from armarium.guard.images import ImageInfo as ImageInfo
from armarium.guard.images import OpenedImage as OpenedImage
from armarium.guard.images import image_info as image_info
from armarium.guard.images import image_kind as image_kind
from armarium.guard.images import open_image as open_image
from armarium.guard.images import open_pages as open_pages
from armarium.guard.places import IsClosed as IsClosed
from armarium.guard.places import names_in as names_in
from armarium.guard.places import open_plain as open_plain
