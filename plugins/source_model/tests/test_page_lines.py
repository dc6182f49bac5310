"""The lines and the outlines of a page as a person works on it."""

from __future__ import annotations

from typing import Any

import pytest
from source_model_fixtures import RUN, anchor

from armarium_source_model.schemas.lines import PageLines, PageShapes


@pytest.fixture
def page(desk: Any) -> str:
    return str(desk.page())


def lines_of(client: Any, page: str, **query: Any) -> list[dict[str, Any]]:
    answer = client.get(f"/api/segments/document/{page}/lines", params=query)
    assert answer.status_code == 200, answer.text
    PageLines.model_validate(answer.json())
    lines: list[dict[str, Any]] = answer.json()["lines"]
    return lines


def words_file(page_lines: list[tuple[str, float]]) -> list[dict[str, Any]]:
    """Return a line, with the words of it that a reader found."""
    text = " ".join(word for word, _ in page_lines)
    line = {"key": "line", "rect": anchor(0)["rect"], "text": text, "confidence": 0.5}
    words = [
        {
            "key": f"word{at}",
            "parent_key": "line",
            "kind": "word",
            "rect": [0.1 + 0.2 * at, 0.1, 0.1, 0.04],
            "text": word,
            "confidence": confidence,
        }
        for at, (word, confidence) in enumerate(page_lines)
    ]
    return [line, *words]


def take(desk: Any, page: str, lines: list[dict[str, Any]]) -> list[str]:
    outcome = desk.as_(RUN).run(
        "segment.take_lines", document_id=page, name="Lines", provider="reader", model="m1", lines=lines
    )
    return list(outcome["segment_ids"])


def test_unread_lines_stand_where_they_are_on_the_page(client: Any, desk: Any, page: str) -> None:
    ids = desk.machine_lines(page, ["one", None, "three"])["segment_ids"]
    lines = lines_of(client, page)
    assert [line["segment_id"] for line in lines] == ids
    assert [line["text"] for line in lines] == ["one", None, "three"]
    assert [line["made"] for line in lines] == [
        {"by": "machine", "name": "m1"},
        None,
        {"by": "machine", "name": "m1"},
    ]


def test_each_line_says_who_made_its_reading(client: Any, desk: Any, page: str) -> None:
    first, second, _ = desk.machine_lines(page, ["one", "two", "three"])["segment_ids"]
    counting = {line["segment_id"]: line["representation_id"] for line in lines_of(client, page)}
    desk.correct(first, "one, corrected", expected_counting_id=counting[first])
    desk.run("reading.choose", segment_id=second, kind="transcription", representation_id=counting[second])
    assert [line["made"]["by"] for line in lines_of(client, page)] == ["person", "checked", "machine"]


def test_all_passes_are_named_without_their_segments(client: Any, desk: Any, page: str) -> None:
    desk.machine_lines(page, ["one"])
    other_page_pass = desk.new_pass(page, "By hand")
    lines = desk.lines(page, other_page_pass, 2)
    answer = client.get(f"/api/segments/document/{page}/lines").json()
    assert [page_pass["segment_count"] for page_pass in answer["passes"]] == [1, 2]
    assert answer["pass_id"] == next(
        page_pass["id"] for page_pass in answer["passes"] if page_pass["working_basis"]
    )
    assert [line["segment_id"] for line in lines_of(client, page, pass_id=other_page_pass)] == lines


def test_the_words_of_a_line_say_how_sure_their_reader_was(client: Any, desk: Any, page: str) -> None:
    line, *words = take(desk, page, words_file([("Deer", 0.4), ("Sir", 0.9), ("Deer", 0.7)]))
    (found_line,) = lines_of(client, page, words=True)
    assert found_line["words"] == [
        {"segment_id": words[0], "char_start": 0, "char_end": 4, "confidence": 0.4},
        {"segment_id": words[1], "char_start": 5, "char_end": 8, "confidence": 0.9},
        {"segment_id": words[2], "char_start": 9, "char_end": 13, "confidence": 0.7},
    ]
    assert lines_of(client, page)[0]["words"] == []
    # What a person wrote is doubted by no reader.
    desk.correct(line, "Dear Sir, Dear")
    assert lines_of(client, page, words=True)[0]["words"] == []


def test_a_line_that_is_read_word_by_word_is_one_line(client: Any, desk: Any, page: str) -> None:
    line, *words = words_file([("𝔇ear", 0.9), ("Sir", 0.6)])
    ids = take(desk, page, [{name: one for name, one in line.items() if name != "text"}, *words])
    (found_line,) = lines_of(client, page)
    assert (found_line["segment_id"], found_line["text"], found_line["representation_id"]) == (
        ids[0],
        "𝔇ear Sir",
        None,
    )
    assert found_line["confidence"] == 0.6
    assert [(word["char_start"], word["char_end"]) for word in found_line["words"]] == [(0, 4), (5, 8)]
    assert found_line["made"] == {"by": "machine", "name": "m1"}


