"""Trainings of vision models over HTTP: refusals in their order, arms and the lines they share, and what lands."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from training_desk import Desk

from armarium.api import Engine, why_not_of
from armarium_testing.model_provider import Answer, LoopbackProvider
from armarium_training.flavors import cheapest, memory_needed_gb, price_per_hour_usd
from armarium_training.jobs import training as jobs
from armarium_training.trainers import Converter, FourBitConverter, LoraTrainer
from armarium_worker.instructions import read_line

NOWHERE = "f" * 32


@pytest.fixture(autouse=True)
def ready(desk: Desk) -> None:
    desk.give_trainers()
    desk.vision_model()


@pytest.fixture
def provider(desk: Desk) -> Iterator[LoopbackProvider]:
    with LoopbackProvider() as running:
        running.add_to(desk.engine, "Here")
        yield running


@pytest.fixture
def laid_out(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What was laid out for the trainer by the last training: lines with their exchanges, and the pictures' sizes."""
    seen: list[dict[str, Any]] = []
    train = jobs.Training._train

    def looking(self: Any, trainer: Any, given: dict[str, Any]) -> None:
        from PIL import Image

        lines = json.loads((self.folder / "lines.json").read_text("utf-8"))["lines"]
        data = (self.folder / "pictures.bin").read_bytes()
        seen.clear()
        at = 0
        for line in lines:
            picture = Image.open(io.BytesIO(data[at : at + line["bytes"]]))
            seen.append({**line, "size": picture.size})
            at += line["bytes"]
        assert at == len(data)
        train(self, trainer, given)

    monkeypatch.setattr(jobs.Training, "_train", looking)
    return seen


def body(page: str, **more: Any) -> dict[str, Any]:
    return {"scope_ids": [page], "teacher": "teacher", "base_repo": "tiny-8B", "flavor": "local", **more}


def start(desk: Desk, given: dict[str, Any]) -> Any:
    return desk.client.post("/api/training/vision-lora", json=given)


def train(desk: Desk, given: dict[str, Any]) -> dict[str, Any]:
    answer = start(desk, given)
    assert answer.status_code == 200, answer.text
    desk.engine.jobs.run_until_idle(desk.library)
    return desk.training(answer.json()["job_id"])


def make_reasoned(text: str, reasons: str = "A long s.") -> str:
    return json.dumps({"reasons": reasons, "uncertain": False, "transcription": text})


def gather(desk: Desk, page: str) -> None:
    given_body = {"scope_ids": [page], "checked": "teacher", "provider": "Here", "model": "tiny"}
    answer = desk.client.post("/api/training/reasons", json=given_body)
    assert answer.status_code == 200, answer.text
    desk.engine.jobs.run_until_idle(desk.library)


def test_refusals_come_in_their_order_and_nothing_is_queued(desk: Desk) -> None:
    page, _ = desk.page(["one"])
    local, _ = desk.page(["two"])
    desk.do("rights.set", {"target_kind": "document", "target_id": local, "model_use": "local"})
    folder = desk.do("document.create", {"name": "Empty", "doc_type": "folder"})["id"]
    far = {"base_repo": "owner/model-8B", "flavor": None}

    def read_refusal(**more: Any) -> tuple[int, str]:
        answer = start(desk, body(page, **more))
        return answer.status_code, answer.json()["code"]

    assert read_refusal(**far, scope_ids=[]) == (422, "invalid_request")
    assert read_refusal(**far, scope_ids=[folder]) == (422, "no_pages")
    assert read_refusal(**far, scope_ids=[NOWHERE])[0] == 404
    assert read_refusal(**far, timeout="soon") == (422, "bad_timeout")
    assert read_refusal(base_repo="model-8B", flavor=None) == (422, "base_missing")
    assert read_refusal(base_repo="owner/model-900B", flavor=None) == (422, "no_flavor")
    assert read_refusal(base_repo="absent") == (422, "base_missing")
    assert read_refusal(**far, teacher="nobody") == (422, "nothing_to_teach")
    assert read_refusal(**far, scope_ids=[local]) == (422, "nothing_to_teach")
    assert read_refusal(**far, arm="why") == (422, "nothing_reasoned")
    assert read_refusal(**far) == (403, "pages_may_leave")
    assert read_refusal(**far, pages_may_leave=True) == (412, "no_hub_token")
    for wrong in (
        {"arm": "guess"},
        {"rank": 1},
        {"rank": 257},
        {"epochs": 0},
        {"epochs": 21},
        {"max_trace_cer": 1.1},
        {"name": "../up"},
        {"base_repo": "../../etc"},
        {"base_repo": "https://elsewhere/x"},
        {"created_by": "me"},
    ):
        assert read_refusal(**wrong) == (422, "invalid_request"), wrong
    assert desk.rows("SELECT 1 FROM job WHERE kind LIKE 'train-%'") == []


