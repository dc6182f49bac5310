"""How a run of the recipe is shown during and after it, and what it produced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, func, select

from armarium.api import GOING, find_job, is_among
from armarium_knowledge.api import claims, entities, mentions
from armarium_recipes.errors import unknown_recipe_run
from armarium_recipes.models import runs
from armarium_recipes.project import outputs
from armarium_recipes.project.accounts import account_of, offer_for
from armarium_recipes.project.partial_runs import seen_account, seen_run, seen_runs
from armarium_recipes.project.run_rows import find_run, run_row
from armarium_recipes.project.running import WORKFLOWS, follow_pages
from armarium_workflows.api import failed_pages

FINDING = "find-documents-in-a-folder"


def seen_row(conn: Connection, job_id: str) -> dict[str, Any]:
    """Return the row of a run as the caller sees it; NotFound also if it may see none of its pages."""
    row = seen_run(conn, run_row(conn, job_id))
    if row is None:
        raise unknown_recipe_run(job_id)
    return row


def run_answer(conn: Connection, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a run as it is answered, *row* being its row as the caller sees it: the state of its job while
    that exists, otherwise what was recorded at its end.
    """
    partial = row.get("partial", False)
    job = find_job(conn, row["job_id"], "checkpoint")
    state, reason = row["state"], row["reason"]
    checkpoint: dict[str, Any] = {}
    if job is not None:
        checkpoint = job.checkpoint
        state = "running" if job.state == "waiting" and checkpoint else job.state
        # A caller from whom pages are withheld gets the row's own words: those of the job may name or count
        # them.
        reason = job.reason if job.reason is not None and not partial else row["reason"]
    going = state in GOING
    not_run = None if going else _why_not_run(row["cards"], state)
    cards = [
        _card(conn, row, stored, checkpoint if going and number == checkpoint.get("at") else {}, not_run)
        for number, stored in enumerate(row["cards"])
    ]
    running = next((card for card in cards if card["state"] == "running"), None)
    waiting_for = running["account"]["waits_for"] if running is not None and running["account"] else None
    fields = ("job_id", "started_at", "started_by", "recipe_version", "page_ids", "skipped", "refusals")
    return {
        **{name: row[name] for name in fields},
        "state": state or "failed",
        "reason": reason,
        "cards": cards,
        "waiting_for": waiting_for or (reason if going else None),
        "estimate_seconds_left": _seconds_left(row["cards"], cards) if going else None,
    }


def _why_not_run(cards: Sequence[Mapping[str, Any]], state: str | None) -> str:
    """Return why a run that has ended came to none of its cards that have no state."""
    failed = next((card["title"] for card in cards if card.get("state") == "failed"), None)
    if failed is not None:
        return f"{failed} failed before it."
    return "The run was cancelled before it." if state == "cancelled" else "The run ended before it."


def _card(
    conn: Connection,
    row: Mapping[str, Any],
    stored: Mapping[str, Any],
    now: Mapping[str, Any],
    not_run: str | None,
) -> dict[str, Any]:
    state, child, account = stored.get("state"), stored.get("child_id"), stored.get("account")
    why = stored.get("why")
    if state is None:
        # One that is taken up again has what it came to before.
        child, account = now.get("child"), None
        state = "running" if now else "waiting"
        if not_run is not None:
            state, why = "not run", not_run
    if child is not None and (account is None or row.get("partial")):
        account = account_of(conn, child)
    if account is not None and row.get("partial"):
        account = seen_account(account, len(row["page_ids"]))
    fields = ("id", "steps", "title", "job", "card")
    return {
        **{name: stored[name] for name in fields},
        "state": state,
        "child_id": child,
        "why": why,
        "account": account,
        "thread_id": child if stored["card"] in WORKFLOWS else None,
        "offer": offer_for(account) if state == "done" and account is not None else None,
    }


