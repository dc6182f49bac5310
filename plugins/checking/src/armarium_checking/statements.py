"""The statement of an error rate on its way out: with each page that is written, in records, and among what a correction
shook.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, select

from armarium.api import ActionContext, Library, is_among
from armarium_checking.queries.samples import error_rate
from armarium_checking.records.samples import sample_pages, samples
from armarium_source_model.api import StaleRow

WHY = "The error rate was stated of the text as it was; draw a new sample to state that of the present one."
ABOUT = "error rate"


def statements_about(conn: Connection, document_id: str) -> list[Mapping[str, str]]:
    """Return the newest error rate of the texts that count among whose pages this one is; none of one reader's or one
    hand's, which are not what is written.
    """
    query = (
        select(samples.c.id)
        .join(sample_pages, sample_pages.c.sample_id == samples.c.id)
        .where(
            sample_pages.c.document_id == document_id, samples.c.reader.is_(None), samples.c.hand_id.is_(None)
        )
        .order_by(samples.c.created_at.desc(), samples.c.id.desc())
    )
    for sample_id in conn.execute(query).scalars():
        rate = error_rate(conn, sample_id)
        if rate["statement"] is not None:
            by = ", ".join(rate["persons"])
            return [{"about": ABOUT, "sentence": rate["statement"], "date": rate["stated_at"], "by": by}]
    return []


def stated_rates(
    conn: Connection, ids: frozenset[str] | None, excluded: Collection[str]
) -> Iterator[Mapping[str, Any]]:
    """Yield the error rates of selections that an export contains as a whole."""
    for sample_id in conn.execute(select(samples.c.id).order_by(samples.c.id)).scalars():
        pages = set(
            conn.execute(
                select(sample_pages.c.document_id).where(sample_pages.c.sample_id == sample_id)
            ).scalars()
        )
        if (ids is None or pages <= ids) and not pages & set(excluded):
            yield error_rate(conn, sample_id)


class RestingRates:
    """Error rates that no longer hold, because a page of their selection was read anew or corrected."""

    kinds = ("error rate",)

    def stale(self, conn: Connection, library: Library, document_ids: Sequence[str]) -> list[StaleRow]:
        """Return one row for each rate, on the first of these pages that is in its selection."""
        query = select(sample_pages.c.sample_id, sample_pages.c.document_id).where(
            is_among(sample_pages.c.document_id, document_ids)
        )
        pages = {
            row.sample_id: row.document_id for row in conn.execute(query.order_by(sample_pages.c.id.desc()))
        }
        stale_samples = []
        for sample_id, document_id in sorted(pages.items()):
            rate = error_rate(conn, sample_id)
            if rate["cer"] is not None and not rate["holds"]:
                stale_samples.append(
                    StaleRow("error rate", sample_id, document_id, None, rate["statement"], "redo", WHY)
                )
        return stale_samples

    def confirm(self, ctx: ActionContext, kind: str, identity: str) -> bool:
        """Refuse: an error rate of another text is estimated anew."""
        return False
