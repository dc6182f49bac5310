"""A recipe run as a workload for the fault tests: reading order for pages, then regions; one run, once per page."""

from __future__ import annotations

from pathlib import Path

from run_workload import made_twice
from workloads import PATIENCE, carry_on

from armarium.actions import Example
from armarium.engine import Engine
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium_testing.faults import Say, Workload
from armarium_testing.sample_layouts import lined_page

PAGES = 4
STEPS = ("put-in-order", "find-regions")
RECIPE = {
    "id": "struck",
    "title": "Order and regions",
    "suits": {"scripts": ["Latn"], "languages": ["en"], "material": ["typescript"]},
    "steps": [
        {"id": job, "job": job, "layer": "lines", "card": {"id": f"builtin:{job}@1", "source": "shipped"}}
        for job in STEPS
    ],
}
ANSWERS = {"purposes": ["transcribe"], "languages": ["en"], "scripts": ["Latn"], "materials": ["typescript"]}


def _set_up(engine: Engine, library: Library, folder: Path) -> None:
    ex = Example(engine, library, LOCAL_OWNER, folder)
    for _ in range(PAGES):
        lined_page(ex)
    engine.run(library, "project.save_setup", {"answers": ANSWERS, "recipe": RECIPE}, LOCAL_OWNER)


def _start(engine: Engine, library: Library, folder: Path, say: Say) -> None:
    engine.run(library, "project.start", {}, LOCAL_OWNER)
    say("started")
    engine.jobs.run_until_idle(library, PATIENCE)
    say("ended")


def _each_page_once(engine: Engine, library: Library, folder: Path, said: list[str]) -> list[str]:
    with library.db.read() as conn:
        asked = "SELECT j.state FROM recipes_run r JOIN job j ON j.id = r.job_id"
        runs = conn.exec_driver_sql(asked).scalars().all()
        wrong, (orders, regions) = made_twice(conn)
    if len(runs) > 1 or ("started" in said and not runs):
        wrong.append(f"{len(runs)} runs are there")
    for state in runs:
        if state != "done" or (orders, regions) != (PAGES, PAGES):
            wrong.append(f"the run is {state}, {orders} pages are in order, {regions} have regions")
    return wrong


RECIPE_RUN = Workload(
    plugins=lambda: None, prepare=_set_up, work=_start, check=_each_page_once, finish=carry_on
)
