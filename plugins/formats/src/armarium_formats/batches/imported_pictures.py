"""Finds the documents of an import's pictures at their places below the imported folder."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import BinaryIO, Protocol, TypeVar

from armarium.api import ServiceError, json_text
from armarium_documents.api import FoundEntry, clean_name, documents
from armarium_formats.batches.names import Folder, plain
from armarium_formats.batches.pairing import PictureFile
from armarium_formats.opening import MAX_COMPANION_BYTES
from armarium_source_model.api import passes

Place = tuple[str, ...]


def brought_in(
    raw: sqlite3.Connection, parent_id: str, above: Place, files: Iterable[tuple[FoundEntry, Folder]]
) -> list[PictureFile]:
    """Return the documents of *files*, each with its folder for pairing; a file that was not imported has
    none. *above*: the folder below the parent that the imported folder became.

    A document at a file's place matches if it came from the file's path, else if it has its name, exactly or apart from
    case and Unicode form; of several, the newest.
    """
    pictures: list[PictureFile] = []
    folders: dict[Place, list[str]] = {(): [parent_id]}
    inside: dict[Place, dict[str, PictureFile]] = {}
    for file, folder in files:
        place = (*above, *file.position[:-1])
        if place not in inside:
            inside[place] = _pictures_in(raw, _folders_at(raw, place, folders))
        by_name = inside[place]
        name = file.position[-1]
        picture = by_name.get(str(file.path)) or by_name.get(name) or by_name.get(plain(name))
        if picture is not None:
            pictures.append(replace(picture, folder=folder, name=file.path.name))
    return pictures


def known_among(raw: sqlite3.Connection, digest: str, pictures: Iterable[str], before: str) -> bool:
    """Return whether this digest is a live pass of one of *pictures*, made before the step *before*."""
    rows = raw.execute(
        f"SELECT document_id FROM {passes} WHERE import_checksum = ? AND deleted_at IS NULL AND id < ?",
        (digest, before),
    ).fetchall()
    return bool(rows) and not {row[0] for row in rows}.isdisjoint(pictures)


def _folders_at(raw: sqlite3.Connection, names: Place, folders_by_place: dict[Place, list[str]]) -> list[str]:
    """Return the live folders at this place: several if sibling folders share a name."""
    if names not in folders_by_place:
        folders_by_place[names] = [
            row[0]
            for row in raw.execute(
                f"SELECT id FROM {documents} WHERE parent_id IN (SELECT value FROM json_each(?))"
                " AND deleted_at IS NULL AND doc_type = 'folder' AND name = ?",
                (json_text(_folders_at(raw, names[:-1], folders_by_place)), clean_name(names[-1])),
            )
        ]
    return folders_by_place[names]


def _pictures_in(raw: sqlite3.Connection, folders: list[str]) -> dict[str, PictureFile]:
    """Return the pictures in these folders by name and by original path; the newest of equal ones."""
    rows = raw.execute(
        "SELECT d.name, d.path, d.id, json_extract(d.metadata, '$.width'), json_extract(d.metadata, '$.height'),"
        f" (SELECT count(*) FROM {documents} p WHERE p.parent_id = d.id AND p.doc_type = 'page'"
        "  AND p.deleted_at IS NULL)"
        f" FROM {documents} d WHERE d.parent_id IN (SELECT value FROM json_each(?)) AND d.deleted_at IS NULL"
        " AND d.doc_type = 'file' ORDER BY d.id",
        (json_text(folders),),
    )
    pictures: dict[str, PictureFile] = {}
    for name, path, identity, width, height, pages in rows:
        picture = PictureFile(identity, (), name, (width, height) if width and height else None, pages)
        pictures[plain(name)] = pictures[name] = picture
        if path is not None:
            pictures[path] = picture
    return pictures


class _WithName(Protocol):
    @property
    def name(self) -> str: ...


F = TypeVar("F", bound=_WithName)


def companions_of(
    companions: Mapping[Folder, Sequence[F]], folder: Folder, opened: Callable[[F], BinaryIO]
) -> dict[str, bytes]:
    """Return the files that explain a folder's label files: those beside them, else those of a folder above."""
    contents: dict[str, bytes] = {}
    for place in sorted((above for above in companions if folder[: len(above)] == above), key=len):
        for companion in companions[place]:
            with suppress(OSError, ServiceError), opened(companion) as file:
                if len(data := file.read(MAX_COMPANION_BYTES + 1)) <= MAX_COMPANION_BYTES:
                    contents[companion.name] = data
    return contents
