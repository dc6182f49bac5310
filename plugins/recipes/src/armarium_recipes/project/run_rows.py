"""The row of a run of the recipe: written when the run is started, updated as its cards end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from sqlalchemy import Connection, select

from armarium.api import Engine, Library, find_ends, is_among, list_jobs, now
from armarium_recipes.errors import unknown_recipe_run
from armarium_recipes.models import runs
from armarium_recipes.project.cards_of_run import RunCard

KIND = "run-a-recipe"


def insert_run(conn: Connection, job_id: str, **values: Any) -> None:
    """Insert the row of a run that was enqueued."""
    row = {
        "job_id": job_id,
        "started_at": now(),
        "recipe_version": 0,
        "page_ids": [],
        "cards": [],
        "skipped": [],
        "refusals": [],
        "settings": {},
        **values,
    }
    conn.execute(runs.insert().values(row))


def find_run(conn: Connection, job_id: str) -> dict[str, Any] | None:
    """Return the row; None for a job that is not a run of a recipe."""
    row = conn.execute(runs.select().where(runs.c.job_id == job_id)).first()
    return None if row is None else row._asdict()


def run_row(conn: Connection, job_id: str) -> dict[str, Any]:
    """Like `find_run`; NotFound if there is none."""
    row = find_run(conn, job_id)
    if row is None:
        raise unknown_recipe_run(job_id)
    return row


def change_run(conn: Connection, job_id: str, **values: Any) -> None:
    """Change columns of the row."""
    conn.execute(runs.update().where(runs.c.job_id == job_id).values(**values))


def conclude(conn: Connection, job_id: str, state: str, reason: str | None) -> None:
    """Record how a run ended."""
    change_run(conn, job_id, state=state, reason=reason, finished_at=now())


def card_of(stored: Mapping[str, Any]) -> RunCard:
    """Return a card from its row."""
    names = {field.name for field in fields(RunCard)}
    return RunCard(**{key: value for key, value in stored.items() if key in names})


def going_start(conn: Connection) -> str | None:
    """Return the id of a run that a person started and that has not ended; None if there is none."""
    going = [job.id for job in list_jobs(conn, kinds=KIND)]
    query = select(runs.c.job_id).where(runs.c.started_by == "person", is_among(runs.c.job_id, going))
    return conn.execute(query.limit(1)).scalar()


def other_going(conn: Connection, job_id: str) -> bool:
    """Return whether another run has begun and not ended."""
    return any(job.checkpoint and job.id != job_id for job in list_jobs(conn, "checkpoint", kinds=KIND))


def reconcile(engine: Engine, library: Library) -> None:
    """When a project is opened: update runs whose job ended without recording it here, or is not there."""
    with library.db.write() as conn:
        open_runs = conn.execute(select(runs.c.job_id).where(runs.c.state.is_(None))).scalars().all()
        for job_id, (state, reason) in find_ends(conn, open_runs).items():
            conclude(conn, job_id, state, reason)


def with_card(cards: Sequence[Mapping[str, Any]], at: int, **values: Any) -> list[dict[str, Any]]:
    """Return *cards* with one of them changed."""
    return [{**card, **(values if number == at else {})} for number, card in enumerate(cards)]
