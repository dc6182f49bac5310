"""Training samples from the ledger: one a call that was answered, gold where a correction by a person stands."""

from __future__ import annotations

from typing import Any

import orjson
from exports_desk import MACHINE, Desk
from sqlalchemy import insert

from armarium_reading.api import episodes


def call(desk: Desk, page: str, output: str, *, segment_id: str | None = None, **more: Any) -> str:
    """A call of a model about a page (or one line of it) as the ledger has it."""
    seq = len(desk.rows("SELECT 1 FROM episode")) + 1
    row = {
        "id": f"ep_{seq}",
        "at": "2020-01-01T00:00:00.000Z",
        "kind": "model_call",
        "use_case": "read-a-page",
        "thread_id": None,
        "attempt": 1,
        "subject_kind": "page",
        "document_id": page,
        "segment_id": segment_id,
        "provider": "reader",
        "model": "reader",
        "exchange": {"prompt": "Read this.", "system": "You read.", "output": output},
        "started_at": "2020-01-01T00:00:00.000Z",
        "seconds": 1.0,
        "cost": {},
        "stale_artifact_ids": [],
        "actor": "reader",
    } | more
    with desk.library.db.write() as conn:
        conn.execute(insert(episodes).values(row))
    return str(row["id"])


def read(desk: Desk, texts: list[str]) -> tuple[str, list[str], str]:
    """A page read by a machine, with the call in the ledger: page, lines, episode."""
    page = desk.page(desk.box(), "1.png", [""] * len(texts))
    lines = desk.lines(page)
    pass_id = desk.rows("SELECT pass_id FROM segment WHERE id = ?", lines[0])[0][0]
    episode = call(desk, page, "\n".join(texts))
    readings = [{"segment_id": line, "text": text} for line, text in zip(lines, texts, strict=True)]
    taken = {"document_id": page, "pass_id": pass_id, "provider": "reader", "model": "reader"}
    desk.do("reading.take", {**taken, "readings": readings}, MACHINE)
    return page, lines, episode


def samples(desk: Desk, **more: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    place = desk.folder / "samples.jsonl"
    answer = desk.post("/api/export/training", output_path=str(place), overwrite=True, **more)
    return answer, [orjson.loads(line) for line in place.read_bytes().splitlines()]


def test_a_call_is_a_chat(desk: Desk) -> None:
    page, _, episode = read(desk, ["Dear Sir", "Farwell"])
    answer, (sample,) = samples(desk)
    assert [(message["role"], message["content"]) for message in sample["messages"]] == [
        ("system", "You read."),
        ("user", "Read this."),
        ("assistant", "Dear Sir\nFarwell"),
    ]
    assert sample["gold"] is False
    assert "rejected" not in sample
    assert sample["episode_id"] == episode
    assert sample["subject"]["id"] == page
    assert (answer["sample_count"], answer["gold_count"]) == (1, 0)


def test_a_persons_correction_is_gold_and_the_models_answer_rejected(desk: Desk) -> None:
    _, lines, _ = read(desk, ["Dear Sir", "Farwell"])
    step = desk.step("representation.create", {"segment_id": lines[1], "text": "Farewell"})
    answer, (sample,) = samples(desk)
    assert sample["messages"][-1]["content"] == "Dear Sir\nFarewell"
    assert sample["gold"] is True
    assert sample["rejected"] == "Dear Sir\nFarwell"
    assert answer["gold_count"] == 1
    desk.undo(step)
    _, (undone,) = samples(desk)
    assert undone["gold"] is False
    assert undone["messages"][-1]["content"] == "Dear Sir\nFarwell"
    assert samples(desk, gold_only=True)[1] == []


def test_a_machines_correction_is_no_gold(desk: Desk) -> None:
    _, lines, _ = read(desk, ["Dear Sir", "Farwell"])
    desk.do("representation.create", {"segment_id": lines[1], "text": "Farewell"}, MACHINE)
    _, (sample,) = samples(desk)
    assert sample["gold"] is False


def test_an_answer_of_which_a_part_cannot_be_put_right_is_no_gold(desk: Desk) -> None:
    _, lines, _ = read(desk, ["et", "et"])
    desk.do("representation.create", {"segment_id": lines[1], "text": "est"})
    _, (sample,) = samples(desk)
    assert sample["gold"] is False
    assert sample["messages"][-1]["content"] == "et\net"


def test_answers_in_json_are_put_right_within_their_quotes(desk: Desk) -> None:
    page, lines, _ = read(desk, ["Farwell"])
    desk.rows("SELECT 1")
    call(desk, page, '{"lines":["Farwell"]}', at="2020-01-02T00:00:00.000Z")
    desk.do("representation.create", {"segment_id": lines[0], "text": 'Farewell "dear"'})
    gold_by_content = {one["messages"][-1]["content"]: one["gold"] for one in samples(desk)[1]}
    assert gold_by_content.get('{"lines":["Farewell \\"dear\\""]}') is True


def test_failed_calls_and_calls_of_other_steps_give_no_sample(desk: Desk) -> None:
    page = desk.page(desk.box(), "1.png", ["x"])
    call(desk, page, "", exchange={"prompt": "p", "output": "", "error": "timeout"})
    call(desk, page, "half", exchange={"prompt": "p", "output": "half", "error": "cut"})
    call(desk, page, "names", use_case="find-names")
    call(desk, page, "text")
    _, found = samples(desk, use_case="find-names")
    assert [item["messages"][-1]["content"] for item in found] == ["names"]
    assert len(samples(desk)[1]) == 2


def test_what_rights_withhold_is_left_out_and_listed(desk: Desk) -> None:
    page, _, _ = read(desk, ["A secret"])
    desk.do("rights.set", {"target_kind": "document", "target_id": page, "model_use": "none"})
    answer, found = samples(desk)
    assert found == []
    assert [entry["document_id"] for entry in answer["withheld"]] == [page]


def test_the_file_ends_in_jsonl_and_is_not_written_over_unasked(desk: Desk) -> None:
    place = str(desk.folder / "samples.json")
    assert desk.post("/api/export/training", 422, output_path=place)["code"] == "wrong_ending"
    good = str(desk.folder / "samples.jsonl")
    desk.post("/api/export/training", output_path=good)
    assert desk.post("/api/export/training", 409, output_path=good)["code"] == "destination_exists"
