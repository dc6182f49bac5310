"""A training, an evaluation and a reading at scale, killed at any call of their job and gone on with: done once, whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import orjson
import pytest
import training_readers
from training_desk import Desk

from armarium.principals import LOCAL_OWNER
from armarium_reading.api import READERS
from armarium_testing.kills import Killed, KilledContext
from armarium_training.jobs.evaluation import evaluate
from armarium_training.jobs.kinds_of_training import train
from armarium_training.jobs.scale import read_at_scale
from armarium_training.schemas.evaluation import EvaluationArgs
from armarium_training.schemas.scale import ScaleArgs
from armarium_training.schemas.training import TrainArgs

NEVER = 1_000_000


class Context(KilledContext):
    """Also for bodies that call workers and write rows with their checkpoint."""

    principal = LOCAL_OWNER

    def call_worker(
        self,
        runtime: str | None,
        worker: str,
        method: str,
        params: Mapping[str, Any],
        on_progress: Any = None,
    ) -> dict[str, Any]:
        """As of a job's context; killed before it or after it."""
        self._tick()
        answer = self.engine.workers.call(runtime, worker, method, dict(params), heavy=False)
        self._tick()
        return answer

    def save(self, checkpoint: dict[str, Any], *, along: Any = None, **counts: Any) -> None:
        """As of a job's context: what is written along and the checkpoint are one transaction."""
        self._tick()
        if along is not None:
            with self.library.db.write() as conn:
                along(conn)
        self._keep(checkpoint)
        self._tick()


def killed_everywhere(
    desk: Desk, start: Callable[[], str], body: Callable[[Any], Any], args: Any, look: Callable[[str], None]
) -> int:
    """Kill the body of a new job after each number of calls, go on with it, and look at the result; how many kills."""
    kills = 0
    while True:
        job_id = start()
        ((stated,),) = desk.rows("SELECT args FROM job WHERE id = ?", job_id)
        given = args.model_validate(orjson.loads(stated))
        first = Context(desk.engine, desk.library, given, kills, set_id=job_id)
        try:
            body(first)
        except Killed:
            kills += 1
            body(Context(desk.engine, desk.library, given, NEVER, checkpoint=first.kept, set_id=job_id))
            look(job_id)
        else:
            look(job_id)
            return kills


@pytest.fixture(autouse=True)
def readers(desk: Desk) -> None:
    desk.do("background.pause", {"paused": True})
    for reader in training_readers.ALL:
        desk.engine.drivers.give(READERS, reader.name, reader)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_training_lands_one_model_of_all_its_epochs(desk: Desk) -> None:
    page, _ = desk.page(["one", "two"])

    def look(job_id: str) -> None:
        (card,) = [desk.card(model["id"]) for model in models() if model["job_id"] == job_id]
        assert [point["epoch"] for point in card["curve"]] == [1, 2]
        assert desk.rows("SELECT count(*) FROM training_model WHERE job_id = ?", job_id) == [(1,)]
        assert not (desk.library.derived_folder / "training" / job_id).exists()

    def models() -> list[dict[str, Any]]:
        response: list[dict[str, Any]] = desk.client.get("/api/training/models").json()["items"]
        return response

    assert killed_everywhere(desk, lambda: desk.start([page], epochs=2), train, TrainArgs, look) > 15


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_an_evaluation_writes_its_scores_once(desk: Desk) -> None:
    pages = []
    for _ in range(2):
        page, lines = desk.page(["x", "y"])
        for number, line in enumerate(lines):
            desk.correct(line, f"line {number}")
        pages.append(page)

    def start() -> str:
        given = {"candidates": [{"model": "careful", "reader": "linereader"}], "held_out_ids": pages}
        answer = desk.client.post("/api/evaluation/runs", json={**given, "add_out_of_the_box": False})
        return str(answer.json()["job_id"])

    def look(job_id: str) -> None:
        scores = desk.client.get("/api/evaluation/scores", params={"model": "careful"}).json()["items"]
        (own,) = [score for score in scores if score["job_id"] == job_id]
        assert (own["pages"], own["cer"]["diplomatic"]) == (2, 0.0)

    assert killed_everywhere(desk, start, evaluate, EvaluationArgs, look) > 8


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_reading_at_scale_lands_each_page_once(desk: Desk) -> None:
    pages: list[str] = []

    def start() -> str:
        # New pages each time: a result that has landed on a page does not land again.
        pages[:] = [desk.picture(2) for _ in range(3)]
        body = {"scope_ids": pages, "card": "careful", "flavor": "local", "shard_size": 2}
        return str(desk.client.post("/api/reading-at-scale", json=body).json()["job_id"])

    def look(job_id: str) -> None:
        answer = desk.client.get(f"/api/reading-at-scale/jobs/{job_id}").json()
        assert answer["counts"] == {"pending": 0, "submitted": 0, "landed": 2, "failed": 0}
        for page in pages:
            assert desk.rows("SELECT count(*) FROM segment_pass WHERE document_id = ?", page) == [(1,)]

    assert killed_everywhere(desk, start, read_at_scale, ScaleArgs, look) > 15
