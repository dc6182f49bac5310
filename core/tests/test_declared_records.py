"""A record is declared once: its table, its rows and the model of its answers derive from its fields."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, ValidationError
from sqlalchemy import Boolean, Column, Float, Index, Integer, MetaData, Text, create_engine, inspect

from armarium.api import HIDDEN, Computed, Json, NotFound, Params, Record, Sent, record, reference, tracked

metadata = MetaData()


class BoxCreate(Params):
    """A box, as a caller describes it."""

    label: Annotated[str, Field(min_length=1, max_length=8)]
    kind: Literal["wood", "paper"] = "paper"
    weight: Annotated[float, Field(gt=0)] | None = None
    tags: Annotated[list[Annotated[str, Field(max_length=4)]], Field(max_length=3)] = []
    shelf_id: str | None = None
    position: Annotated[int | None, Field(ge=1, description="default: the last")] = None
    sealed: bool = False


@record(
    metadata,
    "box",
    tracked(label="box"),
    reference("shelf_id", "box.id", required=False),
    Column("room_id", Text, nullable=False),
    Column("position", Integer, nullable=False),
    Column("secret", Text, info=HIDDEN),
    Index("ix_box_label", "label"),
    last=(Column("made_at", Text, nullable=False),),
    hint="Count the boxes.",
)
class Box(BoxCreate, Record):
    """A box."""


def test_the_table_has_a_column_for_each_field_and_what_is_given_besides() -> None:
    kinds = {column.name: (type(column.type), column.nullable) for column in Box.table.columns}
    assert list(kinds.items()) == [
        ("id", (Text, False)),
        ("label", (Text, False)),
        ("kind", (Text, False)),
        ("weight", (Float, True)),
        ("tags", (Json, False)),
        ("shelf_id", (Text, True)),
        ("room_id", (Text, False)),
        ("position", (Integer, False)),
        ("secret", (Text, True)),
        ("sealed", (Boolean, False)),
        ("made_at", (Text, False)),
    ]
    assert {index.name for index in Box.table.indexes} == {"ix_box_label", "ix_box_shelf_id"}
    (key,) = Box.table.foreign_keys
    assert (key.parent.name, key.deferrable) == ("shelf_id", True)


def test_answers_show_every_column_that_is_not_hidden_and_have_no_limits() -> None:
    schema = Box.model_json_schema()
    assert schema["title"] == "Box"
    assert schema["description"] == "A box."
    assert schema["required"] == [name for name in Box.table.columns.keys() if name != "secret"]  # noqa: SIM118
    assert schema["properties"]["label"] == {"title": "Label", "type": "string"}
    assert schema["properties"]["tags"] == {"title": "Tags", "type": "array", "items": {"type": "string"}}
    assert schema["properties"]["kind"]["enum"] == ["wood", "paper"]
    assert schema["properties"]["weight"]["anyOf"] == [{"type": "number"}, {"type": "null"}]
    assert schema["properties"]["position"] == {"title": "Position", "type": "integer"}
    with pytest.raises(ValidationError):
        BoxCreate.model_validate({"label": "far too long"})


def test_rows_are_answered_and_an_unknown_id_is_refused_in_the_words_of_the_record() -> None:
    engine = create_engine("sqlite://")
    metadata.create_all(engine)
    values: dict[str, Any] = {**BoxCreate(label="A", tags=["old"]).model_dump(), "position": 1}
    with engine.begin() as conn:
        made = Box.rows.insert(conn, {**values, "room_id": "r", "made_at": "now", "secret": "s"})
        assert made["tags"] == ["old"]
        assert Box.model_validate(made).model_dump() == made
        with pytest.raises(NotFound, match=r"There is no box x in this project. Count the boxes.") as refused:
            Box.rows.require(conn, "x")
        assert refused.value.code == "box_not_found"
        assert inspect(conn).get_table_names() == ["box"]


class Label(Sent):
    """A label, as it is sent: checked part by part."""

    text: Annotated[str, Field(min_length=1)]


class CrateCreate(Params):
    labels: list[Label] = []


@record(MetaData(), "crate", tracked(label="crate"), hint="Count the crates.")
class Crate(CrateCreate, Record):
    """A crate, with what is computed when it is answered."""

    count: Computed[Annotated[int, Field(description="How many boxes it holds")]]
    place: str


def test_what_is_computed_has_no_column_and_stands_at_the_end_of_an_answer() -> None:
    assert list(Crate.table.columns.keys()) == ["id", "labels", "place"]
    schema = Crate.model_json_schema()
    assert schema["required"] == ["id", "labels", "place", "count"]
    assert schema["properties"]["count"]["description"] == "How many boxes it holds"


def test_what_is_sent_as_a_model_is_answered_as_the_stored_json() -> None:
    kind = Crate.model_json_schema()["properties"]["labels"]
    assert kind == {
        "title": "Labels",
        "type": "array",
        "items": {"type": "object", "additionalProperties": True},
    }


def test_a_row_is_changed_by_its_id_and_by_no_values_not_at_all() -> None:
    engine = create_engine("sqlite://")
    Crate.table.metadata.create_all(engine)
    with engine.begin() as conn:
        one, other = (Crate.rows.insert(conn, {"labels": [], "place": place}) for place in ("a", "b"))
        Crate.rows.change(conn, one["id"], {"place": "c", "labels": [{"text": "old"}]})
        Crate.rows.change(conn, other["id"], {})
        assert Crate.rows.require(conn, one["id"]) == {**one, "place": "c", "labels": [{"text": "old"}]}
        assert Crate.rows.require(conn, other["id"]) == other
