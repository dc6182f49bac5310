"""Kinds of jobs and the lanes they run in: what a plugin declares so that the runner can schedule its work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ValidationError

from armarium.errors import Invalid

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from armarium.engine import Engine
    from armarium.jobs.context import JobContext
    from armarium.projects.libraries import Library

LaneName = Literal["local-model", "cpu", "images", "network", "remote", "database", "recipes"]
"""Where work is done, so that what needs the same means waits for each other; mypy knows a misspelt one."""

LANES: Mapping[str, int] = {
    "local-model": 1,
    "cpu": 2,
    "images": 2,
    "network": 4,
    "remote": 2,
    "database": 1,
    "recipes": 1,
}
"""Lane to how many of its jobs run at a time on this machine."""

FAR_LANES: frozenset[str] = frozenset({"network", "remote"})
"""Lanes whose work is done elsewhere; this machine only waits for it."""

GROUPING_LANES: frozenset[str] = frozenset({"cpu", "images", "database"})
"""Lanes whose quick jobs may be picked up, and their ends written, several at a time: what such a body did is saved by
itself (`JobContext.act`, `save`) and involves no other machine, so that running it again costs nothing.
"""

IMPORT_STAGES: tuple[str, ...] = ("read-files", "thumbnails", "display-pictures", "text-layers", "embeddings")
"""The stages of an import, in the order they are shown."""

STAGE_TITLES: Mapping[str, str] = {
    "read-files": "Read the files",
    "thumbnails": "Thumbnails",
    "display-pictures": "Display pictures",
    "text-layers": "Text layers",
    "embeddings": "Embeddings",
}


@dataclass(frozen=True)
class JobKind:
    """One kind of job. The body is plain: arguments and checkpoint in, result out; it may be killed at any instant.

    `run` is called in a thread of the lane with a `JobContext`. An exception fails the job: a `ServiceError` with its
    own sentence, any other with a general one. Killed and run again from its checkpoint it must lose nothing and repeat
    nothing; `JobContext.act` and `JobContext.spawn` ensure that.
    """

    name: str
    lane: LaneName
    summary: str
    run: Callable[[JobContext], dict[str, Any] | None]
    args: type[BaseModel] | None = None
    unit: Literal["epochs", "megabytes", "lines"] | None = None
    """What its jobs count in `done` and `total` where that is no pages."""
    heavy: bool = False
    """Needs much memory or compute: waits for the machine (memory, heat, battery, a person at it)."""
    first: bool = False
    """Small work that heavy work waits for, such as thumbnails."""
    scope: Literal["library", "engine"] = "library"
    also_lanes: tuple[LaneName, ...] = ()
    """Other lanes in which a single job of this kind may be queued (a cloud model instead of a local one)."""
    stage: str | None = None
    """The stage of an import it belongs to; its jobs are then shown under the `derivatives` row."""
    needs_network: bool = False
    """Waits while the engine is set to work offline (SERVICE_LOCAL_ONLY)."""
    steps_aside: bool = False
    """`check()` also stops it when the machine no longer allows heavy work: for a long training, not for a page."""
    handed_in_by_run: bool = False
    """Its jobs always belong to a workflow run and cannot be paused, cancelled or retried by themselves."""
    is_run: bool = False
    """A workflow run or batch: its project is not released while one waits or runs."""
    history: Literal["pictures", "embeddings", "names", "lines", "pages", "check"] | None = None
    """The word under which its jobs are listed among the work done on a document; a recipe job's layer gives it."""
    remote: bool = False
    """Runs on a remote service: it is cancelled there (`on_cancel`) and cannot be retried from here.

    A job of such a kind that was queued in a lane of this machine runs here, and can be retried.
    """
    retries: int = 5
    """How often `RetryLater` may postpone one job before it fails."""
    on_pause: Callable[[Engine, Library | None, str, bool], None] | None = None
    """Called after the commit when a person paused (True) or resumed (False) job *id*; its own pause is handled here.
    """
    on_cancel: Callable[[Engine, Library | None, str], None] | None = None
    """Called after the commit in which job *id* was asked to end, and stops what runs elsewhere for it; a job that runs here
    may still be at the item in progress.
    """
    describe: Callable[[Connection, str], dict[str, Any]] | None = None
    """Adds to the answer for job *id*, as the caller may see it, its `stages` and, once ended, its `summary`."""

    @property
    def lanes(self) -> tuple[LaneName, ...]:
        """Return every lane its jobs may run in, the usual one first."""
        return (self.lane, *self.also_lanes)

    @property
    def may_be_grouped(self) -> bool:
        """Return whether several of its jobs may be picked up at once if they are quick."""
        return not (self.heavy or self.first or self.steps_aside or self.needs_network or self.remote)

    def heavy_in(self, lane: str) -> bool:
        """Return whether a job of this kind loads this machine when it runs in *lane*: remote work does not."""
        return self.heavy and lane not in FAR_LANES

    def remote_in(self, lane: str) -> bool:
        """Return whether a job of this kind runs on a remote service when it runs in *lane*."""
        return self.remote and lane in FAR_LANES

    def arguments(self, given: BaseModel | Mapping[str, Any] | None) -> dict[str, Any]:
        """Return *given* as the JSON object the job row stores; raises Invalid when it does not fit the kind's model."""
        if isinstance(given, BaseModel):
            return given.model_dump(mode="json")
        plain = dict(given or {})
        if self.args is None:
            return plain
        return self.parse(plain).model_dump(mode="json")

    def parse(self, given: Mapping[str, Any], context: Any = None) -> BaseModel:
        """Return the kind's model of *given* arguments; raises Invalid when they do not fit it. *context* `AS_STORED`: those of
        a job row."""
        assert self.args is not None
        try:
            return self.args.model_validate(given, context=context)
        except ValidationError as error:
            places = ", ".join(".".join(map(str, fault["loc"])) or "(whole)" for fault in error.errors())
            raise Invalid(
                f"The arguments do not fit the work {self.name} (at {places}). Start the work again.",
                code="invalid_job_arguments",
            ) from None


