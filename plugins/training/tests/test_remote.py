"""Trainings at the model hub: the order of refusals, rights, and a loopback hub from which a model comes back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from training_desk import Desk
from training_samples import LoopbackHub

from armarium_training import model_files
from armarium_training.compute import GROUP, FarState


class WatchedHub(LoopbackHub):
    """A hub whose answers a test lays out."""

    states: list[FarState] = []
    cancelled: list[str] = []

    def ask(self, far_ids: Sequence[str]) -> dict[str, FarState]:
        if self.states:
            return {far_ids[0]: self.states.pop(0)}
        return super().ask(far_ids)

    def cancel(self, far_ids: Sequence[str]) -> None:
        self.cancelled.extend(far_ids)


@pytest.fixture(autouse=True)
def hub(desk: Desk) -> None:
    WatchedHub.states, WatchedHub.cancelled = [], []
    desk.give_trainers()


def body(page: str, **more: Any) -> dict[str, Any]:
    return {"scope_ids": [page], "teacher": "teacher", "base": "hand-base", "pages_may_leave": True, **more}


def test_refusals_come_in_their_order_and_nothing_is_queued(desk: Desk) -> None:
    page, _ = desk.page(["one"])
    local, _ = desk.page(["two"])
    desk.do("rights.set", {"target_kind": "document", "target_id": local, "model_use": "local"})

    def read_refusal(given: dict[str, Any]) -> tuple[int, str]:
        answer = desk.client.post("/api/training/linereader", json=given)
        return answer.status_code, answer.json()["code"]

    stay = {"pages_may_leave": False}
    assert read_refusal(body(page, scope_ids=[], **stay)) == (422, "invalid_request")
    assert read_refusal(body(page, base="nobody") | stay) == (422, "base_missing")
    assert read_refusal(body(page, timeout="soon") | stay) == (422, "bad_timeout")
    # What only a model of this machine may have is not taught elsewhere.
    assert read_refusal(body(local) | stay) == (422, "nothing_to_teach")
    assert read_refusal(body(page) | stay) == (403, "pages_may_leave")
    desk.do("library.set", {"local_only_ai": True})
    assert read_refusal(body(page)) == (403, "offline")
    desk.do("library.set", {"local_only_ai": None})
    assert read_refusal(body(page)) == (412, "no_hub_token")
    assert desk.rows("SELECT 1 FROM job WHERE kind = 'train-a-model'") == []


def test_a_model_comes_back_from_the_hub(desk: Desk) -> None:
    page, _ = desk.page(["one"])
    desk.hub_token()
    desk.engine.drivers.give(GROUP, "hub", WatchedHub)
    WatchedHub.states = [FarState("queued"), FarState("running", last_lines=["step"] * 30)]
    answer = desk.client.post("/api/training/linereader", json=body(page, release_note="Mine"))
    started = answer.json()
    assert (answer.status_code, started["flavor"], started["timeout"]) == (200, "t4-small", "4h"), started
    assert started["price_per_hour_usd"] == 0.4
    desk.engine.jobs.run_until_idle(desk.library)
    training = desk.training(started["job_id"])
    phases = [entry["phase"] for entry in training["history"]]
    assert phases == [
        *("waiting", "preparing", "sending", "submitted", "queued", "running", "fetching", "landing", "done")
    ], training
    assert (training["far_id"], training["last_lines"]) == ("loopback-1", ["trained"])
    card = desk.card(training["reader_id"])
    assert (card["trained_where"], card["release_note"], card["far_id"]) == (
        "model-hub",
        "Mine",
        "loopback-1",
    )
    assert "hf_secret" not in str(training)


def test_a_failure_there_is_told_and_a_cancel_reaches_it(desk: Desk) -> None:
    page, _ = desk.page(["one"])
    desk.hub_token()
    desk.engine.drivers.give(GROUP, "hub", WatchedHub)
    WatchedHub.states = [FarState("failed", "Out of memory there.")]
    job_id = desk.client.post("/api/training/linereader", json=body(page)).json()["job_id"]
    desk.engine.jobs.run_until_idle(desk.library)
    training = desk.training(job_id)
    assert (training["reason"], training["far_id"]) == ("Out of memory there.", "loopback-1")
    refused = desk.client.post(f"/api/activity/jobs/{job_id}/retry")
    assert (refused.status_code, refused.json()["code"]) == (409, "remote_job"), refused.text

    class Stopping(WatchedHub):
        def ask(self, far_ids: Sequence[str]) -> dict[str, FarState]:
            desk.client.post(f"/api/training/jobs/{self.job.job_id}/cancel")
            return {}

    desk.engine.drivers.give(GROUP, "hub", Stopping)
    job_id = desk.client.post("/api/training/linereader", json=body(page)).json()["job_id"]
    desk.engine.jobs.run_until_idle(desk.library)
    assert desk.training(job_id)["phase"] == "cancelled"
    assert WatchedHub.cancelled == ["loopback-1"]


def test_a_model_that_finds_no_room_here_is_fetched_again_later(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It cannot be retried, and its training is paid for."""
    page, _ = desk.page(["one"])
    desk.hub_token()
    desk.engine.drivers.give(GROUP, "hub", WatchedHub)
    job_id = desk.client.post("/api/training/linereader", json=body(page)).json()["job_id"]

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(model_files.shutil, "copyfileobj", full)
        desk.engine.jobs.run_until_idle(desk.library)
    training = desk.training(job_id)
    assert (training["state"], training["phase"]) == ("waiting", "waiting"), training
    assert "Make room" in training["reason"]
    with desk.library.db.write() as conn:
        conn.exec_driver_sql("UPDATE job SET not_before = NULL WHERE id = ?", (job_id,))
    desk.engine.jobs.run_until_idle(desk.library)
    training = desk.training(job_id)
    assert (training["state"], training["far_id"]) == ("done", "loopback-1"), training
    assert desk.card(training["reader_id"])["far_id"] == "loopback-1"
