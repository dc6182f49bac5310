"""How a page and its parts are written, and that order and text follow it wherever it is stated."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

import pytest
from source_model_fixtures import Desk, anchor

from armarium.api import Library
from armarium_source_model.facts import Holder, PageFacts, is_unknown
from armarium_source_model.order import Shape
from armarium_source_model.queries.facts import ladder_of_pass, languages_of_pages, languages_of_segments
from armarium_source_model.queries.settings import resolve_settings
from armarium_source_model.queries.text import line_sequence, page_text, pass_sequence
from armarium_source_model.writing import PageWriting

HEBREW, ARABIC, LATIN, DIGITS = "שלום", "سلام", "pax", "123"
LEFT, RIGHT = [0.1, 0.1, 0.3, 0.04], [0.6, 0.1, 0.3, 0.04]
COLUMNS = ([0.1, 0.1, 0.1, 0.8], [0.45, 0.1, 0.1, 0.8], [0.8, 0.1, 0.1, 0.8])


def facts(desk: Desk, **selection: str) -> dict[str, dict[str, Any]]:
    with desk.library.db.read() as conn:
        return {
            setting["key"]: setting
            for setting in resolve_settings(desk.library, conn, **selection)["settings"]
        }


def text(desk: Desk, page: str, **more: Any) -> str:
    with desk.library.db.read() as conn:
        return page_text(conn, page, **more).text.replace("\n\n", " ").replace("\n", " ")


def add(desk: Desk, page: str, pass_id: str, rect: Any, words: str = "", **more: Any) -> str:
    body = {"document_id": page, "pass_id": pass_id, "kind": "line", "anchor": {"rect": rect}, **more}
    result = desk.run("segment.create", **body)["id"]
    if words:
        desk.correct(result, words)
    return str(result)


def shelf(desk: Desk) -> tuple[str, str, str]:
    """Create a page in nested folders; return outer folder, inner folder, page."""
    outer = desk.run("document.create", name="Outer")["id"]
    inner = desk.run("document.create", name="Inner", parent_id=outer)["id"]
    page = desk.run("document.create", name="p", doc_type="page", parent_id=inner)["id"]
    return outer, inner, page


def two_columns(desk: Desk, page: str) -> str:
    pass_id = desk.new_pass(page)
    add(desk, page, pass_id, LEFT, "1")
    add(desk, page, pass_id, RIGHT, "2")
    return pass_id


@pytest.mark.parametrize("where", ["page", "inner", "outer", "project"])
def test_the_order_follows_a_direction_wherever_it_is_stated(desk: Desk, where: str) -> None:
    outer, inner, page = shelf(desk)
    pass_id = two_columns(desk, page)
    assert text(desk, page) == "1 2"
    target = {"page": page, "inner": inner, "outer": outer, "project": None}[where]
    level = {"level": "node", "target_id": target} if target else {"level": "project"}
    desk.run("source_setting.set", key="direction", value="rtl", **level)
    assert text(desk, page) == "2 1"
    with desk.library.db.read() as conn:
        in_pass = pass_sequence(conn, page, pass_id)
        assert in_pass == line_sequence(conn, page, pass_id)
        assert {span.direction for span in page_text(conn, page).assembled.spans} == {"rtl"}
        assert in_pass[0] > in_pass[1]
    assert facts(desk, document_id=page)["direction"]["value"] == "rtl"
    desk.undo()
    assert text(desk, page) == "1 2"


@pytest.mark.parametrize("where", ["page", "outer", "region"])
def test_columns_of_a_script_that_is_stated_follow_each_other_its_way(desk: Desk, where: str) -> None:
    outer, _, page = shelf(desk)
    pass_id = desk.new_pass(page)
    whole = {"document_id": page, "pass_id": pass_id, "kind": "region", "anchor": {"rect": [0, 0, 1, 1]}}
    region = desk.run("segment.create", **whole)["id"]
    for number, rect in enumerate(COLUMNS):
        add(desk, page, pass_id, rect, str(number), parent_segment_id=region)
    assert text(desk, page) == "2 1 0"
    if where == "region":
        desk.run("segment.update", segment_id=region, expected_version=1, script="Mong")
    else:
        target = {"page": page, "outer": outer}[where]
        desk.run("source_setting.set", level="node", target_id=target, key="script", value="Mong")
    assert text(desk, page) == "0 1 2"


def test_every_region_around_a_line_is_asked_before_the_page(desk: Desk) -> None:
    page = desk.page()
    pass_id = desk.new_pass(page)
    desk.run("document.update", document_id=page, language="la", script="Latn", direction="ltr")
    box = {"document_id": page, "pass_id": pass_id, "kind": "region", "anchor": {"rect": [0, 0, 1, 1]}}
    outer = desk.run("segment.create", **box, language="ar", direction="rtl")["id"]
    inner = desk.run("segment.create", **box, parent_segment_id=outer)["id"]
    line = add(desk, page, pass_id, LEFT, DIGITS, parent_segment_id=inner)
    found_facts = facts(desk, segment_id=line)
    assert [
        (found_facts[key]["value"], found_facts[key]["rung"]) for key in ("language", "script", "direction")
    ] == [
        ("ar", "segment"),
        ("Latn", "document"),
        ("rtl", "segment"),
    ]
    assert outer in found_facts["language"]["basis"]
    with desk.library.db.read() as conn:
        assert ladder_of_pass(conn, page, pass_id).value("language", line) == "ar"
        assert languages_of_segments(conn, [line, "none"]) == {line: "ar"}
        assert languages_of_pages(conn, [page]) == {page: "la"}
    desk.run("segment.update", segment_id=inner, expected_version=1, language="und")
    with desk.library.db.read() as conn:
        assert languages_of_segments(conn, [line]) == {line: None}
    ended = facts(desk, segment_id=line)["language"]
    assert (ended["value"], ended["status"], ended["rung"]) == (None, "unknown", "segment")


def test_a_withdrawn_region_states_nothing_for_the_lines_it_held(desk: Desk) -> None:
    page = desk.page()
    pass_id = desk.new_pass(page)
    box = {"document_id": page, "pass_id": pass_id, "kind": "region", "anchor": {"rect": [0, 0, 1, 1]}}
    region = desk.run("segment.create", **box, language="ar", direction="rtl")["id"]
    line = add(desk, page, pass_id, LEFT, DIGITS, parent_segment_id=region)
    desk.run("segment.delete", segment_ids=[region], expected_versions=[1])
    assert facts(desk, segment_id=line)["language"]["status"] == "never-determined"
    assert facts(desk, segment_id=region)["language"]["value"] == "ar"
    with desk.library.db.read() as conn:
        assert page_text(conn, page).assembled.spans[0].direction == "ltr"


def test_a_segment_is_asked_beside_its_own_pass(desk: Desk) -> None:
    page = desk.page()
    first = desk.machine_lines(page, [HEBREW, DIGITS], model="m1")
    desk.machine_lines(page, [LATIN, DIGITS], model="m2")
    assert facts(desk, segment_id=first["segment_ids"][1])["direction"]["value"] == "rtl"
    assert facts(desk, document_id=page)["direction"]["value"] == "ltr"


def test_a_direction_that_fixes_no_places_leaves_the_order_to_the_text(desk: Desk) -> None:
    page = desk.page()
    pass_id = desk.new_pass(page)
    add(desk, page, pass_id, LEFT, HEBREW + " 1")
    add(desk, page, pass_id, RIGHT, HEBREW + " 2")
    desk.run("document.update", document_id=page, direction="alternating")
    assert text(desk, page) == f"{HEBREW} 2 {HEBREW} 1"
    with desk.library.db.read() as conn:
        assert {span.direction for span in page_text(conn, page).assembled.spans} == {"alternating"}


def test_a_translation_runs_as_its_own_letters_do_in_the_order_of_the_page(desk: Desk) -> None:
    page = desk.page()
    pass_id = desk.new_pass(page)
    for rect, words in ((LEFT, "left"), (RIGHT, "right")):
        line = add(desk, page, pass_id, rect, HEBREW)
        desk.correct(line, words, kind="translation")
    desk.run("document.update", document_id=page, direction="rtl")
    with desk.library.db.read() as conn:
        found = page_text(conn, page, kind="translation")
    assert found.text.split() == ["right", "left"]
    assert {span.direction for span in found.assembled.spans} == {"ltr"}


def test_a_fact_is_asked_for_with_the_same_statements_however_deep_the_shelf_is(
    desk: Desk, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    def statements(page: str, read: Callable[[Any], Any]) -> int:
        heard: list[str] = []
        with library.db.read() as conn:
            raw: sqlite3.Connection = conn.connection.driver_connection  # type: ignore[assignment]
            raw.set_trace_callback(heard.append)
            read(conn)
            raw.set_trace_callback(None)
        return len(heard)

    counts: set[tuple[int, ...]] = set()
    for depth, lines in ((0, 1), (12, 12)):
        parent: str | None = None
        for number in range(depth):
            below = {"parent_id": parent} if parent else {}
            parent = desk.run("document.create", name=f"F{number}", language="fr", **below)["id"]
        below = {"parent_id": parent} if parent else {}
        page = desk.run("document.create", name="p", doc_type="page", **below)["id"]
        reading = desk.machine_lines(page, [LATIN] * lines)
        pass_id = reading["pass_id"]
        counts.add(
            (
                statements(page, lambda conn, page=page: page_text(conn, page)),  # type: ignore[misc]
                statements(page, lambda conn, page=page, p=pass_id: ladder_of_pass(conn, page, p)),  # type: ignore[misc]
                statements(page, lambda conn, page=page, p=pass_id: pass_sequence(conn, page, p)),  # type: ignore[misc]
            )
        )
    assert len(counts) == 1
    assert next(iter(counts))[1] == 2


def writing(shapes: list[Shape], texts: dict[str, str], **stated: str) -> PageWriting:
    page = Holder("page", "page", **stated)  # type: ignore[arg-type]
    return PageWriting(shapes, PageFacts((page,)), texts)


def row(name: str, number: int, **more: Any) -> Shape:
    return Shape(name, "line", 0.1, 0.1 + 0.1 * number, 0.8, 0.03, **more)


def test_the_default_direction_follows_shapes_then_text_then_script() -> None:
    tall = [Shape(name, "line", 0.1 + 0.2 * n, 0.1, 0.05, 0.8) for n, name in enumerate("ab")]
    assert writing(tall, {"a": "漢字", "b": "漢字"}).direction().value == "ttb"
    assert writing(tall, {"a": LATIN, "b": LATIN}).direction().value == "ltr"
    assert writing(tall, {"a": LATIN}, script="Hani").direction().value == "ttb"
    wide = [row("a", 0), row("b", 1)]
    assert writing(wide, {"a": HEBREW, "b": LATIN}, script="Latn").direction().value == "rtl"
    assert writing(wide, {"a": DIGITS}, script="Hebr").direction().value == "rtl"
    assert writing(wide, {"a": DIGITS}, script="Zyyy").direction().value == "ltr"
    assert writing(wide, {"a": DIGITS}).direction().basis == "the default"


def test_a_line_without_letters_runs_as_what_holds_it() -> None:
    shapes = [
        Shape("one", "region", 0.05, 0.05, 0.9, 0.3),
        row("a", 0, parent_id="one"),
        row("b", 1, parent_id="one"),
        Shape("two", "region", 0.05, 0.5, 0.9, 0.4),
        row("c", 5, parent_id="two"),
        row("d", 6, parent_id="two"),
    ]
    page = writing(shapes, {"a": LATIN, "b": DIGITS, "c": HEBREW, "d": DIGITS})
    assert [page.direction(one).value for one in ("b", "two", "d", None)] == ["ltr", "rtl", "rtl", "ltr"]


def test_furniture_does_not_decide_the_direction_of_a_page() -> None:
    shapes = [row("head", 0, is_furniture=True), row("a", 1)]
    page = writing(shapes, {"head": LATIN, "a": ARABIC})
    assert (page.direction().value, page.direction("head").value) == ("rtl", "ltr")
    answer = page.script()
    assert answer is not None
    assert answer.value == "Arab"


def test_what_a_page_states_precedes_what_its_columns_state() -> None:
    shapes = [
        Shape("left", "region", 0.05, 0.1, 0.4, 0.8, direction="rtl"),
        Shape("right", "region", 0.55, 0.1, 0.4, 0.8, direction="rtl"),
    ]
    assert writing(shapes, {}, direction="ltr").sequence() == ["left", "right"]
    assert writing(shapes, {}).sequence() == ["right", "left"]


@pytest.mark.parametrize(
    ("direction", "line_order", "wanted"),
    [
        ("ttb", "lr", ["a", "b", "c"]),
        ("ttb", "rl", ["c", "b", "a"]),
        ("ttb", None, ["c", "b", "a"]),
    ],
)
def test_columns_follow_the_order_of_the_file(
    direction: str, line_order: str | None, wanted: list[str]
) -> None:
    shapes = [Shape(name, "line", 0.1 + 0.3 * n, 0.1, 0.1, 0.8) for n, name in enumerate("abc")]
    page = PageFacts((Holder("page", "p", direction=direction),), line_order)
    assert PageWriting(shapes, page, {}).sequence() == wanted
    region = Shape("r", "region", 0, 0, 1, 1, line_order=line_order)
    inside = [shape._replace(parent_id="r") for shape in shapes]
    page_facts = PageFacts((Holder("page", "p", direction=direction),), "rl")
    assert PageWriting([region, *inside], page_facts, {}).sequence()[1:] == wanted


def test_lines_from_the_foot_of_the_page_upwards() -> None:
    shapes = [row(name, number) for number, name in enumerate("abc")]
    assert PageWriting(shapes, PageFacts(line_order="bt"), {}).sequence() == ["c", "b", "a"]


def test_unknown_is_accepted_in_any_case_and_with_a_script() -> None:
    assert is_unknown("language", "UND")
    assert is_unknown("language", "und-Latn")
    assert is_unknown("language", "mis")
    assert is_unknown("script", "Zyyy")
    assert not is_unknown("language", "uni")
    assert not is_unknown("direction", "und")


def test_joined_lines_of_a_hebrew_page_are_joined_from_the_right(desk: Desk) -> None:
    page = desk.page()
    pass_id = desk.new_pass(page)
    left = add(desk, page, pass_id, LEFT, "ב")
    right = add(desk, page, pass_id, RIGHT, "א")
    desk.run("segment.merge", keep_id=left, segment_ids=[left, right], expected_versions=[1, 1])
    assert text(desk, page) == "א ב"


def test_an_order_seeded_from_the_page_follows_what_the_folder_states(desk: Desk) -> None:
    _, inner, page = shelf(desk)
    pass_id = two_columns(desk, page)
    desk.run("document.update", document_id=inner, direction="rtl")
    about = {"document_id": page, "pass_id": pass_id, "name": "Mine", "kind": "imposed"}
    order = desk.run("reading_order.create", **about, seed_from_pass=True)["id"]
    assert text(desk, page, order_id=order) == "2 1"
    assert anchor(0)["rect"][0] == LEFT[0]
