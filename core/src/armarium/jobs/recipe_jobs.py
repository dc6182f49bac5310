"""Recipe jobs: pieces of work that a plugin declares once, so that workflows, recipes, the CLI and agents can run them.

Only their declaration: they are run by the job queue, and most work page by page (`armarium.jobs.pages`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from pydantic import BaseModel

from armarium.actions.context import Example
from armarium.actions.definition import Params
from armarium.errors import Invalid, NotFound
from armarium.jobs.kinds import JobKind, LaneName
from armarium.jobs.pages import PageWork, page_kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from armarium.engine import Engine
    from armarium.jobs.context import JobContext
    from armarium.projects.libraries import Library

Layer = Literal[
    "prepare",
    "lines",
    "reading",
    "structure",
    "entities",
    "graph",
    "places",
    "vectors",
    "catalogue",
    "knowledge",
    "train",
    "check",
    "output",
]
"""The layers of work in the order in which they are done."""

Material = Literal[
    "page_image",
    "rendition",
    "recording",
    "regions",
    "lines",
    "reading_order",
    "signs",
    "table_cells",
    "drawings",
    "line_readings",
    "page_reading",
    "sign_identifications",
    "entries",
    "table_rows",
    "document_groups",
    "mentions",
    "claims",
    "dates",
    "authority_links",
    "places",
    "vectors",
    "catalogue_record",
    "passages",
    "model",
    "verdicts",
    "files",
    "published",
]
"""What a job takes and gives. The line readings of a page count as its page reading."""

LAYERS: tuple[str, ...] = get_args(Layer)
MATERIALS: tuple[str, ...] = get_args(Material)


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a job with certain settings runs: the model it is queued for, and a lane other than its kind's own."""

    model: str | None = None
    lane: LaneName | None = None


@dataclass(frozen=True)
class RecipeJob:
    """A piece of work on pages or on a whole scope. Its id is the name of its job kind.

    The arguments of the kind are the settings' fields and `page_ids`. The result of a job of one page contains
    `output`, an object of at most 8 MiB, besides whatever else it says; or `withheld`, the reason, where the rights of the
    page forbid the work.
    """

    kind: JobKind
    name: str
    description: str
    layer: Layer
    takes: tuple[Material, ...]
    gives: tuple[Material, ...]
    settings: type[Params]
    writes: tuple[str, ...]
    """The actions through which it writes: every one that its body runs."""
    takes_any: bool = False
    """One of what it takes is enough; otherwise all of it is needed."""
    compare: str | None = None
    """What is measured when two ways of doing it are compared."""
    since: str = "0.1.0"
    topic: str | None = None
    """The help topic about it; by default one named after its id."""
    each: Literal["page", "scope"] = "page"
    """Whether a workflow gives it one page at a time, or all pages together."""
    uses_llm: bool = False
    """Whether it sends text or pictures to a language model."""
    provider_setting: str | None = None
    """The setting that receives a workflow's choice of a provider."""
    model_setting: str | None = None
    """The setting that receives a workflow's choice of a model."""
    place: Callable[[Engine, Library, Any], Placement] | None = None
    """Called with parsed settings before anything is queued: returns where it runs; raises a refusal when it cannot."""
    example: Callable[[Example], Mapping[str, Any]] | None = None
    """Makes a page that it can work on; returns `page_id`, and `settings` where the defaults do not suffice."""

    @property
    def id(self) -> str:
        """Its id, which is also the name of its job kind."""
        return self.kind.name

    def parse(self, given: Mapping[str, Any]) -> Params:
        """Validate its settings from *given*; raises Invalid, naming each faulty field."""
        from pydantic import ValidationError

        try:
            return self.settings.model_validate(dict(given))
        except ValidationError as error:
            wrong = "; ".join(
                f"{'.'.join(map(str, fault['loc'])) or 'all'}: {fault['msg']}" for fault in error.errors()
            )
            raise Invalid(
                f"The settings of {self.id} do not fit ({wrong}). It takes: "
                f"{', '.join(self.settings.model_fields) or 'none'}.",
                code="invalid_settings",
            ) from None

    def arguments(self, page_ids: Iterable[str], settings: Params) -> dict[str, Any]:
        """Return the arguments of one of its jobs."""
        return {**settings.model_dump(mode="json"), "page_ids": list(page_ids)}

    def find_placement(self, engine: Engine, library: Library, settings: Params) -> Placement:
        """Return where a job with *settings* runs; raises the refusal of `place` when it cannot run here."""
        return self.place(engine, library, settings) if self.place is not None else Placement()

    def entry(self) -> dict[str, Any]:
        """Return its entry in lists: id, name, description, layer, takes, gives, compare, settings, since, topic."""
        schema = self.settings.model_json_schema()
        properties = schema.get("properties", {})
        return {
            "id": self.id,
            "name": self.name,
            "description": self.description,
            "layer": self.layer,
            "takes": list(self.takes),
            "gives": list(self.gives),
            "compare": self.compare,
            "settings": [
                {
                    "key": key,
                    "type": _type_of(schema),
                    "default": schema.get("default"),
                    "help": schema.get("description", ""),
                }
                for key, schema in properties.items()
            ],
            "since": self.since,
            "topic": self.topic or self.id,
        }


