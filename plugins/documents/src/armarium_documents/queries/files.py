"""Renditions, artifacts, representations and thumbnails as JSON, the files behind them, and revisions for exports."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from fastapi import Query
from sqlalchemy import Connection, case, select

from armarium.api import AsOf, Library, Rows, is_among, paged, query
from armarium_documents.errors import (
    no_picture,
    no_recording,
    no_thumbnail,
    not_materialized,
    unknown_artifact,
    unknown_rendition,
    unknown_representation,
)
from armarium_documents.models import artifacts, documents, renditions, representations, revisions, thumbnails
from armarium_documents.queries.tree import require_document
from armarium_documents.schemas.files import Artifact, RenditionList, Representation, Revision

THUMBNAIL_SIDE = 512
"""Longest side of a thumbnail in pixels."""

ROLES = ("archival-original", "enhanced", "background-removed", "binarised", "derived")
"""Roles in the order renditions are shown after the primary; other words follow."""

_CANONICAL = (
    renditions.c.is_primary.desc(),
    case({role: rank for rank, role in enumerate(ROLES)}, value=renditions.c.role, else_=len(ROLES)),
    renditions.c.created_at,
    renditions.c.id,
)
_BY_TYPE = (artifacts.c.artifact_type, artifacts.c.sequence, artifacts.c.id)

RENDITIONS = Rows(renditions)
ARTIFACTS = Rows(artifacts, missing=unknown_artifact)
REPRESENTATIONS = Rows(representations, missing=unknown_representation)
REVISIONS = Rows(revisions)

thumbnail_sources = select(renditions.c.document_id, renditions.c.checksum).where(
    renditions.c.is_primary,
    renditions.c.materialized,
    select(thumbnails.c.document_id).where(thumbnails.c.document_id == renditions.c.document_id).exists(),
)
"""Of each document with a thumbnail, the checksum of the picture that it shows: the primary one as of now, also where a merge or an
undo has just made it that.
"""


def renditions_of(conn: Connection, document_id: str) -> list[dict[str, Any]]:
    """Return a document's renditions in canonical order: the primary, then by role, then by age."""
    return RENDITIONS.all(conn, renditions.c.document_id == document_id, order=_CANONICAL)


@query(
    "/api/documents/{document_id}/renditions",
    summary="A document's renditions, the primary first",
    answer=RenditionList,
    refusals=(404, 409),
)
def list_renditions(conn: Connection, document_id: str) -> dict[str, Any]:
    """Like `renditions_of`; NotFound for an unknown document."""
    require_document(conn, document_id)
    items = renditions_of(conn, document_id)
    return {"items": items, "count": len(items)}


def rendition(conn: Connection, document_id: str, rendition_id: str) -> dict[str, Any]:
    """Return a rendition of a document; NotFound for an unknown document or rendition."""
    row = RENDITIONS.get(conn, rendition_id)
    if row is None or row["document_id"] != document_id:
        require_document(conn, document_id)
        raise unknown_rendition(document_id, rendition_id)
    return row


def is_picture_of(conn: Connection, document_id: str, rendition_id: str) -> bool:
    """Return whether a rendition belongs to a document."""
    row = RENDITIONS.get(conn, rendition_id)
    return row is not None and row["document_id"] == document_id


class RenditionFile(NamedTuple):
    """The file of a rendition on disk."""

    path: Path
    mime_type: str
    checksum: str
    name: str


def rendition_file(library: Library, document_id: str, rendition_id: str) -> RenditionFile:
    """Return a rendition's file; NotFound if unknown, not materialized, or missing from the package."""
    with library.db.read() as conn:
        row = rendition(conn, document_id, rendition_id)
        name = require_document(conn, document_id).name
    checksum = row["checksum"]
    if not row["materialized"] or checksum is None:
        raise not_materialized(rendition_id)
    library.objects.size(checksum)
    return RenditionFile(library.objects.path(checksum), row["mime_type"], checksum, name)


class PageImage(NamedTuple):
    """The primary picture of a page: an upright image file and its size in pixels."""

    path: Path
    width: int
    height: int
    rendition_id: str
    mime_type: str
    checksum: str


