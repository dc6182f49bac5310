"""Kills an engine again and again while it runs jobs, each time at another point; run by test_kills.py.

Usage: kill_jobs.py FOLDER SEED SYSTEMATIC RANDOM [MUTANT]. A process is forked for each kill, so that imports are paid
once. SYSTEMATIC kills come right before or right after the N-th commit, RANDOM ones after a random time. Then the jobs
are run to their end and every effect is counted. Prints one JSON object. MUTANT plants a fault that must be detected:
`apart` saves the checkpoint in a transaction of its own, `lost` recovers none of the jobs that were running. With the
clock shim preloaded, the clock jumps by up to ten years in both directions while the jobs run.
"""

from __future__ import annotations

import json
import os
import random
import signal
import struct
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from armarium.engine import Engine
from armarium.jobs import decisions
from armarium.jobs.queue import NewJob, enqueue_many
from armarium.principals import LOCAL_OWNER
from armarium.settings import Settings
from armarium.store.database import Database, raw_of

sys.path.insert(0, str(Path(__file__).parents[1]))

from chores import chores_plugin

PATIENCE = 3.0 if sys.argv[5:6] == ["lost"] else 30.0
"""Seconds for the jobs to finish; few with a fault that leaves some running for ever."""


def open_project(folder: Path) -> tuple[Engine, Any]:
    engine = Engine(Settings(state_dir=folder / "state", library_roots=[folder]), plugins=[chores_plugin()])
    engine.start(jobs=False)
    place = folder / "Killed.library"
    if not place.exists():
        engine.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER)
    return engine, engine.libraries.get(place)


def prepare(folder: Path) -> int:
    engine, library = open_project(folder)
    with library.db.write() as conn:
        jobs = [
            NewJob("chore-items", {"items": 4, "seconds": n * 1e-6}, f"items {n}", total=4) for n in range(10)
        ]
        jobs += [
            NewJob("chore-tree", {"children": 3, "items": 2, "number": n}, f"tree {n}") for n in range(3)
        ]
        jobs += [NewJob("chore-nothing", {"n": n}, f"nothing {n}") for n in range(40)]
        enqueue_many(conn, jobs, kinds=engine.kinds)
    engine.close()
    return len(jobs)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def kill_at_commit(at: int, *, before: bool) -> None:
    """Make the process die at its *at*-th write to any database, before or after the commit."""
    plain = Database.write
    seen = 0

    @contextmanager
    def write(self: Database) -> Iterator[Any]:
        nonlocal seen
        with plain(self) as conn:
            yield conn
            seen += 1
            if before and seen == at:
                die()
        if not before and seen == at:
            die()

    Database.write = write  # type: ignore[method-assign]


def run_and_die(folder: Path, how: tuple[str, float]) -> None:
    kind, value = how
    if kind == "random":
        threading.Timer(value, die).start()
    engine, library = open_project(folder)
    if kind != "random":
        kill_at_commit(int(value), before=kind == "before")
    engine.jobs.run_until_idle(library, PATIENCE)
    engine.close()


def finish(folder: Path) -> dict[str, Any]:
    engine, library = open_project(folder)
    again = 0
    began = time.monotonic()
    while True:
        engine.jobs.run_until_idle(library, 2 * PATIENCE)
        with library.db.read() as conn:
            raw = raw_of(conn)
            failed = [
                row[0]
                for row in raw.execute("SELECT id FROM job WHERE state = 'failed' AND kind <> 'chore-tree'")
            ]
            words = {row[0] for row in raw.execute("SELECT reason_code FROM job WHERE state = 'failed'")}
        if not failed or time.monotonic() - began > 60:
            break
        assert words <= {"interrupted", "children"}, words
        again += len(failed)
        for job_id in failed:
            engine.run(library, "job.retry", {"job_id": job_id}, LOCAL_OWNER)
    for job_id in _failed_trees(library):
        engine.run(library, "job.retry", {"job_id": job_id}, LOCAL_OWNER)
    engine.jobs.run_until_idle(library, 2 * PATIENCE)
    with library.db.read() as conn:
        raw = raw_of(conn)
        states = dict(raw.execute("SELECT state, count(*) FROM job GROUP BY state").fetchall())
        doubled = raw.execute(
            "SELECT count(*) FROM (SELECT 1 FROM chore_note GROUP BY job_id, item HAVING count(*) > 1)"
        ).fetchone()[0]
        items = raw.execute("SELECT count(*) FROM chore_note").fetchone()[0]
        pages = raw.execute("SELECT sum(done), sum(total) FROM job WHERE parent_id IS NULL").fetchone()
    engine.close()
    return {"states": states, "doubled": doubled, "items": items, "retried": again, "pages": list(pages)}


def _failed_trees(library: Any) -> list[str]:
    with library.db.read() as conn:
        raw = raw_of(conn)
        return [row[0] for row in raw.execute("SELECT id FROM job WHERE state = 'failed'")]


TEN_YEARS = 10 * 365 * 86_400
JUMPS = (0, TEN_YEARS, -TEN_YEARS, 3600, -90, 400 * 86_400)


@contextmanager
def clock_jumping(chance: random.Random) -> Iterator[None]:
    """Move the clock repeatedly, from a separate process: only a process without threads can be forked."""
    if "CLOCK_SHIM_FILE" not in os.environ:
        yield
        return
    # Finished jobs are purged after thirty days of that clock; here each must still be counted.
    decisions.KEEP_DAYS = 100 * 365
    pid = os.fork()
    if pid == 0:
        with open(os.environ["CLOCK_SHIM_FILE"], "r+b", buffering=0) as file:
            while True:
                os.pwrite(file.fileno(), struct.pack("q", chance.choice(JUMPS)), 0)
                time.sleep(chance.uniform(0.005, 0.1))
    try:
        yield
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def plant(mutant: str) -> None:
    """Plant a fault that the test must detect."""
    from armarium.jobs.context import JobContext

    if mutant == "apart":

        def act(
            self: JobContext, name: str, params: Any, *, checkpoint: Any = None, done: Any = None, **_: Any
        ) -> None:
            self.engine.run(self.library, name, params, self.principal)
            self.save(checkpoint, done=done)

        JobContext.act = act  # type: ignore[method-assign, assignment]
    if mutant == "lost":
        decisions.recover = lambda *given, **named: (0, 0)  # type: ignore[assignment]


def main() -> None:
    plant(sys.argv[5] if len(sys.argv) > 5 else "")
    folder, seed, systematic, at_random = (
        Path(sys.argv[1]),
        int(sys.argv[2]),
        int(sys.argv[3]),
        int(sys.argv[4]),
    )
    chance = random.Random(seed)
    pid = os.fork()
    if pid == 0:
        prepare(folder)
        os._exit(0)
    os.waitpid(pid, 0)
    points: list[tuple[str, float]] = [
        ("before" if n % 2 else "after", 1 + n // 2) for n in range(systematic)
    ]
    points += [("random", chance.uniform(0.02, 0.25)) for _ in range(at_random)]
    killed = 0
    with clock_jumping(chance):
        for point in points:
            pid = os.fork()
            if pid == 0:
                try:
                    run_and_die(folder, point)
                finally:
                    os._exit(0)
            _, status = os.waitpid(pid, 0)
            killed += os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        ended = finish(folder)
    print(json.dumps({"killed": killed, **ended}))


if __name__ == "__main__":
    main()
