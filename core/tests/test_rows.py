"""What is read from a table and answered derives from its declaration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import pytest
from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Float,
    Integer,
    MetaData,
    Table,
    Text,
    create_engine,
    func,
    select,
)

from armarium.api import HIDDEN, Json, Message, Rows, answer_of, is_among, listed, missing, paged, reference
from armarium.errors import NotFound

metadata = MetaData()
shelves = Table("shelf", metadata, Column("id", Text, primary_key=True))
books = Table(
    "book",
    metadata,
    Column("id", Text, primary_key=True),
    reference("shelf_id", shelves.c.id),
    Column("kind", Text, nullable=False),
    Column("weight", Float),
    Column("pages", Integer, nullable=False),
    Column("is_lent", Boolean, nullable=False),
    Column("marks", Json, nullable=False),
    Column("secret", Text, info=HIDDEN),
)


@answer_of(books)
class Book(Message):
    """A book in an answer."""

    kind: Literal["print", "hand"]
    readers: int = 0


BOOKS = Rows(books, missing=missing("book", "The shelf's list names its books."))
ROW = {"shelf_id": "s", "kind": "print", "weight": None, "pages": 3, "is_lent": True, "marks": {"a": [1]}}


@pytest.fixture
def conn() -> Iterator[Connection]:
    with create_engine("sqlite://").connect() as conn:
        metadata.create_all(conn)
        conn.execute(shelves.insert().values(id="s"))
        conn.execute(books.insert(), [{"id": f"b{n}", "secret": "x", **ROW, "pages": n} for n in range(5)])
        yield conn


def test_a_row_is_answered_by_the_columns_that_are_shown(conn: Connection) -> None:
    assert BOOKS.require(conn, "b3") == {"id": "b3", **ROW, "pages": 3}
    assert BOOKS.get(conn, "b9") is None
    with pytest.raises(
        NotFound, match=r"There is no book b9 in this project\. The shelf's list names"
    ) as refused:
        BOOKS.require(conn, "b9")
    assert refused.value.body() == {"detail": refused.value.detail, "code": "book_not_found", "id": "b9"}
    otherwise = missing("old book", "Ask for it.", code="no_book", key="book_id")("b9")
    assert otherwise.body() == {
        "detail": "There is no old book b9 in this project. Ask for it.",
        "code": "no_book",
        "book_id": "b9",
    }


def test_a_row_may_be_had_whole_and_with_what_is_computed_of_it(conn: Connection) -> None:
    whole = BOOKS.row(conn, "b3")
    assert (whole.id, whole.marks, whole.secret) == ("b3", {"a": [1]}, "x")
    with pytest.raises(NotFound):
        BOOKS.row(conn, "b9")
    count = select(func.count()).select_from(books).where(books.c.shelf_id == shelves.c.id).scalar_subquery()
    counted = Rows(shelves, missing=missing("shelf", "Look again."), book_count=count)
    assert counted.require(conn, "s") == {"id": "s", "book_count": 5}
    assert counted.all(conn) == [{"id": "s", "book_count": 5}]


def test_the_model_has_the_types_of_the_columns_and_what_it_states_itself() -> None:
    schema = Book.model_json_schema()
    kinds = {
        name: attribute.get("type") or [way["type"] for way in attribute["anyOf"]]
        for name, attribute in schema["properties"].items()
    }
    assert kinds == {
        "id": "string", "shelf_id": "string", "kind": "string", "weight": ["number", "null"], "pages": "integer",
        "is_lent": "boolean", "marks": "object", "readers": "integer",
    }  # fmt: skip
    assert schema["properties"]["kind"]["enum"] == ["print", "hand"]
    assert schema["description"] == "A book in an answer."
    assert set(schema["required"]) == set(kinds) - {"readers"}


def test_a_page_of_rows_counts_all_of_them(conn: Connection) -> None:
    page = BOOKS.page(conn, books.c.pages > 0, order=(books.c.pages.desc(),), limit=2, offset=1)
    assert [item["pages"] for item in page["items"]] == [3, 2]
    assert {name: value for name, value in page.items() if name != "items"} == {
        "count": 2, "total": 4, "limit": 2, "offset": 1,
    }  # fmt: skip
    assert paged(Book).model_validate(page).model_dump()["total"] == 4
    assert paged(Book).__name__ == "BookPage"


def test_a_list_of_rows_is_counted(conn: Connection) -> None:
    answer = BOOKS.list_all(conn, books.c.pages > 1, order=(books.c.pages,))
    assert [item["pages"] for item in answer["items"]] == [2, 3, 4]
    assert answer["count"] == 3
    assert set(listed(Book).model_validate(answer).model_dump()) == {"items", "count"}
    assert listed(Book).__name__ == "BookList"


@pytest.mark.parametrize(
    ("ids", "met"),
    [((), 0), (("b1", "b1", "b3", "none"), 2), (("b1\0", "b2"), 1), (tuple(map(str, range(40_000))), 0)],
)
def test_very_many_ids_are_one_parameter(conn: Connection, ids: tuple[str, ...], met: int) -> None:
    assert len(BOOKS.all(conn, is_among(books.c.id, ids))) == met


def test_a_reference_is_checked_at_the_commit(conn: Connection) -> None:
    (key,) = books.c.shelf_id.foreign_keys
    assert (key.deferrable, key.initially, key.ondelete) == (True, "DEFERRED", None)
    assert books.c.shelf_id.index
    assert not books.c.shelf_id.nullable
    assert reference("shelf_id", "shelf.id", required=False).nullable


@pytest.mark.parametrize("limit", [1, 2, 4, 5])
@pytest.mark.parametrize("offset", range(6))
def test_a_total_is_exact_on_every_page_whatever_is_counted_for_it(
    conn: Connection, limit: int, offset: int
) -> None:
    few, rest = books.c.pages != 2, [f"b{n}" for n in (0, 1, 3, 4)]
    for all_but in (None, books.c.pages == 2):
        page = BOOKS.page(conn, few, order=(books.c.id,), limit=limit, offset=offset, all_but=all_but)
        assert page["total"] == 4
        assert [item["id"] for item in page["items"]] == rest[offset : offset + limit]
