"""Rights, settings and pages that change between the start of work and its end."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
import training_readers
from test_scale import Elsewhere
from training_desk import Desk
from training_samples import LoopbackHub

from armarium.jobs.queue import NewJob, enqueue
from armarium.principals import LOCAL_OWNER
from armarium_reading.api import READERS
from armarium_training.compute import GROUP
from armarium_training.jobs import training as jobs


def bar(desk: Desk, page: str, use: str = "none") -> None:
    desk.do("rights.set", {"target_kind": "document", "target_id": page, "model_use": use})


def retry(desk: Desk, job_id: str) -> Any:
    return desk.client.post(f"/api/activity/jobs/{job_id}/retry")


def test_a_page_barred_between_two_epochs_stops_the_training_which_goes_on_without_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, _ = desk.page(["one"])
    barred, _ = desk.page(["two"])
    job_id = desk.start([page, barred], epochs=3)
    save = jobs.JobContext.save

    def barring(self: Any, kept: dict[str, Any], **more: Any) -> None:
        save(self, kept, **more)
        if len(kept.get("curve", ())) == 1:
            bar(desk, barred)

    with monkeypatch.context() as patched:
        patched.setattr(jobs.JobContext, "save", barring)
        desk.engine.jobs.run_until_idle(desk.library)
    training = desk.training(job_id)
    assert training["state"] == "failed", training
    assert barred in training["reason"]
    assert "no model" in training["reason"]
    assert len(training["curve"]) == 1
    assert retry(desk, job_id).status_code == 200
    desk.engine.jobs.run_until_idle(desk.library)
    training = desk.training(job_id)
    assert (training["state"], training["training_set"]["lines"]) == ("done", 1), training
    assert [entry["document_id"] for entry in training["training_set"]["missing"]] == [barred]
    card = desk.card(training["reader_id"])
    assert [document["document_id"] for document in card["training_set"]["documents"]] == [page]
    assert len(card["curve"]) == 3


def test_a_project_held_to_this_machine_meanwhile_sends_nothing(desk: Desk) -> None:
    page, _ = desk.page(["one"])
    desk.give_trainers()
    desk.hub_token()
    sent: list[str] = []

    class Hub(LoopbackHub):
        def submit(self, shard: Any, attempt: int) -> str:
            sent.append("sent")
            return super().submit(shard, attempt)

    desk.engine.drivers.give(GROUP, "hub", Hub)
    body = {"scope_ids": [page], "teacher": "teacher", "base": "hand-base", "pages_may_leave": True}
    job_id = desk.client.post("/api/training/linereader", json=body).json()["job_id"]
    desk.do("library.set", {"local_only_ai": True})
    desk.engine.jobs.run_until_idle(desk.library)
    training = desk.training(job_id)
    assert (training["state"], sent) == ("failed", [])
    assert "uses only this one" in training["reason"]


@pytest.fixture
def elsewhere(desk: Desk) -> None:
    for reader in training_readers.ALL:
        desk.engine.drivers.give(READERS, reader.name, reader)
    Elsewhere.faults, Elsewhere.asked, Elsewhere.cancelled = [], [], []
    Elsewhere.seconds_between = 0.0
    desk.engine.drivers.give(GROUP, "elsewhere", Elsewhere)


def read(desk: Desk, pages: list[str]) -> str:
    body = {"scope_ids": pages, "card": "careful", "flavor": "elsewhere:big", "pages_may_leave": True}
    answer = desk.client.post("/api/reading-at-scale", json=body)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["job_id"])


def scale(desk: Desk, job_id: str) -> dict[str, Any]:
    desk.engine.jobs.run_until_idle(desk.library)
    answer: dict[str, Any] = desk.client.get(f"/api/reading-at-scale/jobs/{job_id}").json()
    return answer


@pytest.mark.usefixtures("elsewhere")
def test_a_packed_page_that_was_barred_is_not_sent_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[list[str]] = []
    submit = Elsewhere.submit

    def watching(self: Elsewhere, shard: Any, attempt: int) -> str:
        sent.append([page["document_id"] for page in shard.manifest["pages"]])
        return submit(self, shard, attempt)

    monkeypatch.setattr(Elsewhere, "submit", watching)
    pages = [desk.picture(2) for _ in range(2)]
    Elsewhere.faults = ["died"]
    job_id = read(desk, pages)
    assert scale(desk, job_id)["counts"]["failed"] == 1
    bar(desk, pages[1], "local")
    desk.client.post(f"/api/reading-at-scale/jobs/{job_id}/resend-failed")
    told = scale(desk, job_id)
    assert sent == [pages, pages[:1]]
    assert (told["state"], told["landing"]["landed"]) == ("done", 1), told
    assert [entry["document_id"] for entry in told["package"]["skipped"]] == [pages[1]]


@pytest.mark.usefixtures("elsewhere")
def test_a_project_held_to_this_machine_meanwhile_packs_nothing_for_elsewhere(desk: Desk) -> None:
    job_id = read(desk, [desk.picture(2)])
    desk.do("library.set", {"local_only_ai": True})
    told = scale(desk, job_id)
    assert told["state"] == "failed"
    assert "uses only this one" in told["reason"]
    assert not (desk.library.derived_folder / "scale" / job_id).exists()
    desk.do("library.set", {"local_only_ai": None})
    assert retry(desk, job_id).status_code == 200
    assert scale(desk, job_id)["landing"]["landed"] == 1


@pytest.mark.usefixtures("elsewhere")
def test_a_worker_that_answers_twice_lands_once(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each shard's answer comes again with the next one's, as from a worker that was thought lost."""
    ask, answered = Elsewhere.ask, {}

    def again(self: Elsewhere, far_ids: Any) -> dict[str, Any]:
        answer = ask(self, far_ids)
        told = {**answered, **answer}
        answered.update({one: state for one, state in answer.items() if state.state == "done"})
        return told

    monkeypatch.setattr(Elsewhere, "ask", again)
    body = {"scope_ids": [desk.picture(2) for _ in range(3)], "card": "careful", "shard_size": 1}
    answer = desk.client.post(
        "/api/reading-at-scale", json={**body, "flavor": "elsewhere:big", "pages_may_leave": True}
    )
    told = scale(desk, answer.json()["job_id"])
    assert told["landing"] == {"landed": 3, "already": 0, "unread": 0, "set_aside": 0}
    assert desk.rows("SELECT count(*) FROM segment_pass") == [(3,)]


