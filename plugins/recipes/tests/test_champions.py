"""Champions, one reader for each hand: set by a person or by a bake-off, and used when lines are read."""

from __future__ import annotations

from typing import Any

import bakeoff_readers as readers
import pytest
from bakeoff_fixtures import Desk, row_of

from armarium.api import Engine, Library
from armarium_recipes.bakeoffs.hands import by_hand, holm

URL = "/api/recipes/project/champions"


@pytest.fixture
def desk(engine: Engine, library: Library, client: Any) -> Desk:
    return Desk(engine, library, client)


def attribute(desk: Desk, hand: str, lines: list[str]) -> None:
    for line in lines:
        desk.do("hand.attribute", {"hand_id": hand, "segment_id": line})


def put(desk: Desk, **body: Any) -> Any:
    return desk.client.put(URL, json=body)


def read_by(desk: Desk, page: str, **settings: Any) -> dict[str, str]:
    """Read a page's lines; return the reader of each."""
    body = {"scope_ids": [page], **settings}
    assert desk.client.post("/api/reading/read", json=body).status_code == 202
    desk.engine.jobs.run_until_idle(desk.library)
    asked = (
        "SELECT segment_id, producer_tool FROM content_representation WHERE document_id = ? AND kind = 'transcription'"
        " ORDER BY created_at, id"
    )
    return dict(desk.rows(asked, page))


def test_lines_of_a_hand_are_read_by_its_reader_and_rivals_by_the_projects(desk: Desk) -> None:
    desk.give(readers.First, readers.Second)
    page, lines = desk.page(6, checked=False)
    first, second = (desk.do("hand.create", {"label": name})["id"] for name in ("A", "B"))
    attribute(desk, first, lines[:4])
    # The fourth line is attributed to the other hand as well.
    attribute(desk, second, [lines[3]])
    answer = put(desk, hand_id=first, card="second:base@1")
    assert answer.status_code == 200, answer.text
    assert answer.json()["champion"]["reader"] == "second"
    listed = desk.client.get(URL).json()
    assert (listed["count"], listed["items"][0]["label"], listed["items"][0]["card"]) == (
        1,
        "A",
        "second:base@1",
    )
    named = read_by(desk, page, reader="first", own_readers=True)
    assert [named[line] for line in lines] == ["second"] * 3 + ["first"] * 3
    episodes = desk.rows("SELECT provider FROM episode ORDER BY seq")
    assert episodes == [("first",), ("second",)]
    # A person who names a reader and does not ask for the readers of hands gets that reader.
    assert set(read_by(desk, page, reader="first").values()) == {"first"}
    assert (
        desk.client.post(
            "/api/actions/audit/undo", json={"audit_ids": [answer.json()["audit_id"]]}
        ).status_code
        == 200
    )
    assert desk.client.get(URL).json()["count"] == 0
    assert set(read_by(desk, page, reader="first", own_readers=True).values()) == {"first"}
    # Lines whose champion is no longer installed are read by the page's reader.
    put(desk, hand_id=first, card="second:base@1")
    desk.give(readers.First)
    assert set(read_by(desk, page, reader="first", own_readers=True).values()) == {"first"}
    assert put(desk, hand_id=first, card=None).json()["champion"] is None
    assert put(desk, hand_id=first, card=None).status_code == 200
    assert desk.client.get(URL).json()["count"] == 0


def test_what_is_no_reader_of_a_hand_is_refused(desk: Desk) -> None:
    desk.give(readers.First, readers.Finder)
    hand = desk.do("hand.create", {"label": "A"})["id"]
    assert put(desk, hand_id="nobody", card="first:base@1").json()["code"] == "unknown_hand"
    assert put(desk, hand_id=hand, card="nobody@1").json()["code"] == "unknown_card"
    assert put(desk, hand_id=hand, card="rapidocr:PP-OCRv6-det@6").json()["code"] == "cannot_read_here"
    assert put(desk, hand_id=hand, card="first:base@1", colour="red").status_code == 422
    assert put(desk, hand_id=hand, card="first:base@1").status_code == 200
    assert put(desk, hand_id=hand, card="first:base@1").json()["champion"]["card"] == "first:base@1"
    desk.do("hand.withdraw", {"hand_id": hand})
    assert desk.client.get(URL).json()["count"] == 0
    assert put(desk, hand_id=hand, card="first:base@1").json()["code"] == "withdrawn_hand"


@pytest.mark.slow
def test_a_bake_off_scores_each_hand_and_promotes_what_is_significantly_better(desk: Desk) -> None:
    desk.give(readers.First, readers.Second)
    desk.set_up()
    light = [desk.page() for _ in range(2)]
    dark = [desk.page(shade=240) for _ in range(2)]
    few = desk.page(40, shade=240)
    first, second, third = (desk.do("hand.create", {"label": name})["id"] for name in ("A", "B", "C"))
    for page, hand in (*((one, first) for one in light), *((one, second) for one in dark), (few, third)):
        attribute(desk, hand, page[1])
    result = desk.run(promote=True)
    assert [(hand["label"], hand["lines"]) for hand in result["hands"]] in (
        [("A", 120), ("B", 120)],
        [("B", 120), ("A", 120)],
    )
    hands = {hand["label"]: hand for hand in result["hands"]}
    # The second reader makes no error in the second hand, the first misreads a letter in every tenth row.
    assert hands["B"]["rows"][0] == {
        "card": "second:base@1",
        "cer": 0,
        "interval": [0, 0],
        "p": hands["B"]["rows"][0]["p"],
    }
    assert hands["B"]["better"] == "second:base@1"
    assert hands["B"]["promoted"] is True
    assert (hands["A"]["better"], hands["A"]["promoted"]) == (None, False)
    (champion,) = desk.client.get(URL).json()["items"]
    assert (champion["label"], champion["card"], champion["bakeoff_id"]) == (
        "B",
        "second:base@1",
        result["id"],
    )
    assert row_of(result, "first:base@1")["tied"] is True
    # Without `promote` no champion is set.
    put(desk, hand_id=second, card=None)
    assert not any(hand["promoted"] for hand in desk.run()["hands"])
    assert desk.client.get(URL).json()["count"] == 0


def test_holms_correction_is_that_of_the_textbook() -> None:
    # Holm 1979: the smallest p times the number of tests, the next times one less, never decreasing, at most 1.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_a_difference_that_many_comparisons_explain_makes_no_champion() -> None:
    lines = {f"line-{number}": (0, 10) for number in range(120)}
    hand_of = dict.fromkeys(lines, "hand")
    # The one in use errs in seven lines and the other in none: significant when tested alone, p about 0.016.
    worse = {line: (int(number < 7), 10) for number, line in enumerate(lines)}
    alone = by_hand(hand_of, {"now": worse, "other": lines}, {None: "now"})
    assert alone[0]["better"] == "other"
    rivals = {f"rival-{number}": {**worse, "line-50": (1, 10)} for number in range(8)}
    many = by_hand(hand_of, {"now": worse, "other": lines, **rivals}, {None: "now"})
    assert many[0]["better"] is None
    assert many[0]["rows"][0]["card"] == "other"
    few = {line: lines[line] for line in list(lines)[:99]}
    assert by_hand(hand_of, {"now": few, "other": few}, {None: "now"}) == []
    assert by_hand(hand_of, {"other": lines}, {None: "not measured"})[0]["better"] is None
    assert by_hand({}, {}, {None: None}) == []
