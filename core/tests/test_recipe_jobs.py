"""A third-party recipe job: declared in a few lines, known to the engine, run page by page, checked by the kit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, Field
from sqlalchemy import Column, MetaData, Table, Text

from armarium.actions import ActionContext, Example, Params, action
from armarium.engine import Engine
from armarium.errors import Conflict, Invalid, NotFound, Unavailable
from armarium.jobs.context import JobContext
from armarium.jobs.pages import PageSkipped, PageWork, page_kind
from armarium.jobs.partly_seen import reason_seen
from armarium.jobs.queue import NewJob, enqueue
from armarium.jobs.recipe_jobs import RecipeJob
from armarium.plugin import Plugin
from armarium.plugins.faults import faults_of
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium.store.database import raw_of
from armarium.store.tables import tracked
from armarium_testing.recipe_jobs import exercise_recipe_job

metadata = MetaData()
counts = Table(
    "tally_count",
    metadata,
    Column("page_id", Text, primary_key=True),
    Column("count", Text, nullable=False),
    Column("run_id", Text),
    info=tracked(label="count"),
)


class Count(Params):
    """A page and its count."""

    page_id: str
    count: int


@action(
    "tally.keep",
    summary="Keep the count of a page",
    params=Count,
    example=lambda ex: {"page_id": "a", "count": 1},
)
def keep_count(ctx: ActionContext, p: Count) -> dict[str, Any]:
    """Insert one row, marked with the run that made it."""
    ctx.conn.execute(counts.insert().values(page_id=p.page_id, count=str(p.count), run_id=ctx.run_id))
    return {"number": p.count, "page": p.page_id}


class TallySettings(Params):
    """How pages are counted."""

    step: int = Field(default=1, ge=1, description="What each letter counts.")
    also: str | None = None


def tally(job: JobContext, page_id: str) -> PageWork | None:
    """Count the letters of the page's id."""
    if page_id == "blank":
        raise PageSkipped("The page is blank.")
    if page_id == "torn":
        raise Conflict("The page is torn.")
    if page_id == "fatal":
        raise Unavailable("The worker died.", code="worker_died")
    if page_id == "empty":
        return None
    count = len(page_id) * job.args.step
    return PageWork("tally.keep", {"page_id": page_id, "count": count}, {"length": len(page_id)}, ("number",))


TALLY = RecipeJob(
    kind=page_kind("tally-letters", tally, TallySettings, summary="Count letters."),
    name="Count letters",
    description="Counts the letters of a page's id.",
    layer="lines",
    takes=("page_image",),
    gives=("lines",),
    settings=TallySettings,
    writes=("tally.keep",),
    example=lambda ex: {"page_id": "a page"},
)


def plugin(*jobs: RecipeJob) -> Plugin:
    return Plugin(
        name="tally",
        summary="Counts letters.",
        metadata=metadata,
        actions=(keep_count,),
        recipe_jobs=jobs or (TALLY,),
    )


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """An engine with only the third-party plugin."""
    return make_engine(plugins=[plugin()])


def run(engine: Engine, library: Library, pages: list[str], **settings: Any) -> tuple[str, str | None]:
    """Return the state and the result of one of its jobs."""
    with library.db.write() as conn:
        args = TALLY.arguments(pages, TALLY.parse(settings))
        job_id = enqueue(conn, NewJob(TALLY.kind, args, title="Count"), started_by=LOCAL_OWNER)
    engine.jobs.run_until_idle(library)
    with library.db.read() as conn:
        return tuple(raw_of(conn).execute("SELECT state, result FROM job WHERE id = ?", (job_id,)).fetchone())


def test_the_engine_knows_the_job_and_its_kind(engine: Engine) -> None:
    assert engine.recipe_jobs.require("tally-letters") is TALLY
    assert "tally-letters" in engine.kinds
    with pytest.raises(NotFound, match="There are: tally-letters"):
        engine.recipe_jobs.require("tally-words")


def test_it_is_listed_with_its_settings() -> None:
    entry = TALLY.entry()
    assert {key: entry[key] for key in ("id", "layer", "takes", "gives", "topic", "compare")} == {
        "id": "tally-letters",
        "layer": "lines",
        "takes": ["page_image"],
        "gives": ["lines"],
        "topic": "tally-letters",
        "compare": None,
    }
    assert entry["settings"] == [
        {"key": "step", "type": "integer", "default": 1, "help": "What each letter counts."},
        {"key": "also", "type": "string", "default": None, "help": ""},
    ]


def test_a_third_party_job_conforms(engine: Engine, tmp_path: Path) -> None:
    assert exercise_recipe_job(engine, "tally-letters", tmp_path, settings={"step": 2}) == []


def test_a_job_of_one_page_outputs_what_was_found(engine: Engine, library: Library) -> None:
    state, result = run(engine, library, ["four"], step=3)
    assert (state, result) == (
        "done",
        '{"pages":1,"skipped":0,"failed":[],"counts":{"length":4},"output":{"length":4,"number":12}}',
    )


def test_pages_that_fail_or_have_nothing_are_named_and_the_others_continue(
    engine: Engine, library: Library
) -> None:
    state, result = run(engine, library, ["one", "blank", "torn", "empty", "three"])
    assert (state, result) == (
        "done",
        '{"pages":2,"skipped":2,"failed":[{"document_id":"torn","why":"The page is torn."}],"counts":{"length":8}}',
    )


