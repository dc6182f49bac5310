"""Finds the photos of an export in its folder; whatever leads out of it is refused."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any

from armarium.api import Engine, Invalid, Library, ServiceError
from armarium_documents.api import taken_in

if TYPE_CHECKING:
    from armarium_formats.tropy.reader import TropyPart

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_MD5 = re.compile(r"[0-9a-f]{32}")


def key_of(photo: TropyPart) -> str:
    """Return what identifies a photo from one export to the next: the checksum of its file, else its path; and its page."""
    checksum = str(photo.own.get("checksum", ""))
    return f"{checksum if _MD5.fullmatch(checksum) else photo.own.get('path', '')}#{photo.own.get('page', 0)}"


def find_photo(photo: TropyPart, root: Path) -> Path:
    """Return the file of a photo below *root*. Tropy writes full paths: one that leads elsewhere stands for the file of that
    name directly in the folder, if it has the checksum that the export states. Invalid says why there is none.
    """
    stated = str(photo.own.get("path", "")).strip()
    if photo.own.get("protocol", "file") != "file" or (
        _SCHEME.match(stated) and not PureWindowsPath(stated).drive
    ):
        raise Invalid(
            "It is at an address; nothing is fetched. Put the picture beside the export.",
            code="photo_elsewhere",
        )
    parts = PurePosixPath(stated.replace("\\", "/"))
    if not parts.name or "\0" in stated:
        raise Invalid("It names no file.", code="photo_elsewhere")
    within = (root / parts).resolve()
    if within.is_relative_to(root) and within.is_file():
        return within
    beside = root / parts.name
    if beside.is_file() and not beside.is_symlink():
        with beside.open("rb") as file:
            if hashlib.file_digest(file, "md5").hexdigest() == photo.own.get("checksum"):
                return beside
    if within.is_relative_to(root):
        raise Invalid("There is no such file beside the export.", code="photo_missing")
    raise Invalid(
        "It lies outside the folder of the export, and the folder has no file of this name with its checksum. "
        "Copy the picture beside the export.",
        code="photo_elsewhere",
    )


def take_photo(engine: Engine, library: Library, photo: TropyPart, root: Path) -> dict[str, Any]:
    """Store the picture of a photo; return its node for `document.add_files`. Invalid says why it cannot be taken."""
    path = find_photo(photo, root)
    limit = engine.settings.max_image_pixels
    try:
        nodes, source = taken_in(library, path, path.name, shown_path=path, max_pixels=limit)
    except (ServiceError, ValueError, OSError) as fault:
        raise Invalid(
            f"It cannot be taken: {getattr(fault, 'detail', fault)}", code="photo_unreadable"
        ) from None
    if source.pages or source.is_recording:
        raise Invalid(
            "It is a page of a file of several pages, or a recording; import that file itself.",
            code="photo_of_pages",
        )
    return nodes[0]
