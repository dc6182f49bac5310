"""The lines a person corrected: on which pages, and how many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, or_, select

from armarium.api import Library, Principal, find_withheld, is_among
from armarium_documents.api import documents, pages_under, representations
from armarium_source_model.api import passes
from armarium_training.api import checked_lines, checksum_of, without_repeats

PERSON = "human"


@dataclass
class CorrectedPages:
    """Pages with corrected lines, {document_id, name, lines} each, and the pages left out, with the reasons."""

    pages: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[dict[str, str]] = field(default_factory=list)

    @property
    def lines(self) -> int:
        """The number of corrected lines."""
        return sum(page["lines"] for page in self.pages)

    def keep(self, page_ids: set[str], why: str) -> None:
        """Leave out all pages except those in *page_ids*."""
        missing_ids = [page["document_id"] for page in self.pages if page["document_id"] not in page_ids]
        self.left_out += [{"document_id": page, "why": why} for page in missing_ids]
        self.pages = [page for page in self.pages if page["document_id"] in page_ids]


def corrected_pages(
    conn: Connection, library: Library, principal: Principal, page_ids: Sequence[str] | None
) -> CorrectedPages:
    """Return the pages with corrected lines at or below *page_ids* (None: among all pages that a person worked on)."""
    candidates = _touched_by_persons(conn) if page_ids is None else pages_under(conn, page_ids)
    kept_back = find_withheld(library, principal, candidates, "local-model")
    corrected = CorrectedPages()
    for page in candidates:
        why, lines = kept_back.get(page), 0
        if why is None and checksum_of(conn, page) is None:
            why = "It has no picture."
        if why is None:
            lines = len(checked_lines(conn, page, None)[0])
            why = None if lines else "None of its lines has a reading that a person made or checked."
        if why is not None:
            corrected.left_out.append({"document_id": page, "why": why})
            continue
        name = conn.execute(select(documents.c.name).where(documents.c.id == page)).scalar()
        corrected.pages.append({"document_id": page, "name": name, "lines": lines})
    counted = {page["document_id"]: range(page["lines"]) for page in corrected.pages}
    twice = without_repeats(conn, counted)
    corrected.keep(
        counted.keys() - twice, "Its lines are on a picture that it was cut from, or on those cut from it."
    )
    return corrected


def _touched_by_persons(conn: Connection) -> list[str]:
    """Return the live pages with a pass made by a person, a ground truth, or a reading given by a person; in
    reading order.
    """
    with_pass = select(passes.c.document_id).where(
        passes.c.deleted_at.is_(None),
        or_(passes.c.provenance_kind == PERSON, passes.c.ground_truth.is_(True)),
    )
    with_reading = select(representations.c.document_id).where(
        representations.c.provenance_kind == PERSON,
        representations.c.kind == "transcription",
        representations.c.segment_id.is_not(None),
        representations.c.retracted.is_(False),
    )
    ids = sorted(set(conn.execute(with_pass).scalars()) | set(conn.execute(with_reading).scalars()))
    live = set(
        conn.execute(
            select(documents.c.id).where(is_among(documents.c.id, ids), documents.c.deleted_at.is_(None))
        ).scalars()
    )
    return pages_under(conn, [page_id for page_id in ids if page_id in live]) if live else []