def test_where_no_page_could_be_done_the_job_fails(engine: Engine, library: Library) -> None:
    assert run(engine, library, ["torn"])[0] == "failed"


def test_a_dead_worker_fails_the_job_and_not_the_page(engine: Engine, library: Library) -> None:
    assert run(engine, library, ["one", "fatal", "three"]) == ("failed", None)
    with library.db.read() as conn:
        assert [row[0] for row in raw_of(conn).execute("SELECT page_id FROM tally_count")] == ["one"]
        kept, reason = raw_of(conn).execute("SELECT checkpoint, reason FROM job").fetchone()
    assert '"next":1' in kept
    assert reason == (
        "The worker died. It stopped at page 2 of 3. What was done before stays; retry it to go on from there."
    )


def test_what_could_not_be_done_is_said_of_a_job_that_is_done_but_not_where_pages_are_withheld(
    engine: Engine, library: Library
) -> None:
    run(engine, library, ["one", "torn", "torn"])
    with library.db.read() as conn:
        (reason,) = raw_of(conn).execute("SELECT reason FROM job").fetchone()
    assert reason == "Could not do 2 of 3 pages; the log says why. The first: The page is torn."
    assert reason_seen("done", 3, reason) is None
    assert reason_seen("done", 1, reason) == reason
    assert reason_seen("failed", 3, reason) != reason


def test_settings_that_do_not_fit_are_named() -> None:
    with pytest.raises(Invalid, match=r"step: .*It takes: step, also"):
        TALLY.parse({"step": 0})


class LooseSettings(BaseModel):
    """Settings that are not derived from Params."""


@pytest.mark.parametrize(
    ("job", "told"),
    [
        (replace(TALLY, layer="cellar"), "names the layer 'cellar'"),  # type: ignore[arg-type]
        (replace(TALLY, takes=("gold",)), "takes 'gold'; materials are"),  # type: ignore[arg-type]
        (replace(TALLY, gives=("gold",)), "gives 'gold'"),  # type: ignore[arg-type]
        (replace(TALLY, settings=LooseSettings), "derive them from Params"),  # type: ignore[arg-type]
        (replace(TALLY, kind=replace(TALLY.kind, args=Count)), "jobs that take no page_ids"),
        (replace(TALLY, model_setting="weights"), "says that weights is a setting"),
        (replace(TALLY, description=" "), "has no description"),
    ],
)
def test_a_faulty_declaration_is_refused_with_a_sentence(job: RecipeJob, told: str) -> None:
    assert told in " ".join(faults_of(plugin(job)))


def test_an_id_is_used_once(make_engine: Callable[..., Engine]) -> None:
    (refused,) = make_engine(plugins=[plugin(TALLY, TALLY)]).plugins.refused
    assert refused.why == "Its job kind tally-letters already exists; names are never overwritten."


@action("tally.silent", summary="Keep nothing at all", params=Count)
def keep_silently(ctx: ActionContext, p: Count) -> None:
    """Insert a row that does not say which run made it."""
    ctx.conn.execute(counts.insert().values(page_id=p.page_id, count=str(p.count)))


def twice(job: JobContext, page_id: str) -> PageWork:
    """Write outside the loop as well: after a kill this row is there twice."""
    job.act("tally.keep", {"page_id": f"{page_id} {job.attempt} {len(steps_of(job))}", "count": 1})
    return PageWork("tally.silent", {"page_id": page_id, "count": 1})


def steps_of(job: JobContext) -> list[Any]:
    with job.library.db.read() as conn:
        return raw_of(conn).execute("SELECT id FROM audit").fetchall()


def once_more(job: JobContext) -> dict[str, Any]:
    """Ignore the checkpoint."""
    for page_id in job.args.page_ids:
        job.act("tally.keep", {"page_id": f"{page_id} {len(steps_of(job))}", "count": 1})
    return {}


def example(ex: Example) -> dict[str, Any]:
    return {"page_id": "a page"}


@pytest.mark.parametrize(
    ("job", "told"),
    [
        (replace(TALLY, example=None), "has no example"),
        (replace(TALLY, writes=()), "names no action"),
        (replace(TALLY, writes=("tally.lose",)), "no loaded plugin brings that action"),
        (replace(TALLY, example=lambda ex: {"page_id": "torn"}), "ended failed: The page is torn."),
        (replace(TALLY, example=lambda ex: {"page_id": "blank"}), "wrote nothing"),
        (
            replace(TALLY, kind=page_kind("tally-letters", twice, TallySettings, summary="Count letters.")),
            "wrote through tally.silent, which it does not name",
        ),
        (
            replace(TALLY, kind=page_kind("tally-letters", twice, TallySettings, summary="Count letters.")),
            "1 of the rows of tally_count that it wrote have no run_id",
        ),
        (replace(TALLY, kind=replace(TALLY.kind, run=once_more)), "left 2 steps"),
    ],
)
def test_the_kit_names_what_is_wrong(
    make_engine: Callable[..., Engine], tmp_path: Path, job: RecipeJob, told: str
) -> None:
    made = replace(plugin(job), actions=(keep_count, keep_silently))
    faults = exercise_recipe_job(make_engine(plugins=[made]), "tally-letters", tmp_path)
    assert told in " ".join(faults)


def test_an_unknown_recipe_job_is_refused_with_the_known_ones(engine: Engine, tmp_path: Path) -> None:
    assert exercise_recipe_job(engine, "tally-words", tmp_path) == [
        "There is no recipe job tally-words; there are: tally-letters."
    ]
