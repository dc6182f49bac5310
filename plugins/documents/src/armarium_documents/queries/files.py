"""Renditions, artifacts, representations and thumbnails as JSON, and the files behind them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Boolean, Connection, Table

from armarium.api import Json, Library, raw_of
from armarium_documents.errors import (
    no_picture,
    no_thumbnail,
    not_materialized,
    unknown_artifact,
    unknown_document,
    unknown_rendition,
    unknown_representation,
)
from armarium_documents.models import artifacts, renditions, representations, revisions
from armarium_documents.queries.tree import require_document

THUMBNAIL_SIDE = 512
"""Longest side of a thumbnail in pixels."""

ROLES = ("archival-original", "enhanced", "background-removed", "binarised", "derived")
"""Roles in the order renditions are shown after the primary; other words follow (A 2.1)."""

_ROLE_RANK = (
    "CASE role "
    + " ".join(f"WHEN '{role}' THEN {rank}" for rank, role in enumerate(ROLES))
    + f" ELSE {len(ROLES)} END"
)


class _Shape:
    """How the rows of one table become JSON."""

    def __init__(self, table: Table) -> None:
        self.names = tuple(str(column.name) for column in table.columns)
        self.flags = tuple(str(column.name) for column in table.columns if isinstance(column.type, Boolean))
        self.json = tuple(str(column.name) for column in table.columns if isinstance(column.type, Json))
        self.select = ", ".join(f'"{name}"' for name in self.names)

    def value(self, row: Sequence[Any], *, plain: bool = False) -> dict[str, Any]:
        """The row for orjson, stored JSON untouched; with *plain*, as Python values."""
        value = dict(zip(self.names, row, strict=True))
        for name in self.flags:
            value[name] = value[name] == 1
        for name in self.json:
            if value[name] is not None:
                value[name] = orjson.loads(value[name]) if plain else orjson.Fragment(value[name])
        return value


_RENDITION = _Shape(renditions)
_ARTIFACT = _Shape(artifacts)
_REPRESENTATION = _Shape(representations)
_REVISION = _Shape(revisions)


def _known(raw: sqlite3.Connection, document_id: str) -> None:
    if raw.execute("SELECT 1 FROM document WHERE id = ?", (document_id,)).fetchone() is None:
        raise unknown_document(document_id)


def rendition_values(raw: sqlite3.Connection, document_id: str) -> list[dict[str, Any]]:
    """A document's renditions in canonical order: the primary, then by role, then by age (A 2.1)."""
    rows = raw.execute(
        f"SELECT {_RENDITION.select} FROM rendition WHERE document_id = ?"
        f" ORDER BY is_primary DESC, {_ROLE_RANK}, created_at, id",
        (document_id,),
    )
    return [_RENDITION.value(row) for row in rows]


def rendition_list(raw: sqlite3.Connection, document_id: str) -> dict[str, Any]:
    """`{items, count}` of a document's renditions; NotFound for an unknown document."""
    found = rendition_values(raw, document_id)
    if not found:
        _known(raw, document_id)
    return {"items": found, "count": len(found)}


def rendition(conn: Connection, document_id: str, rendition_id: str) -> dict[str, Any]:
    """One rendition of a document as Python values; NotFound for an unknown document or rendition."""
    raw = raw_of(conn)
    row = raw.execute(
        f"SELECT {_RENDITION.select} FROM rendition WHERE id = ? AND document_id = ?",
        (rendition_id, document_id),
    ).fetchone()
    if row is None:
        _known(raw, document_id)
        raise unknown_rendition(document_id, rendition_id)
    return _RENDITION.value(row, plain=True)


class RenditionFile(NamedTuple):
    """The bytes of a rendition on disk."""

    path: Path
    mime_type: str
    checksum: str
    name: str