class PrimaryRow(NamedTuple):
    """What is stored about a document's primary picture."""

    rendition_id: str
    mime_type: str
    pixel_width: int
    pixel_height: int
    checksum: str
    exif_orientation: int
    opens_alike: bool
    """Whether every program that opens the file sees this picture."""


def primary_row(conn: Connection, document_id: str) -> PrimaryRow:
    """Return the primary rendition of a document if it is a picture; otherwise NotFound with the reason."""
    of_page = (renditions.c.document_id == document_id, renditions.c.is_primary)
    row = next(iter(RENDITIONS.all(conn, *of_page)), None)
    if row is None or row["pixel_width"] is None or row["pixel_height"] is None:
        raise no_picture(require_document(conn, document_id).name, document_id)
    if not row["materialized"] or row["checksum"] is None:
        raise not_materialized(row["id"])
    stored = {name: row[name] for name in ("mime_type", "pixel_width", "pixel_height", "checksum")}
    return PrimaryRow(
        row["id"],
        **stored,
        exif_orientation=int(row["params"].get("exif_orientation") or 1),
        opens_alike=row["params"].get("opens_alike", row["mime_type"] not in ("image/avif", "image/heic")),
    )


class Recording(NamedTuple):
    """The recording of a document."""

    rendition_id: str
    checksum: str
    mime_type: str


def primary_recording(conn: Connection, document_id: str) -> Recording:
    """Return the primary rendition of a document if it is a recording; otherwise NotFound with the reason."""
    of_document = (renditions.c.document_id == document_id, renditions.c.is_primary)
    row = next(iter(RENDITIONS.all(conn, *of_document)), None)
    if row is None or not row["mime_type"].startswith("audio/"):
        raise no_recording(require_document(conn, document_id).name, document_id)
    if not row["materialized"] or row["checksum"] is None:
        raise not_materialized(row["id"])
    return Recording(row["id"], row["checksum"], row["mime_type"])


def page_image(library: Library, conn: Connection, document_id: str) -> PageImage:
    """Return the primary picture of a page as an upright file: pixel (0, 0) is the top left as displayed.

    A file with an EXIF orientation is turned once and stored in the package's `derived` folder, so that every
    reader and every fraction refers to the same frame; so is a HEIC, an AVIF, and a TIFF that begins with its thumbnail,
    in which other programs would see another picture or none. NotFound if the node has no picture. In a
    branch that came as a file a reduced picture may stand for it.
    """
    row = primary_row(conn, document_id)
    if (reduced := library.objects.find_reduced(row.checksum)) is not None:
        from armarium.api import image_info

        size = image_info(reduced).upright_size
        return PageImage(reduced, *size, row.rendition_id, "image/jpeg", row.checksum)
    library.objects.size(row.checksum)
    path, mime_type = library.objects.path(row.checksum), row.mime_type
    if row.exif_orientation != 1 or not row.opens_alike:
        path, mime_type = upright_file(library, row.checksum), "image/png"
    return PageImage(path, row.pixel_width, row.pixel_height, row.rendition_id, mime_type, row.checksum)


@contextmanager
def still_image(library: Library, picture: PageImage) -> Iterator[Path]:
    """Return the file of *picture* for a worker, which opens it by path: bytes that nobody changes in the
    meantime.

    Conflict if the picture is a link whose target has changed.
    """
    if picture.path != library.objects.path(picture.checksum):
        # Turned upright and stored by the project itself.
        yield picture.path
        return
    with library.objects.hold_file(picture.checksum) as path:
        yield path


def upright_file(library: Library, checksum: str) -> Path:
    """Return the picture *checksum* turned upright, a PNG in the `derived` folder, made if necessary."""
    from PIL import ImageOps

    from armarium.api import open_image, replacing

    target = library.derived_folder / "upright" / checksum[:2] / f"{checksum}.png"
    if target.is_file():
        return target
    with library.objects.hold_file(checksum) as path, open_image(path) as image:
        turned = ImageOps.exif_transpose(image)
        if turned.mode not in ("1", "L", "LA", "P", "RGB", "RGBA", "I;16"):
            turned = turned.convert("RGB")
        with replacing(target) as beside:
            turned.save(beside, "PNG", compress_level=1)
    return target


