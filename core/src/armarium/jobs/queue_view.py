"""One queue at one moment: the state of each job as a person sees it, why it waits, and what may be done to it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from armarium.errors import NotFound
from armarium.history.visibility import withheld_nodes
from armarium.ids import now, parse_timestamp
from armarium.jobs.conditions import WORDS, hindrance
from armarium.jobs.decisions import paused_ids
from armarium.jobs.kinds import LANES
from armarium.jobs.models import FINISHED, JobRow
from armarium.jobs.partly_seen import WITHHELD_WHY, hundredths, reason_seen
from armarium.jobs.queue import loads
from armarium.jobs.store import path_of
from armarium.principals import caller
from armarium.store.database import raw_of
from armarium.store.tables import json_text

if TYPE_CHECKING:
    from armarium.engine import Engine
    from armarium.jobs.context import JobContext
    from armarium.jobs.runner import JobRunner
    from armarium.projects.libraries import Library

COLUMNS = ", ".join(JobRow._fields[: JobRow._fields.index("args")])
OF_KINDS = "kind IN (SELECT value FROM json_each(?))"
MOST_TOLD = 1_000
"""Jobs of one tree of which a pause is told; whoever shows more than these asks for the list again."""
_AROUND = """
WITH RECURSIVE
below(id) AS (SELECT value FROM json_each(?1) UNION SELECT j.id FROM job j JOIN below b ON j.parent_id = b.id),
above(id) AS (SELECT value FROM json_each(?1) UNION
  SELECT j.parent_id FROM job j JOIN above a ON j.id = a.id WHERE j.parent_id IS NOT NULL)
SELECT id FROM above UNION ALL
SELECT id FROM (SELECT j.id FROM below b JOIN job j ON j.id = b.id
  WHERE j.state IN ('waiting', 'running') AND j.id NOT IN (SELECT id FROM above) ORDER BY j.seq LIMIT ?2)