def test_the_order_as_written_is_followed_and_names_its_entries(client: Any, desk: Any, page: str) -> None:
    reading = desk.machine_lines(page, ["one", "two", "three"])
    one, two, three = reading["segment_ids"]
    order = desk.run(
        "reading_order.create",
        document_id=page,
        pass_id=reading["pass_id"],
        name="As written",
        kind="as-written",
        seed_from_pass=True,
    )["id"]
    entries = {line["segment_id"]: line["entry"] for line in lines_of(client, page)}
    desk.run(
        "reading_order.place",
        order_id=order,
        segment_id=one,
        after_entry_id=entries[two]["id"],
        expected_version=entries[one]["version"],
    )
    assert [line["segment_id"] for line in lines_of(client, page)] == [two, one, three]
    desk.undo()
    assert [line["segment_id"] for line in lines_of(client, page)] == [one, two, three]


def test_a_line_that_the_order_does_not_name_follows_the_one_before_it(
    client: Any, desk: Any, page: str
) -> None:
    reading = desk.machine_lines(page, ["one", "two", None, "four"])
    one, two, three, four = reading["segment_ids"]
    order = desk.run(
        "reading_order.create", document_id=page, pass_id=reading["pass_id"], name="Mine", kind="imposed"
    )["id"]
    places = [{"segment_id": each} for each in (four, two)]
    desk.run("reading_order.fill", order_id=order, segments=places)
    listed = lines_of(client, page, order=order)
    assert [each["segment_id"] for each in listed] == [one, four, two, three]
    assert [each["entry"] is None for each in listed] == [True, False, False, True]


def test_furniture_is_listed_and_says_so(client: Any, desk: Any, page: str) -> None:
    page_pass = desk.new_pass(page)
    (region,) = (
        desk.run(
            "segment.create",
            document_id=page,
            pass_id=page_pass,
            kind="region",
            anchor={"rect": [0.1, 0.02, 0.8, 0.05]},
            is_furniture=True,
        )["id"],
    )
    head = desk.run(
        "segment.create",
        document_id=page,
        pass_id=page_pass,
        kind="line",
        anchor={"rect": [0.1, 0.02, 0.8, 0.04]},
        parent_segment_id=region,
    )["id"]
    body = desk.lines(page, page_pass, 1)[0]
    assert [(line["segment_id"], line["is_furniture"]) for line in lines_of(client, page)] == [
        (head, True),
        (body, False),
    ]


def test_the_outlines_of_a_page_are_those_of_its_segments(client: Any, desk: Any, page: str) -> None:
    page_pass = desk.new_pass(page)
    polygon = [[0.1, 0.1], [0.9, 0.11], [0.9, 0.2], [0.1, 0.2000000000000001]]
    segment = desk.run(
        "segment.create",
        document_id=page,
        pass_id=page_pass,
        kind="line",
        anchor={"rect": [0.1, 0.1, 0.8, 0.1], "polygon": polygon},
        baseline=[[0.1, 0.18], [0.9, 0.19]],
    )
    cell = desk.run(
        "segment.create",
        document_id=page,
        pass_id=page_pass,
        kind="region",
        anchor={"rect": [0.1, 0.3, 0.4, 0.1]},
        cell={"row": 0, "column": 1, "row_span": 1, "column_span": 1},
    )
    answer = client.get(f"/api/segments/document/{page}/shapes")
    assert answer.status_code == 200, answer.text
    first, second = PageShapes.model_validate(answer.json()).shapes
    assert (first.id, first.polygon, first.baseline) == (segment["id"], polygon, segment["baseline"])
    assert (first.version, first.cell) == (1, None)
    assert (second.id, second.polygon, second.cell) == (cell["id"], None, cell["cell"])
    assert second.rect == [0.1, 0.3, 0.4, 0.1]


def test_a_page_without_a_pass_has_neither_lines_nor_outlines(client: Any, page: str) -> None:
    lines = client.get(f"/api/segments/document/{page}/lines").json()
    assert (lines["pass_id"], lines["lines"], lines["passes"]) == (None, [], [])
    assert client.get(f"/api/segments/document/{page}/shapes").json()["shapes"] == []
    for kind in ("lines", "shapes"):
        assert client.get(f"/api/segments/document/nowhere/{kind}").status_code == 404


def test_a_pass_of_another_page_has_no_lines_here(client: Any, desk: Any, page: str) -> None:
    foreign = desk.new_pass(desk.page())
    for kind in ("lines", "shapes"):
        answer = client.get(f"/api/segments/document/{page}/{kind}", params={"pass_id": foreign})
        assert answer.status_code == 404


def test_a_pass_without_text_says_where_there_is_some(client: Any, desk: Any, page: str) -> None:
    read = desk.machine_lines(page, ["one"])["pass_id"]
    desk.machine_lines(page, [None], model="m2")
    answer = client.get(f"/api/segments/document/{page}/lines").json()
    assert [one["pass_id"] for one in answer["read_elsewhere"]] == [read]
    assert "has no text" in answer["notice"]
