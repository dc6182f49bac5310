"""Row 4: jobs that do nothing against huey on SQLite, and how soon an idle runner picks one up."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from armarium.api import Engine, JobContext, JobKind, Library, Plugin
from benchmarks.harness import Result, compare
from benchmarks.places import OWNER, running_engine, scratch_folder

JOBS = 1_500
PICKS = 20
MOST_LATENCY = 0.020
FEWEST = 400.0
"""Required jobs a second: any job that a person starts takes longer than a few milliseconds."""
PATIENCE = 120.0


class _Finish:
    """Counts bodies that ran; reports when the last of a batch did, and when each began."""

    def __init__(self) -> None:
        self.began: list[float] = []
        self._left = 0
        self._lock = threading.Lock()
        self._all = threading.Event()

    def expect(self, count: int) -> None:
        """Start counting *count* bodies."""
        self.began.clear()
        self._left = count
        self._all.clear()

    def note_run(self) -> None:
        """Record that a body runs."""
        with self._lock:
            self.began.append(time.perf_counter())
            self._left -= 1
            if self._left == 0:
                self._all.set()

    def wait(self) -> None:
        """Wait until the last expected body ran; raises RuntimeError after two minutes."""
        if not self._all.wait(PATIENCE):
            raise RuntimeError(f"{self._left} jobs did not run within {PATIENCE:.0f} seconds")


def measure(rounds: int) -> list[Result]:
    """Measure jobs a second from the first one queued to the last one run; and the median pick-up latency."""
    with scratch_folder() as folder, _our_queue(folder) as ours, _huey(folder) as theirs:
        drained = compare(
            4,
            f"no-op jobs a second ({JOBS} put in one by one, then run)",
            engine=lambda: ours.jobs_a_second(),
            peer=lambda: theirs.jobs_a_second(),
            peer_name="huey on SQLite, fsync on, one worker",
            unit="jobs a second",
            rounds=rounds,
        )
        result = Result(
            4,
            f"no-op jobs a second ({JOBS} put in one by one, then run), of the {FEWEST:.0f} that are asked for",
            "jobs a second",
            drained.engine,
            FEWEST,
            "asked for",
            drained.engine / FEWEST,
            "at least",
            1.0,
        )
        batch = compare(
            4,
            f"no-op jobs a second ({JOBS} put in by one step, then run)",
            engine=lambda: ours.jobs_a_second(at_once=True),
            peer=lambda: theirs.jobs_a_second(),
            peer_name="huey on SQLite, fsync on, one worker",
            unit="jobs a second",
            rounds=rounds,
        )
        latency = ours.latency(PICKS)
        pick = Result(
            4,
            f"pick-up latency, of the {MOST_LATENCY * 1000:.0f} ms that are allowed",
            "s",
            latency,
            MOST_LATENCY,
            f"allowed (huey, which polls: {theirs.latency(5) * 1000:.0f} ms)",
            latency / MOST_LATENCY,
            limit=1.0,
        )
        return [result, drained, batch, pick]


class _Queue(ABC):
    """A queue with its runner in this process."""

    def __init__(self, finish: _Finish) -> None:
        self.finish = finish

    @abstractmethod
    def put(self, count: int, *, at_once: bool = False) -> None:
        """Queue *count* jobs that do nothing."""

    def jobs_a_second(self, *, at_once: bool = False) -> float:
        """Queue JOBS jobs and wait until the last one ran."""
        self.finish.expect(JOBS)
        begun = time.perf_counter()
        self.put(JOBS, at_once=at_once)
        self.finish.wait()
        return JOBS / (time.perf_counter() - begun)

    def latency(self, times: int) -> float:
        """Return the median time from a job being queued (committed) to its body running, with the runner idle."""
        waits = []
        for _ in range(times):
            time.sleep(0.05)
            self.finish.expect(1)
            self.put(1)
            put = time.perf_counter()
            self.finish.wait()
            waits.append(max(0.0, self.finish.began[0] - put))
        return sorted(waits)[len(waits) // 2]


class _Ours(_Queue):
    """The engine's queue; jobs are queued by an audited action, as everywhere."""

    def __init__(self, engine: Engine, library: Library, finish: _Finish) -> None:
        super().__init__(finish)
        self.engine, self.library = engine, library

    def put(self, count: int, *, at_once: bool = False) -> None:
        """Queue by one step per job, or by one step for all."""
        for _ in range(1 if at_once else count):
            self.engine.run(self.library, "bench.enqueue", {"count": count if at_once else 1}, OWNER)


class _Huey(_Queue):
    """huey's queue with a consumer of one thread."""

    def __init__(self, task: Any, finish: _Finish) -> None:
        super().__init__(finish)
        self.task = task

    def put(self, count: int, *, at_once: bool = False) -> None:
        """Queue one task per call: huey has no other way."""
        for _ in range(count):
            self.task()


@contextmanager
def _our_queue(folder: Path) -> Iterator[_Ours]:
    from armarium.api import ActionContext, Params, action

    finish = _Finish()

    class CountParams(Params):
        """How many jobs."""

        count: int

    @action("bench.enqueue", params=CountParams, summary="Put jobs that do nothing into the queue.")
    def enqueue(ctx: ActionContext, p: CountParams) -> None:
        for _ in range(p.count):
            ctx.enqueue("bench-nothing", {}, title="Nothing")

    def nothing(job: JobContext) -> None:
        finish.note_run()

    kind = JobKind(name="bench-nothing", lane="database", summary="Does nothing.", run=nothing)
    plugin = Plugin(name="bench", summary="Jobs to be measured.", actions=(enqueue,), jobs=(kind,))
    with running_engine(folder, [plugin], jobs=True) as (engine, library):
        yield _Ours(engine, library, finish)


@contextmanager
def _huey(folder: Path) -> Iterator[_Huey]:
    from huey import SqliteHuey  # type: ignore[import-untyped]

    finish = _Finish()
    # The durability the engine promises: an acknowledged job survives a power cut.
    queue = SqliteHuey("bench", filename=str(folder / "huey.sqlite"), fsync=True, results=False)

    @queue.task()  # type: ignore[untyped-decorator]
    def nothing() -> None:
        finish.note_run()

    consumer = queue.create_consumer(workers=1, periodic=False, check_worker_health=False)
    consumer.start()
    try:
        yield _Huey(nothing, finish)
    finally:
        consumer.stop(graceful=True)
