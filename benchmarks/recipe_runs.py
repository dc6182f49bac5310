"""Row 42: a recipe run over typed letters against the same jobs started by hand, one after another.

Each round has a project of its own with the same pages, so that neither side finds the other's readings.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from armarium.api import Engine, Library
from armarium_demo.samples import write_sample_pages
from benchmarks.harness import Result, compare, seconds
from benchmarks.places import OWNER, running_engine, scratch_folder

PAGES = int(os.environ.get("ARMARIUM_BENCH_PAGES", "10"))
"""60 is the full figure."""
LARGEST = 12
"""The number of different sample pages."""
PATIENCE = 3600.0
ANSWERS = {"purposes": ["entities"], "languages": ["en"], "scripts": ["Latn"], "materials": ["typescript"]}


def measure(rounds: int) -> list[Result]:
    """Measure finding lines with the light finder, reading, finding names, writing PAGE files."""
    with scratch_folder() as folder:
        _draw(folder / "pages")
        with running_engine(folder, jobs=True, compute_priority="fast") as (engine, _):
            made = _Projects(engine, folder)

            def ours() -> float:
                library, _ = made.project()
                return seconds(
                    lambda: made.wait(library, _act(engine, library, "project.start")["started"]["job_id"])
                )

            def theirs() -> float:
                library, pages = made.project()
                return seconds(lambda: made.by_hand(library, pages))

            return [
                compare(
                    42,
                    f"a recipe of {len(made.jobs)} steps run over {PAGES} pages",
                    engine=ours,
                    peer=theirs,
                    peer_name="the same jobs started by hand",
                    unit="s",
                    rounds=rounds,
                    limit=1.05,
                )
            ]


class _Projects:
    """Projects with the same pages and the same recipe."""

    jobs = ("find-lines", "read-a-line", "find-names-tag-words", "export")

    def __init__(self, engine: Engine, folder: Path) -> None:
        self.engine, self.folder, self.count = engine, folder, 0

    def project(self) -> tuple[Library, list[str]]:
        """Return a new project with its pages imported and its recipe saved, and the pages."""
        from armarium_documents.api import pages_under

        self.count += 1
        path = self.folder / f"{self.count}.library"
        self.engine.run(None, "library.create", {"path": str(path)}, OWNER)
        library = self.engine.libraries.get(path)
        begun = _act(self.engine, library, "document.import", {"folder": str(self.folder / "pages")})
        self.wait(library, begun["job_id"])
        recipe = {"id": "letters", "title": "Letters", "steps": self.steps(library)}
        _act(self.engine, library, "project.save_setup", {"answers": ANSWERS, "recipe": recipe})
        # Thumbnails too are made before the clock starts.
        self.engine.jobs.run_until_idle(library, PATIENCE)
        with library.db.read() as conn:
            tops = [row[0] for row in conn.exec_driver_sql("SELECT id FROM document WHERE parent_id IS NULL")]
            return library, pages_under(conn, tops)

    def steps(self, library: Library) -> list[dict[str, Any]]:
        """Return the steps of the recipe, each with the card that does it here."""
        from armarium_recipes.cards.sources import cards_here

        known = cards_here(self.engine, library)

        def step(job: str, layer: str, begins: str, **more: Any) -> dict[str, Any]:
            card = next(
                one for one in known if job in one.jobs and one.id.startswith(begins) and one.installed
            )
            return {
                "id": job,
                "job": job,
                "layer": layer,
                "card": {"id": card.id, "source": card.source},
                **more,
            }

        path = self.folder / f"out-{self.count}"
        path.mkdir()
        export = {"folder": str(path), "format": "pagexml"}
        return [
            step("find-lines", "lines", "rapidocr:"),
            step("read-a-line", "reading", "rapidocr:"),
            step("find-names-tag-words", "entities", "builtin:"),
            step("export", "output", "builtin:", settings=export),
        ]

    def by_hand(self, library: Library, pages: list[str]) -> None:
        """Run the work of the recipe's cards, each started when the one before it has ended."""
        from armarium.jobs.queue import NewJob, enqueue
        from armarium_recipes.project.plan import make_plan

        with library.db.read() as conn:
            cards = [run for run, _, _ in make_plan(self.engine, library, conn).runs]
        assert [card.job for card in cards] == list(self.jobs), [card.job for card in cards]
        for card in cards:
            job = self.engine.recipe_jobs.get(card.job)
            assert job is not None
            if job.each == "page":
                params = {"workflow_id": card.workflow_id or f"system-{card.job}", "scope_ids": pages}
                begun = _act(self.engine, library, "workflow.execute", {**params, "inputs": card.settings})
                self.wait(library, begun["thread_id"])
                continue
            args = job.arguments(pages, job.parse(card.settings))
            with library.db.write() as conn:
                job_id = enqueue(conn, NewJob(job.kind, args, title=card.title), started_by=OWNER)
            self.engine.jobs.wake(library)
            self.wait(library, job_id)

    def wait(self, library: Library, job_id: str) -> None:
        """Wait until a job has succeeded."""
        state = self.engine.jobs.wait(library, job_id, PATIENCE)
        if state != "done":
            with library.db.read() as conn:
                asked = "SELECT title, reason FROM job WHERE id = ?"
                title, reason = conn.exec_driver_sql(asked, (job_id,)).one()
            raise RuntimeError(f"{title} ended {state}: {reason}")


def _act(engine: Engine, library: Library, name: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    return engine.run(library, name, params or {}, OWNER).result or {}


def _draw(folder: Path) -> None:
    """Write the sample pages, again and again under other names; every copy differs by its margin, for equal bytes would be
    one file.
    """
    from PIL import Image, ImageOps

    sample_pages = sorted(page for page in write_sample_pages(folder, count=min(PAGES, LARGEST)))
    for number in range(LARGEST, PAGES):
        with Image.open(sample_pages[number % LARGEST]) as page:
            ImageOps.expand(page, border=number // LARGEST, fill="white").save(
                folder / f"{number + 1:04}.jpg"
            )
