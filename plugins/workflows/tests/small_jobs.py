"""Small recipe jobs for tests, and helpers to compose, run and query workflows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, Connection, MetaData, Table, Text

from armarium.api import (
    ActionContext,
    Conflict,
    Engine,
    JobContext,
    Library,
    PageWithheld,
    PageWork,
    Params,
    Plugin,
    RecipeJob,
    action,
    new_id,
    page_kind,
    tracked,
)
from armarium.principals import LOCAL_OWNER
from armarium_reading.api import ModelRequest, Subject, ask
from armarium_testing.answers import answering

metadata = MetaData()
marks = Table(
    "small_mark",
    metadata,
    Column("id", Text, primary_key=True),
    Column("page_id", Text, nullable=False),
    Column("word", Text, nullable=False),
    Column("run_id", Text),
    info=tracked(label="mark"),
)


class Mark(Params):
    """A page and the word to mark it with."""

    page_id: str
    word: str


@action(
    "small.mark",
    summary="Mark a page with a word",
    params=Mark,
    example=lambda ex: {"page_id": "a", "word": "b"},
)
def mark(ctx: ActionContext, p: Mark) -> dict[str, Any]:
    """Insert one row for a mark."""
    row = {"id": new_id(), "page_id": p.page_id, "word": p.word, "run_id": ctx.run_id}
    ctx.conn.execute(marks.insert().values(row))
    return row


class MarkSettings(Params):
    """How pages are marked."""

    word: str = "seen"
    reader: str | None = None
    times: int = 1
    bad: list[str] = []
    withheld: list[str] = []


def work(job: JobContext, page_id: str) -> PageWork:
    """Mark the page; refuse it if it is in `bad`, pass it over if it is in `withheld`."""
    if page_id in job.args.withheld:
        raise PageWithheld("It is closed.")
    if page_id in job.args.bad:
        raise Conflict("The page is torn.")
    word = job.args.word if job.args.reader is None else f"{job.args.reader}:{job.args.word}"
    output = {"word": word, "big": "x" * (9 * 1024 * 1024 if word == "huge" else 1)}
    return PageWork("small.mark", {"page_id": page_id, "word": word}, output)


def recipe(name: str, takes: tuple[str, ...], gives: tuple[str, ...], **more: Any) -> RecipeJob:
    """Return a recipe job that marks pages."""
    given: dict[str, Any] = {"layer": "lines", "settings": MarkSettings, "writes": ("small.mark",), **more}
    return RecipeJob(
        kind=page_kind(name, work, MarkSettings, summary="Mark pages."),
        name=name,
        description=f"Marks pages ({name}).",
        takes=takes,  # type: ignore[arg-type]
        gives=gives,  # type: ignore[arg-type]
        provider_setting="reader",
        example=lambda ex: {"page_id": "a page"},
        **given,
    )


class ReadSettings(Params):
    """The text that pages are read as."""

    text: str = "Dear Sir"


def read(job: JobContext, page_id: str) -> PageWork:
    """Return a pass whose lines are those of the text."""
    lines = [
        {"key": str(n), "kind": "line", "rect": [0.1, 0.1 + n / 20, 0.8, 0.04], "text": line}
        for n, line in enumerate(job.args.text.split("|"))
    ]
    params = {"document_id": page_id, "name": "Read", "provider": "small", "model": "small", "lines": lines}
    return PageWork("segment.take_lines", params, answers=("pass_id",))


class AskSettings(Params):
    """The provider to ask."""

    provider: str = "Loopback"


def ask_model(job: JobContext, page_id: str) -> PageWork:
    """Return the mark of a page with a model's answer."""
    request = ModelRequest(
        provider=job.args.provider, prompt="One word", subject=Subject(page_id), use_case="small-ask"
    )
    return PageWork("small.mark", {"page_id": page_id, "word": ask(job, request).answer})


ASK = RecipeJob(
    kind=page_kind("small-ask", ask_model, AskSettings, summary="Ask a model."),
    name="Ask",
    description="Asks a model.",
    layer="reading",
    takes=("page_image",),
    gives=("lines",),
    settings=AskSettings,
    writes=("small.mark",),
    example=lambda ex: {"page_id": "a page"},
)


READ = RecipeJob(
    kind=page_kind("small-read", read, ReadSettings, summary="Read pages."),
    name="Read",
    description="Reads what it is told.",
    layer="reading",
    takes=("page_image",),
    gives=("page_reading",),
    settings=ReadSettings,
    writes=("segment.take_lines",),
)


class PeopleSettings(Params):
    """The people to be found."""

    people: list[str] = []


PEOPLE = RecipeJob(
    kind=page_kind(
        "small-people",
        lambda job, page: PageWork(
            "artifact.create",
            {"document_id": page, "artifact_type": "people", "data": {"people": job.args.people}},
        ),
        PeopleSettings,
        summary="Find people.",
    ),
    name="Find people",
    description="Finds whom it is told.",
    layer="entities",
    takes=("page_image",),
    gives=("mentions",),
    settings=PeopleSettings,
    writes=("artifact.create",),
)

