"""Finds the files of an export in its folder; whatever leads out of it is refused."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from armarium.api import Engine, Invalid, Library, ServiceError
from armarium_documents.api import taken_in

if TYPE_CHECKING:
    from armarium_formats.items.parts import ItemPart

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_MD5 = re.compile(r"[0-9a-f]{32}")


def key_of(part: ItemPart) -> str:
    """Return what identifies a file from one export to the next: the program's key, the checksum of the file, else its path;
    and its page.
    """
    checksum = str(part.own.get("checksum", ""))
    name = checksum if _MD5.fullmatch(checksum) else part.own.get("path", "")
    return str(part.own.get("key") or f"{name}#{part.own.get('page', 0)}")


def find_file(part: ItemPart, root: Path) -> Path:
    """Return the file of *part* below *root*. One with a full path or an address elsewhere stands for the file of that name
    directly in the folder, if it has the checksum that the export states; where the program states none, an address
    stands for the file of its name. Invalid says why there is none.
    """
    path = str(part.own.get("path", "")).strip().removeprefix("attachments:")
    at_address = part.own.get("protocol", "file") != "file" or (
        _SCHEME.match(path) is not None and not PureWindowsPath(path).drive
    )
    parts = PurePosixPath(path.partition("?")[0] if at_address else path.replace("\\", "/"))
    if not parts.name or "\0" in unquote(path):
        raise Invalid("It names no file.", code="file_elsewhere")
    within = (root / parts).resolve()
    for candidate in () if at_address else (within, (root / unquote(str(parts))).resolve()):
        if candidate.is_relative_to(root) and candidate.is_file():
            return candidate
    beside = root / (unquote(parts.name) if at_address else parts.name)
    if "/" not in beside.name and beside.is_file() and not beside.is_symlink() and beside.parent == root:
        with beside.open("rb") as file:
            if part.own.get("by_name") or hashlib.file_digest(file, "md5").hexdigest() == part.own.get(
                "checksum"
            ):
                return beside
    if at_address:
        raise Invalid(
            "It is at an address; nothing is fetched. Put the file beside the export.", code="file_elsewhere"
        )
    if within.is_relative_to(root):
        raise Invalid("There is no such file beside the export.", code="file_missing")
    raise Invalid(
        "It lies outside the folder of the export, and the folder has no file of this name with its checksum. "
        "Copy the file beside the export.",
        code="file_elsewhere",
    )


def take_file(engine: Engine, library: Library, part: ItemPart, root: Path) -> list[dict[str, Any]]:
    """Store a file and return its nodes for `document.add_files`, its pages after it. Invalid says why it cannot be taken."""
    path = find_file(part, root)
    limit = engine.settings.max_image_pixels
    try:
        call = engine.workers.call_light
        nodes, source = taken_in(library, path, path.name, shown_path=path, max_pixels=limit, call=call)
    except (ServiceError, ValueError, OSError) as fault:
        raise Invalid(
            f"It cannot be taken: {getattr(fault, 'detail', fault)}", code="file_unreadable"
        ) from None
    if source.pages and part.own.get("page_of_file"):
        raise Invalid(
            "It is a page of a file of several pages; import that file itself.", code="file_of_pages"
        )
    return nodes
