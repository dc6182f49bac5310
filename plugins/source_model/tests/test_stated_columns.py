"""The number of columns that somebody states of a page: its text, search, orders and the step back follow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from source_model_fixtures import AGENT, PERSON, RUN, Desk
from sqlalchemy import MetaData, Table

from armarium.api import Conflict, Engine, Invalid, NotFound, ServiceError
from armarium_documents.plugin import armarium_plugin as documents_plugin
from armarium_source_model.models import metadata, page_texts
from armarium_source_model.plugin import armarium_plugin
from armarium_source_model.queries.orders import walk
from armarium_source_model.queries.text import page_text

HALVES = [(row, half) for row in range(6) for half in (0, 1)]
"""Six rows that break at the same place: halves of verses, or two short columns."""
ACROSS = "\n".join(f"{row}{half}" for row, half in HALVES)
DOWN = "\n".join(f"{row}{half}" for row, half in sorted(HALVES, key=lambda one: one[::-1]))


@pytest.fixture
def page(desk: Any) -> str:
    return str(desk.page())


@pytest.fixture
def verses(desk: Any, page: str) -> str:
    """Return a pass of the halves, read by a machine."""
    lines = [
        {
            "key": f"{row}{half}",
            "text": f"{row}{half}",
            "rect": [0.1 + 0.4 * half, 0.1 + 0.03 * row, 0.39, 0.02],
        }
        for row, half in HALVES
    ]
    outcome = desk.as_(RUN).run(
        "segment.take_lines", document_id=page, name="Lines", provider="reader", model="m", lines=lines
    )
    return str(outcome["pass_id"])


def text_of(desk: Any, page: str) -> str:
    with desk.library.db.read() as conn:
        return page_text(conn, page).text


def basis_of(desk: Any, page: str) -> str:
    with desk.library.db.read() as conn:
        return page_text(conn, page).order_basis


def expect_refusal(kind: type[ServiceError], desk: Any, **params: Any) -> ServiceError:
    with pytest.raises(kind) as caught:
        desk.run("reading_order.columns", **params)
    return caught.value


def test_text_search_and_seeded_orders_follow_the_stated_columns(desk: Any, page: str, verses: str) -> None:
    assert (text_of(desk, page), basis_of(desk, page)) == (ACROSS, "positions-in-doubt")
    result = desk.run("reading_order.columns", document_id=page, columns=2)
    assert (result["pass_id"], result["columns"], result["order_basis"]) == (verses, 2, "columns-stated")
    assert (text_of(desk, page), basis_of(desk, page)) == (DOWN, "columns-stated")
    order = desk.run(
        "reading_order.create",
        document_id=page,
        pass_id=verses,
        name="A",
        kind="imposed",
        seed_from_pass=True,
    )["id"]
    with desk.library.db.read() as conn:
        assert conn.execute(page_texts.select()).one().text == DOWN
        texts = {desk_segment["id"]: desk_segment["text"] for desk_segment in desk_segments(conn, page)}
        assert "\n".join(texts[segment_id] for _, segment_id, _ in walk(conn, order)) == DOWN
        assert page_text(conn, page, order_id=order).order_basis == "named"


def desk_segments(conn: Any, page: str) -> list[dict[str, Any]]:
    from armarium_source_model.queries.answers import list_of_page

    segments: list[dict[str, Any]] = list_of_page(conn, page)["segments"]
    return segments


def test_the_statement_is_taken_back_by_undo_and_by_no_number(desk: Any, page: str, verses: str) -> None:
    desk.run("reading_order.columns", document_id=page, columns=2, pass_id=verses)
    undone = desk.undo()
    assert text_of(desk, page) == ACROSS
    desk.undo(undone)
    assert text_of(desk, page) == DOWN
    assert (
        desk.run("reading_order.columns", document_id=page, columns=None)["order_basis"]
        == "positions-in-doubt"
    )
    assert text_of(desk, page) == ACROSS


def test_an_agent_may_state_the_columns_as_a_person_may(desk: Any, page: str, verses: str) -> None:
    desk.as_(AGENT).run("reading_order.columns", document_id=page, columns=2)
    assert text_of(desk, page) == DOWN


def test_columns_cannot_be_stated_of_lines_that_are_not_there_or_in_regions(desk: Any, page: str) -> None:
    assert expect_refusal(NotFound, desk, document_id=page, columns=2).code == "no_pass"
    pass_id = desk.new_pass(page)
    desk.lines(page, pass_id, 3)
    assert expect_refusal(Invalid, desk, document_id=page, columns=4).code == "too_few_lines"
    other_page = desk.page("Other")
    expect_refusal(Conflict, desk, document_id=other_page, columns=2, pass_id=pass_id)
    for top in (0.4, 0.6, 0.8):
        about = {"document_id": page, "pass_id": pass_id}
        region = desk.run("segment.create", **about, kind="region", anchor={"rect": [0.1, top, 0.8, 0.15]})[
            "id"
        ]
        for row in range(3):
            place = {"rect": [0.1, top + 0.04 * row, 0.8, 0.03]}
            desk.run("segment.create", **about, kind="line", anchor=place, parent_segment_id=region)
    assert expect_refusal(Conflict, desk, document_id=page, columns=2).code == "lines_in_regions"
    desk.run("reading_order.columns", document_id=page, columns=None)


def test_a_page_whose_columns_are_not_clear_says_so(desk: Any, page: str) -> None:
    lines = []
    for row in range(30):
        wide = 0.6 if row % 5 == 0 else 0.39
        for name, left, width in (("a", 0.1, wide), ("b", 0.495, 0.39)):
            rect = [left, 0.05 + 0.025 * row, width, 0.02]
            lines.append({"key": f"{name}{row}", "text": f"{name}{row}", "rect": rect})
    desk.as_(RUN).run("segment.take_lines", document_id=page, name="Lines", provider="reader", lines=lines)
    assert basis_of(desk, page) == "positions-in-doubt"
    desk.run("reading_order.columns", document_id=page, columns=2)
    assert basis_of(desk, page) == "columns-stated"
    assert text_of(desk, page) == "\n".join(f"{name}{row}" for name in "ab" for row in range(30))


def test_a_page_without_lines_has_no_basis(desk: Any, page: str) -> None:
    assert basis_of(desk, page) == "none"


def test_a_project_made_before_opens_and_takes_the_statement(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    before = MetaData()
    later = {"segment_pass": ("proportion", "column_count"), "segment": ("joined_or_split_in",)}
    for table in metadata.sorted_tables:
        if table.name not in later:
            table.to_metadata(before)
        else:
            old = [column._copy() for column in table.columns if column.name not in later[table.name]]
            Table(table.name, before, *old, info=table.info)
    earlier = replace(armarium_plugin(), version=1, migrations=(), metadata=before)
    path = tmp_path / "Past.library"
    first = make_engine(plugins=[documents_plugin(), earlier])
    first.run(None, "library.create", {"path": str(path)}, PERSON)
    first.libraries.release(path)
    engine = make_engine(plugins=[documents_plugin(), armarium_plugin()])
    desk = Desk(engine, engine.libraries.get(path))
    page = desk.page()
    desk.lines(page, desk.new_pass(page), 4)
    assert desk.run("reading_order.columns", document_id=page, columns=2)["columns"] == 2
    desk.undo()
    assert basis_of(desk, page) == "positions"
