"""Reads of images: a source's picture, its live derived children, a folder's pictures, how a batch stands."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Connection

from armarium.api import json_text, raw_of
from armarium_documents.api import IDENTITY, primary_row, require_live
from armarium_images.cutting import Frame
from armarium_images.errors import no_such_page, unknown_batch


class Cut(NamedTuple):
    """Where a derived child was cut. `transform` carries its fractions to those of the source."""

    child_id: str
    source_id: str
    kind: str
    rendition_id: str
    box: list[int]
    transform: list[float]
    batch_id: str | None


def cut_of(conn: Connection, child_id: str) -> Cut | None:
    """The cut that a document is, live or in the Trash; None for a document that was not cut from another."""
    row = (
        raw_of(conn)
        .execute(
            "SELECT child_id, source_id, kind, rendition_id, box, transform, batch_id FROM image_cut"
            " WHERE child_id = ?",
            (child_id,),
        )
        .fetchone()
    )
    if row is None:
        return None
    return Cut(row[0], row[1], row[2], row[3], orjson.loads(row[4]), orjson.loads(row[5]), row[6])


def frame_of(conn: Connection, document_id: str, page: int, *, auto_orient: bool) -> Frame:
    """The picture to cut from: the document's own, or that of its page *page* when it is a file of several.

    NotFound for an unknown document or one without a picture, Conflict in the Trash, Invalid for a page too many.
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
    """The live pages of a file, in order, without what was cut from it."""
    rows = raw_of(conn).execute(
        "SELECT id FROM document d WHERE parent_id = ? AND doc_type = 'page' AND deleted_at IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM image_cut WHERE child_id = d.id) ORDER BY sort_order, name, id",
        (document_id,),
    )
    return [row[0] for row in rows]


def live_cuts(conn: Connection, document_id: str, kind: str) -> tuple[str, list[str]]:
    """The source and the live children that taking back at *document_id* removes: all of a source's, or one child.

    A file of several pages stands for its pages. No children: there is nothing to take back.
    """
    raw = raw_of(conn)
    rows = raw.execute(
        "SELECT c.child_id FROM image_cut c JOIN document d ON d.id = c.child_id"
        " WHERE c.kind = ? AND d.deleted_at IS NULL AND c.source_id IN (SELECT value FROM json_each(?))"
        " ORDER BY d.sort_order, d.name, d.id",
        (kind, json_text([document_id, *_pages_of(conn, document_id)])),
    ).fetchall()
    if rows:
        return document_id, [row[0] for row in rows]
    row = raw.execute(
        "SELECT c.source_id FROM image_cut c JOIN document d ON d.id = c.child_id"
        " WHERE c.child_id = ? AND c.kind = ? AND d.deleted_at IS NULL",
        (document_id, kind),
    ).fetchone()
    return (document_id, []) if row is None else (row[0], [document_id])


def count_cuts(conn: Connection, source_id: str, kind: str) -> int:
    """How many live children of *kind* a source has."""
    (count,) = (
        raw_of(conn)
        .execute(
            "SELECT count(*) FROM image_cut c JOIN document d ON d.id = c.child_id"
            " WHERE c.source_id = ? AND c.kind = ? AND d.deleted_at IS NULL",
            (source_id, kind),
        )
        .fetchone()
    )
    return int(count)


def has_cut(conn: Connection, source_id: str, kind: str, boxes: Sequence[Sequence[int]]) -> bool:
    """Whether every one of *boxes* is cut from the source already and still there."""
    rows = raw_of(conn).execute(
        "SELECT c.box FROM image_cut c JOIN document d ON d.id = c.child_id"
        " WHERE c.source_id = ? AND c.kind = ? AND d.deleted_at IS NULL",
        (source_id, kind),
    )
    there = {row[0] for row in rows}
    return all(json_text(list(box)) in there for box in boxes)


def pictures_in(conn: Connection, folder_id: str, *, recursive: bool) -> list[str]:
    """The live documents with a picture in a folder, in reading order, without those cut from others.

    A file of several pages counts its pages. *recursive* looks into folders and groups inside it.
    """
    opened = "" if recursive else " AND down.doc_type NOT IN ('folder', 'group')"
    rows = raw_of(conn).execute(
        "WITH RECURSIVE down(id, doc_type, level, sort_order, name) AS ("
        " SELECT id, 'root', 0, 0, '' FROM document WHERE id = ?"
        " UNION ALL SELECT c.id, c.doc_type, down.level + 1, c.sort_order, c.name"
        f" FROM down JOIN document c ON c.parent_id = down.id WHERE c.deleted_at IS NULL{opened}"
        " AND NOT EXISTS (SELECT 1 FROM image_cut x WHERE x.child_id = c.id)"
        " AND down.level < 1000 ORDER BY 3 DESC, 4, 5, 1)"
        " SELECT id FROM down WHERE level > 0 AND EXISTS (SELECT 1 FROM rendition r WHERE r.document_id = down.id"
        " AND r.is_primary AND r.materialized AND r.pixel_width IS NOT NULL)",
        (folder_id,),
    )
    return [row[0] for row in rows]