def _seconds_left(stored: list[dict[str, Any]], cards: list[dict[str, Any]]) -> float | None:
    """Return the seconds left for the running card and those after it; None if one of them is unknown."""
    total = 0.0
    for row, card in zip(stored, cards, strict=True):
        if card["state"] == "running":
            seconds = (card["account"] or {}).get("seconds_left")
        elif card["state"] == "waiting":
            speed = row.get("pages_per_hour")
            seconds = row.get("planned", 0) * 3600 / speed if speed else None
        else:
            continue
        if seconds is None:
            return None
        total += seconds
    return round(total, 1)


def describe_run(conn: Connection, job_id: str) -> dict[str, Any]:
    """Return what the job's own answer says about a run: its cards as `stages` and, once it has ended, its
    `summary`.
    """
    stored = find_run(conn, job_id)
    row = seen_run(conn, stored) if stored is not None else None
    if row is None:
        return {}
    run = run_answer(conn, row)
    ended = run["state"] not in GOING
    return {"stages": run["cards"], **({"summary": summary_of(conn, job_id)} if ended else {})}


def list_run_rows(conn: Connection) -> list[dict[str, Any]]:
    """Return all runs of which the caller may see a page, newest first."""
    rows = conn.execute(runs.select().order_by(runs.c.started_at.desc(), runs.c.job_id.desc()))
    return seen_runs(conn, [row._asdict() for row in rows])


def summary_of(conn: Connection, job_id: str) -> dict[str, Any]:
    """Return what a run produced: pages read, names by kind, dates, statements, proposals, and the outcome of
    each card.
    """
    row = seen_row(conn, job_id)
    run = run_answer(conn, row)
    pages = follow_pages(conn, run["page_ids"])
    threads = [card["child_id"] for card in run["cards"] if card["child_id"] is not None]
    begun = {card["job"] for card in run["cards"] if card["child_id"] is not None}
    return {
        "job_id": job_id,
        "pages": len(pages),
        "pages_read": len(outputs.pages_read(conn, pages)),
        "names": _names(conn, pages, threads),
        "dates": _dates(conn, pages) if "work-out-dates" in begun else 0,
        "statements": conn.execute(
            select(func.count()).select_from(claims).where(is_among(claims.c.run_id, threads))
        ).scalar_one(),
        # The job counts all of them; how many of them are visible is unknown here.
        "documents_proposed": None if row.get("partial") else _count_proposed(conn, run["cards"]),
        "stages": [
            {
                **{key: card[key] for key in ("id", "job", "title", "state", "thread_id")},
                "failed_pages": failed_pages(conn, card["thread_id"]) if card["thread_id"] else [],
                "offer": card["offer"],
            }
            for card in run["cards"]
            if card["child_id"] is not None
        ],
        "skipped": run["skipped"],
        "not_run": [
            {"id": card["id"], "why": card["why"]} for card in run["cards"] if card["state"] == "not run"
        ],
        "finished": run["state"] not in GOING,
    }


def _names(conn: Connection, pages: list[str], threads: list[str]) -> dict[str, int]:
    mention, entity = mentions.c, entities.c
    kinds = (
        select(entity.entity_type, func.count())
        .select_from(mentions.join(entities, mention.entity_id == entity.id))
        .where(is_among(mention.document_id, pages), is_among(mention.run_id, threads))
        .group_by(entity.entity_type)
        .order_by(entity.entity_type)
    )
    return {row[0]: row[1] for row in conn.execute(kinds)}


def _dates(conn: Connection, pages: list[str]) -> int:
    """Return the dates of the entities that the pages name."""
    mention, entity = mentions.c, entities.c
    named_ids = select(mention.entity_id).where(is_among(mention.document_id, pages)).distinct()
    return sum(
        len(values)
        for values in conn.execute(select(entity.date_values).where(entity.id.in_(named_ids))).scalars()
    )


def _count_proposed(conn: Connection, cards: list[dict[str, Any]]) -> int | None:
    """Return how many documents were proposed; None if no card that looks for them was begun."""
    count = None
    for card in cards:
        if card["job"] != FINDING or card["child_id"] is None:
            continue
        job = find_job(conn, card["child_id"], "result")
        count = (count or 0) + int(job.result.get("documents", 0) if job is not None else 0)
    return count
