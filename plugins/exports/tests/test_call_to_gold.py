"""The whole way of a training sample: a provider is asked, a person corrects, the sample is gold; undone, it is not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from exports_desk import Desk

from armarium_testing.model_provider import LoopbackProvider

READ = "Muy senor mio"
RIGHT = "Muy señor mío"


@pytest.fixture
def provider(desk: Desk) -> Iterator[LoopbackProvider]:
    """A provider of this machine that answers every line alike."""
    with LoopbackProvider() as provider:
        provider.add_to(desk.engine, "Loopback")
        provider.answers = [READ]
        yield provider


def samples(desk: Desk, **more: Any) -> list[tuple[str, bool, str | None]]:
    """(answer, gold, rejected) of each sample, by the episode it comes from."""
    place = desk.folder / "samples.jsonl"
    desk.post("/api/export/training", output_path=str(place), overwrite=True, **more)
    found = [orjson.loads(line) for line in place.read_bytes().splitlines()]
    return [(item["messages"][-1]["content"], item["gold"], item.get("rejected")) for item in found]


def ledger(desk: Desk) -> list[tuple[Any, ...]]:
    """Of each episode its kind, and the kind of the one that it is about."""
    return desk.rows(
        "SELECT e.kind, o.kind FROM episode e LEFT JOIN episode o ON o.id = e.corrects_episode_id ORDER BY e.seq"
    )


def test_from_the_call_to_a_gold_sample_and_back(desk: Desk, provider: LoopbackProvider) -> None:
    page = desk.page(desk.box(), "1.png", [""])
    (line,) = desk.lines(page)
    desk.do("reading.read_lines", {"scope_ids": [page], "provider": "Loopback"})
    desk.work()
    assert len(provider.asked) == 1
    assert ledger(desk) == [("model_call", None)]
    assert samples(desk) == [(READ, False, None)]

    step = desk.step("representation.create", {"segment_id": line, "text": RIGHT})
    assert ledger(desk)[1:] == [("correction", "model_call")]
    assert samples(desk, gold_only=True) == [(RIGHT, True, READ)]

    undone = desk.undo(step)
    assert samples(desk) == [(READ, False, None)]
    assert samples(desk, gold_only=True) == []
    desk.undo(undone)
    assert samples(desk, gold_only=True) == [(RIGHT, True, READ)]
    assert {kind for kind, _ in ledger(desk)} <= {"model_call", "correction", "invalidation"}
    assert all(about == "model_call" for _, about in ledger(desk)[1:])


def test_a_reading_that_is_taken_back_leaves_no_sample_of_its_answer_as_good(
    desk: Desk, provider: LoopbackProvider
) -> None:
    page = desk.page(desk.box(), "1.png", [""])
    (line,) = desk.lines(page)
    desk.do("reading.read_lines", {"scope_ids": [page], "provider": "Loopback"})
    desk.work()
    corrected = desk.step("representation.create", {"segment_id": line, "text": RIGHT})
    ((taken,),) = desk.rows("SELECT id FROM audit WHERE action_name = 'reading.take'")
    for step in (corrected, taken):
        desk.undo(step)
    assert ("invalidation", "model_call") in ledger(desk)
    assert samples(desk, gold_only=True) == []
