"""What the routes of background work receive and answer."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, StrictBool

from armarium.jobs.activity import ActivityType
from armarium.jobs.log import Level
from armarium.jobs.models import Mode
from armarium.messages import Message
from armarium.store.rows import paged

ShownState = Literal["waiting", "running", "paused", "done", "failed", "cancelled"]


class Can(Message):
    """What the caller may do to a job now."""

    pause: bool
    cancel: bool
    retry: bool


class Item(Message):
    """How far a running job is with the page in hand: `12 of 40 lines`."""

    done: int
    total: int | None = None
    unit: str | None = None


class JobNode(Message):
    """A job; `done` and `total` count pages, or what `unit` says, including everything beneath it."""

    id: str
    state: ShownState
    reason: str | None = None
    reason_code: str | None = None
    done: int
    total: int
    parent_id: str | None = None
    kind: str
    title: str
    item: Item | None = None
    unit: str | None = None
    """What `done` and `total` count where that is no pages: epochs, megabytes, lines."""
    seconds_left: int | None = None
    """How long the rest of a running job will probably take, by its pace so far; null where nothing tells."""
    lane: str | None = None
    model: str | None = None
    subject: dict[str, Any] | None = None
    thread_id: str | None = None
    attempts: int
    started_by: str | None = None
    created_at: str | None = None
    started_at: str | None = None
    finished_at: str | None = None
    library_path: str | None = None
    can: Can


class JobTree(JobNode):
    """A job and everything beneath it; an import also names its stages."""

    children: list[JobTree] = []
    result: dict[str, Any] | None = None
    """The result of a finished job (only of the job that was requested): counts, what was refused and why; null for a caller
    from whom documents are withheld, unless the caller started it.
    """
    stages: list[JobNode | dict[str, Any]] | None = None
    """Of an import its stages, as jobs; else the parts of the work, where its kind describes them (`JobKind.describe`).
    """
    summary: dict[str, Any] | None = None
    """What the work produced in all, once it has ended, where its kind describes it."""


class LaneState(Message):
    """A lane: how many jobs it runs at a time, and how many run and wait."""

    lane: str
    width: int
    running: int
    waiting: int


class MachineState(Message):
    """What holds heavy work back just now."""

    memory: bool
    heat: bool
    battery: bool
    in_use: bool


class JobList(Message):
    """Running, waiting, paused, then failed jobs of seven days."""

    items: list[JobNode]
    count: int
    paused: bool
    mode: Mode
    lanes: list[LaneState]
    conditions: MachineState


class LogLine(Message):
    """One line; `row_id` is the job, step or run it belongs to."""

    seq: int
    at: str
    source: Literal["run", "step", "job"]
    row_id: str
    level: Level
    message: str
    data: dict[str, Any]


class JobLog(Message):
    """The lines of one row and of the rows beneath it, newest last."""

    id: str
    lines: list[LogLine]
    count: int


class ActivityEvent(Message):
    """One event of the activity log."""

    id: str
    type: ActivityType
    level: Level
    timestamp: str
    message: str
    workflow_id: str | None = None
    batch_id: str | None = None
    thread_id: str | None = None
    node_id: str | None = None
    metadata: dict[str, Any]
    duration_ms: int | None = None
    error: str | None = None


ActivityPage = paged(ActivityEvent, "ActivityPage", "Events, newest first.")


class Paused(BaseModel, extra="forbid"):
    """Whether to pause it (true) or resume it (false)."""

    paused: StrictBool
