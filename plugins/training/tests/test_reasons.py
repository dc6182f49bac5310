"""Reasons gathered from a provider on this machine, and students that are compared: counts and verdicts by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from training_desk import Desk

from armarium_testing.model_provider import Answer, LoopbackProvider
from armarium_training.jobs import reasons as jobs

NOWHERE = "f" * 32


@pytest.fixture
def provider(desk: Desk) -> Iterator[LoopbackProvider]:
    with LoopbackProvider() as running:
        running.add_to(desk.engine, "Here")
        running.add_to(desk.engine, "Far", host="http://93.184.216.34")
        yield running


def make_reasoned(text: str, reasons: str = "A long s.", uncertain: bool = False) -> str:
    return json.dumps({"reasons": reasons, "uncertain": uncertain, "transcription": text})


def check_texts(desk: Desk, texts: list[str]) -> str:
    page, lines = desk.page(["read"] * len(texts), by="teacher")
    for line, text in zip(lines, texts, strict=True):
        desk.correct(line, text)
    return page


def gather(desk: Desk, scope: list[str], **more: Any) -> Any:
    body = {"scope_ids": scope, "checked": "teacher", "provider": "Here", "model": "tiny", **more}
    return desk.client.post("/api/training/reasons", json=body)


def test_every_checked_line_is_asked_about_once(desk: Desk, provider: LoopbackProvider) -> None:
    page, held = check_texts(desk, ["one", "two", "three"]), check_texts(desk, ["kept"])
    bare, _ = desk.page(["never checked"], by="another")
    answers: list[str | Answer] = [
        Answer(make_reasoned("one"), thinking="Hm."),
        make_reasoned("two", reasons=" "),
        "no json",
        "no json",
        "no json",
    ]
    provider.answers = answers
    answer = gather(desk, [page, held, bare], held_out_ids=[held])
    assert answer.status_code == 200, answer.text
    desk.engine.jobs.run_until_idle(desk.library)
    told = desk.client.get(f"/api/training/reasons/{answer.json()['job_id']}").json()
    counts = {name: told[name] for name in ("lines", "with_reasons", "with_thinking", "unanswered")}
    assert told["state"] == "done", told
    assert counts == {
        "lines": 3,
        "with_reasons": 1,
        "with_thinking": counts["with_thinking"],
        "unanswered": 2,
    }
    assert {one["document_id"] for one in told["pages_missing"]} == {held, bare}
    assert len(desk.rows("SELECT DISTINCT segment_id FROM episode WHERE use_case = 'gather-reasons'")) == 3


def test_killed_between_two_lines_no_line_is_asked_twice(
    desk: Desk, provider: LoopbackProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = check_texts(desk, ["one", "two", "three"])
    provider.answers = [make_reasoned("x")]
    save = jobs.JobContext.save
    calls: list[int] = []

    def dying(self: Any, *given: Any, **more: Any) -> None:
        save(self, *given, **more)
        calls.append(1)
        if len(calls) == 2:
            raise RuntimeError("killed")

    job_id = gather(desk, [page]).json()["job_id"]
    with monkeypatch.context() as patched:
        patched.setattr(jobs.JobContext, "save", dying)
        desk.engine.jobs.run_until_idle(desk.library)
    desk.client.post(f"/api/activity/jobs/{job_id}/retry")
    desk.engine.jobs.run_until_idle(desk.library)
    assert desk.client.get(f"/api/training/reasons/{job_id}").json()["lines"] == 3
    assert len(provider.asked) == 3


def test_what_cannot_be_gathered_is_refused(desk: Desk, provider: LoopbackProvider, tmp_path: Path) -> None:
    page = check_texts(desk, ["one"])
    bare, _ = desk.page(["never checked"], by="another")
    prompts = desk.library.path / "recipe"
    (prompts / "empty.txt").write_text(" ")
    (tmp_path / "elsewhere.txt").write_text("Say why.")
    for scope, more, status, code in (
        ([], {}, 422, "invalid_request"),
        ([bare], {}, 422, "nothing_checked"),
        ([page], {"held_out_ids": [page]}, 422, "nothing_checked"),
        ([bare], {"provider": "Far"}, 422, "nothing_checked"),
        ([page], {"provider": "Far"}, 403, "pages_stay"),
        ([page], {"provider": "Nobody"}, 404, None),
        ([page], {"prompt_file": "empty.txt"}, 422, "bad_prompt_file"),
        ([page], {"prompt_file": "absent.txt"}, 404, "prompt_not_found"),
        ([page], {"prompt_file": str(tmp_path / "elsewhere.txt")}, 422, "bad_prompt_file"),
        ([page], {"prompt_file": "../library.json"}, 422, "bad_prompt_file"),
    ):
        answer = gather(desk, scope, **more)
        assert answer.status_code == status, (more, answer.text)
        assert code is None or status == 403 or answer.json()["code"] == code
    for path in ("reasons", "reasons-ab"):
        assert desk.client.get(f"/api/training/{path}/{NOWHERE}").status_code == 404
    assert desk.client.post(f"/api/training/reasons/{NOWHERE}/cancel").json()["code"] == "unknown_gathering"
    (prompts / "prompt.txt").write_text("Say why.")
    provider.answers = [make_reasoned("one")]
    job_id = gather(desk, [page], prompt_file="prompt.txt").json()["job_id"]
    cancelled = desk.client.post(f"/api/training/reasons/{job_id}/cancel")
    assert (cancelled.status_code, cancelled.json()["state"]) == (200, "cancelled")


def test_restricted_while_it_waits_a_page_is_missing(desk: Desk, provider: LoopbackProvider) -> None:
    page = check_texts(desk, ["one"])
    provider.answers = [make_reasoned("one")]
    job_id = gather(desk, [page]).json()["job_id"]
    desk.do("rights.set", {"target_kind": "document", "target_id": page, "model_use": "none"})
    desk.engine.jobs.run_until_idle(desk.library)
    answer = desk.client.get(f"/api/training/reasons/{job_id}").json()
    assert [one["document_id"] for one in answer["pages_missing"]] == [page]
    assert provider.asked == []


def test_restricted_between_two_lines_a_page_is_missing_from_there_on(
    desk: Desk, provider: LoopbackProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, other = check_texts(desk, ["one", "two"]), check_texts(desk, ["three"])
    provider.answers = [make_reasoned("x")]
    job_id = gather(desk, [page, other]).json()["job_id"]
    save = jobs.JobContext.save

    def barring(self: Any, kept: dict[str, Any], **more: Any) -> None:
        save(self, kept, **more)
        if kept.get("lines") == 1:
            desk.do("rights.set", {"target_kind": "document", "target_id": page, "model_use": "none"})

    monkeypatch.setattr(jobs.JobContext, "save", barring)
    desk.engine.jobs.run_until_idle(desk.library)
    answer = desk.client.get(f"/api/training/reasons/{job_id}").json()
    assert (answer["state"], answer["lines"]) == ("done", 2), answer
    assert [one["document_id"] for one in answer["pages_missing"]] == [page]
    assert len(provider.asked) == 2


def test_a_student_that_reasons_is_adopted_only_beyond_the_noise(
    desk: Desk, provider: LoopbackProvider
) -> None:
    page = check_texts(desk, ["abcdefghij"])
    folder = desk.library.models / "vision"
    folder.mkdir(parents=True)
    for name in ("tiny",):
        (folder / f"{name}.card.json").write_text(
            json.dumps(
                {"id": name, "kind": "vision-lora", "held_out": [{"document_id": page}], "evaluations": []}
            )
        )
    one = {"provider": "Here", "model": "tiny"}
    contenders = [
        {**one, "label": "plain", "arm": "answer", "role": "student"},
        {**one, "label": "why", "arm": "why", "role": "student"},
        {**one, "label": "base", "arm": "answer", "role": "baseline"},
    ]
    # Plain misses two of ten letters; why misses one and doubted it, and with reasoning off three; the base all.
    provider.answers = ["abcdefghxx", make_reasoned("abcdefghix", uncertain=True), "abcdefgxxx", "xxxxxxxxxx"]
    body = {"checked": "teacher", "held_out_ids": [page], "contenders": contenders, "noise_band": 0.1}
    answer = desk.client.post("/api/training/reasons-ab", json=body)
    assert answer.status_code == 200, answer.text
    desk.engine.jobs.run_until_idle(desk.library)
    told = desk.client.get(f"/api/training/reasons-ab/{answer.json()['job_id']}").json()
    assert told["state"] == "done", told
    rates = [
        (contender["label"], contender["reasoning"], contender["cer"]["diplomatic"])
        for contender in told["contenders"]
    ]
    assert rates == [("plain", "off", 0.2), ("why", "on", 0.1), ("why", "off", 0.3), ("base", "off", 1.0)]
    assert told["contenders"][1]["errors_on_uncertain"] == 1
    (verdict,) = told["verdicts"]
    # A tenth better is not more than a noise of a tenth.
    assert (verdict["label"], verdict["adopted"], verdict["margin"]) == ("why", False, 0.1)
    card = json.loads((folder / "tiny.card.json").read_text())
    assert [entry["job_id"] for entry in card["evaluations"]] == [told["job_id"]]


def test_comparisons_that_say_nothing_are_refused(desk: Desk, provider: LoopbackProvider) -> None:
    page, barred = check_texts(desk, ["one"]), check_texts(desk, ["two"])
    bare, _ = desk.page(["never checked"], by="another")
    desk.do("rights.set", {"target_kind": "document", "target_id": barred, "model_use": "none"})
    one = {"label": "a", "provider": "Here", "model": "tiny", "arm": "answer", "role": "student"}
    far = {**one, "provider": "Far"}
    for contenders, more, status, code in (
        ([one], {}, 422, "invalid_request"),
        ([one, one], {"held_out_ids": []}, 422, "invalid_request"),
        # What there is nothing to ask about comes before whether it may be sent.
        ([one, far], {"held_out_ids": [bare]}, 422, "nothing_checked"),
        ([one, one], {"held_out_ids": [barred]}, 422, "nothing_checked"),
        ([one, {**one, "provider": "Nobody"}], {}, 404, "unknown_provider"),
        ([one, far], {}, 403, "pages_may_not_leave"),
    ):
        body = {"checked": "teacher", "held_out_ids": [page], "contenders": contenders, **more}
        answer = desk.client.post("/api/training/reasons-ab", json=body)
        assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    desk.do("library.set", {"local_only_ai": True})
    body = {"checked": "teacher", "held_out_ids": [page], "contenders": [one, far], "pages_may_leave": True}
    answer = desk.client.post("/api/training/reasons-ab", json=body)
    assert (answer.status_code, answer.json()["code"]) == (403, "offline"), answer.text
    assert gather(desk, [page], provider="Far", pages_may_leave=True).json()["code"] == "offline"


def test_a_student_is_not_compared_on_a_page_it_may_have_seen(desk: Desk, provider: LoopbackProvider) -> None:
    page, other = check_texts(desk, ["one"]), check_texts(desk, ["two"])
    folder = desk.library.models / "vision"
    folder.mkdir(parents=True)
    card = {"id": "tiny", "kind": "vision-lora", "held_out": [{"document_id": page}], "evaluations": []}
    one = {"label": "a", "provider": "Here", "model": "tiny", "arm": "answer", "role": "student"}
    for held, seen in ((other, []), (page, [{"document_id": page}])):
        (folder / "tiny.card.json").write_text(json.dumps({**card, "training_set": {"documents": seen}}))
        body = {"checked": "teacher", "held_out_ids": [held], "contenders": [one, one]}
        answer = desk.client.post("/api/training/reasons-ab", json=body)
        assert (answer.status_code, answer.json()["code"]) == (422, "may_have_trained"), answer.text


def test_a_page_restricted_while_a_comparison_waits_is_not_read(
    desk: Desk, provider: LoopbackProvider
) -> None:
    page, barred = check_texts(desk, ["one"]), check_texts(desk, ["two"])
    one = {"provider": "Here", "model": "tiny", "arm": "answer", "role": "baseline"}
    body = {
        "checked": "teacher",
        "held_out_ids": [page, barred],
        "contenders": [{**one, "label": "a"}, {**one, "label": "b"}],
    }
    provider.answers = ["one"]
    job_id = desk.client.post("/api/training/reasons-ab", json=body).json()["job_id"]
    desk.do("rights.set", {"target_kind": "document", "target_id": barred, "model_use": "none"})
    desk.engine.jobs.run_until_idle(desk.library)
    answer = desk.client.get(f"/api/training/reasons-ab/{job_id}").json()
    assert (answer["state"], answer["pages"], answer["lines"]) == ("done", 1, 1), answer


def test_a_page_with_the_picture_of_a_held_out_one_is_not_asked_about(
    desk: Desk, provider: LoopbackProvider
) -> None:
    held, lines = desk.page(["kept"], shade=90)
    twin, others = desk.page(["seen again"], shade=90)
    for line in (*lines, *others):
        desk.correct(line, "kept")
    answer = gather(desk, [twin], held_out_ids=[held])
    assert (answer.status_code, answer.json()["code"]) == (422, "nothing_checked"), answer.text


def test_a_student_that_does_not_answer_is_not_measured_and_beaten_by_nobody(
    desk: Desk, provider: LoopbackProvider
) -> None:
    page = check_texts(desk, ["abcdefghij", "klmnopqrst"])
    one = {"provider": "Here", "model": "tiny"}
    contenders = [
        {**one, "label": "plain", "arm": "answer", "role": "student"},
        {**one, "label": "why", "arm": "why", "role": "student"},
    ]
    refused = Answer(status=404, body=b"{}")
    provider.answers = [
        refused,
        refused,
        make_reasoned("abcdefghij"),
        make_reasoned("klmnopqrst"),
        "abcdefghij",
        "klmnopqrst",
    ]
    body = {"checked": "teacher", "held_out_ids": [page], "contenders": contenders}
    job_id = desk.client.post("/api/training/reasons-ab", json=body).json()["job_id"]
    desk.engine.jobs.run_until_idle(desk.library)
    answer = desk.client.get(f"/api/training/reasons-ab/{job_id}").json()
    assert answer["state"] == "done", answer
    plain, why, _ = answer["contenders"]
    assert (plain["measured"], plain["unanswered"], plain["cer"], plain["wer"]) == (False, 2, {}, None)
    assert (why["measured"], why["unanswered"], why["cer"]["diplomatic"]) == (True, 0, 0.0)
    (verdict,) = answer["verdicts"]
    assert (verdict["adopted"], verdict["margin"]) == (False, None)
    assert "plain left 2 lines unanswered" in verdict["why"]
