"""Which job runs next: watched, first kinds, the loaded model, age; lanes, conditions, and that nothing starves."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from armarium.jobs.choice import PATIENCE
from armarium.jobs.claims import select
from armarium.jobs.context import JobContext
from armarium.jobs.kinds import LANES, JobKind, KindRegistry
from armarium.jobs.queue import NewJob, enqueue_many
from armarium.jobs.queue_view import QueueView
from armarium.plugin import Plugin
from armarium.principals import LOCAL_OWNER
from armarium.store.database import raw_of


class Order:
    """Records which jobs ran, in order, and how many at a time."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.at_once = 0
        self.most = 0
        self.lock = threading.Lock()
        self.seconds = 0.0

    def run(self, job: JobContext) -> None:
        with self.lock:
            self.ran.append(job.title)
            self.at_once += 1
            self.most = max(self.most, self.at_once)
        time.sleep(self.seconds)
        with self.lock:
            self.at_once -= 1


def wait_for(true: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not true() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert true()


@pytest.fixture
def order() -> Order:
    return Order()


@pytest.fixture
def recorded_jobs(chores: Any, order: Order) -> Any:
    """The project of chores, with kinds that record the order in which they run."""
    for name, more in (
        ("ord-model", {"lane": "local-model", "heavy": True}),
        ("ord-light", {"lane": "local-model"}),
        ("ord-first", {"lane": "local-model", "first": True}),
        ("ord-thumb", {"lane": "images", "first": True}),
        ("ord-cpu", {"lane": "cpu"}),
        ("ord-cpu-heavy", {"lane": "cpu", "heavy": True}),
        ("ord-net", {"lane": "network", "also_lanes": ("local-model",)}),
    ):
        chores.engine.kinds.add(JobKind(name=name, summary=name, run=order.run, **more))
    return chores


def test_oldest_first(recorded_jobs: Any, order: Order) -> None:
    for number in range(5):
        recorded_jobs.put("ord-model", title=str(number))
    recorded_jobs.work()
    assert order.ran == ["0", "1", "2", "3", "4"]


def test_a_watched_job_and_those_beneath_it_go_first(recorded_jobs: Any, order: Order) -> None:
    recorded_jobs.put("ord-model", title="old")
    parent = recorded_jobs.put("chore-unknown-yet", kinds=None)
    recorded_jobs.put("ord-model", title="child", parent_id=parent)
    one = recorded_jobs.put("ord-model", title="watched")
    recorded_jobs.engine.jobs.mode = "paused"
    recorded_jobs.engine.jobs._stores.clear()
    recorded_jobs.engine.jobs.attach(recorded_jobs.library)
    recorded_jobs.engine.jobs.watch(recorded_jobs.library, one)
    recorded_jobs.engine.jobs.watch(recorded_jobs.library, parent)
    recorded_jobs.engine.jobs.start()
    wait_for(lambda: len(order.ran) == 3)
    assert order.ran == ["child", "watched", "old"]


def test_kinds_marked_first_are_picked_up_before_heavy_ones(recorded_jobs: Any, order: Order) -> None:
    # The heavy job may start while the last thumbnail is in progress: it only waits until no other is queued.
    order.seconds = 0.02
    heavy = recorded_jobs.put("ord-model", title="heavy")
    others = [recorded_jobs.put("ord-first", title="first")]
    others += [recorded_jobs.put("ord-thumb", title=f"thumb {number}") for number in range(3)]
    recorded_jobs.work()
    assert recorded_jobs.row(heavy)["started_at"] >= max(
        recorded_jobs.row(other)["started_at"] for other in others
    )


def test_work_for_the_loaded_model_goes_first_but_not_for_ever(recorded_jobs: Any, order: Order) -> None:
    recorded_jobs.put("ord-light", title="a", model="A")
    recorded_jobs.put("ord-light", title="b", model="B")
    for _ in range(PATIENCE + 20):
        recorded_jobs.put("ord-light", title="a", model="A")
    recorded_jobs.work()
    before = order.ran.index("b")
    assert before > 1
    assert before < len(order.ran) - 1 or len(order.ran) == PATIENCE + 22


def test_a_lane_runs_as_many_as_it_is_wide(recorded_jobs: Any, order: Order) -> None:
    order.seconds = 0.05
    for number in range(6):
        recorded_jobs.put("ord-cpu", title=str(number))
    recorded_jobs.work()
    assert order.most == LANES["cpu"] == 2


def test_one_heavy_job_at_a_time_while_memory_is_tight(recorded_jobs: Any, order: Order) -> None:
    recorded_jobs.machine.free = 0.1
    order.seconds = 0.05
    for number in range(3):
        recorded_jobs.put("ord-cpu-heavy", title=str(number))
        recorded_jobs.put("ord-model", title=str(number))
    recorded_jobs.work()
    assert len(order.ran) == 6
    assert order.most == 1


def test_no_heavy_job_starts_while_memory_is_low(recorded_jobs: Any, order: Order) -> None:
    recorded_jobs.machine.free = 0.01
    heavy = recorded_jobs.put("ord-model", title="heavy")
    light = recorded_jobs.put("ord-cpu", title="light")
    assert not recorded_jobs.engine.jobs.run_until_idle(recorded_jobs.library, 0.5)
    assert recorded_jobs.state(light) == "done"
    with recorded_jobs.library.db.read() as conn:
        view = QueueView(recorded_jobs.engine.jobs, recorded_jobs.library, conn)
        assert view.node(view.row(heavy))["reason_code"] == "memory"
    recorded_jobs.machine.free = 0.9
    recorded_jobs.work()
    assert recorded_jobs.state(heavy) == "done"


def test_a_job_may_be_put_in_another_lane_of_its_kind(recorded_jobs: Any, order: Order) -> None:
    there = recorded_jobs.put("ord-net", title="there", lane="local-model")
    here = recorded_jobs.put("ord-net", title="here")
    with recorded_jobs.library.db.read() as conn:
        raw = raw_of(conn)
        kind = recorded_jobs.engine.kinds.require("ord-net")
        assert [c.id for c in select(raw, kind, "local-model", limit=9)] == [there]
        assert [c.id for c in select(raw, kind, "network", limit=9)] == [here]
    recorded_jobs.work()
    assert sorted(order.ran) == ["here", "there"]


def test_heavy_work_done_elsewhere_does_not_wait_for_this_machine(recorded_jobs: Any, order: Order) -> None:
    recorded_jobs.machine.free = 0.01
    recorded_jobs.engine.kinds.add(
        JobKind("ord-cloud", "local-model", "x", order.run, heavy=True, also_lanes=("network",))
    )
    there = recorded_jobs.put("ord-cloud", title="there", lane="network")
    here = recorded_jobs.put("ord-cloud", title="here")
    assert not recorded_jobs.engine.jobs.run_until_idle(recorded_jobs.library, 0.3)
    assert recorded_jobs.state(there) == "done"
    with recorded_jobs.library.db.read() as conn:
        view = QueueView(recorded_jobs.engine.jobs, recorded_jobs.library, conn)
        assert view.node(view.row(here))["reason_code"] == "memory"


def test_offline_work_waits_and_says_so(make_engine: Callable[..., Any], tmp_path: Path, gate: Any) -> None:
    from chores import chores_plugin

    engine = make_engine(plugins=[chores_plugin(gate)], local_only=True)
    engine.run(None, "library.create", {"path": str(tmp_path / "Off.library")}, LOCAL_OWNER)
    library = engine.libraries.get(tmp_path / "Off.library")
    with library.db.write() as conn:
        (job_id,) = enqueue_many(conn, [NewJob("chore-online", {"items": 1}, "online")])
    assert engine.jobs.run_until_idle(library)
    with library.db.read() as conn:
        view = QueueView(engine.jobs, library, conn)
        assert view.node(view.row(job_id))["reason_code"] == "offline"


def test_projects_take_turns(recorded_jobs: Any, order: Order, tmp_path: Path) -> None:
    engine = recorded_jobs.engine
    engine.run(None, "library.create", {"path": str(tmp_path / "Two.library")}, LOCAL_OWNER)
    other = engine.libraries.get(tmp_path / "Two.library")
    for library, title in ((recorded_jobs.library, "one"), (other, "two")):
        with library.db.write() as conn:
            enqueue_many(conn, [NewJob("ord-model", {}, title) for _ in range(6)])
    engine.jobs.start()
    wait_for(lambda: len(order.ran) == 12)
    assert order.ran[:10].count("one") == order.ran[:10].count("two") == 5


def test_a_watched_project_goes_first_without_starving_the_other(
    recorded_jobs: Any, order: Order, tmp_path: Path
) -> None:
    engine = recorded_jobs.engine
    engine.run(None, "library.create", {"path": str(tmp_path / "Two.library")}, LOCAL_OWNER)
    other = engine.libraries.get(tmp_path / "Two.library")
    for library, title in ((other, "other"), (recorded_jobs.library, "watched")):
        with library.db.write() as conn:
            enqueue_many(conn, [NewJob("ord-model", {}, title) for _ in range(12)])
    assert engine.jobs.run_until_idle(recorded_jobs.library, 60)
    wait_for(lambda: len(order.ran) == 24)
    assert 1 <= order.ran[:12].count("other") <= 4


def test_heavy_work_goes_ahead_after_a_minute_of_first_work(
    recorded_jobs: Any, order: Order, monkeypatch: Any
) -> None:
    monkeypatch.setattr("armarium.jobs.choice.FIRST_PATIENCE", 0.0)
    recorded_jobs.put("ord-model", title="heavy")
    parent = recorded_jobs.put("ord-thumb", title="thumb")
    recorded_jobs.act("job.pause", job_id=parent, paused=True)
    recorded_jobs.work()
    assert order.ran == ["heavy"]


def test_a_long_job_delays_no_job_behind_it(recorded_jobs: Any, order: Order) -> None:
    jobs = [recorded_jobs.put("chore-gated", {"items": 1}) for _ in range(4)]
    recorded_jobs.engine.jobs.start()
    assert recorded_jobs.gate.reached.wait(60)

    def running() -> int:
        with recorded_jobs.library.db.read() as conn:
            view = QueueView(recorded_jobs.engine.jobs, recorded_jobs.library, conn)
            return [view.state(view.row(job_id)) for job_id in jobs].count("running")

    wait_for(lambda: running() == 2)
    recorded_jobs.gate.open.set()
    recorded_jobs.work()
    assert recorded_jobs.notes() == [0, 0, 0, 0]


def test_kinds_are_checked_when_registered() -> None:
    kinds = KindRegistry()
    kinds.add(JobKind("one", "cpu", "One", lambda job: None))
    with pytest.raises(ValueError, match="already exists"):
        kinds.add(JobKind("one", "cpu", "One", lambda job: None))
    with pytest.raises(ValueError, match="asks for the lane fast; lanes are local-model, cpu"):
        kinds.add(JobKind("two", "fast", "Two", lambda job: None))
    with pytest.raises(ValueError, match="already exists"):
        kinds.add(kinds.require("one"))


def test_a_training_steps_aside_for_conditions_a_pause_and_a_person(recorded_jobs: Any) -> None:
    runner, store_kind = recorded_jobs.engine.jobs, recorded_jobs.engine.kinds.require("chore-training")
    job_id = recorded_jobs.put("chore-training", {"items": 3})
    runner.start()
    assert recorded_jobs.gate.reached.wait(60)
    store = runner.store_of(recorded_jobs.library)
    assert not runner.must_step_aside(store, store_kind, job_id)
    recorded_jobs.machine.battery = True
    assert runner.must_step_aside(store, store_kind, job_id)
    recorded_jobs.machine.battery = False
    runner.mode = "paused"
    assert runner.must_step_aside(store, store_kind, job_id)
    runner.mode = "automatic"
    other = recorded_jobs.put("ord-model", title="a person waits for this")
    assert not runner.must_step_aside(store, store_kind, job_id)
    runner.watch(recorded_jobs.library, other)
    assert runner.must_step_aside(store, store_kind, job_id)
    time.sleep(2.1)
    recorded_jobs.gate.open.set()
    assert runner.wait(recorded_jobs.library, job_id, 60) == "done"
    assert recorded_jobs.notes(job_id) == [0, 1, 2]
    assert runner.wait(recorded_jobs.library, other, 60) == "done"


def test_plugins_bring_kinds(make_engine: Callable[..., Any]) -> None:
    kind = JobKind("lonely-work", "cpu", "Lonely", lambda job: None)
    engine = make_engine(plugins=[Plugin(name="lonely", summary="Lonely work", jobs=(kind,))])
    assert engine.kinds.require("lonely-work") is kind
    assert engine.jobs.kinds is engine.kinds
