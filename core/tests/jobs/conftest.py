"""Fixtures for the tests of jobs: an engine with the core and the family of chores, and a project in it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from chores import Gate, chores_plugin

from armarium.engine import Engine
from armarium.jobs.conditions import Conditions
from armarium.jobs.queue import NewJob, enqueue
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library


class FakeMachine:
    """A machine whose measurements the test sets."""

    def __init__(self) -> None:
        self.free: float | None = 0.9
        self.below: float | None = None
        self.battery: bool | None = None
        self.idle: float | None = None

    def memory_free(self) -> float | None:
        return self.free

    def degrees_below_limit(self) -> float | None:
        return self.below

    def on_battery(self) -> bool | None:
        return self.battery

    def seconds_since_input(self) -> float | None:
        return self.idle


@dataclass
class ChoresProject:
    """An engine with a project of chores, and short ways to queue jobs and look at them."""

    engine: Engine
    library: Library
    gate: Gate
    machine: FakeMachine
    told: list[tuple[str, str]] = field(default_factory=list)

    def put(self, kind: str, args: Mapping[str, Any] | None = None, **more: Any) -> str:
        """Queue a job, as an action would."""
        given: dict[str, Any] = {"title": kind, "started_by": LOCAL_OWNER, "kinds": self.engine.kinds} | more
        where = {name: given.pop(name) for name in ("parent_id", "started_by", "kinds") if name in given}
        with self.library.db.write() as conn:
            job_id = enqueue(conn, NewJob(kind, args or {}, **given), **where)
        self.engine.jobs.wake(self.library)
        return job_id

    def act(self, _name: str, _library: Library | str | None = "", **params: Any) -> dict[str, Any]:
        """Run an action as the owner; return its result with the audit id."""
        library = self.library if _library == "" else _library
        outcome = self.engine.run(library, _name, params, LOCAL_OWNER)  # type: ignore[arg-type]
        return {**(outcome.result or {}), "audit_id": outcome.audit_id}

    def undo(self, audit_id: str) -> None:
        self.engine.undo(self.library, [audit_id], LOCAL_OWNER)

    def row(self, job_id: str) -> dict[str, Any]:
        with self.library.db.read() as conn:
            return dict(conn.exec_driver_sql("SELECT * FROM job WHERE id = ?", (job_id,)).mappings().one())

    def state(self, job_id: str) -> str:
        return str(self.row(job_id)["state"])

    def notes(self, job_id: str | None = None) -> list[int]:
        with self.library.db.read() as conn:
            return [
                row[0]
                for row in conn.exec_driver_sql(
                    "SELECT item FROM chore_note WHERE ? IS NULL OR job_id = ? ORDER BY rowid",
                    (job_id, job_id),
                )
            ]

    def work(self, timeout: float = 20.0) -> None:
        assert self.engine.jobs.run_until_idle(self.library, timeout)


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.open.set()


@pytest.fixture
def chores(make_engine: Callable[..., Engine], tmp_path: Path, gate: Gate) -> ChoresProject:
    """A started engine whose jobs do not run by themselves, on an idle machine."""
    told: list[tuple[str, str]] = []
    engine = make_engine(plugins=[chores_plugin(gate, told)])
    machine = FakeMachine()
    engine.jobs.conditions = Conditions(machine, clock=itertools.count(0.0, 10.0).__next__)
    place = tmp_path / "Chores.library"
    engine.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER)
    return ChoresProject(engine, engine.libraries.get(place), gate, machine, told)
