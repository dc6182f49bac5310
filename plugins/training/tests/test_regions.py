"""Layout detectors: what is taught, when it is refused, and regions found with what was trained."""

from __future__ import annotations

import json
from typing import Any

import pytest
from training_desk import Desk

from armarium.api import Invalid
from armarium_training.trainers import trainer_named

KINDS = ["text"] * 9 + ["seal"]


def regions_here(desk: Desk, scope: list[str], held: list[str], **more: Any) -> Any:
    return desk.client.post(
        "/api/training/regions/here", json={"scope_ids": scope, "held_out_ids": held, **more}
    )


def drawn_pages(desk: Desk, count: int) -> list[str]:
    """Pages with ten regions each."""
    pages = [desk.picture(2) for _ in range(count)]
    for page in pages:
        desk.draw_regions(page, KINDS)
    return pages


def train(desk: Desk, scope: list[str], held: list[str], **more: Any) -> dict[str, Any]:
    answer = regions_here(desk, scope, held, **more)
    assert answer.status_code == 200, answer.text
    desk.engine.jobs.run_until_idle(desk.library)
    training = desk.training(answer.json()["job_id"])
    assert training["state"] == "done", training
    return training


def test_a_detector_is_taught_scored_on_the_held_out_pages_and_lands(desk: Desk) -> None:
    pages = drawn_pages(desk, 3)
    assert regions_here(desk, pages[:1], pages[2:]).json()["code"] == "too_few_regions"
    answer = regions_here(desk, pages[:2], pages[2:])
    # Its trainer is here, its runtime is not; the words say how to install it.
    assert (answer.status_code, answer.json()["code"]) == (409, "runtime_missing"), answer.text
    assert "armarium runtime install region-trainer" in answer.json()["detail"]
    desk.give_trainers()
    training = train(desk, pages[:2], pages[2:])
    assert (training["card"], training["reader_id"]) == ("regions", None)
    assert training["model_id"] == f"layout-trained-{training['id']}"
    assert training["training_set"]["regions"] == 20
    # The third epoch is the best, and ten more bring nothing: of fifty that were asked for thirteen are done.
    assert [one["map50"] for one in training["curve"][:4]] == [0.25, 0.5, 0.75, 0.75]
    assert len(training["curve"]) == 13
    assert "mAP50 0.7500" in training["last_lines"][-1]
    model = desk.client.get("/api/training/model", params={"model": training["model_id"]}).json()
    assert (model["kind"], model["runs_on"]) == ("layout-detector", [{"build": "loopback", "here": True}])
    assert (model["scores"]["map50"], model["scores"]["pages"], model["scores"]["cer"]) == (0.75, 1, {})
    assert (model["card"]["validation_map50"], model["card"]["classes"]) == (0.75, ["seal", "text"])
    listed = desk.client.get("/api/training/models").json()["items"]
    assert [item["id"] for item in listed] == [training["model_id"]]