def rendition_file(library: Library, document_id: str, rendition_id: str) -> RenditionFile:
    """The file of a rendition; NotFound when it is unknown, not materialized, or lost from the package."""
    with library.db.read() as conn:
        found = rendition(conn, document_id, rendition_id)
        name = require_document(conn, document_id).name
    checksum = found["checksum"]
    if not found["materialized"] or checksum is None:
        raise not_materialized(rendition_id)
    library.objects.size(checksum)
    return RenditionFile(library.objects.path(checksum), found["mime_type"], checksum, name)


class PageImage(NamedTuple):
    """The primary picture of a page: an upright image file and its size in pixels."""

    path: Path
    width: int
    height: int
    rendition_id: str
    mime_type: str
    checksum: str


class PrimaryRow(NamedTuple):
    """What is stored of a document's primary picture."""

    rendition_id: str
    mime_type: str
    pixel_width: int
    pixel_height: int
    checksum: str
    exif_orientation: int


def primary_row(conn: Connection, document_id: str) -> PrimaryRow:
    """The primary rendition of a document that is a picture; NotFound in words where there is none."""
    row = (
        raw_of(conn)
        .execute(
            "SELECT id, mime_type, pixel_width, pixel_height, checksum, materialized,"
            " COALESCE(json_extract(params, '$.exif_orientation'), 1)"
            " FROM rendition WHERE document_id = ? AND is_primary",
            (document_id,),
        )
        .fetchone()
    )
    if row is None or row[2] is None or row[3] is None:
        raise no_picture(document_id, require_document(conn, document_id).name)
    if not row[5] or row[4] is None:
        raise not_materialized(row[0])
    return PrimaryRow(row[0], row[1], row[2], row[3], row[4], int(row[6]))


def page_image(library: Library, conn: Connection, document_id: str) -> PageImage:
    """The primary picture of a page as an upright file: pixel (0, 0) is what a person sees top left.

    A file stored turned (EXIF orientation) is turned once into the package's `derived` folder and kept there, so
    every reader and every fraction means the same frame. NotFound when the node has no picture.
    """
    row = primary_row(conn, document_id)
    library.objects.size(row.checksum)
    path, mime_type = library.objects.path(row.checksum), row.mime_type
    if row.exif_orientation != 1:
        path, mime_type = upright_file(library, row.checksum), "image/png"
    return PageImage(path, row.pixel_width, row.pixel_height, row.rendition_id, mime_type, row.checksum)


@contextmanager
def still_image(library: Library, picture: PageImage) -> Iterator[Path]:
    """The file of *picture* for a worker, which opens it by its path: bytes that nobody changes meanwhile.

    Conflict where the picture is kept as a link and was changed where it lies.
    """
    if picture.path != library.objects.path(picture.checksum):
        # Turned upright and kept by the project itself.
        yield picture.path
        return
    with library.objects.still(picture.checksum) as path:
        yield path