JOBS = (
    READ,
    PEOPLE,
    recipe("small-regions", ("page_image",), ("regions",)),
    recipe("small-lines", ("regions",), ("lines",)),
    recipe("small-whole", ("lines",), ("model",), each="scope"),
    ASK,
    recipe("small-either", ("lines", "regions"), ("lines",), takes_any=True),
)


def found_words(conn: Connection, run_id: str) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the words with which a run marked pages: results of a family that are no artifacts. The last comes first:
    a family may answer in any order, and threads end in any.
    """
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for row in conn.execute(marks.select().where(marks.c.run_id == run_id).order_by(marks.c.id.desc())):
        found.setdefault((row.page_id, "words"), {})[row.word] = row.word
    return found


def small_plugin() -> Plugin:
    """Return the third-party plugin."""
    return Plugin(
        name="small",
        summary="Marks pages.",
        metadata=metadata,
        actions=(mark,),
        recipe_jobs=JOBS,
        hooks=answering(armarium_workflows_found_in_run=found_words),
    )


def node(identity: str, tool: str, **more: Any) -> dict[str, Any]:
    """Return a node."""
    return {"id": identity, "tool": tool, **more}


def edge(source: str, target: str, **more: Any) -> dict[str, Any]:
    """Return an edge from `node.port` to `node.port`."""
    (one, one_port), (other, other_port) = source.split("."), target.split(".")
    ends = {"source": one, "source_port": one_port, "target": other, "target_port": other_port}
    return {"id": f"{one}-{other}-{other_port}-{more.get('when', '')}".rstrip("-"), **ends, **more}


def two_steps(**settings: Any) -> dict[str, Any]:
    """Return a workflow that passes pages through two jobs."""
    return {
        "name": "Two steps",
        "nodes": [
            node("pages", "input"),
            node("first", "small-regions", config={"word": "one", **settings}),
            node("second", "small-lines", config={"word": "two"}),
            node("result", "output"),
        ],
        "edges": [
            edge("pages.pages", "first.page_image"),
            edge("first.regions", "second.regions"),
            edge("second.result", "result.value"),
        ],
    }


@dataclass
class WorkflowProject:
    """Creates pages and workflows in a project, runs them and queries the results."""

    engine: Engine
    library: Library
    client: Any

    def do(self, name: str, params: dict[str, Any]) -> dict[str, Any]:
        """Run an action as the owner; return its result."""
        return self.engine.run(self.library, name, params, LOCAL_OWNER).result or {}

    def pages(self, count: int) -> list[str]:
        """Create this many pages; return their ids."""
        return [
            str(self.do("document.create", {"name": f"{n}", "doc_type": "page"})["id"]) for n in range(count)
        ]

    def save(self, workflow: dict[str, Any]) -> str:
        """Save a workflow; return its id."""
        answer = self.client.post("/api/workflows", json=workflow)
        assert answer.status_code == 200, answer.text
        return str(answer.json()["id"])

    def start(self, workflow_id: str, pages: list[str], **more: Any) -> str:
        """Start a run; return its thread id."""
        answer = self.client.post(f"/api/workflows/{workflow_id}/execute", json={"scope_ids": pages, **more})
        assert answer.status_code == 202, answer.text
        return str(answer.json()["thread_id"])

    def start_held(self, workflow: dict[str, Any], pages: list[str]) -> str:
        """Start a run and pause it before its first step; return its thread id."""
        self.client.put("/api/activity/jobs/paused", json={"paused": True})
        thread_id = self.start(self.save(workflow), pages)
        self.client.post(f"/api/workflow-execution/threads/{thread_id}/pause")
        self.client.put("/api/activity/jobs/paused", json={"paused": False})
        return thread_id

    def idle(self) -> None:
        """Wait until no job is running or waiting."""
        assert self.engine.jobs.run_until_idle(self.library, 60)

    def run(self, workflow: dict[str, Any], pages: list[str], **more: Any) -> dict[str, Any]:
        """Save and run a workflow to its end; return the run."""
        thread_id = self.start(self.save(workflow), pages, **more)
        self.idle()
        return self.of(thread_id)

    def of(self, thread_id: str) -> dict[str, Any]:
        """Return a run as the API answers it."""
        answer = self.client.get(f"/api/workflow-execution/threads/{thread_id}")
        assert answer.status_code == 200, answer.text
        found_answer: dict[str, Any] = answer.json()
        return found_answer

    def rows(self, statement: str, *values: Any) -> list[Any]:
        """Return the rows of a query."""
        with self.library.db.read() as conn:
            return [tuple(row) for row in conn.exec_driver_sql(statement, values).all()]

    def marks(self) -> list[Any]:
        """Return (page, word) of every mark."""
        return sorted(self.rows("SELECT page_id, word FROM small_mark"))
