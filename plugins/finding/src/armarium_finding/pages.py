"""The text of pages in the form that the rules use: from the counting readings of the working pass."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Connection, exists, select

from armarium_documents.api import documents
from armarium_finding.cues import CueTable
from armarium_finding.evidence import PageEvidence, look_at
from armarium_source_model.api import ReadingRule, page_text, segments


class PageWords(NamedTuple):
    """The words of a page: its text, the text including running heads and page numbers, whether it was read
    at all, and the fingerprint of its readings.
    """

    text: str
    with_furniture: str
    is_read: bool
    fingerprint: str


def words_of(conn: Connection, page_id: str, rule: ReadingRule) -> PageWords:
    """Return the words of a page. A page whose pass has no line counts as read and empty; one with unread
    lines does not.
    """
    text_of_page = page_text(conn, page_id, rule=rule)
    if text_of_page.text:
        apart = any(line.reason == "furniture" for line in text_of_page.assembled.omitted)
        whole = page_text(conn, page_id, include_furniture=True, rule=rule).text if apart else ""
        return PageWords(text_of_page.text, whole, True, text_of_page.fingerprint)
    if text_of_page.pass_id is not None:
        lines = select(segments.c.id).where(
            segments.c.pass_id == text_of_page.pass_id,
            segments.c.kind != "region",
            segments.c.deleted_at.is_(None),
        )
        if not conn.execute(select(exists(lines))).scalar():
            return PageWords("", "", True, text_of_page.fingerprint)
    content = conn.execute(select(documents.c.page_content).where(documents.c.id == page_id)).scalar()
    return PageWords(content or "", "", bool(content), text_of_page.fingerprint)


def evidence_of_page(page_id: str, words: PageWords, table: CueTable) -> PageEvidence:
    """Return the evidence on the page."""
    return look_at(page_id, words.text, is_read=words.is_read, table=table, furniture=words.with_furniture)
