"""Row 21: a workflow of three nodes that do nothing against one plain job; queries of a long run against a short one."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from armarium.api import Engine, JobContext, JobKind, Library, Params, Plugin, RecipeJob
from benchmarks.harness import Result, compare
from benchmarks.places import OWNER, running_engine, scratch_folder

PAGES = 2_000
LONG, SHORT = 10_000, 1_000
PATIENCE = 900.0
LOOKS = 20


class Nothing(Params):
    """No settings."""


class OnPages(Nothing):
    """Which pages."""

    page_ids: list[str]


class Checkpoints(Params):
    """How many."""

    count: int


def do_nothing(job: JobContext) -> dict[str, Any]:
    """Do nothing, as a job that finds nothing to do on its page."""
    return {}


def keep_many(job: JobContext) -> dict[str, Any]:
    """Save so many checkpoints, each in a transaction of its own."""
    for number in range(job.args.count):
        job.save({"done": number})
    return {}


NOTHING = RecipeJob(
    kind=JobKind("bench-nothing", lane="cpu", summary="Do nothing.", run=do_nothing, args=OnPages),
    name="Nothing",
    description="Does nothing.",
    layer="lines",
    takes=("page_image",),
    gives=("lines",),
    settings=Nothing,
    writes=(),
)
PLAIN = JobKind("bench-plain", lane="cpu", summary="Keep checkpoints.", run=keep_many, args=Checkpoints)


def bench_plugin() -> Plugin:
    """Return the recipe job and the plain job."""
    return Plugin(name="bench", summary="For measuring.", jobs=(PLAIN,), recipe_jobs=(NOTHING,))


def graph(tool: str) -> dict[str, Any]:
    """Return three nodes of *tool*, each fed with all pages."""
    nodes = [{"id": "pages", "tool": "input"}, *({"id": f"n{n}", "tool": tool} for n in range(3))]
    port = "page_image" if tool == NOTHING.id else "value"
    edges = [
        {"id": f"e{n}", "source": "pages", "source_port": "pages", "target": f"n{n}", "target_port": port}
        for n in range(3)
    ]
    return {"name": tool, "nodes": nodes, "edges": edges}


class Desk:
    """A project with pages, and the operations on it."""

    def __init__(self, engine: Engine, library: Library) -> None:
        self.engine, self.library = engine, library
        self.flows = {
            tool: self._act("workflow.create", graph(tool))["id"] for tool in (NOTHING.id, "transform")
        }

    def _act(self, name: str, params: dict[str, Any]) -> dict[str, Any]:
        return self.engine.run(self.library, name, params, OWNER).result or {}

    def pages(self, count: int) -> str:
        """Create a folder of so many pages."""
        folder = str(self._act("document.create", {"name": f"{count} pages"})["id"])
        for number in range(count):
            self._act("document.create", {"name": str(number), "doc_type": "page", "parent_id": folder})
        return folder

    def run(self, tool: str, folder: str) -> tuple[float, str]:
        """Return the seconds from the start of a run to its end, and its id."""
        begun = time.perf_counter()
        params = {"workflow_id": self.flows[tool], "scope_ids": [folder]}
        thread_id = str(self._act("workflow.execute", params)["thread_id"])
        self._wait(thread_id)
        return time.perf_counter() - begun, thread_id

    def plain(self, count: int) -> float:
        """Return the seconds of a job that saves so many checkpoints."""
        from armarium.jobs.queue import NewJob, enqueue

        begun = time.perf_counter()
        with self.library.db.write() as conn:
            job_id = enqueue(conn, NewJob(PLAIN, {"count": count}, title="Plain"), started_by=OWNER)
        self.engine.jobs.wake(self.library)
        self._wait(job_id)
        return time.perf_counter() - begun

    def _wait(self, job_id: str) -> None:
        state = self.engine.jobs.wait(self.library, job_id, PATIENCE)
        if state != "done":
            raise RuntimeError(f"{job_id} ended {state}")

    def look(self, thread_id: str, offset: int) -> float:
        """Return the seconds to list runs, to page through a run from *offset* on, and to read its stream from the
        start.
        """
        from armarium_workflows.queries import get_run, list_runs
        from armarium_workflows.stream import RunStream

        async def first() -> None:
            stream = RunStream(self.engine, self.library, OWNER, thread_id, None, False)
            async for _ in stream.events():
                pass

        begun = time.perf_counter()
        for _ in range(LOOKS):
            with self.library.db.read() as conn:
                list_runs(conn)
                get_run(conn, thread_id, limit=100, offset=offset)
            asyncio.run(first())
        return (time.perf_counter() - begun) / LOOKS


def measure(rounds: int) -> list[Result]:
    """Measure nodes that are done in the step itself and nodes whose pages are jobs of their own; then queries of runs."""
    with scratch_folder() as folder, running_engine(folder, _plugins(), jobs=True) as (engine, library):
        desk = Desk(engine, library)
        pages = desk.pages(PAGES)
        found = [
            compare(
                21,
                f"three nodes that {words} over {PAGES} pages",
                engine=lambda tool=tool: desk.run(tool, pages)[0],  # type: ignore[misc]
                peer=lambda: desk.plain(3 * PAGES),
                peer_name=f"one plain job that keeps {3 * PAGES} checkpoints",
                unit="s",
                rounds=rounds,
                limit=1.5,
            )
            for tool, words in (
                (NOTHING.id, "are recipe jobs that do nothing"),
                ("transform", "hand on a value"),
            )
        ]
        threads = {count: desk.run("transform", desk.pages(count))[1] for count in (LONG, SHORT)}
        found.append(
            compare(
                21,
                f"listing, paging and streaming a run of {LONG} pages",
                engine=lambda: desk.look(threads[LONG], LONG // 2),
                peer=lambda: desk.look(threads[SHORT], SHORT // 2),
                peer_name=f"the same of a run of {SHORT}",
                unit="s",
                rounds=rounds,
                limit=1.5,
            )
        )
        return found


def _plugins() -> list[Plugin]:
    from armarium_documents.plugin import armarium_plugin as documents
    from armarium_reading.plugin import armarium_plugin as reading
    from armarium_source_model.plugin import armarium_plugin as source_model
    from armarium_workflows.plugin import armarium_plugin as workflows

    return [documents(), source_model(), reading(), workflows(), bench_plugin()]