class KindRegistry:
    """The job kinds of one engine by name."""

    def __init__(self, kinds: Iterable[JobKind] = ()) -> None:
        self._kinds: dict[str, JobKind] = {}
        self.stages: list[str] = list(IMPORT_STAGES)
        for kind in kinds:
            self.add(kind)

    def add(self, kind: JobKind) -> None:
        """Add *kind*; raises ValueError when its name is taken or a lane does not exist."""
        if kind.name in self._kinds:
            raise ValueError(f"The job kind {kind.name} already exists; names are never overwritten.")
        for lane in kind.lanes:
            if lane not in LANES:
                raise ValueError(
                    f"The job kind {kind.name} asks for the lane {lane}; lanes are {', '.join(LANES)}."
                )
        self._kinds[kind.name] = kind
        if kind.stage is not None and kind.stage not in self.stages:
            self.stages.append(kind.stage)

    def get(self, name: str) -> JobKind | None:
        """Return the kind called *name*, or None when no loaded plugin provides it."""
        return self._kinds.get(name)

    def require(self, name: str) -> JobKind:
        """Return the kind called *name*; raises Invalid when no loaded plugin provides it."""
        kind = self._kinds.get(name)
        if kind is None:
            raise Invalid(
                f"No loaded plugin provides the work {name}. `armarium plugins` shows which are loaded and why "
                "one was refused.",
                code="unknown_job_kind",
            )
        return kind

    def __iter__(self) -> Iterator[JobKind]:
        return iter(self._kinds.values())

    def __contains__(self, name: object) -> bool:
        return name in self._kinds

    def lane_of(self, name: str, lane: str | None) -> str:
        """Return the lane of a row: its own, else its kind's (`cpu` for a kind that is not loaded)."""
        kind = self._kinds.get(name)
        return lane or (kind.lane if kind else "cpu")

    def of_stage(self, stage: str) -> list[str]:
        """Return the names of the kinds of *stage* of an import."""
        return [kind.name for kind in self._kinds.values() if kind.stage == stage]

    def import_kinds(self) -> list[str]:
        """Return the names of all kinds that belong to an import."""
        return [kind.name for kind in self._kinds.values() if kind.stage is not None]
