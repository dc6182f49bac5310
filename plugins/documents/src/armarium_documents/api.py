"""What other families may use of documents: tables, rules of the tree, pictures, recordings, subtrees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, func

from armarium.api import NAME_KEY, ActionContext, json_text, new_id, raw_of
from armarium_documents.dates.calendars import YearBegins as YearBegins
from armarium_documents.dates.date_answers import ReadDate as ReadDate
from armarium_documents.dates.edtf import Span as Span
from armarium_documents.dates.edtf import asks_backwards as asks_backwards
from armarium_documents.dates.edtf import check_date as check_date
from armarium_documents.dates.edtf import runs_backwards as runs_backwards
from armarium_documents.dates.edtf import span_asked as span_asked
from armarium_documents.dates.edtf import span_between as span_between
from armarium_documents.dates.edtf import span_of as span_of
from armarium_documents.flags import FLAGS as FLAGS
from armarium_documents.frames import IDENTITY as IDENTITY
from armarium_documents.hookspecs import Carrier as Carrier
from armarium_documents.hookspecs import Limits as Limits
from armarium_documents.hookspecs import ModelsAsked as ModelsAsked
from armarium_documents.hookspecs import Tie as Tie
from armarium_documents.hookspecs import Vocabulary as Vocabulary
from armarium_documents.hookspecs import Work as Work
from armarium_documents.hookspecs import Writing as Writing
from armarium_documents.intake import taken_in as taken_in
from armarium_documents.models import annotation_table as annotation_table
from armarium_documents.models import artifacts as artifacts
from armarium_documents.models import classifications as classifications
from armarium_documents.models import documents as documents
from armarium_documents.models import renditions as renditions
from armarium_documents.models import representations as representations
from armarium_documents.models import thumbnails as thumbnails
from armarium_documents.new_nodes import new_row
from armarium_documents.pdf import LONGEST_JPEG as LONGEST_JPEG
from armarium_documents.pdf import CallWorker as CallWorker
from armarium_documents.pdf import OpenedPdf as OpenedPdf
from armarium_documents.queries.annotations import ANNOTATIONS as ANNOTATIONS
from armarium_documents.queries.documents import document as document
from armarium_documents.queries.documents import documents_named as documents_named
from armarium_documents.queries.documents import page_titles as page_titles
from armarium_documents.queries.documents import sibling_order as sibling_order
from armarium_documents.queries.documents import title_of_work as title_of_work
from armarium_documents.queries.files import ARTIFACTS as ARTIFACTS
from armarium_documents.queries.files import PageImage as PageImage
from armarium_documents.queries.files import is_picture_of as is_picture_of
from armarium_documents.queries.files import page_image as page_image
from armarium_documents.queries.files import primary_recording as primary_recording
from armarium_documents.queries.files import primary_row as primary_row
from armarium_documents.queries.files import still_image as still_image
from armarium_documents.queries.files import thumbnail_path as thumbnail_path
from armarium_documents.queries.files import thumbnail_sources as thumbnail_sources
from armarium_documents.queries.tree import Node as Node
from armarium_documents.queries.tree import ancestor_ids as ancestor_ids
from armarium_documents.queries.tree import count_withheld as count_withheld
from armarium_documents.queries.tree import find_node as find_node
from armarium_documents.queries.tree import folder_above as folder_above
from armarium_documents.queries.tree import folders_above as folders_above
from armarium_documents.queries.tree import lineage as lineage
from armarium_documents.queries.tree import pages_among as pages_among
from armarium_documents.queries.tree import pages_under as pages_under
from armarium_documents.queries.tree import recordings_under as recordings_under
from armarium_documents.queries.tree import require_all_live as require_all_live
from armarium_documents.queries.tree import require_document as require_document
from armarium_documents.queries.tree import require_live as require_live
from armarium_documents.queries.tree import require_parent as require_parent
from armarium_documents.queries.tree import sources_folder as sources_folder
from armarium_documents.queries.tree import subtree_ids as subtree_ids
from armarium_documents.queries.tree import walk_pages as walk_pages
from armarium_documents.recordings import recording_type as recording_type
from armarium_documents.remarks import count_remarks as count_remarks
from armarium_documents.scan import LAYOUT_SUFFIXES as LAYOUT_SUFFIXES
from armarium_documents.scan import PICTURE_SUFFIXES as PICTURE_SUFFIXES
from armarium_documents.scan import TEXT_SUFFIXES as TEXT_SUFFIXES
from armarium_documents.scan import FoundEntry as FoundEntry
from armarium_documents.scan import named_files as named_files
from armarium_documents.scan import walk_folder as walk_folder
from armarium_documents.schemas.documents import DocType as DocType
from armarium_documents.schemas.documents import FileType as FileType
from armarium_documents.schemas.documents import SourceAuthority as SourceAuthority
from armarium_documents.schemas.fields import check_json as check_json
from armarium_documents.schemas.fields import clean_name as clean_name
from armarium_documents.schemas.fields import with_flags as with_flags
from armarium_documents.schemas.geometry import TOLERANCE as TOLERANCE
from armarium_documents.schemas.geometry import check_rect as check_rect
from armarium_documents.schemas.geometry import fault_of_rect as fault_of_rect
from armarium_documents.sheets import write_sheet as write_sheet
from armarium_documents.started_jobs import start_actions as start_actions
from armarium_documents.stated_geometry import NoGeometry as NoGeometry
from armarium_documents.stated_geometry import geometry_of as geometry_of
from armarium_documents.stated_geometry import geometry_parts as geometry_parts
from armarium_documents.stated_geometry import geometry_places as geometry_places
from armarium_documents.tables import NotATable as NotATable
from armarium_documents.tables import Sheet as Sheet
from armarium_documents.tables import read_separated as read_separated
from armarium_documents.tables import read_table as read_table
from armarium_documents.tables import seems_mac_roman as seems_mac_roman
from armarium_documents.text_layers import TextLine as TextLine
from armarium_documents.text_layers import Word as Word


def read_date(
    text: str,
    *,
    language: str | None = None,
    country: str | None = None,
    year_begins: YearBegins = "january-1",
) -> ReadDate | None:
    """Parse *text* as a date in Spanish, English, French, Latin or German; None if it is not a date, or names
    a day that never existed.

    Understands numbers in figures, Roman numerals or words, days before Kalends, Nones and Ides, feasts with
    their eve, morrow and octave and the weekdays after and before them, years of English kings and of the
    French Republic, centuries, intervals.

    language: a BCP 47 tag; en-US puts the month first in 3/12/1742. country: ISO 3166, or `DE-protestant` and
    `CH-protestant`: which calendar was in force where the text does not say so. year_begins: when the
    document's years begin.
    """
    # The grammar's patterns take a while to compile, and most engines never read a date.
    from armarium_documents.dates import reading

    return reading.read_date(text, language=language, country=country, year_begins=year_begins)


def add_rendition(
    ctx: ActionContext,
    document_id: str,
    *,
    checksum: str | None,
    mime_type: str,
    role: str,
    pixel_width: int | None = None,
    pixel_height: int | None = None,
    size_bytes: int | None = None,
    transform: list[float] | None = None,
    made_by: str | None = None,
    params: Mapping[str, Any] | None = None,
) -> str:
    """Add a rendition to a document within an action and return its id; a document's first rendition becomes
    primary.

    *checksum* names an object in the store; None means that the file has not been made yet. *transform* is
    six numbers that map this picture's frame to the primary's (the primary's own are `IDENTITY`), None if
    unknown.
    """
    first = ctx.conn.execute(
        renditions.select().where(renditions.c.document_id == document_id, renditions.c.is_primary)
    ).first()
    rendition_id = new_id()
    ctx.conn.execute(
        renditions.insert().values(
            id=rendition_id,
            document_id=document_id,
            role=role,
            is_primary=first is None,
            materialized=checksum is not None,
            mime_type=mime_type,
            pixel_width=pixel_width,
            pixel_height=pixel_height,
            size_bytes=size_bytes,
            checksum=checksum,
            transform=IDENTITY if first is None else transform,
            made_by=made_by,
            params=dict(params or {}),
            created_at=ctx.now,
        )
    )
    ctx.note_changes(document_ids=[document_id])
    return rendition_id


def add_node(
    ctx: ActionContext, *, name: str, node_kind: str, parent_id: str | None = None, sort_order: int = 0
) -> str:
    """Create a node of a kind that another family manages (a saved search, say) within an action and return
    its id.

    NotFound or Conflict for a parent that does not exist or is in the Trash, Invalid for one that cannot hold
    it.
    """
    require_parent(ctx.conn, parent_id, "file", node_kind)
    row = new_row(ctx, name=clean_name(name), node_kind=node_kind, parent_id=parent_id, sort_order=sort_order)
    ctx.conn.execute(documents.insert().values(row))
    ctx.target(row["id"])
    ctx.note_changes(document_ids=[row["id"]])
    return str(row["id"])


def place_in_source(ctx: ActionContext, regions: Mapping[str, Mapping[str, Any]]) -> None:
    """Record which region of another's picture each document (by id) shows; the caller reports it."""
    if regions:
        statement = (
            documents.update().where(documents.c.id == bindparam("node")).values(region=bindparam("place"))
        )
        ctx.conn.execute(statement, [{"node": node, "place": place} for node, place in regions.items()])


def place_on_disk(ctx: ActionContext, document_id: str, path: str) -> None:
    """Set the path of a document's own file (a full path); the caller reports that the document changed."""
    placed = func.json_set(documents.c.metadata, "$.full_path", path)
    changes = {"path": path, "metadata": placed, "updated_at": ctx.now}
    ctx.conn.execute(documents.update().where(documents.c.id == document_id).values(changes))


def replace_metadata(ctx: ActionContext, document_id: str, metadata: Mapping[str, Any]) -> None:
    """Replace the metadata of a document; the caller reports that the document changed."""
    changes = {"metadata": dict(metadata), "updated_at": ctx.now}
    ctx.conn.execute(documents.update().where(documents.c.id == document_id).values(changes))


def supersede_geometry(ctx: ActionContext, artifact_id: str, pass_id: str) -> None:
    """Freeze the boxes of an artifact: the segments of a pass replace them from now on."""
    changes = {"geometry_superseded_by_pass_id": pass_id}
    ctx.conn.execute(artifacts.update().where(artifacts.c.id == artifact_id).values(changes))
    ctx.note_changes(artifact_ids=[artifact_id])


def fill_artifact(ctx: ActionContext, artifact_id: str, data: Mapping[str, Any]) -> None:
    """Set the data of an artifact that this step made; the data may be larger than what callers may send."""
    ctx.conn.execute(artifacts.update().where(artifacts.c.id == artifact_id).values(data=dict(data)))


def revise_artifact(ctx: ActionContext, artifact_id: str, data: Mapping[str, Any]) -> None:
    """Replace the data of an artifact; its version is incremented."""
    statement = artifacts.update().where(artifacts.c.id == artifact_id)
    ctx.conn.execute(statement.values(data=dict(data), version=artifacts.c.version + 1))
    ctx.note_changes(artifact_ids=[artifact_id])


def add_representations(ctx: ActionContext, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Insert many representations, tuples in the order of *columns*, as `ActionContext.bulk_insert` does."""
    ctx.bulk_insert(representations, columns, rows)


def retract_representation(ctx: ActionContext, representation_id: str) -> None:
    """Retract a representation, so that it no longer counts; its row stays."""
    statement = representations.update().where(representations.c.id == representation_id)
    ctx.conn.execute(statement.values(retracted=True))


def arrange_pages(ctx: ActionContext, document_ids: Sequence[str]) -> tuple[int, int]:
    """Put documents into this order among their siblings: those of one parent exchange the positions that
    they have.

    Where a person placed one of them by hand, the siblings are left as they are. Returns how many documents
    moved and how many were left for that reason. Raises Forbidden at or below a lock.
    """
    rank = {identity: number for number, identity in enumerate(document_ids)}
    rows = raw_of(ctx.conn).execute(
        "SELECT id, parent_id, sort_order, json_extract(metadata, '$.placed_by_hand') IS NOT NULL FROM document"
        f" WHERE id IN (SELECT value FROM json_each(?)) ORDER BY sort_order, {NAME_KEY}(name), id",
        (json_text(list(rank)),),
    )
    families: dict[str | None, list[tuple[str, int, bool]]] = {}
    for identity, parent_id, place, by_hand in rows:
        families.setdefault(parent_id, []).append((identity, place, bool(by_hand)))
    changed: list[tuple[int, str, str]] = []
    unmoved = 0
    for siblings in families.values():
        ordered = sorted((identity for identity, _, _ in siblings), key=rank.__getitem__)
        if ordered == [identity for identity, _, _ in siblings]:
            continue
        if any(by_hand for _, _, by_hand in siblings):
            unmoved += len(siblings)
            continue
        places: list[int] = []
        for _, place, _ in siblings:
            places.append(max(place, places[-1] + 1) if places else place)
        before = {identity: place for identity, place, _ in siblings}
        for identity, place in zip(ordered, places, strict=True):
            if before[identity] != place:
                changed.append((place, ctx.now, identity))
    _write_pages(ctx, "sort_order", changed)
    return len(changed), unmoved


def label_pages(ctx: ActionContext, labels: Mapping[str, str]) -> tuple[int, int]:
    """Set the page labels of documents (by id) that have none. Returns how many were labelled and how many
    keep a different label.
    """
    rows = raw_of(ctx.conn).execute(
        "SELECT id, page_label FROM document WHERE id IN (SELECT value FROM json_each(?))",
        (json_text(list(labels)),),
    )
    current = dict(rows.fetchall())
    changes = [(labels[identity], ctx.now, identity) for identity, label in current.items() if label is None]
    _write_pages(ctx, "page_label", changes)
    return len(changes), sum(
        1 for identity, label in current.items() if label not in (None, labels[identity])
    )


def _write_pages(ctx: ActionContext, column: str, rows: Sequence[tuple[object, str, str]]) -> None:
    raw_of(ctx.conn).executemany(f"UPDATE document SET {column} = ?, updated_at = ? WHERE id = ?", rows)
    ctx.note_changes(document_ids=[identity for _, _, identity in rows])


def place_documents(ctx: ActionContext, places: Mapping[str, int]) -> None:
    """Set the sort orders of documents (by id) among their siblings."""
    _write_pages(ctx, "sort_order", [(place, ctx.now, identity) for identity, place in places.items()])
