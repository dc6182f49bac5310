"""The pool of worker processes: models stay loaded, heavy calls take turns, and no worker can end the engine."""

from __future__ import annotations

import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from armarium.errors import Conflict, Invalid, Unavailable
from armarium.runtimes import workers
from armarium.runtimes.workers import Compute, WorkerPool, compute_for
from armarium_testing.processes import has_ended
from armarium_worker import WorkerStopped

WORKER = "pool_double:Double"
CODE = """
import os, time
from armarium_worker import Refused

class Double:
    @classmethod
    def handlers(cls, context):
        return {"who": lambda call: {"pid": os.getpid(), "threads": context.threads}, "slow": slow,
                "refuse": refuse, "die": lambda call: os._exit(3), "raise": lambda call: 1 / 0,
                "nice": lambda call: {"nice": os.nice(0)}}

def slow(call):
    start = time.monotonic()
    for step in range(int(call.params["steps"])):
        call.check()
        time.sleep(0.02)
        call.progress(step + 1, int(call.params["steps"]))
    return {"from": start, "to": time.monotonic()}

def refuse(call):
    raise Refused("The page is no picture.")
"""


class NoRuntimes:
    """The runtimes of a machine that has none."""

    def python_of(self, name: str) -> Path:
        """Refuse as the engine's own runtimes do."""
        raise Conflict(f"The runtime {name} is not installed.", code="runtime_missing")


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WorkerPool]:
    """A pool of at most two workers, closed at the end."""
    (tmp_path / "pool_double.py").write_text(textwrap.dedent(CODE), "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    worker_pool = WorkerPool(NoRuntimes(), lambda: Compute(threads=2))
    yield worker_pool
    worker_pool.close()


def who(pool: WorkerPool, model: str | None = None) -> int:
    return int(pool.call(None, WORKER, "who", {"model": model})["pid"])


def test_a_worker_is_kept_for_the_next_call_of_the_same_model(pool: WorkerPool) -> None:
    assert who(pool) == who(pool)
    assert who(pool, "a.mlmodel") != who(pool)
    assert pool.in_use(model="a.mlmodel")
    assert not pool.in_use(model="b.mlmodel")
    assert (None, WORKER, "a.mlmodel") in pool.loaded_models()


def test_the_least_used_worker_makes_room(pool: WorkerPool) -> None:
    first = who(pool, "a")
    who(pool, "b")
    who(pool, "c")
    assert psutil.pid_exists(first)
    who(pool, "d")
    assert [model for _, _, model in pool.loaded_models()] == ["b", "c", "d"]
    assert not psutil.pid_exists(first)


def test_a_machine_short_of_memory_keeps_one_model(pool: WorkerPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_memory_is_tight", lambda: True)
    who(pool, "a")
    who(pool, "b")
    assert [model for _, _, model in pool.loaded_models()] == ["b"]


def test_idle_workers_end_by_themselves(pool: WorkerPool) -> None:
    pool._idle_seconds = 0.2
    pid = who(pool)
    wait_until(lambda: not psutil.pid_exists(pid))
    assert pool.loaded_models() == []
    assert who(pool) != pid


def test_a_changed_setting_holds_from_the_next_call(pool: WorkerPool) -> None:
    assert pool.call(None, WORKER, "who", {})["threads"] == 2
    pool._compute = lambda: compute_for("background", cores=8)
    assert pool.call(None, WORKER, "who", {})["threads"] == 1
    assert pool.call(None, WORKER, "nice", {})["nice"] == 19


def test_a_crash_is_a_sentence_and_the_next_call_gets_a_new_worker(pool: WorkerPool) -> None:
    pid = who(pool)
    with pytest.raises(Unavailable, match="ended unexpectedly") as caught:
        pool.call(None, WORKER, "die", {})
    assert caught.value.code == "worker_died"
    assert who(pool) != pid


def test_a_worker_that_died_while_idle_is_replaced_silently(pool: WorkerPool) -> None:
    pid = who(pool)
    psutil.Process(pid).kill()
    wait_until(lambda: has_ended(pid))
    assert who(pool) != pid


def test_a_refusal_and_a_fault_keep_the_worker(pool: WorkerPool) -> None:
    pid = who(pool)
    with pytest.raises(Invalid, match=r"^The page is no picture\.$") as refused:
        pool.call(None, WORKER, "refuse", {})
    with pytest.raises(Unavailable, match="ZeroDivisionError") as failed:
        pool.call(None, WORKER, "raise", {})
    assert (refused.value.code, failed.value.code) == ("worker_refused", "worker_failed")
    assert who(pool) == pid


def test_heavy_calls_take_turns(pool: WorkerPool) -> None:
    spans: list[tuple[float, float]] = []

    def run(model: str) -> None:
        answer = pool.call(None, WORKER, "slow", {"model": model, "steps": 5})
        spans.append((answer["from"], answer["to"]))

    threads = [threading.Thread(target=run, args=(model,)) for model in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (_, end), (start, _) = sorted(spans)
    assert end <= start


def test_a_call_stops_in_the_middle_and_while_it_waits_for_its_turn(pool: WorkerPool) -> None:
    steps: list[int] = []
    first = threading.Thread(
        target=lambda: pool.call(
            None, WORKER, "slow", {"steps": 40}, on_progress=lambda s: steps.append(s["done"])
        )
    )
    first.start()
    wait_until(lambda: bool(steps))
    with pytest.raises(WorkerStopped):
        pool.call(None, WORKER, "slow", {"steps": 1}, stopped=lambda: True)
    first.join()
    with pytest.raises(WorkerStopped):
        pool.call(None, WORKER, "slow", {"steps": 10_000}, stopped=lambda: True)


def test_closing_ends_a_call_in_the_middle(pool: WorkerPool) -> None:
    heard: list[int] = []
    errors: list[Exception] = []

    def run() -> None:
        try:
            pool.call(None, WORKER, "slow", {"steps": 10_000}, on_progress=lambda s: heard.append(s["done"]))
        except Unavailable as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    wait_until(lambda: bool(heard))
    pool.close()
    thread.join(timeout=60)
    assert [error.code for error in errors if isinstance(error, Unavailable)] == ["worker_died"]
    with pytest.raises(Unavailable, match="stopping"):
        who(pool)


def test_a_runtime_that_is_not_there_is_refused_with_a_sentence(pool: WorkerPool) -> None:
    with pytest.raises(Conflict, match="runtime kraken is not installed"):
        pool.call("kraken", WORKER, "who", {})


def test_a_worker_whose_plugin_is_gone_is_refused_with_a_sentence(pool: WorkerPool) -> None:
    with pytest.raises(Unavailable, match="is its plugin still there"):
        pool.call(None, "no_such_reader:Reader", "who", {})
    with pytest.raises(Unavailable, match=r"could not start: .*Nobody"):
        pool.call(None, "pool_double:Nobody", "who", {})


def test_threads_follow_the_priority() -> None:
    assert [compute_for(priority, cores=8).threads for priority in ("fast", "balanced", "background")] == [
        8,
        4,
        1,
    ]
    assert [compute_for("balanced", cores=cores).threads for cores in (1, 2, 3)] == [1, 2, 2]


def wait_until(true: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait until *true* holds; fail after *seconds*."""
    limit = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < limit, "it did not happen"
        time.sleep(0.02)
