"""Records that the database puts together itself say what was kept, whatever it is; two threads write what one would."""

from __future__ import annotations

import random
import struct
import threading
from pathlib import Path
from typing import Any

import orjson
import pytest
from exports_desk import Desk
from sqlalchemy import Boolean, Column, Float, Integer, MetaData, Table, Text, create_engine, true

from armarium.api import Json, operational
from armarium_exports import bundles, records
from armarium_exports.selection import Selection
from armarium_exports.side_by_side import write_types

SHELF = Table(
    "shelf",
    MetaData(),
    Column("id", Text, primary_key=True),
    Column("words", Text),
    Column("number", Integer),
    Column("share", Float),
    Column("told", Boolean),
    Column("facts", Json),
    info=operational(),
)
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


def test_what_the_database_makes_is_what_was_kept() -> None:
    dice = random.Random(5)
    shares = SHARES + [struct.unpack("d", dice.randbytes(8))[0] for _ in range(300)]
    shares = [one for one in shares if one == one and abs(one) != float("inf")]
    rows = [
        {
            "id": f"{number:04}",
            "words": dice.choice([*WORDS, None]),
            "number": dice.choice([*NUMBERS, None]),
            "share": share,
            "told": dice.choice([True, False, None]),
            "facts": dice.choice([*FACTS, None]),
        }
        for number, share in enumerate([*shares, None])
    ]
    kind = records._of_table("shelf", SHELF, lambda _: true())
    selection = Selection(frozenset(), {}, True)
    engine = create_engine("sqlite://")
    SHELF.metadata.create_all(engine)
    with engine.begin() as conn:
        conn.execute(SHELF.insert(), rows)
        assert kind.lines is not None
        made = [orjson.loads(row[0]) for batch in kind.lines(conn, selection) for row in batch]
        read = list(kind.rows(conn, selection))
    assert made == [{"record_type": "shelf", "schema_version": 1, **row} for row in rows]
    assert [type(one["told"]) for one in made] == [type(one["told"]) for one in rows]
    assert [one | {"facts": one["facts"] and orjson.loads(one["facts"])} for one in read] == [
        row | {"facts": row["facts"]} for row in rows
    ]


def test_a_number_that_needs_no_more_digits_has_no_more() -> None:
    kind = records._of_table("shelf", SHELF, lambda _: true())
    engine = create_engine("sqlite://")
    SHELF.metadata.create_all(engine)
    with engine.begin() as conn:
        conn.execute(SHELF.insert(), [{"id": "1", "share": 0.1}])
        assert kind.lines is not None
        (((line,),),) = list(kind.lines(conn, Selection(frozenset(), {}, True)))
    assert '"share":0.1,' in line


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
    assert [one.name for one in desk.folder.iterdir() if one.name.startswith(".")] == []


def test_a_failure_of_either_thread_is_told_and_leaves_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.page(desk.box(), "1.png", ["Dear Sir"])
    ours = threading.get_ident()
    real = bundles._lines
    for fails_here in (True, False):

        def lines(kind: Any, conn: Any, selection: Any, fails_here: bool = fails_here) -> Any:
            if kind.name == ("document" if fails_here else "episode"):
                raise OSError(28, "No space left on device")
            return real(kind, conn, selection)

        monkeypatch.setattr(bundles, "_lines", lines)
        refused = desk.post("/api/export/jsonl", 503, output_path=str(desk.folder / "records.jsonl"))
        assert "No space left" in refused["detail"]
        assert list(desk.folder.glob("*.jsonl")) == []
        assert list(desk.folder.glob(".*.part")) == []
    assert threading.get_ident() == ours


def test_both_ends_meet(tmp_path: Path) -> None:
    kinds = [records.RecordType(str(number), lambda _conn, _selection: iter(())) for number in range(50)]
    seen: list[str] = []
    readers: Any = (1, 2)
    write_types(
        kinds, readers, lambda kind, _: seen.append(kind.name), lambda kind, _: seen.append(kind.name)
    )
    assert sorted(seen) == sorted(one.name for one in kinds)
