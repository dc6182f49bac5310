"""Which pages already have the output of a piece of work, according to the project itself and to the notes of
runs.

The rule: lines in any pass of a page, and a text of all the lines by which it is read, count no matter who made or
imported them; a page with a text and without lines is read. Work based
on a text counts while the text is the one it was done on and the run that did it has not been undone. A page
on which there was nothing to write counts as well; and a page without text or lines counts for work that
needs them, for as long as it has none. Work for which this cannot be determined (checks, files, sites, groups
of pages) is done on every page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, select

from armarium.api import RecipeJob, count_in_effect, is_among, list_steps
from armarium_knowledge.api import mentions
from armarium_recipes.models import done_pages
from armarium_recipes.project.accounts import pages_were
from armarium_source_model.api import (
    line_counts,
    page_texts,
    pages_lined_by_hand,
    pages_transcribed,
    passes,
    segment_fingerprints,
    segments,
)

UNTOLD = frozenset({"check", "export", "publish", "find-documents-in-a-folder", "train-a-model"})
"""Work that processes all pages each time."""

OF_THE_TEXT = frozenset({"line_readings", "page_reading", "mentions", "claims"})
"""Materials whose derived results become stale when the text changes."""


NO_TEXT, NO_LINES = "no text", "no lines"
"""Instead of a fingerprint: what a page lacked when it was processed."""


def pages_with_output(conn: Connection, job_id: str, pages: Sequence[str]) -> set[str] | None:
    """Return which of *pages* have the output of *job_id* on their present text; None if this cannot be determined."""
    if job_id in UNTOLD:
        return None
    noted = read_noted(conn, job_id, pages)
    find_shown = SHOWN.get(job_id)
    return noted | find_shown(conn, pages) if find_shown is not None else noted


def fingerprints(conn: Connection, pages: Sequence[str]) -> dict[str, str]:
    """Return the fingerprint of the text of each page that has one."""
    rows = conn.execute(
        select(page_texts.c.document_id, page_texts.c.fingerprint).where(
            is_among(page_texts.c.document_id, pages), page_texts.c.text != ""
        )
    )
    return {row.document_id: row.fingerprint for row in rows}


def read_noted(conn: Connection, job_id: str, pages: Sequence[str]) -> set[str]:
    """Return which of *pages* a run noted for *job_id*, with their present text, unless that run was undone."""
    done_page = done_pages.c
    rows = conn.execute(
        select(done_page.page_id, done_page.thread_id, done_page.fingerprint).where(
            done_page.job == job_id, is_among(done_page.page_id, pages)
        )
    ).all()
    texts = fingerprints(conn, [row.page_id for row in rows if row.fingerprint])
    lined = _WITH_LINES(conn, [row.page_id for row in rows if row.fingerprint == NO_LINES])
    undone = _taken_back(conn, {row.thread_id for row in rows})

    def holds(row: Any) -> bool:
        if row.fingerprint == NO_LINES:
            return row.page_id not in lined
        return not row.fingerprint or texts.get(row.page_id, NO_TEXT) == row.fingerprint

    return {row.page_id for row in rows if row.thread_id not in undone and holds(row)}


def note_done(
    conn: Connection, job: RecipeJob, pages: Sequence[str], thread_id: str, texts: dict[str, str]
) -> None:
    """Note that a run did *job* on *pages*; *texts* are the fingerprints it worked on."""
    if OF_THE_TEXT & set(job.takes):
        new = {page: texts.get(page, NO_TEXT) for page in pages}
    elif "lines" in job.takes:
        lined = _WITH_LINES(conn, pages)
        new = {page: "" if page in lined else NO_LINES for page in pages}
    else:
        new = dict.fromkeys(pages, "")
    # A page on which this run had nothing to write has its output from an earlier run, and loses it together
    # with that run.
    kept_pages = _kept_notes(conn, job.id, new, thread_id)
    pages = [page for page in pages if page not in kept_pages]
    find_shown = SHOWN.get(job.id)
    # Output visible in the project needs no note, and is missing again once somebody removes it.
    noted = set(pages) - (find_shown(conn, pages) if find_shown is not None else set())
    conn.execute(done_pages.delete().where(done_pages.c.job == job.id, is_among(done_pages.c.page_id, pages)))
    rows = [
        {"job": job.id, "page_id": page, "thread_id": thread_id, "fingerprint": new[page]}
        for page in pages
        if page in noted
    ]
    if rows:
        conn.execute(done_pages.insert(), rows)


def _kept_notes(conn: Connection, job_id: str, new: Mapping[str, str], thread_id: str) -> set[str]:
    """Return the pages of *new* (page to fingerprint) on which *thread_id* wrote nothing and that an earlier
    run, not undone since, noted for the same text.
    """
    done_page = done_pages.c
    rows = conn.execute(
        select(done_page.page_id, done_page.thread_id, done_page.fingerprint).where(
            done_page.job == job_id, is_among(done_page.page_id, list(new))
        )
    ).all()
    if not rows:
        return set()
    steps = list_steps(conn, "changed", sets=thread_id)
    pages = {page for step in steps for page in step.changed.get("document_ids", ())}
    undone = _taken_back(conn, {row.thread_id for row in rows})
    return {
        row.page_id
        for row in rows
        if row.page_id not in pages and row.thread_id not in undone and row.fingerprint == new[row.page_id]
    }


def _taken_back(conn: Connection, threads: Iterable[str]) -> set[str]:
    """Return which of the sets *threads* have all their steps undone; a set without steps is not among them."""
    return {thread for thread, count in count_in_effect(conn, threads).items() if not count}


def _with_segments(kind: str) -> Callable[[Connection, Sequence[str]], set[str]]:
    def find(conn: Connection, pages: Sequence[str]) -> set[str]:
        segment = segments.c
        query = (
            select(segment.document_id)
            .join(passes, passes.c.id == segment.pass_id)
            .where(
                is_among(segment.document_id, pages),
                segment.kind == kind,
                segment.deleted_at.is_(None),
                passes.c.deleted_at.is_(None),
            )
            .distinct()
        )
        return set(conn.execute(query).scalars())

    return find


_WITH_LINES = _with_segments("line")


def pages_read(conn: Connection, pages: Sequence[str]) -> set[str]:
    """Return the pages with a text in which every line has its own."""
    partly = {page for page, counts in line_counts(conn, pages).items() if counts.read < counts.lines}
    return set(fingerprints(conn, pages)) - partly


def words_about(conn: Connection, job_id: str, pages: Sequence[str]) -> list[str]:
    """Return what to say of *pages* beside how many have the output of a job, each a sentence."""
    if job_id == "split-pages":
        whole = len(pages_transcribed(conn, pages))
        return (
            [f"{pages_were(whole)} transcribed as pictured and {'stays' if whole == 1 else 'stay'} whole."]
            if whole
            else []
        )
    if job_id == "find-lines":
        pages_by_hand = pages_lined_by_hand(conn, pages)
        lines = sum(pages_by_hand.values())
        about = f"On {_pages(len(pages_by_hand))} a person drew all lines ({lines}); no others are looked for there."
        return [about] if pages_by_hand else []
    if job_id == "read-a-line":
        partly = [counts for counts in line_counts(conn, pages).values() if counts.read < counts.lines]
        read, lines = sum(counts.read for counts in partly), sum(counts.lines for counts in partly)
        about = f"On {_pages(len(partly))} {read} of {lines} lines are read; the others are read now."
        return [about] if partly else []
    return []


def undecided_pages(conn: Connection, pages: Sequence[str]) -> set[str]:
    """Return the pages with lines whose text no person made, brought along or chose."""
    counts = line_counts(conn, pages)
    return {page for page in pages if page not in counts or counts[page].decided < counts[page].lines}


def _pages(number: int) -> str:
    return "1 page" if number == 1 else f"{number} pages"


def _with_names(conn: Connection, pages: Sequence[str]) -> set[str]:
    """Return the pages with mentions on which every line still has the text in which the mention was found."""
    mention = mentions.c
    rows = conn.execute(
        select(mention.document_id, mention.segment_id, mention.text_fingerprint).where(
            is_among(mention.document_id, pages)
        )
    ).all()
    fingerprints = segment_fingerprints(conn, list({row.segment_id for row in rows}))
    stale = {row.document_id for row in rows if fingerprints.get(row.segment_id) != row.text_fingerprint}
    return {row.document_id for row in rows} - stale


SHOWN: dict[str, Callable[[Connection, Sequence[str]], set[str]]] = {
    "find-lines": _WITH_LINES,
    "find-regions": _with_segments("region"),
    "read-a-line": pages_read,
    "read-a-page": pages_read,
    "split-pages": pages_transcribed,
    "find-names-tag-words": _with_names,
}
"""Work whose output is visible in the project itself, no matter who did it."""