def test_without_its_runtime_a_training_says_how_to_install_it(desk: Desk, engine: Engine) -> None:
    page, _ = desk.page(["one"])
    if engine.runtimes.is_installed("vision-trainer"):
        pytest.skip("The runtime vision-trainer is installed here.")
    # In place of those that go through the motions, under their names.
    needing = type("Trainer", (LoraTrainer,), {"name": "loopback-lora"})
    engine.drivers.give("armarium.trainers", "loopback-lora", needing)
    answer = start(desk, body(page))
    assert (answer.status_code, answer.json()["code"]) == (409, "runtime_missing")


def test_a_vision_model_is_trained_here_and_lands_with_its_card(
    desk: Desk, laid_out: list[dict[str, Any]]
) -> None:
    page, lines = desk.page([f"line {number}" for number in range(11)])
    held, _ = desk.page(["kept"])
    desk.correct(lines[0], "line naught")
    given = body(page, held_out_ids=[held], name="abbot", base_licence="apache-2.0", language="fr", epochs=3)
    answer = start(desk, given)
    assert answer.json() | {"job_id": "", "audit_id": ""} == {
        "job_id": "",
        "audit_id": "",
        "flavor": "local",
        "timeout": "8h",
        "price_per_hour_usd": 0.0,
    }
    desk.engine.jobs.run_until_idle(desk.library)
    training = desk.training(answer.json()["job_id"])
    assert (training["state"], training["card"], training["reader_id"]) == ("done", "vision-lora", None), (
        training
    )
    assert training["model_id"] == "service-trained/abbot"
    assert [entry["phase"] for entry in training["history"]] == [
        "waiting",
        "preparing",
        "running",
        "landing",
        "done",
    ]
    assert training["measured"]["epochs"] == 3
    assert training["request"]["arm"] == "answer"
    assert [one["text"] for one in laid_out] == [
        "line naught",
        *(f"line {number}" for number in range(1, 11)),
    ]
    assert {one["prompt"] for one in laid_out} == {read_line("fr")}
    assert all(one["answer"] == one["text"] for one in laid_out)
    assert [number for number, one in enumerate(laid_out) if one["for_validation"]] == [9]
    # A line's box is 360 by 30 pixels; 15 % of its height is shown around it on every side.
    assert all(abs(w - 369) <= 2 and abs(h - 39) <= 2 for w, h in (one["size"] for one in laid_out))
    folder = desk.library.models / "vision" / "service-trained--abbot"
    assert (folder / "model.safetensors").read_bytes() == b"half"
    assert not (desk.library.models / "merged").exists()
    (model,) = desk.client.get("/api/training/models").json()["items"]
    shown = {
        key: model[key]
        for key in ("id", "kind", "base", "licence", "licence_note", "may_publish", "location")
    }
    assert shown == {
        "id": "service-trained/abbot",
        "kind": "vision-lora",
        "base": "tiny-8B",
        "licence": "apache-2.0",
        "licence_note": None,
        "may_publish": False,
        "location": "project",
    }
    assert [run["build"] for run in model["runs_on"]] == ["vision", "vision-pages"]
    assert model["size_bytes"] == sum(path.stat().st_size for path in folder.iterdir())
    card = desk.client.get("/api/training/model", params={"model": model["id"]}).json()["card"]
    assert [one["document_id"] for one in card["held_out"]] == [held]
    assert [document["document_id"] for document in card["training_set"]["documents"]] == [page]
    assert (card["arm"], card["rank"], card["language"], card["trained_where"]) == (
        "answer",
        16,
        "fr",
        "this-machine",
    )
    assert card["training_set"]["lines_checked_by_a_person"] == 1
    assert not (desk.library.derived_folder / "training" / training["id"]).exists()


def test_a_name_that_is_taken_is_counted_on_also_after_an_undo(desk: Desk) -> None:
    page, _ = desk.page(["one"])
    first = train(desk, body(page, keep_merged_here=True, not_for_release=False))
    assert first["model_id"] == "service-trained/student"
    assert (desk.library.models / "merged" / "service-trained--student" / "config.json").is_file()
    answer = desk.client.post("/api/training/models/make-global", json={"model": first["model_id"]}).json()
    assert answer["may_publish"] is True
    store = desk.engine.settings.state_dir / "models" / "vision"
    assert (store / "service-trained--student" / "config.json").is_file()
    second_answer = desk.client.post("/api/training/models/make-global", json={"model": first["model_id"]})
    assert second_answer.json()["code"] == "already_global"
    assert train(desk, body(page))["model_id"] == "service-trained/student-2"
    both = {item["id"]: item["location"] for item in desk.client.get("/api/training/models").json()["items"]}
    assert both == {"service-trained/student": "both", "service-trained/student-2": "project"}
    ((audit_id,),) = desk.rows(
        "SELECT id FROM audit WHERE action_name = 'training.land' ORDER BY rowid LIMIT 1"
    )
    undone = desk.client.post(f"/api/actions/audit/{audit_id}/undo")
    assert undone.status_code == 200, undone.text
    folder = desk.library.models / "vision" / "service-trained--student"
    assert not (folder / "config.json").exists()
    assert (folder / "config.json.undone").is_file()
    assert train(desk, body(page))["model_id"] == "service-trained/student-3"