def upright_file(library: Library, checksum: str) -> Path:
    """The picture of *checksum* turned upright, as a PNG in the `derived` folder; made when it is not there."""
    import os
    import tempfile

    from PIL import ImageOps

    from armarium.api import open_image

    target = library.derived / "upright" / checksum[:2] / f"{checksum}.png"
    if target.is_file():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with library.objects.still(checksum) as path, open_image(path) as image:
        turned = ImageOps.exif_transpose(image)
        descriptor, temporary = tempfile.mkstemp(dir=target.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                turned.save(file, "PNG", compress_level=1)
            os.replace(temporary, target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    return target


def thumbnail_path(library: Library, checksum: str) -> Path:
    """Where the thumbnail drawn from the bytes *checksum* lies."""
    return library.derived / "thumbnails" / checksum[:2] / f"{checksum}.jpg"


def thumbnail_file(library: Library, document_id: str) -> tuple[Path, str]:
    """The thumbnail's file and the checksum of what it was drawn from; NotFound where none is made."""
    with library.db.read() as conn:
        raw = raw_of(conn)
        row = raw.execute("SELECT checksum FROM thumbnail WHERE document_id = ?", (document_id,)).fetchone()
        if row is None:
            _known(raw, document_id)
            raise no_thumbnail(document_id)
    path = thumbnail_path(library, row[0])
    if not path.is_file():
        raise no_thumbnail(document_id)
    return path, row[0]


def artifact_summaries(raw: sqlite3.Connection, document_id: str) -> list[dict[str, Any]]:
    """A document's artifacts without their text, data and geometry, in order."""
    names = [name for name in _ARTIFACT.names if name not in ("content", "data", "ocr_geometry")]
    rows = raw.execute(
        f"SELECT {', '.join(names)}, ocr_geometry IS NOT NULL FROM artifact WHERE document_id = ?"
        " ORDER BY artifact_type, sequence, id",
        (document_id,),
    )
    found = []
    for row in rows:
        value = dict(zip([*names, "has_geometry"], row, strict=True))
        value["reviewed"] = value["reviewed"] == 1
        value["has_geometry"] = value["has_geometry"] == 1
        found.append(value)
    return found


def artifact_page(
    raw: sqlite3.Connection, document_id: str, artifact_type: str | None, *, limit: int, offset: int
) -> dict[str, Any]:
    """One page of a document's artifacts, by type and order; NotFound for an unknown document."""
    _known(raw, document_id)
    where = "document_id = :id" + (" AND artifact_type = :type" if artifact_type is not None else "")
    given = {"id": document_id, "type": artifact_type, "limit": limit, "offset": offset}
    (total,) = raw.execute(f"SELECT count(*) FROM artifact WHERE {where}", given).fetchone()
    rows = raw.execute(
        f"SELECT {_ARTIFACT.select} FROM artifact WHERE {where}"
        " ORDER BY artifact_type, sequence, id LIMIT :limit OFFSET :offset",
        given,
    )
    items = [_ARTIFACT.value(row) for row in rows]
    return {"items": items, "count": len(items), "total": total, "limit": limit, "offset": offset}


def artifact(raw: sqlite3.Connection, artifact_id: str, *, plain: bool = False) -> dict[str, Any]:
    """One artifact with its geometry; NotFound where there is none."""
    row = raw.execute(f"SELECT {_ARTIFACT.select} FROM artifact WHERE id = ?", (artifact_id,)).fetchone()
    if row is None:
        raise unknown_artifact(artifact_id)
    return _ARTIFACT.value(row, plain=plain)


def representation_values(raw: sqlite3.Connection, document_id: str) -> list[dict[str, Any]]:
    """A document's representations, oldest first; NotFound for an unknown document."""
    _known(raw, document_id)
    rows = raw.execute(
        f"SELECT {_REPRESENTATION.select} FROM content_representation WHERE document_id = ? ORDER BY created_at, id",
        (document_id,),
    )
    return [_REPRESENTATION.value(row) for row in rows]


def representation_document(conn: Connection, representation_id: str) -> str:
    """The document a representation belongs to; NotFound where there is no such representation."""
    row = (
        raw_of(conn)
        .execute("SELECT document_id FROM content_representation WHERE id = ?", (representation_id,))
        .fetchone()
    )
    if row is None:
        raise unknown_representation(representation_id)
    return str(row[0])


def revision_values(raw: sqlite3.Connection, representation_id: str) -> list[dict[str, Any]]:
    """A representation's revisions in order; NotFound for an unknown representation."""
    if (
        raw.execute("SELECT 1 FROM content_representation WHERE id = ?", (representation_id,)).fetchone()
        is None
    ):
        raise unknown_representation(representation_id)
    rows = raw.execute(
        f"SELECT {_REVISION.select} FROM content_representation_revision WHERE representation_id = ?"
        " ORDER BY sequence, id",
        (representation_id,),
    )
    return [_REVISION.value(row) for row in rows]
