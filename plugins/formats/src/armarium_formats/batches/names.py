"""Normalises file names for pairing: ignores Unicode form and case, strips endings, knows meaningful
folders.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import TypeVar
from urllib.parse import unquote

from armarium_documents.api import PICTURE_SUFFIXES
from armarium_formats.labels.names import is_names_file

T = TypeVar("T")

Folder = tuple[str, ...]
"""The folders above a file, outermost first."""

LAYOUT_FOLDERS = frozenset([
    "page", "pagexml", "page-xml", "page_xml", "alto", "xml", "hocr", "tei", "abbyy", "ocr", "gt", "labels",
    "txt",
])  # fmt: skip
"""Folders that hold the layout files of the pictures above them."""

PICTURE_FOLDERS = ("images", "image", "img", "scans", "ocr-d-img", "facsimile")
"""Folders that hold the pictures of the layout files beside them."""

_PICTURE_ENDINGS = frozenset(suffix[1:] for suffix in PICTURE_SUFFIXES)
_INNER = _PICTURE_ENDINGS | {
    *("page", "pagexml", "alto", "hocr", "tei", "abbyy", "gt", "xml", "html", "htm", "ocr", "txt")
}
_SUBTITLES = re.compile(r"\.(?:srt|vtt)$", re.IGNORECASE)
_LANGUAGE = re.compile(r"\.[a-z]{2,3}(?:[-_][a-z]{2,4})?$", re.IGNORECASE)
"""Of subtitles: what programs write before their ending."""
_MADE = frozenset({"bin", "nrm", "raw", "dew", "deskew", "cropped"})


def plain(name: str) -> str:
    """Return a name as it is compared: composed, without case."""
    return _compose(name).casefold()


_IIIF = re.compile(
    r"/([^/]{1,500})/(?:full|square|pct:[\d.,]{1,80}|[\d,]{1,80})/[^/]{1,80}/!?[\d.]{1,20}"
    r"/(?:default|native|colou?r|gr[ae]y|bitonal)\.\w{1,5}$"
)
"""The end of an address of the IIIF Image API: what it is of, then the region, size, turn and quality asked for."""


def last_part(path: str) -> str:
    """Return the file that a path or address names, only for comparison. For a IIIF Image API address, which
    always ends in `default.jpg`, the picture's identifier.
    """
    if "/" in path and (match := _IIIF.search(path.split("?")[0])):
        path = unquote(match.group(1))
    return path.replace("\\", "/").split("?")[0].rstrip("/").rpartition("/")[2]


def layout_stems(name: str) -> list[str]:
    """Return possible picture names for this layout file as it spells them, likeliest first: `a.jpg.xml` is for
    `a.jpg`, else for `a`; `a.en.srt` for `a`.
    """
    stem = _without_ending(name)
    stems = [stem]
    if _SUBTITLES.search(name) and (language := _LANGUAGE.search(stem)):
        stem = stem[: language.start()]
        stems.append(stem)
    while "." in stem and plain(stem.rpartition(".")[2]) in _INNER:
        stem = stem.rpartition(".")[0]
        stems.append(stem)
    return [stem for stem in stems if stem]


def picture_keys(name: str) -> list[str]:
    """Return the names under which a picture is found, as they are compared: its own, its stem, and that of its scan
    (`a.bin.png`).
    """
    return [plain(key) for key in _spelled_keys(name)]


def _spelled_keys(name: str) -> list[str]:
    keys = [name, _without_ending(name)]
    if plain(keys[1].rpartition(".")[2]) in _MADE:
        keys.append(_without_ending(keys[1]))
    return list(dict.fromkeys(key for key in keys if key))


def spelled_alike(name: str, pictures: Sequence[T], name_of: Callable[[T], str]) -> list[T]:
    """Of pictures that *name* may mean, return those spelled exactly so, else those that differ in Unicode form alone, else
    all: `12a` and `12A`, `Straße` and `Strasse` are told apart where both are there.
    """
    for form in (str, _compose):
        matching = [
            picture for picture in pictures if form(name) in map(form, _spelled_keys(name_of(picture)))
        ]
        if matching:
            return matching
    return list(pictures)


def _compose(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def called_picture(name: str) -> bool:
    """Return whether a name ends like a picture's."""
    return plain(name).rpartition(".")[2] in _PICTURE_ENDINGS and "." in name


def is_companion(name: str) -> bool:
    """Return whether a file of this name lists the classes of label files."""
    return is_names_file(name)


def picture_folders(folder: Folder) -> list[Folder]:
    """Return where the pictures of a layout file in *folder* are, likeliest first."""
    folders = [folder, *((*folder, picture_folder) for picture_folder in PICTURE_FOLDERS)]
    if folder:
        above = folder[:-1]
        if plain(folder[-1]) in LAYOUT_FOLDERS:
            folders.append(above)
        folders += [(*above, folder) for folder in PICTURE_FOLDERS]
        if len(folder) > 1 and plain(above[-1]) in LAYOUT_FOLDERS:
            # labels/train/1.txt belongs to images/train/1.jpg.
            folders += [(*above[:-1], picture_folder, folder[-1]) for picture_folder in PICTURE_FOLDERS]
    return list(dict.fromkeys(folders))


def sent_place(filename: str) -> tuple[Folder, str]:
    """Return the folders and the name in a sent file's name, without empty or upward parts."""
    parts = [
        part for part in filename.replace("\\", "/").split("/") if part.strip() and part not in (".", "..")
    ]
    return tuple(parts[:-1]), parts[-1] if parts else "file"


def printable_name(name: str) -> str:
    """Return a name that can be sent as JSON, whatever its bytes."""
    return name.encode("utf-8", "replace").decode()


def _without_ending(name: str) -> str:
    stem, dot, _ = name.rpartition(".")
    return stem if dot and stem else name
