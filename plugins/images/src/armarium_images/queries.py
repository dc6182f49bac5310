"""Reads of images: a source's picture, its live derived children, a folder's pictures, the state of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Column, ColumnElement, Connection, Select, exists, func, select

from armarium.api import (
    FINISHED,
    NAME_KEY,
    NOT_THERE,
    Rows,
    find_job,
    is_among,
    query,
    raw_of,
    targets_of_set,
)
from armarium_documents.api import IDENTITY, documents, primary_row, renditions, require_live, sibling_order
from armarium_images.cutting import Frame
from armarium_images.errors import no_such_page, unknown_batch
from armarium_images.models import batches, cuts, items
from armarium_images.schemas import BatchAnswer

CUTS = Rows(cuts)
BATCHES = Rows(batches, missing=unknown_batch)
ITEMS = Rows(items)

_SIBLINGS = sibling_order()


class Cut(NamedTuple):
    """Where a derived child was cut. `transform` maps its fractions to those of the source."""

    child_id: str
    source_id: str
    kind: str
    rendition_id: str
    box: list[int]
    transform: list[float]
    batch_id: str | None


def cut_of(conn: Connection, child_id: str) -> Cut | None:
    """Return the cut of a document, live or in the Trash; None if it was not cut from another."""
    row = CUTS.get(conn, child_id)
    return None if row is None else Cut(*(row[name] for name in Cut._fields))


def live_children(*columns: Column[Any], where: Sequence[ColumnElement[bool]]) -> Select[Any]:
    """Return the statement for *columns* of the derived children that are not in the Trash."""
    children = select(*columns).join_from(cuts, documents, documents.c.id == cuts.c.child_id)
    return children.where(documents.c.deleted_at.is_(None), *where)


def was_unsplit(conn: Connection, source_id: str) -> bool:
    """Return whether parts into which a picture was split lie in the Trash: somebody took the split back."""
    return _any_in_trash(conn, "split", cuts.c.source_id == source_id)


def was_taken_back(conn: Connection, document_id: str, kind: str) -> bool:
    """Return whether what `live_cuts` would name at *document_id* lies in the Trash, or some of it."""
    sources = is_among(cuts.c.source_id, [document_id, *_pages_of(conn, document_id)])
    return _any_in_trash(conn, kind, sources | (cuts.c.child_id == document_id))


def _any_in_trash(conn: Connection, kind: str, where: ColumnElement[bool]) -> bool:
    was_cut = select(cuts.c.child_id).join(documents, documents.c.id == cuts.c.child_id)
    cuts_undone = was_cut.where(where, cuts.c.kind == kind, documents.c.deleted_at.is_not(None))
    return conn.execute(cuts_undone.limit(1)).first() is not None


def frame_of(conn: Connection, document_id: str, page: int, *, auto_orient: bool) -> Frame:
    """Return the picture to cut from: the document's own, or that of page *page* of a multi-page file.

    NotFound for an unknown document or one without a picture, Conflict in the Trash, Invalid for a page that
    does not exist.
    """
    node = require_live(conn, document_id)
    pages = _pages_of(conn, document_id) if node.doc_type == "file" else []
    if page > max(1, len(pages)):
        raise no_such_page(page, max(1, len(pages)))
    if pages:
        node = require_live(conn, pages[page - 1])
    row = primary_row(conn, node.id)
    return Frame(
        node.id,
        node.name,
        row.rendition_id,
        row.checksum,
        row.pixel_width,
        row.pixel_height,
        row.exif_orientation,
        not auto_orient and row.exif_orientation != 1,
    )


def _pages_of(conn: Connection, document_id: str) -> list[str]:
    """Return the live pages of a file, in order, without those cut from it."""
    page = documents.c
    pages = select(page.id).where(
        page.parent_id == document_id,
        page.doc_type == "page",
        page.deleted_at.is_(None),
        ~exists().where(cuts.c.child_id == page.id),
    )
    return list(conn.execute(pages.order_by(*_SIBLINGS)).scalars())


def live_cuts(conn: Connection, document_id: str, kind: str) -> tuple[str, list[str]]:
    """Return the source and the live children to remove at *document_id*: all of a source's, or one child.

    A multi-page file stands for its pages. No children: there is nothing to remove.
    """
    sources = [document_id, *_pages_of(conn, document_id)]
    of_source = live_children(
        cuts.c.child_id, where=(cuts.c.kind == kind, is_among(cuts.c.source_id, sources))
    )
    children = list(conn.execute(of_source.order_by(*_SIBLINGS)).scalars())
    if children:
        return document_id, children
    itself = live_children(cuts.c.source_id, where=(cuts.c.child_id == document_id, cuts.c.kind == kind))
    source_id = conn.execute(itself).scalar()
    return (document_id, []) if source_id is None else (source_id, [document_id])


def boxes_cut(conn: Connection, source_id: str, kind: str) -> list[list[int]]:
    """Return the boxes of a source's live children of *kind*."""
    statement = live_children(cuts.c.box, where=(cuts.c.source_id == source_id, cuts.c.kind == kind))
    return list(conn.execute(statement).scalars())


def count_cuts(conn: Connection, source_id: str, kind: str) -> int:
    """Return the number of a source's live children of *kind*."""
    return len(boxes_cut(conn, source_id, kind))


def has_cut(conn: Connection, source_id: str, kind: str, boxes: Sequence[Sequence[int]]) -> bool:
    """Return whether every one of *boxes* has a live child of the source."""
    earlier_boxes = boxes_cut(conn, source_id, kind)
    return all(list(box) in earlier_boxes for box in boxes)