def test_arms_are_taught_the_lines_that_every_reasoning_arm_covers(
    desk: Desk, provider: LoopbackProvider, laid_out: list[dict[str, Any]]
) -> None:
    texts = ["abcdefghij", "klmnopqrst", "abcdefghik", "abcdefghil"]
    page, lines = desk.page(["draft one", "draft two", "draft three", "draft four"])
    for line, text in zip(lines, texts, strict=True):
        desk.correct(line, text)
    provider.answers = [
        Answer(make_reasoned("abcdefghix", "The last letter is faint."), thinking="Is it j?"),
        make_reasoned("klmnopqrxx"),
        make_reasoned("abcdefghik"),
        *(["no json"] * 3),
    ]
    gather(desk, page)
    # Line 0: one letter in ten off, kept at 0.10. Line 1: two off, not kept. Line 2: kept, no thinking. Line 3: no answer.
    training_set = train(desk, body(page, name="why", arm="why"))["training_set"]
    assert [one["text"] for one in laid_out] == [texts[0]], "thinking covers line 0 alone"
    assert json.loads(laid_out[0]["answer"]) == {
        "reasons": "The last letter is faint.",
        "uncertain": False,
        "transcription": texts[0],
    }
    counts = {
        key: training_set[key]
        for key in (
            "lines_taught",
            "lines_with_reasons",
            "lines_asked_about",
            "reasons_too_far",
            "lines_not_in_every_arm",
        )
    }
    assert counts == {
        "lines_taught": 1,
        "lines_with_reasons": 2,
        "lines_asked_about": 3,
        "reasons_too_far": 1,
        "lines_not_in_every_arm": 3,
    }
    for arm in ("answer", "thinking", "review"):
        train(desk, body(page, name=arm, arm=arm))
        assert [one["text"] for one in laid_out] == [texts[0]], arm
        if arm == "answer":
            assert laid_out[0]["answer"] == texts[0]
        if arm == "thinking":
            assert laid_out[0]["answer"] == f"<think>\nIs it j?\n</think>\n{texts[0]}"
        if arm == "review":
            assert "draft one" in laid_out[0]["prompt"]
            assert json.loads(laid_out[0]["answer"])["transcription"] == texts[0]
    training_set = train(desk, body(page, name="all", arm="why", all_lines=True, max_trace_cer=1.0))[
        "training_set"
    ]
    assert [one["text"] for one in laid_out] == texts
    assert [one["answer"].startswith("{") for one in laid_out] == [True, True, True, False]
    assert training_set["lines_taught_the_answer_alone"] == 1
    refused = start(desk, body(page, arm="why", max_trace_cer=0.0, scope_ids=[desk.page(["bare"])[0]]))
    assert refused.json()["code"] == "nothing_reasoned"


def test_what_the_reader_of_vision_models_finds_is_what_has_landed(desk: Desk) -> None:
    from armarium.api import NameOrMaterialPath
    from armarium_reading.readers import find_model, load_reader

    page, _ = desk.page(["one"])
    train(desk, body(page))
    reader = load_reader(desk.engine, "vision")
    path = find_model(desk.engine, desk.library, reader, NameOrMaterialPath("service-trained--student"))
    assert path == desk.library.models / "vision" / "service-trained--student" / "config.json"


def test_killed_while_it_lands_it_lands_once_under_its_name(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    from armarium_training.actions import training as actions

    page, _ = desk.page(["one"])
    job_id = start(desk, body(page)).json()["job_id"]
    with monkeypatch.context() as patched:

        def dying(*_: Any) -> None:
            raise RuntimeError("killed")

        patched.setattr(actions.cards, "write_card", dying)
        desk.engine.jobs.run_until_idle(desk.library)
    assert desk.training(job_id)["state"] == "failed"
    desk.client.post(f"/api/activity/jobs/{job_id}/retry")
    desk.engine.jobs.run_until_idle(desk.library)
    assert desk.training(job_id)["model_id"] == "service-trained/student"


@pytest.mark.parametrize(
    ("base", "needed", "flavor"),
    [
        ("owner/Model-VL-8B-Instruct", 22.4, "l4x1"),
        ("owner/model", 22.4, "l4x1"),
        ("owner/model-2b", 8.6, "t4-small"),
        ("owner/model-30B", 73.0, "a100-large"),
        ("owner/model-0.5B-v2", 5.15, "t4-small"),
    ],
)
def test_the_cheapest_machine_that_fits_is_taken(base: str, needed: float, flavor: str) -> None:
    assert memory_needed_gb(base) == pytest.approx(needed)
    assert cheapest(base) == flavor


def test_prices_that_are_not_known_are_not_stated() -> None:
    assert price_per_hour_usd("t4-small") == 0.4
    assert price_per_hour_usd("a-new-one") is None


def test_converters_are_classes_of_their_name() -> None:
    assert why_not_of(Converter, "4-bit", FourBitConverter) is None
    assert "calls itself 4-bit" in str(why_not_of(Converter, "8-bit", FourBitConverter))
    assert "Converter" in str(why_not_of(Converter, "4-bit", object()))