class Original(NamedTuple):
    """The picture that renditions are made from. `transform` carries it to the primary's frame; None when not known."""

    rendition_id: str
    name: str
    checksum: str
    transform: list[float] | None


def original_of(conn: Connection, document_id: str) -> Original:
    """A live document's archival original where its bytes are there, else its primary picture.

    NotFound for an unknown document or one without a picture, Conflict in the Trash.
    """
    name = require_live(conn, document_id).name
    primary = primary_row(conn, document_id)
    row = (
        raw_of(conn)
        .execute(
            "SELECT id, checksum, transform FROM rendition WHERE document_id = ? AND role = 'archival-original'"
            " AND materialized AND checksum IS NOT NULL AND pixel_width IS NOT NULL"
            " ORDER BY is_primary DESC, created_at, id LIMIT 1",
            (document_id,),
        )
        .fetchone()
    )
    if row is None or row[0] == primary.rendition_id:
        return Original(primary.rendition_id, name, primary.checksum, IDENTITY)
    return Original(row[0], name, row[1], orjson.loads(row[2]) if row[2] else None)


def treated_rendition(conn: Connection, document_id: str, role: str, checksum: str) -> str | None:
    """The document's rendition of that role with those bytes, where it has one."""
    row = (
        raw_of(conn)
        .execute(
            "SELECT id FROM rendition WHERE document_id = ? AND role = ? AND checksum = ?",
            (document_id, role, checksum),
        )
        .fetchone()
    )
    return row[0] if row else None


def batch_row(raw: sqlite3.Connection, batch_id: str) -> tuple[str, str, dict[str, Any]]:
    """A batch's job, folder and spec; NotFound for an unknown one."""
    row = raw.execute("SELECT job_id, folder_id, spec FROM image_batch WHERE id = ?", (batch_id,)).fetchone()
    if row is None:
        raise unknown_batch(batch_id)
    return row[0], row[1], orjson.loads(row[2])


def item_state(raw: sqlite3.Connection, batch_id: str, document_id: str) -> str | None:
    """The stored state of one picture of a batch, or None when the batch does not have it."""
    row = raw.execute(
        "SELECT state FROM image_batch_item WHERE batch_id = ? AND document_id = ?", (batch_id, document_id)
    ).fetchone()
    return None if row is None else str(row[0])


def waiting_items(raw: sqlite3.Connection, batch_id: str, after: int, limit: int) -> list[tuple[int, str]]:
    """The next waiting pictures of a batch behind place *after*."""
    rows = raw.execute(
        "SELECT sequence, document_id FROM image_batch_item WHERE batch_id = ? AND sequence > ?"
        " AND state = 'waiting' ORDER BY sequence LIMIT ?",
        (batch_id, after, limit),
    )
    return [(row[0], row[1]) for row in rows]


def batch_answer(raw: sqlite3.Connection, batch_id: str) -> dict[str, Any]:
    """How a batch stands, item by item; NotFound for an unknown or non-image batch.

    Only what is final is stored of an item. Which one is in hand, and what an ended job never came to or an undo of
    its steps took back, follows from the job.
    """
    job_id, _, _ = batch_row(raw, batch_id)
    row = raw.execute("SELECT state, reason FROM job WHERE id = ?", (job_id,)).fetchone()
    state, why = (row[0], row[1]) if row is not None else ("done", None)
    children: dict[str, list[str]] = {}
    for source_id, child_id in raw.execute(
        "SELECT c.source_id, c.child_id FROM image_cut c JOIN document d ON d.id = c.child_id"
        " WHERE c.batch_id = ? AND d.deleted_at IS NULL ORDER BY d.sort_order, d.name, d.id",
        (batch_id,),
    ):
        children.setdefault(source_id, []).append(child_id)
    items = []
    running = state == "running"
    for document_id, stored, reason in raw.execute(
        "SELECT document_id, state, reason FROM image_batch_item WHERE batch_id = ? ORDER BY sequence",
        (batch_id,),
    ):
        if stored == "waiting":
            if running:
                stored, running = "running", False
            elif state == "done":
                stored, reason = "undone", "The step that cut it was taken back."
            elif state in ("cancelled", "failed"):
                stored, reason = "skipped", f"The job ended before it ({why or state})."
        items.append(
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
        "total": len(items),
        "done": sum(item["state"] == "done" for item in items),
        "failed": sum(item["state"] == "failed" for item in items),
        "items": items,
    }