def pictures_in(conn: Connection, folder_id: str, *, recursive: bool) -> list[str]:
    """Return the live documents with a picture in a folder, in reading order, without those cut from others.

    A multi-page file counts its pages. *recursive* includes folders and groups inside it.
    """
    opened = "" if recursive else " AND down.doc_type NOT IN ('folder', 'group')"
    rows = raw_of(conn).execute(
        "WITH RECURSIVE down(id, doc_type, level, sort_order, named) AS ("
        f" SELECT id, 'root', 0, 0, '' FROM {documents} WHERE id = ?"
        f" UNION ALL SELECT c.id, c.doc_type, down.level + 1, c.sort_order, {NAME_KEY}(c.name)"
        f" FROM down JOIN {documents} c ON c.parent_id = down.id WHERE c.deleted_at IS NULL{opened}"
        " AND NOT EXISTS (SELECT 1 FROM image_cut x WHERE x.child_id = c.id)"
        " AND down.level < 1000 ORDER BY 3 DESC, 4, 5, 1)"
        f" SELECT id FROM down WHERE level > 0 AND EXISTS (SELECT 1 FROM {renditions} r WHERE r.document_id = down.id"
        " AND r.is_primary AND r.materialized AND r.pixel_width IS NOT NULL)",
        (folder_id,),
    )
    return [row[0] for row in rows]


class Original(NamedTuple):
    """The picture that renditions are made from. `transform` maps it to the primary's frame; None if unknown."""

    rendition_id: str
    name: str
    checksum: str
    transform: list[float] | None


def original_of(conn: Connection, document_id: str) -> Original:
    """Return a live document's archival original if its file exists, else its primary picture.

    NotFound for an unknown document or one without a picture, Conflict in the Trash.
    """
    name = require_live(conn, document_id).name
    primary = primary_row(conn, document_id)
    rendition = renditions.c
    originals = select(rendition.id, rendition.checksum, rendition.transform).where(
        rendition.document_id == document_id,
        rendition.role == "archival-original",
        rendition.materialized,
        rendition.checksum.is_not(None),
        rendition.pixel_width.is_not(None),
    )
    row = conn.execute(
        originals.order_by(rendition.is_primary.desc(), rendition.created_at, rendition.id).limit(1)
    ).first()
    if row is None or row.id == primary.rendition_id:
        return Original(primary.rendition_id, name, primary.checksum, IDENTITY)
    return Original(row.id, name, row.checksum, row.transform)


def treated_rendition(conn: Connection, document_id: str, role: str, checksum: str) -> str | None:
    """Return the document's rendition of that role and checksum, or None."""
    rendition = renditions.c
    alike = select(rendition.id).where(
        rendition.document_id == document_id, rendition.role == role, rendition.checksum == checksum
    )
    return conn.execute(alike).scalar()


def item_state(conn: Connection, batch_id: str, document_id: str) -> str | None:
    """Return the stored state of one picture of a batch, or None if the batch does not have it."""
    own = select(items.c.state).where(items.c.batch_id == batch_id, items.c.document_id == document_id)
    return conn.execute(own).scalar()


def count_items(conn: Connection, batch_id: str) -> int:
    """Return the number of pictures of a batch."""
    return conn.execute(select(func.count()).where(items.c.batch_id == batch_id)).scalar_one()


def waiting_items(conn: Connection, batch_id: str, after: int, limit: int) -> list[tuple[int, str]]:
    """Return the next waiting pictures of a batch after position *after*."""
    waiting = select(items.c.sequence, items.c.document_id).where(
        items.c.batch_id == batch_id, items.c.sequence > after, items.c.state == "waiting"
    )
    return [(row[0], row[1]) for row in conn.execute(waiting.order_by(items.c.sequence).limit(limit))]


@query(
    "/api/images/batch-apply/{batch_id}",
    summary="The state of a batch, picture by picture",
    answer=BatchAnswer,
    refusals=(404, 409),
    name="read_batch",
)
def batch_answer(conn: Connection, batch_id: str) -> dict[str, Any]:
    """Return the state; NotFound for an unknown or non-image batch."""
    # Only final states are stored. Which item is in progress, and what an ended job did not reach or an undo
    # reversed, follows from the job and its steps.
    job_id = BATCHES.require(conn, batch_id)["job_id"]
    rows = ITEMS.all(conn, items.c.batch_id == batch_id, order=(items.c.sequence,))
    reached = set(targets_of_set(conn, job_id))
    job = find_job(conn, job_id)
    if job is not None:
        state, why = job.state, job.reason
    else:
        left = any(item["state"] == "waiting" and item["document_id"] not in reached for item in rows)
        state, why = NOT_THERE if left else ("done", None)
    children: dict[str, list[str]] = {}
    cut = live_children(cuts.c.source_id, cuts.c.child_id, where=(cuts.c.batch_id == batch_id,))
    for source_id, child_id in conn.execute(cut.order_by(*_SIBLINGS)):
        children.setdefault(source_id, []).append(child_id)
    answers = []
    running = state == "running"
    for item in rows:
        document_id, stored, reason = item["document_id"], item["state"], item["reason"]
        if stored == "waiting":
            if running:
                stored, running = "running", False
            elif state == "done" or (state in FINISHED and document_id in reached):
                stored, reason = "undone", "The step that cut it was undone."
            elif state in FINISHED:
                stored, reason = "skipped", f"The job ended before it ({why or state})."
        answers.append(
            {
                "document_id": document_id,
                "state": stored,
                "child_ids": children.get(document_id, []),
                "reason": reason,
            }
        )
    return {
        "batch_id": batch_id,
        "job_id": job_id,
        "state": state,
        "total": len(answers),
        "done": sum(item["state"] == "done" for item in answers),
        "failed": sum(item["state"] == "failed" for item in answers),
        "items": answers,
    }
