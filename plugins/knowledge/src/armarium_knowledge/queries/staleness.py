"""What a correction has put in doubt: rows of every family that rest on text which has changed since."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal

from fastapi import Query
from sqlalchemy import Connection, func, select

from armarium.api import Engine, Library, find_step, is_among, query
from armarium_checking.api import verdicts
from armarium_documents.api import ARTIFACTS, artifacts, documents, representations, require_document
from armarium_knowledge.errors import unknown_step
from armarium_knowledge.queries.claims import SOURCES, Pages, shown_interpretations, standing
from armarium_knowledge.queries.mentions import on_page
from armarium_knowledge.records.claims import Interpretation, claim_sources, interpretations
from armarium_knowledge.records.mentions import Mention, mentions
from armarium_knowledge.schemas.staleness import Doubts
from armarium_source_model.api import (
    StaleRow,
    armarium_source_model_rests_on_text,
    follow_segment,
    get_segment,
    text_fingerprint,
)

ARTIFACT_TYPES = ("catalogue-record", "passages")
"""The artifacts that jobs of this family make from a page's text as a whole."""

Todo = Literal["confirm", "review", "redo"]

_JUDGED = "The statement or entity it judges rests on a line that has changed since; confirm or correct that, or request a new verdict."
_CHANGED = "Its line has changed, and the words are still there."


def mentions_in_doubt(conn: Connection, document_ids: Sequence[str]) -> list[StaleRow]:
    """Return mentions whose line has changed since they were last looked at."""
    doubts = []
    pages = Pages(conn)
    for document_id in document_ids:
        rows = Mention.rows.all(conn, mentions.c.document_id == document_id, order=(mentions.c.id,))
        for row in on_page(conn, pages(document_id), rows) if rows else ():
            if row["stale"]:
                why = row["unplaced_reason"] or _CHANGED
                todo: Todo = "confirm" if row["placed"] else "review"
                doubts.append(
                    StaleRow("mention", row["id"], document_id, row["segment_id"], row["text"], todo, why)
                )
    return doubts


def statements_in_doubt(conn: Connection, document_ids: Sequence[str]) -> list[StaleRow]:
    """Return statements with evidence on a line that has changed: once for each line."""
    doubts = []
    pages = Pages(conn)
    rows = SOURCES.all(
        conn,
        is_among(claim_sources.c.document_id, document_ids),
        claim_sources.c.segment_id.is_not(None),
        order=(claim_sources.c.document_id, claim_sources.c.claim_id, claim_sources.c.position),
    )
    for row in rows:
        place, stale = standing(row, pages)
        if stale:
            todo: Todo = "confirm" if place is not None else "review"
            why = _CHANGED if place is not None else "The words it rests on are no longer in the text."
            at = place.segment_id if place is not None else row["segment_id"]
            doubts.append(
                StaleRow("statement", row["claim_id"], row["document_id"], at, row["excerpt"], todo, why)
            )
    return doubts


def interpretations_in_doubt(conn: Connection, document_ids: Sequence[str]) -> list[StaleRow]:
    """Return interpretations of pages whose text has changed."""
    rows = Interpretation.rows.all(
        conn, is_among(interpretations.c.document_id, document_ids), order=(interpretations.c.id,)
    )
    why = "The text of its page has changed; read it again, and confirm what still holds."
    return [
        StaleRow("interpretation", row["id"], row["document_id"], None, row["text"], "confirm", why)
        for row in shown_interpretations(conn, rows)
        if row["stale"]
    ]


def artifacts_in_doubt(conn: Connection, document_ids: Sequence[str]) -> list[StaleRow]:
    """Return catalogue records and passages that were made from another text."""
    rows = ARTIFACTS.all(
        conn,
        is_among(artifacts.c.document_id, document_ids),
        artifacts.c.artifact_type.in_(ARTIFACT_TYPES),
        order=(artifacts.c.id,),
    )
    pages = Pages(conn)
    why = "It was made from an earlier text of the page; make it again."
    return [
        StaleRow("artifact", row["id"], row["document_id"], None, None, "redo", why)
        for row in rows
        if row["data"].get("text_fingerprint") != text_fingerprint(pages(row["document_id"]).text)
    ]


