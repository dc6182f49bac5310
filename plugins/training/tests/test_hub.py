"""The model hub as a place of compute, with a hub on this machine that really runs the jobs' commands."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
import training_readers
from loopback_hub import TOKEN, LoopbackModelHub, running_hub
from training_desk import Desk
from training_samples import LoopbackTrainer

from armarium.api import Unavailable
from armarium.principals import LOCAL_OWNER
from armarium_far_worker.hub_files import HubFiles
from armarium_reading.api import READERS
from armarium_training import compute_hub
from armarium_training.compute_hub import HubCompute, endpoint_of, seconds_of
from armarium_training.shipping import sound_result
from armarium_training.trainers import GROUP as TRAINERS


@pytest.fixture
def hub(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackModelHub]:
    monkeypatch.setattr(HubCompute, "seconds_between", 0.05)
    desk.give_trainers()
    for reader in training_readers.ALL:
        desk.engine.drivers.give(READERS, reader.name, reader)
    # In place of the hand reader's trainer, for which the job would install PyTorch.
    given = type("Trainer", (LoopbackTrainer,), {"name": "hand"})
    desk.engine.drivers.give(TRAINERS, "hand", given)
    with running_hub() as running:
        stated = {"name": "Hub", "provider_type": "model-hub", "api_base": running.address}
        result = desk.engine.run(None, "provider.create", stated, LOCAL_OWNER).result or {}
        desk.engine.run(None, "provider.set_key", {"provider_id": result["id"], "key": TOKEN}, LOCAL_OWNER)
        yield running


def read(desk: Desk, pages: list[str], **more: Any) -> str:
    body = {"scope_ids": pages, "card": "careful", "pages_may_leave": True, **more}
    answer = desk.client.post("/api/reading-at-scale", json=body)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["job_id"])


def looked_at(desk: Desk, job_id: str) -> dict[str, Any]:
    desk.engine.jobs.run_until_idle(desk.library)
    answer: dict[str, Any] = desk.client.get(f"/api/reading-at-scale/jobs/{job_id}").json()
    return answer


def train(desk: Desk, page: str, path: str = "linereader", **more: Any) -> dict[str, Any]:
    body = {"scope_ids": [page], "teacher": "teacher", "pages_may_leave": True, **more}
    answer = desk.client.post(f"/api/training/{path}", json=body)
    assert answer.status_code == 200, answer.text
    desk.engine.jobs.run_until_idle(desk.library)
    return desk.training(answer.json()["job_id"])


def test_pages_are_read_in_jobs_of_the_hub(desk: Desk, hub: LoopbackModelHub) -> None:
    pages = [desk.picture(2) for _ in range(3)]
    told = looked_at(desk, read(desk, pages, shard_size=2))
    assert (told["state"], told["landing"]["landed"]) == ("done", 3), told
    assert told["price_per_hour_usd"] == 0.4
    texts = desk.rows("SELECT content FROM content_representation ORDER BY content")
    assert [text for (text,) in texts] == ["line 0"] * 3 + ["line 1"] * 3
    assert hub.private is True
    for job in hub.jobs.values():
        assert job.spec["flavor"] == "t4-small"
        assert job.spec["timeoutSeconds"] == 7200
        assert job.spec["secrets"] == {"HF_TOKEN": TOKEN}
        assert TOKEN not in json.dumps({key: value for key, value in job.spec.items() if key != "secrets"})
    # The code is sent once for both shards, and no token lies among the files.
    assert len([name for name in hub.files if name.startswith("code/")]) == 1
    assert not any(TOKEN.encode() in data for data in hub.files.values())


@pytest.mark.slow
def test_all_shards_are_asked_for_in_one_question(
    desk: Desk, hub: LoopbackModelHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    listed = HubCompute._list_jobs

    def counting(self: HubCompute) -> Any:
        before = hub.asked_for("GET", "/api/jobs/")
        found = listed(self)
        asked.append(hub.asked_for("GET", "/api/jobs/") - before)
        return found

    monkeypatch.setattr(HubCompute, "_list_jobs", counting)
    told = looked_at(desk, read(desk, [desk.picture(2) for _ in range(3)], shard_size=1))
    assert told["counts"]["landed"] == 3
    assert set(asked) == {1}
    # Beside these only the logs of those that have ended are asked for.
    assert hub.asked_for("GET", "/api/jobs/") - len(asked) == hub.asked_for("GET", "/logs") == 3
    assert HubCompute.__dict__["seconds_between"] == 0.05
    monkeypatch.undo()
    assert HubCompute.seconds_between == 60.0


@pytest.mark.slow
def test_a_job_that_fails_there_says_why_without_the_token(
    desk: Desk, hub: LoopbackModelHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What a job prints, it prints with whatever it has.
    failing = "import os, sys; print('I hold', os.environ['HF_TOKEN']); sys.exit(3)"
    monkeypatch.setattr(compute_hub, "BOOTSTRAP", failing)
    job_id = read(desk, [desk.picture(2)])
    told = looked_at(desk, job_id)
    (shard,) = told["failed_shards"].values()
    assert "ended there as error" in shard["why"]
    assert shard["last_lines"] == ["I hold (token)"]
    assert TOKEN not in json.dumps(told)
    assert TOKEN not in json.dumps(desk.rows("SELECT message, data FROM job_log"), default=str)
    monkeypatch.undo()
    monkeypatch.setattr(HubCompute, "seconds_between", 0.05)
    assert desk.client.post(f"/api/reading-at-scale/jobs/{job_id}/resend-failed").status_code == 200
    assert looked_at(desk, job_id)["landing"]["landed"] == 1
    assert [job.spec["labels"]["armarium-shard"] for job in hub.jobs.values()] == ["0-1", "0-2"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("result.json", b"no json"),
        ("result.json", b"[]"),
        ("result.json", b'{"number": 0, "pages": {}, "files": {"../../x": "0"}}'),
        ("result.json", b'{"number": 7, "pages": {}}'),
        ("task-1.json", b"{}"),
        (".zip", b"no archive"),
    ],
)
def test_what_comes_back_wrong_fails_the_shard(
    desk: Desk, hub: LoopbackModelHub, name: str, data: bytes
) -> None:
    hub.replace[name] = data
    told = looked_at(desk, read(desk, [desk.picture(2)]))
    assert (told["state"], told["counts"]["failed"], told["landing"]["landed"]) == ("failed", 1, 0), told


@pytest.mark.parametrize("fragment", ["/commit/", "/api/jobs/somebody", "/store/", "/preupload/", "whoami"])
def test_a_hub_that_does_not_take_it_fails_the_shard_in_words(
    desk: Desk, hub: LoopbackModelHub, fragment: str
) -> None:
    hub.fail[fragment] = 507
    told = looked_at(desk, read(desk, [desk.picture(2)]))
    (shard,) = told["failed_shards"].values()
    assert "507" in shard["why"]
    assert TOKEN not in json.dumps(told)


def test_a_repository_that_all_can_read_is_given_nothing(desk: Desk, hub: LoopbackModelHub) -> None:
    hub.private = False
    told = looked_at(desk, read(desk, [desk.picture(2)]))
    (shard,) = told["failed_shards"].values()
    assert "not private" in shard["why"]
    assert hub.files == {}


def test_cancelled_it_is_cancelled_at_the_hub(
    desk: Desk, hub: LoopbackModelHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.start_jobs = False
    job_id = read(desk, [desk.picture(2)])
    wait = compute_hub.HubCompute.ask

    def cancelling(self: HubCompute, far_ids: Any) -> Any:
        desk.client.post(f"/api/reading-at-scale/jobs/{job_id}/cancel")
        return wait(self, far_ids)

    monkeypatch.setattr(HubCompute, "ask", cancelling)
    assert looked_at(desk, job_id)["state"] == "cancelled"
    assert [job.stage for job in hub.jobs.values()] == ["CANCELED"]


def test_paused_and_then_cancelled_it_is_cancelled_at_the_hub_too(
    desk: Desk, hub: LoopbackModelHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.start_jobs = False
    job_id = read(desk, [desk.picture(2)])
    ask = HubCompute.ask

    def pausing(self: HubCompute, far_ids: Any) -> Any:
        desk.client.put(f"/api/activity/jobs/{job_id}/paused", json={"paused": True})
        return ask(self, far_ids)

    with monkeypatch.context() as patched:
        patched.setattr(HubCompute, "ask", pausing)
        assert looked_at(desk, job_id)["state"] == "paused"
    assert [job.stage for job in hub.jobs.values()] == ["SCHEDULING"]
    assert desk.client.post(f"/api/reading-at-scale/jobs/{job_id}/cancel").json()["state"] == "cancelled"
    until = time.monotonic() + 60
    while hub.jobs["job0"].stage != "CANCELED" and time.monotonic() < until:
        time.sleep(0.02)
    assert hub.jobs["job0"].stage == "CANCELED"
    assert not (desk.library.derived_folder / "scale" / job_id).exists()


def test_a_job_that_the_hub_no_longer_knows_fails_its_shard(
    desk: Desk, hub: LoopbackModelHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.start_jobs = False
    job_id = read(desk, [desk.picture(2)])
    monkeypatch.setattr(HubCompute, "_list_jobs", lambda _: [])
    (shard,) = looked_at(desk, job_id)["failed_shards"].values()
    assert "no longer knows" in shard["why"]


@pytest.mark.slow
def test_a_result_that_is_out_of_reach_for_a_while_is_fetched_later(
    desk: Desk, hub: LoopbackModelHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    take, missed = HubFiles.take, [0]

    def sometimes(self: HubFiles, path: str, *given: Any) -> None:
        if path.endswith("result.json") and missed[0] < 2:
            missed[0] += 1
            raise Unavailable("The name cannot be found; try again later.")
        take(self, path, *given)

    monkeypatch.setattr(HubFiles, "take", sometimes)
    told = looked_at(desk, read(desk, [desk.picture(2)]))
    assert (told["state"], told["landing"]["landed"], missed) == ("done", 1, [2]), told
    # Out of reach for good it fails, and only that shard.
    missed[0] = -1_000_000
    told = looked_at(desk, read(desk, [desk.picture(2)]))
    assert (told["state"], told["counts"]["failed"]) == ("failed", 1), told


@pytest.mark.slow
def test_a_result_that_finds_no_room_here_fails_the_job_and_can_be_fetched_again(
    desk: Desk, hub: LoopbackModelHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = read(desk, [desk.picture(2)])

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(HubFiles, "take", full)
        told = looked_at(desk, job_id)
    assert (told["state"], told["counts"]["submitted"]) == ("failed", 1), told
    assert "No space left on device" in told["reason"]
    assert desk.client.post(f"/api/activity/jobs/{job_id}/retry").status_code == 200
    told = looked_at(desk, job_id)
    assert (told["state"], told["landing"]["landed"], len(hub.jobs)) == ("done", 1, 1), told


@pytest.mark.slow
def test_killed_after_it_was_sent_no_shard_is_sent_twice(
    desk: Desk, hub: LoopbackModelHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = read(desk, [desk.picture(2)])
    submit = HubCompute.submit

    def dying(self: HubCompute, shard: Any, attempt: int) -> str:
        submit(self, shard, attempt)
        raise RuntimeError("killed")

    with monkeypatch.context() as patched:
        patched.setattr(HubCompute, "submit", dying)
        assert looked_at(desk, job_id)["state"] == "failed"
    desk.client.post(f"/api/activity/jobs/{job_id}/retry")
    told = looked_at(desk, job_id)
    assert (told["state"], told["landing"]["landed"], len(hub.jobs)) == ("done", 1, 1), told


@pytest.mark.slow
def test_a_line_reader_is_trained_at_the_hub(desk: Desk, hub: LoopbackModelHub) -> None:
    page, _ = desk.page([f"line {number}" for number in range(11)])
    held, _ = desk.page(["kept"])
    training = train(desk, page, base="hand-base", held_out_ids=[held])
    assert (training["state"], training["far_id"]) == ("done", "job0"), training
    assert len(training["curve"]) == 8, "five epochs after the best one it ends"
    assert training["last_lines"][-1] == "done"
    assert training["measured"]["epochs"] == 8
    weights = desk.library.models / "hand" / f"{training['reader_id']}.onnx"
    assert weights.stat().st_size > 1_000_000
    assert TOKEN not in json.dumps(training) + json.dumps(desk.card(training["reader_id"]))
    # Of the pages only the lines' pictures left, and of the one that is held out nothing.
    lines = json.loads(hub.files[f"jobs/{training['id']}/0/lines.json"])["lines"]
    assert [line["text"] for line in lines] == [f"line {number}" for number in range(11)]


def test_a_vision_model_is_trained_at_the_hub_and_converted_here(desk: Desk, hub: LoopbackModelHub) -> None:
    page, _ = desk.page(["one", "two"])
    training = train(desk, page, "vision-lora", base_repo="owner/model-8B", base_licence="mit", name="far")
    assert (training["state"], training["model_id"], training["flavor"]) == (
        "done",
        "service-trained/far",
        "l4x1",
    ), training
    assert training["price_per_hour_usd"] == 0.8
    assert len(training["curve"]) == 2
    folder = desk.library.models / "vision" / "service-trained--far"
    assert (folder / "model.safetensors").read_bytes() == b"half"
    assert json.loads((folder / "config.json").read_text())["base"] == {"repo": "owner/model-8B"}
    card = desk.client.get("/api/training/model", params={"model": training["model_id"]}).json()["card"]
    assert (card["trained_where"], card["base_licence"]) == ("model-hub", "mit")
    assert card["adapter"] == f"somebody/armarium-jobs/jobs/{training['id']}/0/out-1/adapter"
    stays = f"jobs/{training['id']}/0/out-1"
    assert {f"{stays}/merged/model.safetensors", f"{stays}/adapter/model.safetensors"} <= set(hub.files)
    assert hub.jobs["job0"].spec["timeoutSeconds"] == 8 * 3600


def test_without_a_key_or_encryption_nothing_is_sent(desk: Desk, hub: LoopbackModelHub) -> None:
    job_id = read(desk, [desk.picture(2)])
    (provider,) = desk.client.get("/api/providers").json()["items"][:1]
    desk.engine.run(None, "provider.update", {"provider_id": provider["id"], "enabled": False}, LOCAL_OWNER)
    assert "no token for the model hub" in looked_at(desk, job_id)["reason"]
    stated = {"name": "Open", "provider_type": "model-hub", "api_base": "http://93.184.216.34"}
    result = desk.engine.run(None, "provider.create", stated, LOCAL_OWNER).result or {}
    desk.engine.run(None, "provider.set_key", {"provider_id": result["id"], "key": TOKEN}, LOCAL_OWNER)
    desk.client.post(f"/api/activity/jobs/{job_id}/retry")
    assert "http://" in looked_at(desk, job_id)["reason"]
    assert hub.jobs == {}


def test_addresses_and_times() -> None:
    from armarium_reading.api import HubAccess

    assert endpoint_of(HubAccess("k", None)) == "https://huggingface.co"
    assert endpoint_of(HubAccess("k", "https://hub.example.org/v1")) == "https://hub.example.org"
    assert [seconds_of(one) for one in ("90s", "2m", "4h", "1d")] == [90, 120, 14_400, 86_400]


@pytest.mark.parametrize(
    ("found", "is_sound"),
    [
        ({"files": {"merged/config.json": "0" * 64}}, True),
        ({}, True),
        ({"files": {"/etc/passwd": "0" * 64}}, False),
        ({"files": {"a/../../b": "0" * 64}}, False),
        ({"files": {"card.json": "0" * 64}}, False),
        ({"files": {"model.onnx": "zero"}}, False),
        ({"files": ["model.onnx"]}, False),
        ([], False),
        (None, False),
    ],
)
def test_a_result_names_files_of_its_own_folder_alone(found: Any, is_sound: bool) -> None:
    assert (sound_result(found) is not None) is is_sound