"""


class QueueView:
    """The queue of one project (or of the engine, `library` None) according to its rows and the runner at this moment;
    the jobs *ended* are no longer at work, though the runner has not put them down yet.
    """

    def __init__(
        self, runner: JobRunner, library: Library | None, conn: Connection, *, ended: Collection[str] = ()
    ) -> None:
        self.runner = runner
        self.library = library
        self.conn = conn
        raw = self.raw = raw_of(conn)
        self.path = path_of(library)
        self.store = runner.store_of(library)
        self.held = paused_ids(raw)
        executing = self.store.executing().keys() - set(ended) if self.store is not None else ()
        # Only the state of what is held depends on it.
        self._at_work = self._around(executing) if self.held else set()
        self._runs: dict[str | None, bool] = {None: False}
        self.is_limited = bool(withheld_nodes(conn))
        who, actions = caller(), runner.engine.actions
        self._may = {
            what: who is None or who.principal.may(actions.get(f"job.{what}").role)
            for what in ("pause", "cancel", "retry")
        }

    def _around(self, ids: Iterable[str], *, most_below: int = 0) -> set[str]:
        """Return *ids*, the jobs above them, and at most so many unfinished ones below."""
        return {row[0] for row in self.raw.execute(_AROUND, (json_text(list(ids)), most_below))}

    def row(self, job_id: str) -> JobRow | None:
        """Return the row of *job_id*, or None."""
        values = self.raw.execute(f"SELECT {COLUMNS} FROM job WHERE id = ?", (job_id,)).fetchone()
        return JobRow(*values) if values else None

    def rows(self, where: str, values: Iterable[object] = ()) -> list[JobRow]:
        """Return rows under an SQL condition, oldest first."""
        cursor = self.raw.execute(f"SELECT {COLUMNS} FROM job WHERE {where} ORDER BY seq", tuple(values))
        return [JobRow(*row) for row in cursor]

    def waiting(self, kinds: list[str]) -> list[JobRow]:
        """Return the rows of *kinds* that have not started, paused ones too, oldest first."""
        return self.rows(f"state = 'waiting' AND {OF_KINDS}", (json_text(kinds),))

    def state(self, row: JobRow) -> str:
        """Return the state as shown: a hold makes a waiting job paused, and a body that has begun makes it running."""
        rests = row.state == "waiting" or (
            row.state == "running" and row.body_done and row.id not in self._at_work
        )
        return "paused" if rests and row.id in self.held else row.state

    def event_rows(self, ids: Iterable[str], *, with_relatives: bool = False) -> list[dict[str, Any]]:
        """Return what an event says of each of the jobs *ids*; *with_relatives*, also of those above and below, else of
        those above that rest with them under a pause.
        """
        job_ids = set(ids)
        if with_relatives:
            job_ids = self._around(job_ids, most_below=MOST_TOLD)
        elif self.held:
            job_ids |= self._around(job_ids) & self.held
        rows = self.rows("id IN (SELECT value FROM json_each(?))", (json_text(list(job_ids)),))
        return [
            {
                "id": row.id,
                "state": self.state(row),
                "done": row.done,
                "total": row.total,
                "reason": row.reason if row.state != "running" else self._slowness(row),
            }
            for row in rows
        ]

    def of_a_run(self, row: JobRow) -> bool:
        """Return whether a workflow run waits for this job: then the run is paused or cancelled, not the job."""
        kind = self.runner.kinds.get(row.kind)
        if kind is not None and kind.is_run:
            return False
        if row.handed_in_by is not None or (kind is not None and kind.handed_in_by_run):
            return True
        return self._under_run(row.parent_id)

    def _under_run(self, job_id: str | None) -> bool:
        if job_id not in self._runs:
            row = self.raw.execute("SELECT kind, parent_id FROM job WHERE id = ?", (job_id,)).fetchone()
            kind = self.runner.kinds.get(row[0]) if row else None
            self._runs[job_id] = bool(kind is not None and kind.is_run) or (
                self._under_run(row[1]) if row else False
            )
        return self._runs[job_id]

    def node(self, row: JobRow) -> dict[str, Any]:
        """Return *row* as a job node."""
        state = self.state(row)
        reason, code = self.reason(row, state)
        by_run = self.of_a_run(row)
        kind, lane = self.runner.kinds.get(row.kind), self.runner.kinds.lane_of(row.kind, row.lane)
        done, total = self.progress(row)
        return {
            "id": row.id,
            "state": state,
            "reason": reason,
            "reason_code": code,
            "done": done,
            "total": total,
            "parent_id": row.parent_id,
            "kind": row.kind,
            "title": row.title,
            "item": self._item(row),
            "unit": None if kind is None or self.is_limited else kind.unit,
            "seconds_left": self._seconds_left(row),
            "lane": lane,
            "model": row.model,
            "subject": loads(row.subject),
            "thread_id": row.thread_id,
            "attempts": row.attempts,
            "started_by": row.started_by,
            "created_at": row.created_at,
            "started_at": row.started_at,
            "finished_at": row.finished_at,
            "library_path": self.path,
            "can": {
                "pause": self._may["pause"] and state not in FINISHED and not by_run,
                "cancel": self._may["cancel"] and state not in FINISHED and not by_run,
                "retry": self._may["retry"]
                and state in ("failed", "cancelled")
                and not by_run
                and not (kind is not None and (kind.remote_in(lane) or kind.is_run)),
            },
        }

    def _context(self, row: JobRow) -> JobContext | None:
        """Return the context of a job that runs here, for whoever may know how far it is."""
        if self.store is None or self.is_limited or row.state != "running":
            return None
        picked = self.store.picked.get(row.seq)
        return None if picked is None else picked.context

    def _item(self, row: JobRow) -> dict[str, Any] | None:
        context = self._context(row)
        progress = None if context is None else context.item
        return progress and {name: progress.get(name) for name in ("done", "total", "unit")}

    def _seconds_left(self, row: JobRow) -> int | None:
        context = self._context(row)
        return None if context is None else context.pace.seconds_left(row.total)

    def progress(self, row: JobRow) -> tuple[int, int]:
        """Return the progress of *row*: done and total; in hundredths for a caller from whom documents are withheld,
        since a job about many documents counts those too.
        """
        return hundredths(row.done, row.total) if self.is_limited else (row.done, row.total)

    def as_seen(self, line: dict[str, Any]) -> dict[str, Any]:
        """Return a line of a log, without the words in which a job about many pages failed where some are withheld."""
        if not self.is_limited or line["level"] != "error":
            return line
        row = self.row(line["row_id"])
        return line if row is None or row.total == 1 else {**line, "message": WITHHELD_WHY}

    def tree(self, row: JobRow) -> dict[str, Any]:
        """Return *row* as a job node with everything beneath it as `children`."""
        children = self.rows("parent_id = ?", (row.id,))
        return {**self.node(row), "children": [self.tree(child) for child in children]}

    def result(self, row: JobRow) -> Any:
        """Return the result of *row*'s body; None before it ended, and for a caller from whom documents are withheld if somebody
        else started it, since it counts those too.
        """
        query = "SELECT result, json_extract(principal, '$.token_id') FROM job WHERE id = ?"
        result, started_with = self.raw.execute(query, (row.id,)).fetchone()
        asking = caller()
        if self.is_limited and asking is not None and started_with not in asking.principal.reader_ids:
            return None
        return None if result is None else loads(result)

    def reason(self, row: JobRow, state: str) -> tuple[str | None, str | None]:
        """Return (sentence, reason code) to be shown for *row*."""
        if state == "paused":
            return "Paused by a person; resume it to continue.", "paused"
        if state == "running":
            if row.body_done and row.open_children:
                parts = "part is" if row.open_children == 1 else "parts are"
                return f"{row.open_children} {parts} still to finish.", None
            return self._slowness(row), None
        if state != "waiting":
            reason = reason_seen(state, row.total, row.reason) if self.is_limited else row.reason
            return reason, row.reason_code
        return self.why_waiting(row)

    def _slowness(self, row: JobRow) -> str | None:
        """Say what has kept a running job from coming further for long."""
        context = self._context(row)
        return None if context is None else context.tell_wait()

    def why_waiting(self, row: JobRow) -> tuple[str, str]:
        """Return (sentence, reason code) for a waiting job: the first hindrance that applies."""
        kind = self.runner.kinds.get(row.kind)
        if self.runner.mode == "paused":
            return "Background work is paused; resume it to continue.", "paused-globally"
        if kind is None:
            return (
                f"No loaded plugin provides the work {row.kind}; `armarium plugins` shows which are loaded.",
                "dependency",
            )
        if row.after_id is not None:
            words = self._dependency(row.after_id)
            if words is not None:
                return words, "dependency"
        if row.not_before is not None and row.not_before > now():
            seconds = (parse_timestamp(row.not_before) - parse_timestamp(now())).total_seconds()
            return f"{row.reason or 'It was postponed.'} Tried again in {seconds:.0f} seconds.", "retry-later"
        if kind.needs_network and self.runner.offline:
            return "Waits for the network: the engine is set to work offline (SERVICE_LOCAL_ONLY).", "offline"
        if kind.heavy_in(self.runner.kinds.lane_of(row.kind, row.lane)):
            code = self._hindrance(row)
            if code is not None:
                return WORDS[code], code
        return self._turn(row)

    def _dependency(self, job_id: str) -> str | None:
        row = self.raw.execute("SELECT title, state FROM job WHERE id = ?", (job_id,)).fetchone()
        if row is None:
            return "Waits for a job that is no longer kept; cancel it and start it again."
        title, state = row
        if state == "done":
            return None
        if state in ("failed", "cancelled"):
            return f"Waits for {title}, which was {state}; retry that one, or cancel this."
        return f"Waits until {title} is done."

    def _hindrance(self, row: JobRow) -> str | None:
        watched = self.store is not None and (
            self.store.all_watched
            or row.id in self.store.list_watched()
            or row.parent_id in self.store.list_watched()
        )
        return hindrance(
            self.runner.conditions.now(),
            heavy_running=self.runner.heavy_running,
            mode=self.runner.mode,
            watched=watched,
        )

    def _turn(self, row: JobRow) -> tuple[str, str]:
        name = self.runner.kinds.lane_of(row.kind, row.lane)
        lane = self.runner.lanes[name]
        if row.model is not None and lane.model not in (None, row.model) and lane.running:
            return f"Waits while the model {lane.model} is in use; its work is finished first.", "model"
        width = LANES[name]
        jobs = "one job" if width == 1 else f"{width} jobs"
        return f"Waits for its turn: {jobs} of this kind at a time (lane {name}).", "lane"

    def summary_row(self, row: JobRow, count: int, state: str) -> dict[str, Any]:
        """Return one row for *count* jobs of a kind that wait or are paused, *row* the oldest of them."""
        kind = self.runner.kinds.get(row.kind)
        node = self.node(row)
        reason, code = self.reason(row, state)
        return {
            **node,
            "id": f"{state}:{row.kind}",
            "state": state,
            "reason": reason,
            "reason_code": code,
            "done": 0,
            "total": count,
            "unit": None,
            "seconds_left": None,
            "parent_id": None,
            "title": kind.summary.rstrip(".") if kind is not None else row.kind,
            "model": None,
            "subject": None,
            "thread_id": None,
            "attempts": 0,
            "started_by": None,
            "started_at": None,
            "can": {"pause": self._may["pause"], "cancel": self._may["cancel"], "retry": False},
        }


@contextmanager
def open_view(runner: JobRunner, library: Library | None) -> Iterator[QueueView]:
    """The queue of *library*, or the engine's own, in one snapshot."""
    with (library.db if library is not None else runner.engine.state).read() as conn:
        yield QueueView(runner, library, conn)


def shown_state(
    engine: Engine, library: Library | None, conn: Connection, job_id: str
) -> tuple[str, str | None]:
    """Return the state of a job and the reason for it in words, as the list of jobs shows them; for answers of plugins
    about their own jobs. NotFound.
    """
    view = QueueView(engine.jobs, library, conn)
    row = view.row(job_id)
    if row is None:
        raise NotFound(f"There is no job {job_id!r}.", code="unknown_job", job_id=job_id)
    state = view.state(row)
    return state, view.reason(row, state)[0]
