"""How long a serving engine stays up: what keeps it running, what does not, and how it stops."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from armarium.errors import Conflict
from armarium.ids import timestamp
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium.store.database import raw_of
from armarium.web.serving import count_requests

from .conftest import ChoresProject

PLENTY = 3600.0


@pytest.fixture
def serving(chores: ChoresProject) -> ChoresProject:
    """The engine of chores in the background, without a request for an hour."""
    chores.engine.stay.serving = True
    chores.engine.stay.rest_seconds = 600.0
    chores.engine.stay._last = time.monotonic() - PLENTY
    chores.engine.jobs.start()
    return chores


def within(seconds: float, is_so: Any) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_an_idle_engine_stops_and_one_with_a_recent_request_stays(serving: ChoresProject) -> None:
    stay = serving.engine.stay
    assert stay.is_over()
    stay._last = time.monotonic()
    assert not stay.is_over()
    assert stay.describe()["goes_in_seconds"] == 600.0


def test_an_engine_that_a_person_serves_stays_until_asked_to_stop(serving: ChoresProject) -> None:
    serving.engine.stay.rest_seconds = None
    assert not serving.engine.stay.is_over()
    assert serving.engine.stay.describe()["stays_because"] == "It serves until it is stopped."
    serving.engine.stay.ask_to_go()
    assert serving.engine.stay.is_over()


def test_work_in_progress_keeps_it_and_it_is_over_when_that_is_done(serving: ChoresProject) -> None:
    job = serving.put("chore-gated", {"items": 2}, title="Read two pages")
    assert serving.gate.reached.wait(60)
    stay = serving.engine.stay
    assert not stay.is_over()
    assert stay.work() == ["Read two pages (Chores.library)"]
    serving.gate.open.set()
    within(60, lambda: serving.state(job) == "done")
    within(60, stay.is_over)


def test_what_waits_for_the_machine_keeps_it_and_what_is_paused_does_not(serving: ChoresProject) -> None:
    stay = serving.engine.stay
    serving.machine.battery = True
    job = serving.put("chore-heavy", {"items": 1})
    assert not stay.is_over()
    assert stay.work() == ["1 job waits (Chores.library)"]
    serving.act("background.mode", None, mode="paused")
    assert stay.is_over()
    serving.act("background.mode", None, mode="automatic")
    assert not stay.is_over()
    serving.act("job.pause", job_id=job, paused=True)
    assert stay.is_over()


def test_what_was_put_off_beyond_the_rest_does_not_keep_it(serving: ChoresProject) -> None:
    stay = serving.engine.stay
    for seconds, over in ((300, False), (3000, True)):
        soon = timestamp(datetime.now(UTC) + timedelta(seconds=seconds))
        job = serving.put("chore-later")
        with serving.library.db.write() as conn:
            conn.exec_driver_sql("UPDATE job SET state = 'waiting', not_before = ? WHERE id = ?", (soon, job))
        within(60, lambda: not any(store.picked for store in serving.engine.jobs.stores()))
        with serving.library.db.write() as conn:
            conn.exec_driver_sql("UPDATE job SET state = 'cancelled' WHERE id != ?", (job,))
            conn.exec_driver_sql("UPDATE job SET state = 'waiting', not_before = ? WHERE id = ?", (soon, job))
        assert stay.is_over() is over, seconds


def test_what_cannot_come_without_the_network_does_not_keep_one_held_off_it(serving: ChoresProject) -> None:
    object.__setattr__(serving.engine.settings, "local_only", True)
    serving.put("chore-online", {"items": 1})
    assert serving.engine.stay.is_over()


def test_asked_to_stop_it_finishes_the_item_in_progress_begins_no_other_and_names_what_is_left(
    serving: ChoresProject,
) -> None:
    job = serving.put("chore-gated", {"items": 3})
    assert serving.gate.reached.wait(60)
    waiting = serving.put("chore-gated", {"items": 1})
    stay = serving.engine.stay
    with pytest.raises(Conflict) as refused:
        stay.ask_to_go(only_when_idle=True)
    assert refused.value.code == "at_work"
    assert not stay.asked_to_go
    assert stay.ask_to_go() == [str(serving.library.path)]
    assert not stay.is_over()
    # Pausing or resuming a job meanwhile does not start it again.
    serving.act("job.pause", job_id=job, paused=True)
    serving.act("job.pause", job_id=job, paused=False)
    assert not stay.is_over()
    serving.gate.open.set()
    within(60, stay.is_over)
    assert serving.notes(job) == [0]
    assert (serving.state(job), serving.state(waiting)) == ("waiting", "waiting")
    assert serving.row(job)["interruptions"] == 0


def test_a_project_opened_while_the_engine_stops_starts_no_work(
    serving: ChoresProject, tmp_path: Any
) -> None:
    serving.engine.stay.ask_to_go()
    serving.engine.run(None, "library.create", {"path": str(tmp_path / "Late.library")}, LOCAL_OWNER)
    late: Library = serving.engine.libraries.get(tmp_path / "Late.library")
    serving.engine.run(late, "chore.begin", {"jobs": 1}, LOCAL_OWNER)
    time.sleep(0.3)
    with late.db.read() as conn:
        raw = raw_of(conn)
        assert raw.execute("SELECT DISTINCT state FROM job").fetchall() == [("waiting",)]
    assert serving.engine.stay.is_over()


def test_an_engine_inside_another_program_is_not_its_own_to_stop(chores: ChoresProject) -> None:
    with pytest.raises(Conflict) as refused:
        chores.engine.stay.ask_to_go()
    assert refused.value.code == "not_serving"


def test_a_current_request_keeps_the_engine_up_and_a_late_one_is_refused(serving: ChoresProject) -> None:
    stay = serving.engine.stay
    stay.rest_seconds = 0.05
    answered: list[str] = []
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(0.5)
        answered.append(scope["path"])

    async def send(message: Any) -> None:
        sent.append(message)

    async def story() -> None:
        within = count_requests(app, stay)
        going = asyncio.create_task(stay.ends())
        await within({"type": "http", "path": "/long"}, None, send)  # type: ignore[arg-type]
        assert not going.done()
        await asyncio.wait_for(going, 20)
        await within({"type": "http", "path": "/late"}, None, send)  # type: ignore[arg-type]

    asyncio.run(story())
    assert answered == ["/long"]
    assert sent[0]["status"] == 503
    assert b'"stopping"' in sent[1]["body"]