@pytest.mark.usefixtures("elsewhere")
def test_packed_pictures_that_were_removed_lose_no_answer(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil

    ask = Elsewhere.ask

    def removing(self: Elsewhere, far_ids: Any) -> dict[str, Any]:
        answer = ask(self, far_ids)
        shutil.rmtree(desk.library.derived_folder / "scale")
        return answer

    monkeypatch.setattr(Elsewhere, "ask", removing)
    told = scale(desk, read(desk, [desk.picture(2)]))
    assert (told["state"], told["landing"]["landed"]) == ("done", 1), told


def test_what_was_laid_out_goes_with_a_job_that_is_cancelled_while_it_waits(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, _ = desk.page(["one"])
    job_id = desk.start([page], epochs=2)
    save = jobs.JobContext.save

    def failing(self: Any, kept: dict[str, Any], **more: Any) -> None:
        save(self, kept, **more)
        if len(kept.get("curve", ())) == 1:
            raise RuntimeError("killed")

    with monkeypatch.context() as patched:
        patched.setattr(jobs.JobContext, "save", failing)
        desk.engine.jobs.run_until_idle(desk.library)
    folder = desk.library.derived_folder / "training" / job_id
    assert folder.is_dir()
    desk.do("background.pause", {"paused": True})
    assert retry(desk, job_id).status_code == 200
    assert desk.client.post(f"/api/training/jobs/{job_id}/cancel").json()["state"] == "cancelled"
    assert not folder.exists()


def recipe(desk: Desk, page: str, **settings: Any) -> str:
    """Queue the recipe job, as a recipe does; its id."""
    job = desk.engine.recipe_jobs["train-a-model"]
    stated = job.parse({"teacher": "teacher", "epochs": 1, **settings})
    placed = job.find_placement(desk.engine, desk.library, stated)
    with desk.library.db.write() as conn:
        new = NewJob(
            job.kind, job.arguments([page], stated), title=job.name, model=placed.model, lane=placed.lane
        )
        return enqueue(conn, new, started_by=LOCAL_OWNER)


def test_a_recipe_holds_out_the_pages_of_the_folders_it_names(desk: Desk) -> None:
    desk.give_trainers()
    page, _ = desk.page(["one"])
    held, _ = desk.page(["two"], shade=90)
    twin, _ = desk.page(["three"], shade=90)
    ((box,),) = desk.rows("SELECT parent_id FROM document WHERE id = ?", held)
    job = desk.engine.recipe_jobs["train-a-model"]
    stated = job.parse({"teacher": "teacher", "epochs": 1, "held_out_ids": [box]})
    with desk.library.db.write() as conn:
        args = job.arguments([page, held, twin], stated)
        job_id = enqueue(conn, NewJob(job.kind, args, title="x", lane="local-model"), started_by=LOCAL_OWNER)
    desk.engine.jobs.run_until_idle(desk.library)
    training = desk.training(job_id)
    assert training["state"] == "done", training
    card = desk.card(training["reader_id"])
    assert [document["document_id"] for document in card["training_set"]["documents"]] == [page]
    assert [one["document_id"] for one in card["held_out"]] == [held]
    from armarium.api import NotFound

    with pytest.raises(NotFound):
        recipe(desk, page, held_out_ids=["f" * 32])
    # A recipe trains here, so its job can be retried; see `test_remote.py` for one that ran elsewhere.
    again = recipe(desk, page)
    desk.client.post(f"/api/activity/jobs/{again}/cancel")
    assert retry(desk, again).status_code == 200


def test_a_held_out_page_that_is_deleted_meanwhile_is_still_held_out(desk: Desk) -> None:
    page, _ = desk.page(["one"])
    held, _ = desk.page(["two"], shade=90)
    twin, _ = desk.page(["three"], shade=90)
    job_id = desk.start([page, twin], held_out_ids=[held], epochs=1)
    desk.do("document.delete", {"ids": [held]})
    desk.engine.jobs.run_until_idle(desk.library)
    training = desk.training(job_id)
    assert (training["state"], training["training_set"]["lines"]) == ("done", 1), training
    assert [entry["document_id"] for entry in training["training_set"]["missing"]] == [twin]


@pytest.mark.parametrize(
    ("changes", "seen"),
    [
        ({"training_set": [1], "base_seen": 7}, 0),
        (
            {
                "training_set": {"documents": "all"},
                "base_seen": [1, {"document_id": 4}, {"document_id": "x"}],
            },
            1,
        ),
    ],
)
def test_a_base_whose_card_a_person_changed_can_be_started_from(
    desk: Desk, changes: dict[str, Any], seen: int
) -> None:
    page, _ = desk.page(["one"])
    base = desk.train([page], epochs=1)["reader_id"]
    desk.card_path(base).write_text(json.dumps({**desk.card(base), **changes}), "utf-8")
    training = desk.train([page], base=base, epochs=1)
    assert training["state"] == "done", training
    assert len(desk.card(training["reader_id"])["base_seen"]) == seen


def test_a_base_whose_card_cannot_be_read_is_refused(desk: Desk) -> None:
    page, _ = desk.page(["one"])
    base = desk.train([page], epochs=1)["reader_id"]
    desk.card_path(base).write_text("{", "utf-8")
    body = {"scope_ids": [page], "teacher": "teacher", "base": base}
    answer = desk.client.post("/api/training/linereader/here", json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "base_card_damaged"), answer.text
    assert base in answer.json()["detail"]


@pytest.mark.parametrize("number", ["NaN", "1e999", "-Infinity"])
@pytest.mark.parametrize("place", ["cer", "anywhere"])
def test_numbers_that_are_none_break_no_answer(desk: Desk, number: str, place: str) -> None:
    page, _ = desk.page(["one"])
    model = desk.train([page], epochs=1)["reader_id"]
    entry = '{"job_id": "j", "measured_at": "2026-01-01T00:00:00.000Z", "pages": "many", "cer": {"diplomatic": %s}}'
    written = {"cer": f'{{"evaluations": [{entry % number}]}}', "anywhere": f'{{"mine": {number}}}'}[place]
    desk.card_path(model).write_text(written, "utf-8")
    for path, params in (
        ("/api/training/models", {}),
        ("/api/training/model", {"model": model}),
        ("/api/evaluation/scores", {}),
    ):
        answer = desk.client.get(path, params=params)
        assert answer.status_code == 200, (path, answer.text)


def test_scores_of_a_card_that_a_person_changed_are_told_as_far_as_they_are_sound(desk: Desk) -> None:
    page, _ = desk.page(["one"])
    model = desk.train([page], epochs=1)["reader_id"]
    entry = {
        "job_id": "j",
        "measured_at": "2026-01-01T00:00:00.000Z",
        "pages": "many",
        "cer": {"diplomatic": 0.5},
    }
    desk.card_path(model).write_text(json.dumps({"evaluations": [entry, {**entry, "cer": 3}]}), "utf-8")
    (score,) = desk.client.get("/api/evaluation/scores").json()["items"]
    assert (score["pages"], score["cer"]) == (0, {"diplomatic": 0.5})


def wait_until(held: Any, seconds: float = 60.0) -> None:
    until = time.monotonic() + seconds
    while not held() and time.monotonic() < until:
        time.sleep(0.02)
    assert held()


def test_paused_and_then_cancelled_a_training_is_cancelled_at_the_hub_too(desk: Desk) -> None:
    page, _ = desk.page(["one"])
    desk.give_trainers()
    desk.hub_token()
    cancelled: list[str] = []

    class Hub(LoopbackHub):
        def ask(self, far_ids: Any) -> dict[str, Any]:
            desk.client.put(f"/api/activity/jobs/{self.job.job_id}/paused", json={"paused": True})
            return {}

        def cancel(self, far_ids: Any) -> None:
            cancelled.extend(far_ids)

    desk.engine.drivers.give(GROUP, "hub", Hub)
    body = {"scope_ids": [page], "teacher": "teacher", "base": "hand-base", "pages_may_leave": True}
    job_id = desk.client.post("/api/training/linereader", json=body).json()["job_id"]
    desk.engine.jobs.run_until_idle(desk.library)
    assert desk.training(job_id)["far_id"] == "loopback-1"
    assert cancelled == []
    assert desk.client.post(f"/api/training/jobs/{job_id}/cancel").json()["state"] == "cancelled"
    wait_until(lambda: cancelled == ["loopback-1"])
    assert not (desk.library.derived_folder / "training" / job_id).exists()


def test_a_paused_training_is_told_as_the_list_of_jobs_tells_it(desk: Desk) -> None:
    page, _ = desk.page(["one"])
    job_id = desk.start([page])

    def both() -> list[tuple[str, str]]:
        found = [desk.training(job_id), desk.client.get(f"/api/activity/jobs/{job_id}").json()]
        return [(item["state"], item["reason"]) for item in found]

    waiting = both()
    assert waiting[0] == waiting[1]
    assert waiting[0][0] == "waiting"
    assert waiting[0][1]
    desk.client.put(f"/api/activity/jobs/{job_id}/paused", json={"paused": True})
    paused = both()
    assert paused[0] == paused[1]
    assert paused[0][0] == "paused"
    assert desk.training(job_id)["phase"] == "waiting"
