"""The engine's worker processes: one warm process for each runtime, worker and model; the client side of heavy compute.

A worker that crashes or runs out of memory fails the call with a sentence and never the engine. Workers end when they
were idle for a while, when another model needs the memory, when the engine stops, and when it is killed.
"""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from armarium.errors import Invalid, ServiceError, Unavailable

if TYPE_CHECKING:
    from armarium_worker import WorkerProcess

log = logging.getLogger("armarium.workers")

IDLE_SECONDS = 300.0
MAX_WARM = 3
"""Processes kept: a finder of lines, a reader, and another that is tried beside it."""
SILENT_SECONDS = 1800.0
MEMORY_TO_SPARE = 1 << 30
QUEUE_POLL_SECONDS = 0.1

Priority = Literal["fast", "balanced", "background"]
OnProgress = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Compute:
    """How much of the machine a worker may use: cores, device, and its Unix nice value."""

    threads: int = 1
    device: str = "cpu"
    niceness: int = 0


class Interpreters(Protocol):
    """What the pool needs of `Runtimes`: the interpreter of an installed runtime, or a refusal."""

    def python_of(self, name: str) -> Path:
        """Return the interpreter of runtime *name*."""


def compute_for(priority: Priority, device: str = "auto", cores: int | None = None) -> Compute:
    """Return the compute of a priority: fast uses all cores, balanced half of them but
    two where there are two, background one.
    """
    available = cores or _usable_cores()
    threads = {"fast": available, "balanced": max(min(2, available), available // 2), "background": 1}[
        priority
    ]
    niceness = {"fast": 0, "balanced": 5, "background": 19}[priority]
    return Compute(threads, "cuda" if device == "gpu" else device, niceness)


def _usable_cores() -> int:
    """Return the cores this process may run on, in a container fewer than the machine has."""
    with contextlib.suppress(AttributeError):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(slots=True)
class Warm:
    """A running worker and what it runs."""

    key: tuple[str | None, str, str | None]
    compute: Compute
    process: WorkerProcess
    busy: bool = False
    used_at: float = field(default_factory=time.monotonic)


class WorkerPool:
    """The worker processes of one engine. Heavy calls are made one at a time, in the order of the requests."""

    def __init__(
        self,
        runtimes: Interpreters,
        compute: Callable[[], Compute],
        *,
        idle_seconds: float = IDLE_SECONDS,
        max_warm: int = MAX_WARM,
    ) -> None:
        self._runtimes = runtimes
        self._compute = compute
        self._idle_seconds = idle_seconds
        self._max_warm = max_warm
        self._warm: list[Warm] = []
        self._lock = threading.Lock()
        self._one_heavy = threading.Lock()
        self._closed = threading.Event()
        self._reaper: threading.Thread | None = None

    def call(
        self,
        runtime: str | None,
        worker: str,
        method: str,
        params: Mapping[str, Any],
        *,
        on_progress: OnProgress | None = None,
        stopped: Callable[[], bool] | None = None,
        timeout: float | None = SILENT_SECONDS,
        heavy: bool = True,
    ) -> dict[str, Any]:
        """Run *method* of *worker* (`module:name`) in the interpreter of *runtime* (None: the engine's own).

        A process is reused only for the same `params["model"]`. *timeout* is how long the worker may be silent, in
        seconds. Raises Invalid with code `worker_refused` when the worker refused this item (the next may succeed),
        Unavailable with `worker_died` or `worker_failed` when the process died or its code failed, and
        `armarium_worker.WorkerStopped` when *stopped* returned True.
        """
        from armarium_worker import WorkerDied, WorkerFailed, WorkerRefused

        with self._turn(heavy, stopped):
            warm = self._take(runtime, worker, params.get("model"))
            try:
                return warm.process.call(
                    method, params, on_progress=on_progress, should_stop=stopped, timeout=timeout
                )
            except WorkerRefused as error:
                raise Invalid(error.sentence, code="worker_refused") from error
            except WorkerDied as error:
                log.warning("worker %s ended: %s", worker, " | ".join(error.stderr[-5:]))
                raise Unavailable(error.sentence, code="worker_died") from error
            except WorkerFailed as error:
                log.warning("worker %s failed: %s", worker, error.stderr[-1:] or error.sentence)
                raise Unavailable(error.sentence, code="worker_failed") from error
            finally:
                self._give_back(warm)

    def call_light(
        self, runtime: str | None, worker: str, method: str, params: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Run what is no heavy work, as `call` does, without waiting for the turn of heavy calls."""
        return self.call(runtime, worker, method, params, heavy=False)

    def loaded_models(self) -> list[tuple[str | None, str, str | None]]:
        """Return what the running workers hold: (runtime, worker, model); the runner prefers work for these."""
        with self._lock:
            return [warm.key for warm in self._warm if warm.process.alive]

    def processes(self) -> list[tuple[int, bool]]:
        """Return the process id of each running worker, and whether it is at work."""
        with self._lock:
            return [(warm.process.pid, warm.busy) for warm in self._warm if warm.process.alive]

    def in_use(self, *, runtime: str | None = None, model: str | None = None) -> bool:
        """Return whether a running worker holds this runtime or this model file."""
        models = self.loaded_models()
        return any(
            (runtime is not None and key[0] == runtime) or (model and key[2] == model) for key in models
        )

    def release_idle(self, *, older_than: float = 0.0) -> int:
        """End the workers that have been idle for at least *older_than* seconds; return how many."""
        limit = time.monotonic() - older_than
        with self._lock:
            leaving = [warm for warm in self._warm if not warm.busy and warm.used_at <= limit]
            self._warm = [warm for warm in self._warm if warm not in leaving]
        for warm in leaving:
            warm.process.stop()
        return len(leaving)

    def close(self) -> None:
        """End every worker, even during a call (which then fails with a sentence)."""
        self._closed.set()
        with self._lock:
            leaving, self._warm = self._warm, []
        for warm in leaving:
            if warm.busy:
                warm.process.kill()
            else:
                warm.process.stop(grace=1.0)

    @contextlib.contextmanager
    def _turn(self, heavy: bool, stopped: Callable[[], bool] | None) -> Iterator[None]:
        """The turn of a heavy call: one at a time; whoever waits still notices that it should stop."""
        from armarium_worker import WorkerStopped

        if not heavy:
            yield
            return
        while not self._one_heavy.acquire(timeout=QUEUE_POLL_SECONDS):
            if stopped is not None and stopped():
                raise WorkerStopped("Stopped before its turn came.")
            if self._closed.is_set():
                raise _make_closing_error()
        try:
            yield
        finally:
            self._one_heavy.release()

    def _take(self, runtime: str | None, worker: str, model: str | None) -> Warm:
        """Return an idle worker for this, or a new one; marked busy."""
        key, compute = (runtime, worker, model), self._compute()
        self._make_room(key, compute)
        with self._lock:
            if self._closed.is_set():
                raise _make_closing_error()
            idle = next((warm for warm in self._warm if warm.key == key and not warm.busy), None)
            if idle is not None:
                idle.busy = True
        if idle is not None:
            if _answers(idle.process):
                return idle
            self._give_back(idle)
        warm = Warm(key, compute, self._start(runtime, worker, compute), busy=True)
        with self._lock:
            self._warm.append(warm)
            self._watch()
        if self._closed.is_set():
            self.close()
            raise _make_closing_error()
        return warm

    def _make_room(self, key: tuple[str | None, str, str | None], compute: Compute) -> None:
        """End idle workers that died, have old settings, or occupy memory that another model needs."""
        with self._lock:
            idle = sorted((warm for warm in self._warm if not warm.busy), key=lambda warm: warm.used_at)
            leaving = [warm for warm in idle if not warm.process.alive or warm.compute != compute]
            staying = [warm for warm in idle if warm not in leaving]
            if not any(warm.key == key for warm in staying):
                surplus = len(staying) - self._max_warm + 1
                leaving += staying if _memory_is_tight() else staying[: max(0, surplus)]
            self._warm = [warm for warm in self._warm if warm not in leaving]
        for warm in leaving:
            warm.process.stop()

    def _start(self, runtime: str | None, worker: str, compute: Compute) -> WorkerProcess:
        from armarium_worker import WorkerDied, WorkerError, WorkerProcess

        python = Path(sys.executable) if runtime is None else self._runtimes.python_of(runtime)
        try:
            process = WorkerProcess(
                worker,
                python=python,
                packages=packages_of(worker),
                threads=compute.threads,
                device=compute.device,
                niceness=compute.niceness,
            )
        except WorkerDied as error:
            raise Unavailable(error.sentence, code="worker_died") from error
        try:
            process.hello()
        except WorkerError as error:
            process.kill()
            raise Unavailable(error.sentence, code="worker_died") from error
        return process

    def _give_back(self, warm: Warm) -> None:
        warm.busy = False
        warm.used_at = time.monotonic()
        if not warm.process.alive:
            with self._lock:
                self._warm = [other for other in self._warm if other is not warm]
            warm.process.kill()

    def _watch(self) -> None:
        """Start the thread that ends idle workers, unless it runs; called with the lock held."""
        if self._reaper is None or not self._reaper.is_alive():
            self._reaper = threading.Thread(target=self._reap, daemon=True, name="armarium-idle-workers")
            self._reaper.start()

    def _reap(self) -> None:
        while not self._closed.wait(min(15.0, max(0.05, self._idle_seconds / 4))):
            self.release_idle(older_than=self._idle_seconds)
            with self._lock:
                if not self._warm:
                    self._reaper = None
                    return


def packages_of(worker: str) -> dict[str, Path]:
    """Return the top-level package of *worker* and its folder, so that any interpreter can import it by its name."""
    top = worker.partition(":")[0].partition(".")[0]
    spec = importlib.util.find_spec(top)
    if spec is None:
        raise Unavailable(
            f"The worker {worker} is not installed; is its plugin still there?", code="worker_died"
        )
    if spec.submodule_search_locations:
        return {top: Path(next(iter(spec.submodule_search_locations)))}
    return {top: Path(str(spec.origin))}


def _answers(process: WorkerProcess) -> bool:
    """Return whether an idle worker is still alive; one the system killed meanwhile is replaced silently."""
    from armarium_worker import WorkerError

    try:
        process.hello()
    except WorkerError:
        process.kill()
        return False
    return True


def _memory_is_tight() -> bool:
    import psutil

    return int(psutil.virtual_memory().available) < MEMORY_TO_SPARE


def _make_closing_error() -> ServiceError:
    return Unavailable(
        "The engine is stopping; the job continues when it is started again.", code="engine_stopping"
    )
