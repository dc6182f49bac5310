"""The progress of a card: its pages done, failed and left, the time it will probably take, and what it waits for."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection

from armarium.api import find_job, list_beneath
from armarium_workflows.api import page_counts

NONE_DONE = {"pages": 0, "done": 0, "failed": 0, "left": 0, "withheld": 0}


def account_of(conn: Connection, child_id: str) -> dict[str, Any]:
    """Return the progress of a card's job: pages, done, failed, left, withheld, seconds_left, waits_for.
    Pages withheld from the work by their rights are left, and also counted in `withheld`.
    """
    withheld = 0
    job = find_job(conn, child_id)
    counts = page_counts(conn, child_id)
    if counts is not None:
        pages, done, failed, withheld = counts
        if job is not None and job.is_going:
            # A run counts its pages only at its end; until then its jobs say how far it is.
            done = min(job.done, pages)
    elif job is not None:
        pages, done, failed = job.total, job.done, 0
    else:
        return {**NONE_DONE, "seconds_left": None, "waits_for": None}
    pages_left = max(0, pages - done - failed)
    going = job if job is not None and job.is_going else None
    return {
        "pages": pages,
        "done": done,
        "failed": failed,
        "left": pages_left,
        "withheld": withheld,
        "seconds_left": _seconds_left(going.started_at, done + failed, pages_left) if going else None,
        "waits_for": _waits_for(conn, child_id) if going else None,
    }


def offer_for(account: Mapping[str, Any]) -> str | None:
    """Return what can be done about the pages of a card that failed or were withheld from it; None if there
    are none.
    """
    failed, withheld = account["failed"], account.get("withheld", 0)
    sentences = []
    if failed:
        sentences.append(f"{pages_were(failed)} not done; read them again once the cause is fixed.")
    if withheld:
        sentences.append(
            f"{pages_were(withheld)} skipped, because rights withhold "
            f"{'it' if withheld == 1 else 'them'} from the model."
        )
    return " ".join(sentences) or None


def pages_were(count: int) -> str:
    """Return a number of pages as the beginning of a sentence."""
    return f"{count} {'page was' if count == 1 else 'pages were'}"


def _seconds_left(started_at: str | None, done: int, left: int) -> float | None:
    if started_at is None or not done:
        return None
    since = (datetime.now(UTC) - datetime.fromisoformat(started_at.replace("Z", "+00:00"))).total_seconds()
    return round(max(since, 0.0) / done * left, 1)


def _waits_for(conn: Connection, child_id: str) -> str | None:
    """Return why the jobs of a card wait, as the first of them states it, if none of them is running."""
    jobs = list_beneath(conn, child_id)
    if any(job.state == "running" for job in jobs):
        return None
    return next((job.reason for job in jobs if job.reason), None)
