"""A job that continues after its children: its thread is free meanwhile, and it decides itself about a failed child."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from armarium.engine import Engine
from armarium.errors import Conflict
from armarium.jobs import choice, decisions, ending, execution
from armarium.jobs.body_ends import AfterChildren
from armarium.jobs.context import JobContext
from armarium.jobs.kinds import JobKind
from armarium.jobs.queue import NewJob, enqueue
from armarium.plugin import Plugin
from armarium.principals import LOCAL_OWNER


def parent(job: JobContext) -> dict[str, Any]:
    """Spawn two rounds of children, one after the other."""
    number = job.checkpoint.get("round", 0)
    if number < 2:
        children = [
            NewJob("rounds-child", {"bad": bad}, "A child", key=f"{number} {bad}") for bad in (True, False)
        ]
        job.spawn_many(children, checkpoint={"round": number + 1})
        raise AfterChildren
    return {str(child.key): child.state for child in job.children()}


def child(job: JobContext) -> None:
    """Fail where the arguments say so."""
    if job.args["bad"]:
        raise Conflict("It was to fail.")


def test_it_continues_when_its_children_have_finished_and_decides_about_failures_itself(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    # Both in a lane of one job at a time: a parent that waited for its children would wait for ever.
    kinds = (
        JobKind("rounds-parent", "recipes", "Go on after children.", parent),
        JobKind("rounds-child", "recipes", "Be a child.", child),
    )
    engine = make_engine(plugins=[Plugin(name="rounds", summary="Rounds.", jobs=kinds)])
    engine.run(None, "library.create", {"path": str(tmp_path / "Rounds.library")}, LOCAL_OWNER)
    library = engine.libraries.get(tmp_path / "Rounds.library")
    with library.db.write() as conn:
        job_id = enqueue(conn, NewJob(kinds[0], {}, title="Rounds"), started_by=LOCAL_OWNER)
    assert engine.jobs.run_until_idle(library)
    with library.db.read() as conn:
        state, result = conn.exec_driver_sql("SELECT state, result FROM job WHERE id = ?", (job_id,)).one()
    assert state == "done"
    assert result == '{"0 True":"failed","0 False":"done","1 True":"failed","1 False":"done"}'


class Clock:
    """A clock that the children move on."""

    def __init__(self) -> None:
        self.minute = 0

    def now(self) -> str:
        return f"2026-01-01T{self.minute // 60:02}:{self.minute % 60:02}:00.000Z"


def test_a_job_lasts_from_its_first_beginning_to_the_end_of_its_last_child_and_a_retry_begins_anew(
    make_engine: Callable[..., Engine], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    for module in (choice, decisions, ending, execution):
        monkeypatch.setattr(module, "now", clock.now)

    def slow_child(job: JobContext) -> None:
        clock.minute += 10
        child(job)

    def strict_parent(job: JobContext) -> None:
        parent(job)
        if any(one.is_going for one in job.children()):
            raise AfterChildren
        raise Conflict("One of them failed.")

    kinds = (
        JobKind("rounds-parent", "recipes", "Go on after children.", strict_parent),
        JobKind("rounds-child", "recipes", "Be a child.", slow_child),
    )
    engine = make_engine(plugins=[Plugin(name="rounds", summary="Rounds.", jobs=kinds)])
    engine.run(None, "library.create", {"path": str(tmp_path / "Rounds.library")}, LOCAL_OWNER)
    library = engine.libraries.get(tmp_path / "Rounds.library")

    def times() -> tuple[str, str]:
        assert engine.jobs.run_until_idle(library)
        with library.db.read() as conn:
            started, finished = conn.exec_driver_sql(
                "SELECT started_at, finished_at FROM job WHERE id = ?", (job_id,)
            ).one()
        return started[11:16], finished[11:16]

    with library.db.write() as conn:
        job_id = enqueue(conn, NewJob(kinds[0], {}, title="Rounds"), started_by=LOCAL_OWNER)
    assert times() == ("00:00", "00:40")
    clock.minute = 60
    engine.run(library, "job.retry", {"job_id": job_id}, LOCAL_OWNER)
    # The two children that failed are repeated.
    assert times() == ("01:00", "01:20")
