"""Records that the database puts together as JSON contain what was stored, whatever it is."""

from __future__ import annotations

import random
import struct
from typing import Any

import orjson
import pytest
from exports_desk import Desk
from sqlalchemy import Boolean, Column, Float, Integer, MetaData, Table, Text, create_engine, true

from armarium.api import Json, operational
from armarium_exports import bundles, record_types
from armarium_exports.selection import Selection

METADATA = MetaData()


def _table(name: str, *more: Column[Any]) -> Table:
    return Table(
        name,
        METADATA,
        Column("id", Text, primary_key=True),
        Column("words", Text),
        Column("number", Integer),
        Column("share", Float),
        Column("told", Boolean),
        Column("facts", Json),
        *more,
        info=operational(),
    )


ONE_NUMBER = _table("one_number")
TWO_NUMBERS = _table("two_numbers", Column("other", Float), Column("more_facts", Json))
WHOLE = Selection(frozenset(), {}, True)
WORDS = [
    "",
    "Dear Sir",
    'a "quoted" \\ word',
    "tab\t line\n end\r",
    "\x01\x1f\x7f",
    "Straße 𝔄 אב",
    "</script>",
    "NULL",
]
NUMBERS = [0, -1, 2**62, 7]
SHARES = [0.0, 0.1, 1 / 3, 0.1 + 0.2, 1e-320, 1.7976931348623157e308, -2.5e-9, 100.0, 5e15, 2.0**60]
FACTS: list[Any] = [{}, [], {"a": [1, {"b": None}], "ü": 'x"y'}, "text", 3, False, [0.1, 1e22]]


@pytest.mark.parametrize("table", [ONE_NUMBER, TWO_NUMBERS], ids=lambda table: str(table.name))
def test_what_the_database_makes_is_what_was_stored(table: Table) -> None:
    dice = random.Random(5)
    shares = SHARES + [struct.unpack("d", dice.randbytes(8))[0] for _ in range(300)]
    shares = [share for share in shares if share == share and abs(share) != float("inf")]
    rows = []
    for number, share in enumerate([*shares, None]):
        row = {
            "id": f"{number:04}",
            "words": dice.choice([*WORDS, None]),
            "number": dice.choice([*NUMBERS, None]),
            "share": share,
            "told": dice.choice([True, False, None]),
            "facts": dice.choice([*FACTS, None]),
        }
        if table is TWO_NUMBERS:
            row |= {"other": dice.choice([*shares, None]), "more_facts": dice.choice([*FACTS, None])}
        rows.append(row)
    kind = record_types._of_table(str(table.name), table, lambda _: true())
    engine = create_engine("sqlite://")
    METADATA.create_all(engine)
    with engine.begin() as conn:
        conn.execute(table.insert(), rows)
        assert kind.lines is not None
        made = [orjson.loads(row[0]) for batch in kind.lines(conn, WHOLE) for row in batch]
        read = list(kind.rows(conn, WHOLE))
    assert made == [{"record_type": str(table.name), "schema_version": 1, **row} for row in rows]
    assert [type(item["told"]) for item in made] == [type(row["told"]) for row in rows]
    objects = [name for name in rows[0] if name.endswith("facts")]
    assert [
        item | {name: item[name] and orjson.loads(item[name]) for name in objects} for item in read
    ] == rows


@pytest.mark.parametrize("table", [ONE_NUMBER, TWO_NUMBERS], ids=lambda table: str(table.name))
def test_a_number_that_needs_no_more_digits_has_no_more(table: Table) -> None:
    kind = record_types._of_table(str(table.name), table, lambda _: true())
    engine = create_engine("sqlite://")
    METADATA.create_all(engine)
    with engine.begin() as conn:
        conn.execute(table.insert(), [{"id": "1", "share": 0.1}])
        assert kind.lines is not None
        (((line,),),) = list(kind.lines(conn, WHOLE))
    assert '"share":0.1,' in line


@pytest.mark.parametrize("table", [ONE_NUMBER, TWO_NUMBERS], ids=lambda table: str(table.name))
def test_infinity_is_null_in_json(table: Table) -> None:
    kind = record_types._of_table(str(table.name), table, lambda _: true())
    engine = create_engine("sqlite://")
    METADATA.create_all(engine)
    with engine.begin() as conn:
        conn.execute(table.insert(), [{"id": "1", "share": float("-inf")}])
        assert kind.lines is not None
        (((line,),),) = list(kind.lines(conn, WHOLE))
    assert orjson.loads(line)["share"] is None


def test_each_type_is_written_once_and_in_its_order(desk: Desk) -> None:
    desk.page(desk.box(), "1.png", ["Dear Sir"])
    place = desk.folder / "records.jsonl"
    answer = desk.post("/api/export/jsonl", output_path=str(place))
    said = [orjson.loads(line)["record_type"] for line in place.read_bytes().splitlines()]
    order = list(dict.fromkeys(said))
    assert order == ["manifest", *(name for name, count in answer["record_counts"].items() if count)]
    assert {name: said.count(name) for name in order[1:]} == {
        name: count for name, count in answer["record_counts"].items() if count
    }
    assert [entry.name for entry in desk.folder.iterdir() if entry.name.startswith(".")] == []


def test_a_failure_leaves_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.page(desk.box(), "1.png", ["Dear Sir"])
    real = bundles._lines

    def lines(kind: Any, conn: Any, selection: Any) -> Any:
        if kind.name == "episode":
            raise OSError(28, "No space left on device")
        return real(kind, conn, selection)

    monkeypatch.setattr(bundles, "_lines", lines)
    refused = desk.post("/api/export/jsonl", 503, output_path=str(desk.folder / "records.jsonl"))
    assert "No space left" in refused["detail"]
    assert list(desk.folder.glob("*.jsonl")) == []
    assert list(desk.folder.glob(".*.part")) == []