def test_a_page_of_five_tells_when_it_stops_improving_and_none_that_is_held_out(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = drawn_pages(desk, 6)
    desk.give_trainers()
    job_id = regions_here(desk, pages[:5], pages[5:], epochs=1).json()["job_id"]
    kept: list[list[dict[str, Any]]] = []
    from armarium_training.jobs import training

    def refuse_landing(self: Any, *given: Any) -> None:
        kept.append(json.loads((self.folder / "lines.json").read_text("utf-8"))["pages"])
        raise training.Unavailable("Enough.", code="worker_failed")

    monkeypatch.setattr(training.Training, "_land", refuse_landing)
    desk.engine.jobs.run_until_idle(desk.library)
    assert desk.training(job_id)["state"] == "failed"
    assert [one["part"] for one in kept[0]] == ["taught"] * 4 + ["validation", "held-out"]


def test_regions_are_found_with_it_and_undone(desk: Desk) -> None:
    pages = drawn_pages(desk, 3)
    desk.give_trainers()
    model = train(desk, pages[:2], pages[2:], epochs=1, classes=["text", "seal"])["model_id"]
    fresh = desk.picture(2)
    for wrong, code in (("no-such", "unknown_detector"), ("../../evil", "unknown_detector")):
        stated = {"scope_ids": [fresh], "model": wrong}
        answer = desk.client.post(
            "/api/actions/invoke", json={"name": "layout.find_regions", "params": stated}
        )
        assert (answer.status_code, answer.json()["code"]) == (404, code), answer.text
    started = desk.do("layout.find_regions", {"scope_ids": [fresh], "model": model, "at_least": 0.3})
    desk.engine.jobs.run_until_idle(desk.library)
    # Of the ten that it knows three are surer than 0.3.
    statement = "SELECT kind_raw, round(bbox_x, 3), round(bbox_y, 3) FROM segment WHERE document_id = ? ORDER BY bbox_y"
    rows = desk.rows(statement, fresh)
    assert rows == [("text", 0.1, 0.05), ("text", 0.1, 0.14), ("text", 0.1, 0.23)], (rows, started)
    (name,) = desk.rows("SELECT name FROM segment_pass WHERE document_id = ?", fresh)[0]
    assert name == f"Regions by {model}"
    # What a machine found is taught to nobody: a page of such regions counts as one without any.
    assert regions_here(desk, [pages[0], fresh], pages[2:]).json()["code"] == "too_few_regions"


def test_a_base_is_gone_on_from_and_its_pages_travel_along(desk: Desk) -> None:
    pages = drawn_pages(desk, 4)
    desk.give_trainers()
    refused = regions_here(desk, pages[:2], pages[3:], base="no-such")
    assert (refused.status_code, refused.json()["code"]) == (422, "base_missing"), refused.text
    first = train(desk, pages[:2], pages[3:], epochs=1)["model_id"]
    second = train(desk, pages[1:3], pages[3:], epochs=1, base=first)["model_id"]
    card = desk.client.get("/api/training/model", params={"model": second}).json()["card"]
    assert card["base"] == first
    assert {one["document_id"] for one in card["base_seen"]} == set(pages[:2])
    stated = json.loads((desk.library.models / "layout" / second / "config.json").read_text("utf-8"))
    assert stated["base"]["path"].endswith(f"{first}/config.json")


def test_a_page_with_the_picture_of_a_held_out_one_is_left_out_in_words(desk: Desk) -> None:
    pages = drawn_pages(desk, 2)
    held, twin = desk.picture(2, shade=90), desk.picture(2, shade=90)
    for page in (held, twin):
        desk.draw_regions(page, KINDS)
    desk.give_trainers()
    training_set = train(desk, [*pages, twin], [held], epochs=1)["training_set"]
    assert (training_set["pages"], training_set["regions"]) == (2, 20)
    ((one),) = training_set["missing"]
    assert one["document_id"] == twin
    assert "same picture" in one["why"]


def test_taken_in_undone_and_done_again(desk: Desk) -> None:
    pages = drawn_pages(desk, 3)
    desk.give_trainers()
    training = train(desk, pages[:2], pages[2:], epochs=1)
    config = desk.library.models / "layout" / training["model_id"] / "config.json"
    assert config.is_file()
    ((audit,),) = desk.rows("SELECT id FROM audit WHERE action_name = 'training.land'")
    undone = desk.client.post(f"/api/actions/audit/{audit}/undo")
    assert undone.status_code == 200, undone.text
    assert not config.is_file()
    answer = desk.client.post(
        "/api/actions/invoke",
        json={
            "name": "layout.find_regions",
            "params": {"scope_ids": [pages[2]], "model": training["model_id"]},
        },
    )
    assert answer.json()["code"] == "unknown_detector"
    second_answer = desk.client.post(f"/api/actions/audit/{undone.json()['audit_id']}/undo")
    assert second_answer.status_code == 200
    assert config.is_file()


def test_a_model_that_no_detector_takes_is_refused_and_so_is_a_trainer_that_is_gone(desk: Desk) -> None:
    page = desk.picture(2)
    folder = desk.library.models / "layout" / "others"
    folder.mkdir(parents=True)
    for written in ('{"model_type": "detr"}', "[]", "{"):
        (folder / "config.json").write_text(written, "utf-8")
        stated = {"scope_ids": [page], "model": "others"}
        answer = desk.client.post(
            "/api/actions/invoke", json={"name": "layout.find_regions", "params": stated}
        )
        assert (answer.status_code, answer.json()["code"]) == (422, "no_detector"), answer.text
    (folder / "config.json").write_text('{"model_type": "rt_detr"}', "utf-8")
    answer = desk.client.post("/api/actions/invoke", json={"name": "layout.find_regions", "params": stated})
    assert (answer.status_code, answer.json()["code"]) == (409, "runtime_missing"), answer.text
    for card in ("linereader", "regions"):
        with pytest.raises(Invalid, match="No trainer of"):
            trainer_named(desk.engine, card, "gone")
