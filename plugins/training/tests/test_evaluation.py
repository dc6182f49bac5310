"""Evaluation over HTTP: error rates worked out by hand, what may not be measured, and what is written on cards."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import training_readers
from training_desk import Desk

from armarium_reading.api import READERS, models_folder
from armarium_reading.fitting import fitting, share
from armarium_reading.readers import calibration_of
from armarium_testing.model_provider import LoopbackProvider
from armarium_training import measuring, planning
from armarium_training.jobs import evaluation as jobs
from armarium_training.schemas.evaluation import RunParams

CAREFUL = {"model": "careful", "reader": "linereader"}
CARELESS = {"model": "careless", "reader": "linereader"}


@pytest.fixture
def readers(desk: Desk) -> None:
    for reader in training_readers.ALL:
        desk.engine.drivers.give(READERS, reader.name, reader)


def checked_page(desk: Desk, count: int = 3, wrong: int = 0) -> str:
    """A page whose lines a person corrected to `line n`, the first *wrong* of them to something else."""
    page, lines = desk.page([f"read {number}" for number in range(count)])
    for number, line in enumerate(lines):
        desk.correct(line, f"line {number}" if number >= wrong else f"Line {number}")
    return page


def run(desk: Desk, **body: Any) -> dict[str, Any]:
    """Measure to the end; the evaluation as answered."""
    answer = desk.client.post("/api/evaluation/runs", json={"add_out_of_the_box": False, **body})
    assert answer.status_code == 200, answer.text
    desk.engine.jobs.run_until_idle(desk.library)
    found_answer: dict[str, Any] = desk.client.get(f"/api/evaluation/runs/{answer.json()['job_id']}").json()
    return found_answer


def expect_refusal(desk: Desk, **body: Any) -> str:
    """The code of the refusal, with nothing queued."""
    answer = desk.client.post("/api/evaluation/runs", json={"add_out_of_the_box": False, **body})
    assert answer.status_code in (404, 409, 422), answer.text
    assert desk.rows("SELECT 1 FROM job WHERE kind = 'evaluate-models'") == []
    return str(answer.json()["code"])


@pytest.mark.usefixtures("readers")
def test_two_readers_are_measured_by_the_one_rate(desk: Desk) -> None:
    page = checked_page(desk, 3, wrong=1)
    before = (
        desk.rows("SELECT count(*) FROM content_representation"),
        desk.rows("SELECT count(*) FROM segment_pass"),
    )
    result = run(desk, candidates=[CAREFUL, CARELESS], held_out_ids=[page])
    assert result["state"] == "done", result
    careful, careless = result["result"]["models"]
    # "Line 0\nline 1\nline 2" has 20 characters, and one capital is missed; the other reader misses three n as well.
    diplomatic = careful["totals"]["diplomatic"]
    assert (diplomatic["distance"], diplomatic["reference_chars"], diplomatic["cer"]) == (1, 20, 0.05)
    assert careless["totals"]["diplomatic"]["distance"] == 4
    assert careful["totals"]["lenient"]["cer"] == 0
    assert careless["totals"]["lenient"]["distance"] == 3
    # Of six words one, and three.
    assert (careful["wer"], careless["wer"]) == (pytest.approx(1 / 6, abs=1e-6), 0.5)
    assert careful["pages"][0]["scores"]["diplomatic"]["hypothesis_chars"] == 20
    assert careful["pages"][0]["checked_by"]
    assert careful["speed"]["pages"] == 1
    low, high = diplomatic["interval"]
    assert low <= 0.05 <= high
    # The reader writes a small l for the capital one; the other takes n for m as well, three times.
    assert careful["confusions"] == [{"expected": "L", "read": "l", "times": 1}]
    assert careless["confusions"] == [
        {"expected": "n", "read": "m", "times": 3},
        {"expected": "L", "read": "l", "times": 1},
    ]
    assert result["result"]["best"] == "careful"
    assert result["result"]["comparisons"][0]["worse"] == "careless"
    assert before == (
        desk.rows("SELECT count(*) FROM content_representation"),
        desk.rows("SELECT count(*) FROM segment_pass"),
    )
    scores = desk.client.get("/api/evaluation/scores", params={"model": "careful"}).json()
    assert scores["count"] == 1
    assert scores["items"][0]["cer"]["diplomatic"] == 0.05
    assert desk.client.get("/api/evaluation/scores", params={"reader": "vision"}).json()["count"] == 0
    again = run(desk, candidates=[CAREFUL], held_out_ids=[page])
    listed = desk.client.get("/api/evaluation/runs").json()["items"]
    assert [item["job_id"] for item in listed] == [again["job_id"], result["job_id"]]
    assert (listed[1]["models"], listed[1]["pages"], listed[1]["state"]) == (
        ["careful", "careless"],
        1,
        "done",
    )
    assert desk.client.get("/api/evaluation/runs", params={"limit": 1}).json()["items"] == listed[:1]
    assert desk.client.get("/api/training/models").json()["count"] == 0


def test_a_language_is_the_same_under_any_of_its_codes() -> None:
    codes = {"fra": "fr", "fre": "fr", "FRA-CA": "fr-CA", "frm": "frm", "deu_latf": "deu_latf"}
    assert {code: RunParams(language=code).language for code in codes} == codes


@pytest.mark.usefixtures("readers")
def test_no_reader_is_measured_by_what_it_read_itself(desk: Desk) -> None:
    """A pass that is named as the checked one counts where a person, or a file, wrote its text."""
    page, lines = desk.page(["line 0", "lime 1", "line 2"], by="careful")
    given = {"candidates": [CAREFUL], "held_out_ids": [page], "pass": "careful"}
    assert expect_refusal(desk, **given) == "nothing_checked"
    desk.correct(lines[1], "line one")
    result = run(desk, **given)
    assert [page["lines"] for page in result["plan"]["pages"]] == [1]
    # "line one" against "line 1": three of eight.
    assert result["result"]["models"][0]["totals"]["diplomatic"]["cer"] == 0.375
    desk.verdict(lines[0], "confirm")
    assert [page["lines"] for page in run(desk, **given)["plan"]["pages"]] == [2]


@pytest.mark.usefixtures("readers")
def test_a_trained_model_is_measured_on_what_it_holds_out_alone(desk: Desk) -> None:
    taught, held, other = checked_page(desk), checked_page(desk), checked_page(desk)
    trained = desk.train([taught], held_out_ids=[held], epochs=1)["reader_id"]
    candidate = {"model": trained, "reader": "linereader"}
    for page in (taught, other):
        assert expect_refusal(desk, candidates=[candidate], held_out_ids=[page]) == "may_have_trained"
    bare = desk.train([taught], epochs=1)["reader_id"]
    assert expect_refusal(desk, candidates=[{**candidate, "model": bare}]) == "nothing_held_out"
    # A student of that model may have seen what its teacher saw, whatever its own card holds out.
    student = desk.train([other], held_out_ids=[taught, held], base=trained, epochs=1)["reader_id"]
    again = {"model": student, "reader": "linereader"}
    assert expect_refusal(desk, candidates=[again], held_out_ids=[taught]) == "may_have_trained"
    answer = desk.client.post(
        "/api/evaluation/runs", json={"candidates": [candidate, again], "add_out_of_the_box": False}
    )
    assert [page["document_id"] for page in answer.json()["plan"]["pages"]] == [held], answer.text
    weights = desk.library.models / "hand" / f"{bare}.onnx"
    weights.unlink()
    assert (
        desk.client.post("/api/evaluation/runs", json={"candidates": [{**candidate, "model": bare}]}).json()[
            "code"
        ]
        == "model_not_here"
    )


@pytest.mark.usefixtures("readers")
def test_scores_are_added_to_the_card_once_and_a_stopped_run_adds_none(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = checked_page(desk)
    folder = desk.library.models / "careful"
    folder.mkdir(parents=True)
    (folder / "mine.careful").write_bytes(b"x")
    card = folder / "mine.card.json"
    card.write_text(json.dumps({"id": "mine", "held_out": [{"document_id": page}], "evaluations": []}))
    mine = {"model": "mine", "reader": "linereader"}
    job_id = desk.client.post(
        "/api/evaluation/runs", json={"candidates": [mine], "add_out_of_the_box": False}
    ).json()["job_id"]
    desk.client.post(f"/api/activity/jobs/{job_id}/cancel")
    assert json.loads(card.read_text())["evaluations"] == []
    add = jobs._write_on_cards

    def dying(*given: Any) -> None:
        add(*given)
        raise RuntimeError("killed")

    with monkeypatch.context() as patched:
        patched.setattr(jobs, "_write_on_cards", dying)
        result = run(desk, candidates=[mine])
    assert result["state"] == "failed"
    assert result["result"] is None
    desk.client.post(f"/api/activity/jobs/{result['job_id']}/retry")
    desk.engine.jobs.run_until_idle(desk.library)
    (entry,) = json.loads(card.read_text())["evaluations"]
    assert entry["job_id"] == result["job_id"]
    assert entry["cer"]["diplomatic"] == 0
    model = desk.client.get("/api/training/model", params={"model": "mine"}).json()
    assert model["scores"]["pages"] == 1
    assert len(model["evaluation_history"]) == 1


@pytest.mark.usefixtures("readers")
def test_a_reader_that_fails_is_not_measured_and_never_a_hundred_per_cent(desk: Desk) -> None:
    page = checked_page(desk)
    result = run(
        desk, candidates=[CAREFUL, {"model": "refusing", "reader": "linereader"}], held_out_ids=[page]
    )
    failing = result["result"]["models"][1]
    assert (failing["measured"], failing["totals"], failing["wer"]) == (False, {}, None)
    assert "too faint" in failing["why"]
    assert result["result"]["best"] is None
    assert desk.client.get("/api/evaluation/scores").json()["count"] == 1


@pytest.mark.usefixtures("readers")
def test_what_cannot_be_measured_honestly_is_refused(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    page, _ = desk.page(["unchecked"])
    assert expect_refusal(desk, candidates=[CAREFUL]) == "no_pages"
    assert expect_refusal(desk, candidates=[CAREFUL], held_out_ids=[page]) == "nothing_checked"
    assert expect_refusal(desk, held_out_ids=[page]) == "no_candidates"
    assert expect_refusal(desk, candidates=[{"model": "nobody", "reader": "linereader"}]) == "model_not_here"
    assert expect_refusal(desk, candidates=[{**CAREFUL, "provider": "anyone"}]) == "remote_candidate"
    assert expect_refusal(desk, candidates=[{"model": "m", "reader": "pen"}]) == "invalid_request"
    with monkeypatch.context() as patched:
        patched.setattr(planning, "choose", _refusing)
        assert expect_refusal(desk, candidates=[CAREFUL], held_out_ids=[page]) == "model_not_here"
    barred = checked_page(desk)
    desk.do("rights.set", {"target_kind": "document", "target_id": barred, "model_use": "none"})
    assert expect_refusal(desk, candidates=[CAREFUL], held_out_ids=[barred]) == "nothing_checked"
    assert desk.client.get("/api/evaluation/runs/nothing").json()["code"] == "unknown_evaluation"


def _refusing(*_: Any, **__: Any) -> None:
    from armarium.api import Conflict

    raise Conflict("Its runtime is not here.", code="runtime_missing")


@pytest.mark.usefixtures("readers")
def test_a_vision_model_is_measured_where_this_machine_serves_it(desk: Desk) -> None:
    page = checked_page(desk, 2)
    with LoopbackProvider() as provider:
        provider.answers = ["line 0", "line 1"]
        provider.add_to(desk.engine, "Here")
        provider.add_to(desk.engine, "Far", host="http://93.184.216.34")
        seen = {"model": "tiny", "reader": "vision"}
        assert (
            expect_refusal(desk, candidates=[{**seen, "provider": "Far"}], held_out_ids=[page])
            == "remote_candidate"
        )
        result = run(desk, candidates=[{**seen, "provider": "Here"}], held_out_ids=[page])
    (model,) = result["result"]["models"]
    assert model["totals"]["diplomatic"]["cer"] == 0, result


def test_letters_left_out_and_added_are_counted_too() -> None:
    assert measuring.confusions([("abba", "aba"), ("ab", "abc"), ("abba", "aba")]) == [
        ["b", "", 2],
        ["", "c", 1],
    ]
    assert measuring.confusions([("", "")]) == []


@pytest.mark.usefixtures("readers")
def test_a_project_held_to_this_machine_measures_no_model_elsewhere(desk: Desk) -> None:
    page = checked_page(desk)
    with LoopbackProvider() as provider:
        provider.add_to(desk.engine, "Far", host="http://93.184.216.34")
        far = {"model": "tiny", "reader": "vision", "provider": "Far"}
        desk.do("library.set", {"local_only_ai": True})
        given = {"candidates": [far], "held_out_ids": [page], "pages_may_leave": True}
        assert expect_refusal(desk, **given) == "remote_candidate"


def test_intervals_and_the_paired_test_behave_as_their_textbooks_say() -> None:
    chance = np.random.default_rng(1)
    lines = np.column_stack([chance.binomial(40, 0.1, 400), np.full(400, 40)])
    low, high = measuring.interval(lines) or (0, 0)
    rate = lines[:, 0].sum() / lines[:, 1].sum()
    # The standard error of a mean of binomials is known.
    error = 1.96 * (0.1 * 0.9 / (400 * 40)) ** 0.5
    assert low == pytest.approx(rate - error, abs=error / 4)
    assert high == pytest.approx(rate + error, abs=error / 4)
    worse = lines + np.array([2, 0])
    assert (measuring.paired_p_value(lines, worse) or 1) < 0.001
    shuffled = chance.permutation(lines)
    assert (measuring.paired_p_value(lines, shuffled) or 0) > 0.5
    assert measuring.paired_p_value(lines, lines[1:]) is None


@pytest.mark.usefixtures("readers")
def test_what_a_model_s_confidence_is_worth_is_noted_when_it_is_measured_so_that_it_may_be_chosen(
    desk: Desk,
) -> None:
    folder = models_folder(desk.engine, "swaggering")
    folder.mkdir(parents=True)
    (folder / "bold.sure").write_bytes(b"weights")
    fits = lambda: [one.reader.name for one in fitting(desk.engine, desk.library, None)]  # noqa: E731
    candidate = {"model": "bold", "reader": "linereader"}
    few = checked_page(desk, 9)
    assert run(desk, candidates=[candidate], held_out_ids=[few])["state"] == "done"
    assert calibration_of(folder / "bold.sure") is None
    assert "swaggering" not in fits()
    page = checked_page(desk, 90)
    result = run(desk, candidates=[candidate], held_out_ids=[page])
    calibration = calibration_of(folder / "bold.sure")
    assert calibration is not None
    assert calibration["lines"] == 90
    assert share(calibration["table"], 0.6) == pytest.approx(0.5, abs=0.05)
    assert share(calibration["table"], 0.9) == pytest.approx(1, abs=0.05)
    # The policy by which candidates are ranked.
    assert calibration["cer"] in {
        round(total["cer"], 5) for total in result["result"]["models"][0]["totals"].values()
    }
    assert "swaggering" in fits()