def _type_of(schema: Mapping[str, Any]) -> str:
    if "type" in schema:
        return str(schema["type"])
    kinds = [_type_of(option) for option in schema.get("anyOf", ()) if option.get("type") != "null"]
    return kinds[0] if kinds else "string"


class RecipeJobs(Mapping[str, RecipeJob]):
    """The recipe jobs of one engine by id, in the order of their layers."""

    def __init__(self, jobs: Iterable[RecipeJob] = ()) -> None:
        ordered = sorted(jobs, key=lambda job: LAYERS.index(job.layer))
        self._jobs = {job.id: job for job in ordered}

    def require(self, job_id: str) -> RecipeJob:
        """Return the job called *job_id*; NotFound lists the existing ones."""
        if job_id not in self._jobs:
            raise NotFound(
                f"There is no recipe job called {job_id}. There are: {', '.join(self._jobs) or 'none'}.",
                code="unknown_recipe_job",
            )
        return self._jobs[job_id]

    def __getitem__(self, job_id: str) -> RecipeJob:
        return self._jobs[job_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._jobs)

    def __len__(self) -> int:
        return len(self._jobs)


def page_job(
    job_id: str,
    work: Callable[[JobContext, str], PageWork | None],
    settings: type[Params],
    *,
    summary: str,
    lane: LaneName = "cpu",
    also_lanes: tuple[LaneName, ...] = (),
    **declared: Any,
) -> RecipeJob:
    """Return a recipe job whose kind works page by page (`page_kind`); *declared* are the other fields of `RecipeJob`."""
    kind = page_kind(job_id, work, settings, summary=summary, lane=lane, also_lanes=also_lanes)
    return RecipeJob(kind=kind, settings=settings, **declared)


def faults_of_recipe_job(job: Any) -> Iterator[str]:
    """Return the faults of *job* as it is declared, each a sentence that says what to do."""
    recipe_job_name = f"Its recipe job {job.id}"
    if job.layer not in LAYERS:
        yield f"{recipe_job_name} names the layer {job.layer!r}; layers are {', '.join(LAYERS)}."
    for way in ("takes", "gives"):
        for material in getattr(job, way):
            if material not in MATERIALS:
                yield f"{recipe_job_name} {way} {material!r}; materials are {', '.join(MATERIALS)}."
    if not (isinstance(job.settings, type) and issubclass(job.settings, Params)):
        yield f"{recipe_job_name} has settings that are not a model; derive them from Params."
        return
    args = job.kind.args
    fields = set(args.model_fields) if isinstance(args, type) and issubclass(args, BaseModel) else set()
    for name in ("page_ids", *job.settings.model_fields):
        if name not in fields:
            yield f"{recipe_job_name} has jobs that take no {name}; their arguments are page_ids and every setting."
    for name in (job.provider_setting, job.model_setting):
        if name is not None and name not in job.settings.model_fields:
            yield f"{recipe_job_name} says that {name} is a setting, and its settings have none of that name."
    for text, value in (("name", job.name), ("description", job.description)):
        if not str(value).strip():
            yield f"{recipe_job_name} has no {text}; people read it in the palette."
