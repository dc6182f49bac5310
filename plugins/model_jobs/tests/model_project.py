"""A project for the tests of jobs that ask a model: pages, jobs and their results."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from armarium.api import Engine, Example, Library
from armarium.jobs.queue import NewJob, enqueue
from armarium.principals import LOCAL_OWNER
from armarium_testing.model_provider import Answer, LoopbackProvider
from armarium_testing.sample_model_pages import read_page


def prompt_of(asked: dict[str, Any]) -> str:
    """Return everything that was sent to the model, as one text."""
    return json.dumps(asked["body"]["messages"], ensure_ascii=False).replace("\\n", "\n")


def ids_in(asked: dict[str, Any]) -> list[str]:
    """Return the ids that were offered, in order."""
    return re.findall(r"^\[([0-9a-zA-Z_-]{8,})\]", prompt_of(asked), re.M)


class Responder(list[Any]):
    """The answers of a provider, each computed from the question."""

    def __init__(self, provider: LoopbackProvider, answer: Callable[[list[str]], Any]) -> None:
        super().__init__([""])
        self.provider, self.answer = provider, answer

    def __getitem__(self, index: Any) -> Answer:
        said = self.answer(ids_in(self.provider.asked[-1]))
        return Answer(said if isinstance(said, str) else json.dumps(said))


class ModelProject:
    """A project with a provider: creates pages of three lines read by a machine, runs jobs, returns their
    results.
    """

    def __init__(self, engine: Engine, library: Library, provider: LoopbackProvider, folder: Path) -> None:
        self.engine, self.library, self.provider = engine, library, provider
        self.example = Example(engine, library, LOCAL_OWNER, folder)

    def answers(self, answer: Callable[[list[str]], Any]) -> None:
        """Set what the model answers, given the ids that were offered."""
        self.provider.answers = Responder(self.provider, answer)

    def page(self) -> str:
        """Create a page of three lines."""
        return str(read_page(self.example)["page_id"])

    def act(self, name: str, **params: Any) -> dict[str, Any]:
        """Run an action as the owner."""
        return self.engine.run(self.library, name, params, LOCAL_OWNER).result or {}

    def job(self, job_id: str, *pages: str, **settings: Any) -> dict[str, Any]:
        """Run a recipe job on pages; return its result, state and reason."""
        job = self.engine.recipe_jobs[job_id]
        parsed = job.parse({"provider": "Loopback", **settings})
        place = job.find_placement(self.engine, self.library, parsed)
        with self.library.db.write() as conn:
            new = NewJob(
                job.kind,
                job.arguments(list(pages), parsed),
                title=job.name,
                model=place.model,
                lane=place.lane,
            )
            queued = enqueue(conn, new, started_by=LOCAL_OWNER)
        self.engine.jobs.run_until_idle(self.library)
        ((state, reason, result),) = self.rows("SELECT state, reason, result FROM job WHERE id = ?", queued)
        return {"id": queued, "state": state, "reason": reason, **(json.loads(result) if result else {})}

    def rows(self, query: str, *values: Any) -> list[Any]:
        """Return rows of the database."""
        with self.library.db.read() as conn:
            return list(conn.exec_driver_sql(query, values).all())

    def lines(self, page_id: str) -> list[str]:
        """Return the ids of the page's lines, from top to bottom."""
        rows = self.rows("SELECT id FROM segment WHERE document_id = ? ORDER BY bbox_y", page_id)
        return [row[0] for row in rows]

    def readings(self, page_id: str, kind: str = "transcription") -> dict[str, list[tuple[str, str]]]:
        """Return (who, words) of each line's readings, oldest first."""
        found: dict[str, list[tuple[str, str]]] = {}
        for segment_id, tool, words in self.rows(
            "SELECT segment_id, producer_tool, content FROM content_representation "
            "WHERE document_id = ? AND kind = ? ORDER BY created_at, id",
            page_id,
            kind,
        ):
            found.setdefault(segment_id, []).append((tool, words))
        return found
