"""The text of pages as the rules take it: read from the counting readings of the pass a page is read by."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Connection, exists, select

from armarium_documents.api import documents
from armarium_finding.cues import CueTable
from armarium_finding.evidence import PageEvidence, look_at
from armarium_source_model.api import ReadingRule, page_text, segments


class PageWords(NamedTuple):
    """What was read on a page: its text, the text with running heads and page numbers, whether it was read at all,
    and the fingerprint of its readings."""

    text: str
    with_furniture: str
    is_read: bool
    fingerprint: str


def words_of(conn: Connection, page_id: str, rule: ReadingRule) -> PageWords:
    """The words of a page. A page whose pass has no line was read and is empty; one with lines unread was not read."""
    found = page_text(conn, page_id, rule=rule)
    if found.text:
        apart = any(one.reason == "furniture" for one in found.assembled.omitted)
        whole = page_text(conn, page_id, include_furniture=True, rule=rule).text if apart else ""
        return PageWords(found.text, whole, True, found.fingerprint)
    if found.pass_id is not None:
        lines = select(segments.c.id).where(
            segments.c.pass_id == found.pass_id, segments.c.kind != "region", segments.c.deleted_at.is_(None)
        )
        if not conn.execute(select(exists(lines))).scalar():
            return PageWords("", "", True, found.fingerprint)
    content = conn.execute(select(documents.c.page_content).where(documents.c.id == page_id)).scalar()
    return PageWords(content or "", "", bool(content), found.fingerprint)


def evidence_of_page(page_id: str, words: PageWords, table: CueTable) -> PageEvidence:
    """What the page says of itself."""
    return look_at(page_id, words.text, is_read=words.is_read, table=table, furniture=words.with_furniture)
