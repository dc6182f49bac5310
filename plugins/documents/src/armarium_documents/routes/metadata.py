"""Descriptions of documents as a file, and what an import of one would do: reads, although two use POST."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from armarium.api import REFUSALS, CurrentLibrary, CurrentPrincipal, withheld_nodes
from armarium_documents.queries.dataset.answer import matching_ids
from armarium_documents.queries.metadata.planning import attributes_of, plan_import
from armarium_documents.queries.metadata.table import metadata_table
from armarium_documents.schemas.dataset import DatasetQuery
from armarium_documents.schemas.fields import Id
from armarium_documents.schemas.metadata import MetadataParams, MetadataPlan
from armarium_documents.sheets import TableFormat

router = APIRouter(tags=["documents"])

_MEDIA = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
_FILE: dict[int | str, dict[str, Any]] = {
    200: {"content": {media: {} for media in _MEDIA.values()}, "description": "The table, a file"}
}
Format = Annotated[TableFormat, Query(description="csv (UTF-8, as Excel opens it too) or xlsx")]


def _file(
    library: CurrentLibrary, format_name: TableFormat, parent_id: str | None, ids: list[str] | None = None
) -> Response:
    with library.db.read() as conn:
        data = b"".join(metadata_table(conn, format_name, parent_id, ids))
    named = {
        "Content-Disposition": f'attachment; filename="documents.{format_name}"',
        "Cache-Control": "no-store",
    }
    return Response(data, media_type=_MEDIA[format_name], headers=named)


@router.get(
    "/api/documents/metadata",
    summary="Descriptions of a folder's documents as a table to be edited and imported again",
    response_class=Response,
    responses={**_FILE, **REFUSALS(404, 409, 422)},
)
def export_metadata(
    library: CurrentLibrary,
    parent_id: Annotated[Id | None, Query(description="Left out: the project")] = None,
    format: Format = "csv",
) -> Response:
    """A row for each document, folder and page that the caller may see, in the order of the tree; a column for each attribute and
    for each own field that is stated. What looks like a formula is written so that no spreadsheet computes it.
    """
    return _file(library, format, parent_id)


@router.post(
    "/api/documents/dataset/table",
    summary="What a dataset query finds, as a table",
    response_class=Response,
    responses={**_FILE, **REFUSALS(400, 404, 409, 422)},
)
def export_dataset(library: CurrentLibrary, body: DatasetQuery, format: Format = "csv") -> Response:
    """All rows in the order of the query, whatever its page; the columns are those of `GET /api/documents/metadata`."""
    return _file(library, format, None, matching_ids(library, body))


@router.post(
    "/api/documents/metadata/plan",
    summary="What an import of a table would change, and what of it cannot be taken",
    response_model=MetadataPlan,
    responses=REFUSALS(404, 409, 422),
)
def plan_metadata(
    library: CurrentLibrary, principal: CurrentPrincipal, body: MetadataParams
) -> dict[str, Any]:
    """Nothing is written. Documents that the caller may not see count as absent."""
    with library.db.read() as conn:
        lists, owner = attributes_of(conn), principal.may("owner")
        return plan_import(conn, body, hidden=withheld_nodes(conn), lists=lists, owner=owner).answer()