def verdicts_in_doubt(conn: Connection, resting: Sequence[StaleRow]) -> list[StaleRow]:
    """Return the newest verdict on each statement in doubt, and on each entity with a mention in doubt
    (*resting*), if it was given before the line changed.
    """
    about = {("claims", row.id): row for row in resting if row.kind == "statement"}
    mentions_by_id = {row.id: row for row in resting if row.kind == "mention"}
    mention_rows = conn.execute(
        select(mentions.c.id, mentions.c.entity_id).where(is_among(mentions.c.id, mentions_by_id))
    ).all()
    about |= {
        ("entities", row.entity_id): mentions_by_id[row.id]
        for row in mention_rows
        if row.entity_id is not None
    }
    if not about:
        return []
    verdict, reading = verdicts.c, representations.c
    lines = {row.segment_id for row in about.values() if row.segment_id is not None}
    newest_of = (
        select(reading.segment_id, func.max(reading.created_at))
        .where(is_among(reading.segment_id, lines))
        .group_by(reading.segment_id)
    )
    changed = {row[0]: row[1] for row in conn.execute(newest_of)}
    verdict_rows = conn.execute(
        select(verdict.id, verdict.layer, verdict.target_id, verdict.created_at)
        .where(
            is_among(verdict.target_id, [target for _, target in about]),
            verdict.layer.in_(("claims", "entities")),
        )
        .order_by(verdict.created_at, verdict.id)
    ).all()
    newest = {(row.layer, row.target_id): row for row in verdict_rows if (row.layer, row.target_id) in about}
    return [
        StaleRow(
            "verdict", row.id, about[key].document_id, about[key].segment_id, about[key].text, "redo", _JUDGED
        )
        for key, row in newest.items()
        if row.created_at <= changed.get(about[key].segment_id or "", row.created_at)
    ]


def in_doubt(
    engine: Engine,
    library: Library,
    conn: Connection,
    document_ids: Sequence[str],
    segment_ids: Iterable[str] | None = None,
) -> list[dict[str, Any]]:
    """Return what every family reports as resting on changed text of these pages; with *segment_ids*, on
    these lines or a whole page.
    """
    only = None if segment_ids is None else set(segment_ids)
    return [
        row._asdict()
        for family in engine.points.collect(armarium_source_model_rests_on_text)
        for row in family.stale(conn, library, document_ids)
        if only is None or row.segment_id is None or row.segment_id in only
    ]


@query(
    "/api/staleness",
    summary="What corrections have put in doubt",
    answer=Doubts,
    name="list_staleness",
    # How much is in doubt on a page depends on what was corrected there.
    counts_withheld=False,
)
def list_staleness(
    conn: Connection,
    engine: Engine,
    library: Library,
    segment_id: str | None = None,
    document_id: str | None = None,
    audit_id: str | None = None,
    limit: Annotated[int, Query(ge=1, le=10_000, description="How many pages are looked through")] = 500,
    offset: Annotated[int, Query(ge=0)] = 0,
) -> dict[str, Any]:
    """List it for a line, a page, or the changes of a step; several of these narrow each other. Without any, for
    the whole project, pages that were written on last coming first. Each row says what to do about it.
    """
    pages: set[str] | None = None
    lines: set[str] | None = None
    if audit_id is not None:
        pages, lines = _changed_by(conn, audit_id)
    if document_id is not None:
        require_document(conn, document_id)
        pages = {document_id} if pages is None else pages & {document_id}
    if segment_id is not None:
        own = get_segment(conn, segment_id).document_id
        pages = {own} if pages is None else pages & {own}
        # What was merged away or split is told of where its text is now.
        following = {segment_id, *follow_segment(conn, segment_id)}
        lines = following if lines is None else lines & following
    page_ids = _last_written(conn) if pages is None else sorted(pages)
    looked = page_ids[offset : offset + limit]
    items = in_doubt(engine, library, conn, looked, lines)
    pages_left = max(0, len(page_ids) - offset - len(looked))
    return {"items": items, "count": len(items), "pages": len(looked), "pages_left": pages_left}


def _last_written(conn: Connection) -> list[str]:
    """Return the live pages that have readings, the one with the newest first."""
    reading = representations.c
    newest = (
        select(reading.document_id)
        .join(documents, documents.c.id == reading.document_id)
        .where(reading.segment_id.is_not(None), documents.c.deleted_at.is_(None))
        .group_by(reading.document_id)
        .order_by(func.max(reading.created_at).desc(), reading.document_id)
    )
    return list(conn.execute(newest).scalars())


def _changed_by(conn: Connection, audit_id: str) -> tuple[set[str], set[str] | None]:
    """Return the pages that a step changed, and the lines where it changed some."""
    step = find_step(conn, audit_id, "changed")
    if step is None:
        raise unknown_step(audit_id)
    lines = set(step.changed.get("segment_ids", ()))
    return set(step.changed.get("document_ids", ())), lines or None
