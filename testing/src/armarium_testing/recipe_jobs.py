"""The kit for recipe jobs: each is run on a page of its own example, killed, undone and redone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from armarium.actions import Example
from armarium.engine import Engine
from armarium.errors import ServiceError
from armarium.history.capture import history_name, quote_name
from armarium.jobs.queue import NewJob, enqueue
from armarium.jobs.recipe_jobs import RecipeJob, faults_of_recipe_job
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium.store.database import raw_of
from armarium_testing.conformance import stop_background_work
from armarium_testing.digest import differences, table_digests
from armarium_testing.examples import example_of

MARKS = ("run_id", "episode_id", "text_fingerprint")
"""Columns that say where a row comes from; a job that writes a table with such a column must fill it."""


def exercise_recipe_job(
    engine: Engine,
    job_id: str,
    folder: Path,
    *,
    settings: Mapping[str, Any] | None = None,
    timeout: float = 120.0,
) -> list[str]:
    """Check the recipe job *job_id*; return the faults, each a sentence, none if it conforms.

    *engine* is started; *folder* is empty and inside its allowed roots. *settings* override those of the job's example.
    A project is created, the example adds a page to it, and one job works on that page: it must succeed, write only
    through the actions it names, mark its rows with the run that made them, repeat nothing when it is killed between
    its last step and its end, and be undone and redone as a set to the same digest.
    """
    if job_id not in engine.recipe_jobs:
        known_names = ", ".join(engine.recipe_jobs) or "none"
        return [f"There is no recipe job {job_id}; there are: {known_names}."]
    job = engine.recipe_jobs[job_id]
    faults = [*faults_of_recipe_job(job), *_unknown_actions(engine, job)]
    example = example_of(engine, job)
    if example is None:
        return [*faults, "It has no example, so nothing shows that it works."]
    place = folder / "Kit.library"
    engine.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER)
    library = engine.libraries.get(place)
    try:
        ground = dict(example(Example(engine, library, LOCAL_OWNER, folder)))
        engine.jobs.run_until_idle(library, timeout)
        values = {**ground.get("settings", {}), **(settings or {})}
        return faults + list(_behaviour(engine, library, job, str(ground["page_id"]), values, timeout))
    except ServiceError as refusal:
        return [*faults, f"Its example or its settings are refused: {refusal.detail}"]
    finally:
        stop_background_work(engine, library)
        engine.libraries.release(library.path)


def _unknown_actions(engine: Engine, job: RecipeJob) -> Iterable[str]:
    if not job.writes:
        yield "It names no action that it writes through."
    for name in job.writes:
        if engine.actions.find(name) is None:
            yield f"It says that it writes through {name}, and no loaded plugin brings that action."


def _behaviour(
    engine: Engine, library: Library, job: RecipeJob, page_id: str, values: Mapping[str, Any], timeout: float
) -> Iterable[str]:
    settings = job.parse(values)
    placement = job.find_placement(engine, library, settings)
    before = table_digests(library.db, engine.library_schema)
    with library.db.write() as conn:
        new = NewJob(
            job.kind,
            job.arguments([page_id], settings),
            title=job.name,
            model=placement.model,
            lane=placement.lane,
        )
        done_by = enqueue(conn, new, started_by=LOCAL_OWNER)
    state, reason = _run(engine, library, done_by, timeout)
    if state != "done":
        yield f"Its job ended {state}: {reason}"
        return
    steps = _steps(library, done_by)
    if not steps:
        yield "It wrote nothing on the page of its example."
        return
    for name in sorted({name for _, name in steps} - set(job.writes)):
        yield f"It wrote through {name}, which it does not name."
    yield from _find_unmarked(engine, library, steps, called=_called_a_model(library, done_by))
    after = table_digests(library.db, engine.library_schema)
    _forget_the_end(library, done_by)
    state, reason = _run(engine, library, done_by, timeout)
    if state != "done" or len(_steps(library, done_by)) != len(steps):
        yield f"Killed after its last step and run again it ended {state} and left {len(_steps(library, done_by))} steps."
        return
    yield from _taken_back(engine, library, [audit_id for audit_id, _ in steps], before, after)


def _run(engine: Engine, library: Library, job_id: str, timeout: float) -> tuple[str, str | None]:
    engine.jobs.run_until_idle(library, timeout)
    with library.db.read() as conn:
        row = raw_of(conn).execute("SELECT state, reason FROM job WHERE id = ?", (job_id,)).fetchone()
    return str(row[0]), row[1]


def _steps(library: Library, job_id: str) -> list[tuple[str, str]]:
    with library.db.read() as conn:
        rows = raw_of(conn).execute(
            "SELECT id, action_name FROM audit WHERE set_id = ? ORDER BY seq", (job_id,)
        )
        return [(str(audit_id), str(name)) for audit_id, name in rows]


def _forget_the_end(library: Library, job_id: str) -> None:
    """Restore the state after a kill between the last step and the end of the job: it is recovered and queued again."""
    with library.db.write() as conn:
        raw_of(conn).execute(
            "UPDATE job SET state = 'waiting', body_done = 0, attempts = 0, result = NULL, finished_at = NULL "
            "WHERE id = ?",
            (job_id,),
        )


def _called_a_model(library: Library, job_id: str) -> bool:
    with library.db.read() as conn:
        raw = raw_of(conn)
        has_episodes = raw.execute("SELECT 1 FROM sqlite_master WHERE name = 'episode'").fetchone()
        episode = (
            has_episodes
            and raw.execute("SELECT 1 FROM episode WHERE job_id = ? LIMIT 1", (job_id,)).fetchone()
        )
    return bool(episode)


def _find_unmarked(
    engine: Engine, library: Library, steps: list[tuple[str, str]], *, called: bool
) -> Iterable[str]:
    """Return faults about rows of its steps that do not say where they come from."""
    with library.db.read() as conn:
        raw = raw_of(conn)
        first = raw.execute("SELECT seq FROM audit WHERE id = ?", (steps[0][0],)).fetchone()[0]
        for table in engine.library_schema.tracked:
            columns = [name for name in MARKS if name in table.columns and (called or name != "episode_id")]
            if not columns:
                continue
            keys = " AND ".join(
                f"h.{quote_name(column.name)} = t.{quote_name(column.name)}"
                for column in table.primary_key.columns
            )
            for name in columns:
                (bare,) = raw.execute(
                    f"SELECT count(*) FROM {quote_name(table.name)} t JOIN {quote_name(history_name(table))} h ON {keys} "
                    f"WHERE h.audit_seq >= ? AND h.op = 'I' AND t.{quote_name(name)} IS NULL",
                    (first,),
                ).fetchone()
                if bare:
                    yield f"{bare} of the rows of {table.name} that it wrote have no {name}."


def _taken_back(
    engine: Engine, library: Library, steps: list[str], before: dict[str, str], after: dict[str, str]
) -> Iterable[str]:
    try:
        undone = engine.undo(library, steps, LOCAL_OWNER)
    except ServiceError as refusal:
        yield f"What it wrote cannot be undone: {refusal.detail}"
        return
    changed = differences(before, table_digests(library.db, engine.library_schema))
    if changed:
        yield f"After its undo these tables are not what they were: {', '.join(changed)}."
    engine.undo(library, undone["audit_ids"], LOCAL_OWNER)
    changed = differences(after, table_digests(library.db, engine.library_schema))
    if changed:
        yield f"After its redo these tables are not what they were: {', '.join(changed)}."
