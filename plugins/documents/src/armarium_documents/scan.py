"""Walks what is to be imported in the order of names: files to import, to refuse, or to leave to other families.

Nothing is opened or changed here.
"""

from __future__ import annotations

import stat
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from armarium.api import TAKEN_IMAGES, Invalid, PathNotAllowed, name_key, names_in

LAYOUT_SUFFIXES = frozenset({".xml", ".hocr", ".html", ".htm", ".tei", ".alto", ".page", ".mets"})
"""Files beside pictures that other families read (PAGE, ALTO, TEI, hOCR, METS)."""

TEXT_SUFFIXES = frozenset(
    {".txt", ".box", ".points", ".json", ".yaml", ".yml", ".names", ".gt", ".srt", ".vtt"}
)
"""Files beside pictures and recordings that may be label files, box files, subtitles or plain text, where a family is here
that reads them."""

PICTURE_SUFFIXES = frozenset(
    {
        *(".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".tif", ".tiff", ".webp", ".jp2", ".j2k", ".jpf", ".jpx"),
        *(".bmp", ".gif", ".avif", ".heic", ".heif", ".hif", ".pdf"),
    }
)

RECORDING_SUFFIXES = frozenset({".wav", ".flac", ".ogg", ".oga", ".opus", ".mp3", ".m4a"})
"""Recordings of speech, which are kept as they are."""

_SYSTEM_NAMES = frozenset({"thumbs.db", "desktop.ini", "__macosx"})

PROJECT = ".library"
"""What a project's folder ends in; its files are not imported from beneath it."""

MAX_LEVELS = 60
"""How deep folders are followed; deeper ones are refused, so that the project's tree stays within its limit."""

Position = tuple[str, ...]
"""A file's place: the names of its folders and itself, below the folder imported."""


@dataclass(frozen=True, slots=True)
class FoundEntry:
    """One entry of a walk: a file to import, one left to another family, or one refused with a reason."""

    kind: Literal["file", "left", "refused"]
    position: Position
    path: Path
    why: str | None = None
    real: Path | None = None
    """Where its bytes lie, which is another place where *path* is a link."""

    @property
    def source(self) -> Path:
        """Return the path to read from, checked to contain no link."""
        return self.real or self.path


def walk_folder(
    root: Path, *, recursive: bool, after: Position = (), left: frozenset[str] | None = None
) -> Iterator[FoundEntry]:
    """Yield everything in *root* in the order of names (`name_key`), depth first; with *after*, only what follows that
    position.

    *root* is absolute and already resolved: links in it are not followed. Files with an ending of *left*
    (None: LAYOUT_SUFFIXES) are left to others. Links are followed only to files inside *root*. Hidden files
    and system files are skipped.
    """
    yield from _walk(root, root, (), recursive, after, left)


def _walk(
    root: Path,
    folder: Path,
    above: Position,
    recursive: bool,
    after: Position,
    left_suffixes: frozenset[str] | None,
) -> Iterator[FoundEntry]:
    try:
        entries = sorted(names_in(folder), key=lambda entry: name_key(entry[0]))
    except OSError as error:
        yield FoundEntry("refused", above, folder, f"The folder cannot be read: {error.strerror or error}.")
        return
    except (Invalid, PathNotAllowed) as refusal:
        yield FoundEntry("refused", above, folder, refusal.detail)
        return
    bound = name_key(after[0]) if after else None
    for name, is_folder in entries:
        if name.startswith(".") or name.casefold() in _SYSTEM_NAMES:
            continue
        position = (*above, name)
        inner: Position = ()
        if bound is not None:
            key = name_key(name)
            if key < bound:
                continue
            if key == bound:
                if len(after) == 1:
                    continue
                inner = after[1:]
        path = folder / name
        if is_folder:
            if not recursive:
                continue
            if path.suffix.casefold() == PROJECT:
                yield FoundEntry(
                    "refused", position, path, "It is a project; use a transfer to bring its documents."
                )
            elif len(position) > MAX_LEVELS:
                yield FoundEntry(
                    "refused",
                    position,
                    path,
                    f"Folders are followed to a depth of {MAX_LEVELS}; this one is deeper.",
                )
            elif (why := name_fault(name)) is not None:
                yield FoundEntry("refused", position, path, why)
            else:
                yield from _walk(root, path, position, recursive, inner, left_suffixes)
        else:
            yield classify(path, position, root, left_suffixes)


def named_files(
    paths: Sequence[str], *, after: int = 0, left: frozenset[str] | None = None
) -> Iterator[tuple[int, FoundEntry]]:
    """Yield the files *paths* in the order given, from number *after* on, each with its number."""
    for number, place in enumerate(paths):
        if number >= after:
            path = Path(place)
            yield number, classify(path, (path.name,), None, left)


def classify(
    path: Path, position: Position, root: Path | None, left_suffixes: frozenset[str] | None
) -> FoundEntry:
    """Decide by name and kind what to do with the file at *path*; *root* bounds where links may lead."""
    why, real = name_fault(path.name), None
    if why is None:
        why, real = _looked_over(path, root)
    if why is not None:
        return FoundEntry("refused", position, path, why)
    suffix = path.suffix.casefold()
    if suffix in (LAYOUT_SUFFIXES if left_suffixes is None else left_suffixes):
        return FoundEntry("left", position, path, real=real)
    # What a file without an ending contains is seen when it is opened.
    if suffix == ".zip":
        why = "An archive within a folder is not opened: import the archive itself, or unpack it."
        return FoundEntry("refused", position, path, why)
    if suffix and suffix not in PICTURE_SUFFIXES | RECORDING_SUFFIXES:
        return FoundEntry(
            "refused",
            position,
            path,
            f"Files that end in {path.suffix} are not imported: {TAKEN_IMAGES} or a PDF was expected, or a recording as "
            "WAV, FLAC, Ogg, MP3 or M4A.",
        )
    return FoundEntry("file", position, path, real=real)


def name_fault(name: str) -> str | None:
    """Return why a file or folder of this name is not imported, or None."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return "Its name is not UTF-8; rename it."
    if not name.strip():
        return "Its name is blank; rename it."
    for character in name:
        if unicodedata.category(character) == "Cc" or character in "\u2028\u2029":
            return f"Its name contains the control character U+{ord(character):04X}; rename it."
    return None


def _looked_over(path: Path, root: Path | None) -> tuple[str | None, Path | None]:
    """Return why the file at *path* is refused, or None; and the target of a link to a file in *root*."""
    real = None
    try:
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            real = path.resolve(strict=True)
            # A file that was named explicitly has a resolved path: it has since become a link.
            if root is None or not real.is_relative_to(root):
                return (
                    "It is a link to a place outside the folder; copy the file itself into the folder.",
                    None,
                )
            status = real.stat()
            if stat.S_ISDIR(status.st_mode):
                return "It is a link to a folder; links to folders are not followed.", None
    except FileNotFoundError:
        return "It no longer exists, or is a broken link.", None
    except (OSError, RuntimeError) as error:
        return f"It cannot be read: {getattr(error, 'strerror', None) or error}.", None
    if not stat.S_ISREG(status.st_mode):
        return "It is not an ordinary file.", None
    if status.st_size == 0:
        return "It is empty (0 bytes). Copy it again from the original.", None
    return None, real