def thumbnail_path(library: Library, checksum: str) -> Path:
    """Return the path of the thumbnail drawn from the object *checksum*."""
    return library.derived_folder / "thumbnails" / checksum[:2] / f"{checksum}.jpg"


def thumbnail_file(library: Library, document_id: str) -> tuple[Path, str]:
    """Return the thumbnail's file, which may not be drawn yet of this picture, have been lost with the `derived` folder or not be
    copied to a branch, and the checksum of its source; NotFound if none has been made.
    """
    with library.db.read() as conn:
        source = conn.execute(thumbnail_sources.where(renditions.c.document_id == document_id)).first()
        if source is None:
            require_document(conn, document_id)
            raise no_thumbnail(document_id)
    return thumbnail_path(library, source.checksum), source.checksum


_SUMMARY = select(
    *(column for column in artifacts.c if column.name not in ("content", "data", "ocr_geometry")),
    artifacts.c.ocr_geometry.is_not(None).label("has_geometry"),
).order_by(*_BY_TYPE)


def artifact_summaries(conn: Connection, document_id: str) -> list[dict[str, Any]]:
    """Return a document's artifacts without their text, data and geometry, in order."""
    rows = conn.execute(_SUMMARY.where(artifacts.c.document_id == document_id))
    return [row._asdict() for row in rows]


@query(
    "/api/documents/{doc_id}/artifacts",
    summary="The artifacts of a document, by type",
    answer=paged(Artifact),
    refusals=(404, 409, 422),
)
def list_artifacts(
    conn: Connection,
    doc_id: str,
    artifact_type: Annotated[str | None, Query(max_length=100)] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    offset: Annotated[int, Query(ge=0, le=2**62)] = 0,
) -> dict[str, Any]:
    """Return the artifacts; NotFound for an unknown document."""
    require_document(conn, doc_id)
    where = [artifacts.c.document_id == doc_id]
    if artifact_type is not None:
        where.append(artifacts.c.artifact_type == artifact_type)
    return ARTIFACTS.page(conn, *where, order=_BY_TYPE, limit=limit, offset=offset)


@query(
    "/api/artifacts/{artifact_id}",
    summary="One artifact with its geometry",
    answer=Artifact,
    refusals=(404, 409),
    name="read_artifact",
)
def artifact(conn: Connection, artifact_id: str) -> dict[str, Any]:
    """Return the artifact; NotFound if there is none."""
    return ARTIFACTS.require(conn, artifact_id)


@query(
    "/api/content-representations/document/{document_id}",
    summary="A document's representations, oldest first",
    answer=list[Representation],
    refusals=(404, 409),
    as_of=AsOf("document_id"),
)
def list_representations(conn: Connection, document_id: str) -> list[dict[str, Any]]:
    """Return the representations; NotFound for an unknown document."""
    require_document(conn, document_id)
    oldest_first = (representations.c.created_at, representations.c.id)
    return REPRESENTATIONS.all(conn, representations.c.document_id == document_id, order=oldest_first)


@query(
    "/api/content-representations/{representation_id}/revisions",
    summary="A representation's revisions, in order",
    answer=list[Revision],
    refusals=(404, 409),
)
def list_revisions(conn: Connection, representation_id: str) -> list[dict[str, Any]]:
    """Return the revisions; NotFound for an unknown representation."""
    REPRESENTATIONS.require(conn, representation_id)
    in_order = (revisions.c.sequence, revisions.c.id)
    return REVISIONS.all(conn, revisions.c.representation_id == representation_id, order=in_order)


def exported_revisions(
    conn: Connection, ids: frozenset[str] | None, withheld: Collection[str]
) -> Iterator[dict[str, Any]]:
    """Yield the revisions of representations of the documents *ids* (None: of all live ones that are not *withheld*)."""
    document = documents.c
    statement = (
        select(revisions, document.id.label("document_id"))
        .join(representations, representations.c.id == revisions.c.representation_id)
        .join(documents, document.id == representations.c.document_id)
        .where(document.deleted_at.is_(None), ~is_among(document.id, withheld))
        .order_by(revisions.c.representation_id, revisions.c.sequence)
    )
    for row in conn.execute(statement if ids is None else statement.where(is_among(document.id, ids))):
        yield row._asdict()
