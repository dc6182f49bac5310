"""The dataset query compared with its rules in plain Python, and everything it refuses."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from dataset_rules import matches, read_first
from documents_fixtures import OWNER, Run, rows

from armarium.api import Engine, Invalid, Library, name_key
from armarium_documents.dates.edtf import FIRST, LAST, bin_of, span_of, start_of
from armarium_documents.queries.dataset.answer import dataset
from armarium_documents.schemas.dataset import DatasetQuery

Make = Callable[..., str]

NAMES = ["n", "t", "d", "c", "a.b", "a[0]", "é ü", "it's", "back\\slash", "$", "x; DROP TABLE document"]
VALUES: list[Any] = [
    None, "", "Ánimo", "ánimo", "zeta", "10", "9.5", "1e400", "nan", 0, 3, -2.5, 10, 10**15, True, False,
    "1750", "1750-03", "1750-03-15", "1749-12-31", "175X", "1750~", "1750/1760", "-0044-03-15", "1750-21",
    "2024-02-30", ["Toledo", "Cuenca"], ["Toledo"], [30, 2, "x"], ["1751", "1749-05"], {"k": 1}, "' OR 1=1 --", '"', "%", "_", "\u0130stanbul", 1750,
]  # fmt: skip


def fill(engine: Engine, library: Library, box: str, number: int, seed: int) -> list[dict[str, Any]]:
    chance = random.Random(seed)
    found = []
    for index in range(number):
        attributes = {name: chance.choice(VALUES) for name in NAMES if chance.random() < 0.7}
        result = engine.run(
            library,
            "document.create",
            {"name": f"n{chance.randrange(50):03}", "parent_id": box, "attributes": attributes},
            OWNER,
        ).result
        assert result is not None
        found.append({"id": result["id"], "name": result["name"], "attributes": attributes, "at": index})
    return found


def ask(library: Library, **query: Any) -> dict[str, Any]:
    """Return the answer as it is sent."""
    found = orjson.loads(orjson.dumps(dataset(library, DatasetQuery.model_validate({"limit": 500, **query}))))
    assert isinstance(found, dict)
    return found


def a_filter(chance: random.Random) -> dict[str, Any]:
    kind = chance.choice(["text", "number", "rating", "date", "checkbox", "choice", "url", "reference"])
    op = chance.choice(["eq", "ne", "contains", "gte", "lte", "between", "is_set", "not_set"])
    one: dict[str, Any] = {"attr": chance.choice(NAMES), "op": op, "type": kind}
    if op in ("is_set", "not_set"):
        return one
    texts = [value for value in VALUES if isinstance(value, str)]
    if op == "contains":
        return {**one, "value": chance.choice([*texts, "O", "il"]), "type": "text"}
    if kind == "checkbox":
        return {**one, "op": chance.choice(["eq", "ne"]), "value": chance.random() < 0.5}
    dates = [text for text in texts if span_of(text)]
    pool: list[Any] = (
        [0, 3, 9.5, -2.5, 10, 1e15] if kind in ("number", "rating") else dates if kind == "date" else texts
    )
    one["value"] = chance.choice(pool)
    if op == "between":
        one["value2"] = chance.choice(pool)
        if kind == "date":
            one["value"], one["value2"] = sorted(
                (one["value"], one["value2"]), key=lambda text: span_of(text) or (0,)
            )
    return one


def test_random_filters_agree_with_plain_python(engine: Engine, library: Library, folder: Make) -> None:
    box = folder("Box")
    known = fill(engine, library, box, 70, seed=1)
    chance = random.Random(2)
    for _ in range(400):
        filters = [a_filter(chance) for _ in range(chance.choice([1, 1, 2]))]
        ids = {
            one["id"]
            for one in known
            if all(matches(one["attributes"].get(part["attr"]), part) for part in filters)
        }
        answer = ask(library, parent_id=box, filters=filters)
        assert {row["id"] for row in answer["rows"]} == ids, filters
        assert answer["total"] == len(ids)


@pytest.mark.parametrize("kind", ["text", "number", "date", "checkbox"])
@pytest.mark.parametrize("direction", ["asc", "desc"])
@pytest.mark.parametrize("attr", ["n", "d", "back\\slash"])
def test_sorting_puts_nulls_last_then_names(
    engine: Engine, library: Library, folder: Make, kind: str, direction: str, attr: str
) -> None:
    box = folder("Box")
    known = fill(engine, library, box, 60, seed=3)

    def key(one: dict[str, Any]) -> Any:
        value = read_first(one["attributes"].get(attr), kind, direction)
        return name_key(value) if isinstance(value, str) else value

    by_name = sorted(known, key=lambda one: (name_key(one["name"]), one["id"]))
    valued = [one for one in by_name if key(one) is not None]
    wanted = sorted(valued, key=key, reverse=direction == "desc")
    if direction == "desc":
        wanted = []
        for value in sorted({key(one) for one in valued}, reverse=True):
            wanted += [one for one in valued if key(one) == value]
    wanted += [one for one in by_name if key(one) is None]
    answer = ask(library, parent_id=box, sort={"attr": attr, "type": kind, "direction": direction})
    assert [row["id"] for row in answer["rows"]] == [item["id"] for item in wanted]


def is_counted_under(value: Any, member: Any) -> bool:
    """Whether a facet counts *value* under *member*; true is not 1."""
    return orjson.dumps(member) in map(orjson.dumps, value if isinstance(value, list) else [value])


def test_facets_count_each_value(engine: Engine, library: Library, folder: Make) -> None:
    box = folder("Box")
    known = fill(engine, library, box, 80, seed=4)
    answer = ask(library, parent_id=box, facets=NAMES)
    for attr in NAMES:
        wanted_counts: Counter[str] = Counter()
        for one in known:
            value = one["attributes"].get(attr)
            for member in value if isinstance(value, list) else [value]:
                if member is not None:
                    wanted_counts[orjson.dumps(member).decode()] += 1
        got = {orjson.dumps(entry["value"]).decode(): entry["count"] for entry in answer["facets"][attr]}
        assert got == wanted_counts, attr
        counts = [entry["count"] for entry in answer["facets"][attr]]
        assert counts == sorted(counts, reverse=True)
        for entry in answer["facets"][attr][:4]:
            if isinstance(entry["value"], dict | list):
                continue
            chosen = ask(
                library, parent_id=box, filters=[{"attr": attr, "op": "has", "value": entry["value"]}]
            )
            assert chosen["total"] == len(
                [one for one in known if is_counted_under(one["attributes"].get(attr), entry["value"])]
            )


@pytest.mark.parametrize("granularity", ["year", "month", "day"])
def test_bins_count_dates(engine: Engine, library: Library, folder: Make, granularity: str) -> None:
    box = folder("Box")
    known = fill(engine, library, box, 80, seed=5)
    answer = ask(library, parent_id=box, bins={"attr": "d", "granularity": granularity})["bins"]
    counts = Counter(
        bin_of(one["attributes"].get("d"), granularity)
        for one in known
        if not isinstance(one["attributes"].get("d"), bool)
    )
    del counts[None]
    assert {entry["bin"]: entry["count"] for entry in answer} == counts
    starts = [start_of(entry["bin"]) for entry in answer]
    assert starts == sorted(starts)


def test_pages_and_total(engine: Engine, library: Library, folder: Make) -> None:
    box = folder("Box")
    fill(engine, library, box, 30, seed=6)
    everything = [row["id"] for row in ask(library, parent_id=box)["rows"]]
    pages = [ask(library, parent_id=box, limit=7, offset=start) for start in range(0, 35, 7)]
    assert [row["id"] for page in pages for row in page["rows"]] == everything
    assert {page["total"] for page in pages} == {30}


def test_what_is_in_the_table(library: Library, folder: Make, note: Make, do: Run) -> None:
    box = folder("Box")
    letter = folder("Letter", box, prototype_key="letter", attributes={"place": "Toledo"})
    deep = note("Deep", letter, text="x" * 400)
    removed_folder = folder("Gone", box)
    do("document.delete", {"ids": [removed_folder]})
    names = [row["name"] for row in ask(library, parent_id=box)["rows"]]
    assert names == ["Letter"]
    answer = ask(library, parent_id=box, recursive=True)
    assert {row["id"] for row in answer["rows"]} == {letter, deep}
    assert next(row for row in answer["rows"] if row["id"] == deep)["excerpt"] == "x" * 280
    assert [
        row["id"] for row in ask(library, parent_id=box, recursive=True, attributed_only=True)["rows"]
    ] == [letter]
    assert [row["id"] for row in ask(library, recursive=True, prototype_key="letter")["rows"]] == [letter]
    assert {row["name"] for row in ask(library)["rows"]} == {"Box", "Sources"}


def test_a_documents_own_fields_are_named_with_a_prefix(library: Library, folder: Make) -> None:
    box = folder("Box")
    folder("A", box, date_iso="1750-03", language="es", is_starred=True)
    folder("B", box, date_iso="1801")
    answer = ask(
        library,
        parent_id=box,
        bins={"attr": "document.date_iso", "granularity": "month"},
        facets=["document.language", "document.is_starred"],
        sort={"attr": "document.date_iso", "type": "date", "direction": "desc"},
    )
    assert [entry["bin"] for entry in answer["bins"]] == ["1750-03", "1801"]
    assert answer["facets"]["document.language"] == [{"value": "es", "count": 1}]
    assert {entry["value"] for entry in answer["facets"]["document.is_starred"]} == {True, False}
    assert [row["name"] for row in answer["rows"]] == ["B", "A"]
    filters = [{"attr": "document.date_iso", "op": "lte", "value": "1750", "type": "date"}]
    assert [row["name"] for row in ask(library, parent_id=box, filters=filters)["rows"]] == ["A"]


@pytest.mark.parametrize(("direction", "names"), [("asc", "bdace"), ("desc", "acdbe")])
def test_a_list_of_numbers_is_sorted_by_its_least_or_its_greatest(
    library: Library, folder: Make, direction: str, names: str
) -> None:
    box = folder("Box")
    for name, value in {"a": [30, 4], "b": [2], "c": [10.5, None, "x"], "d": 3, "e": ["x"]}.items():
        folder(name, box, attributes={"n": value})
    sort = {"attr": "n", "type": "number", "direction": direction}
    assert "".join(row["name"] for row in ask(library, parent_id=box, sort=sort)["rows"]) == names


def test_a_list_meets_a_condition_where_one_of_its_members_does(library: Library, folder: Make) -> None:
    box = folder("Box")
    values = [
        ["Toledo", "Lima"],
        "Lima",
        ["Quito"],
        [],
        [3, 2.5, True],
        3,
        ["1750-03", "1801"],
        [["Lima"], None],
    ]
    for number, value in enumerate(values):
        folder(str(number), box, attributes={"place": value})
    for asked, names in (
        ({"op": "eq", "value": "Lima"}, "01"),
        ({"op": "has", "value": "Lima"}, "01"),
        ({"op": "ne", "value": "Lima"}, "234567"),
        ({"op": "contains", "value": "li"}, "017"),
        ({"op": "contains", "value": 'Toledo","Lima'}, ""),
        ({"op": "gte", "value": 2.6, "type": "number"}, "456"),
        ({"op": "eq", "value": 2.5, "type": "rating"}, "4"),
        ({"op": "eq", "value": True, "type": "checkbox"}, "4"),
        ({"op": "between", "value": "1700", "value2": "1760", "type": "date"}, "6"),
        ({"op": "is_set"}, "01234567"),
    ):
        answer = ask(library, parent_id=box, filters=[{"attr": "place", **asked}])
        assert "".join(row["name"] for row in answer["rows"]) == names, asked


def test_how_letters_are_composed_is_no_difference(library: Library, folder: Make) -> None:
    box = folder("Box")
    written = {
        "NFC": "Cr\u00e8me",
        "NFD": "Cre\u0300me",
        "list": ["Cre\u0300me", "Cr\u00e8me"],
        "other": "Creme",
    }
    for name, value in written.items():
        folder(name, box, attributes={"place": value})
    for op, value, names in (
        ("eq", "Cr\u00e8me", ["list", "NFC", "NFD"]),
        ("eq", "Cre\u0300me", ["list", "NFC", "NFD"]),
        ("contains", "CRE\u0300ME", ["list", "NFC", "NFD"]),
    ):
        answer = ask(library, parent_id=box, filters=[{"attr": "place", "op": op, "value": value}])
        assert [row["name"] for row in answer["rows"]] == names, (op, value)
    assert ask(library, parent_id=box, facets=["place"])["facets"]["place"] == [
        {"value": "Cr\u00e8me", "count": 3},
        {"value": "Creme", "count": 1},
    ]
    folder("Cafe", box, attributes={"cafe\u0301": 1})
    for attr in ("caf\u00e9", "cafe\u0301"):
        assert ask(library, parent_id=box, filters=[{"attr": attr, "op": "is_set"}])["total"] == 1
        assert ask(library, parent_id=box, facets=[attr])["facets"] == {attr: [{"value": 1, "count": 1}]}
    with pytest.raises(Invalid, match="two attributes have one name"):
        folder("Both", box, attributes={"cafe\u0301": 1, "caf\u00e9": 2})


def test_defaults_come_with_the_rows_or_say_why_not(
    library: Library, engine: Engine, act: Any, folder: Make, client: Any
) -> None:
    result = act("classification.create", {"key": "deed", "label": "Deed", "defaults": {"place": "Toledo"}})
    act("classification.create", {"key": "lost", "label": "Lost"})
    box = folder("Box")
    folder("A", box, prototype_key="deed")
    folder("B", box, prototype_key="lost")
    # No action and no undo leaves a project like this, but one from elsewhere may be so.
    with library.db.write() as conn:
        ctx, before, raw = engine.bus.open_step(conn, "classification.delete", library, OWNER, None)
        raw.execute("DELETE FROM classification WHERE key = 'lost'")
        engine.bus.close_step(ctx, before, raw, {}, undoable=False)
    answer = client.post("/api/documents/dataset/query", json={"parent_id": box}).json()
    assert answer["defaults_by_prototype"]["deed"] == {"place": "Toledo"}
    assert "lost" in answer["defaults_by_prototype"]["lost"]["_unresolved"]
    assert result.audit_id


@pytest.mark.parametrize(
    "query",
    [
        {"filters": [{"attr": 'a"b', "op": "is_set"}]},
        {"sort": {"attr": 'a" DESC; --'}},
        {"bins": {"attr": '"'}},
        {"facets": ['x"]']},
        {"filters": [{"attr": "document.parent_id", "op": "is_set"}]},
        {"filters": [{"attr": "a", "op": "like", "value": "x"}]},
        {"filters": [{"attr": "a", "op": "eq", "value": "x", "type": "number"}]},
        {"filters": [{"attr": "a", "op": "eq", "value": True, "type": "number"}]},
        {"filters": [{"attr": "a", "op": "eq", "value": 1, "type": "checkbox"}]},
        {"filters": [{"attr": "a", "op": "gte", "value": True, "type": "checkbox"}]},
        {"filters": [{"attr": "a", "op": "eq", "value": 1}]},
        {"filters": [{"attr": "a", "op": "eq"}]},
        {"filters": [{"attr": "a", "op": "between", "value": "x"}]},
        {"filters": [{"attr": "a", "op": "eq", "value": "x", "value2": "y"}]},
        {"filters": [{"attr": "a", "op": "is_set", "value": "x"}]},
        {"filters": [{"attr": "a", "op": "contains", "value": 1}]},
        {"filters": [{"attr": "a", "op": "eq", "value": "x", "type": "colour"}]},
        {"filters": [{"attr": "a", "op": "eq", "value": "x"}] * 51},
        {"sort": {"attr": "a", "direction": "up"}},
        {"sort": "name"},
        {"bins": {"attr": "a", "granularity": "century"}},
        {"limit": 0},
        {"limit": 501},
        {"offset": -1},
        {"where": "1=1"},
        {"filters": [{"attr": "x" * 10_000, "op": "is_set"}]},
        {"filters": [{"attr": "a", "op": "eq", "value": "x" * 10_001}]},
        {"filters": [{"attr": "a", "op": "eq", "value": ["x"]}]},
        {"filters": [{"attr": "a", "op": "eq", "value": {"$gt": ""}}]},
        {"filters": [{"attr": "a", "op": "gte", "value": "NaN", "type": "number"}]},
        {"filters": [{"attr": "a", "op": "between", "value": 1, "value2": "2", "type": "number"}]},
        {"filters": [{"attr": "a", "op": "between", "value": "1751", "value2": "1749", "type": "date"}]},
        {"filters": [{"attr": "a", "op": "eq", "value": "17 of March", "type": "date"}]},
        {"facets": ["a\u0000b"]},
        {"facets": ["a\u001b[31m"]},
        {"sort": {"attr": "document.name; DROP TABLE document"}},
        {"sort": {"attr": "document.attributes"}},
        {"bins": {"attr": "document.deleted_at"}},
        {"parent_id": "' OR 1=1 --"},
        {"prototype_key": "x" * 201},
    ],
)
def test_an_invalid_query_is_422(shared_client: Any, query: dict[str, Any]) -> None:
    answer = shared_client.post("/api/documents/dataset/query", json=query)
    assert answer.status_code == 422
    assert answer.json()["code"] == "invalid_request"


def test_a_range_without_its_end_says_that_it_is_missing(shared_client: Any) -> None:
    query = {"filters": [{"attr": "a", "op": "between", "value": "x"}]}
    answer = shared_client.post("/api/documents/dataset/query", json=query)
    assert "between needs value and value2; value2 is missing" in answer.json()["detail"]


@pytest.mark.parametrize("attr", ["a", "document.name"])
def test_a_value_nested_ten_thousand_deep_is_refused(shared_client: Any, attr: str) -> None:
    deep = b"[" * 10_000 + b"]" * 10_000
    body = b'{"filters": [{"attr": "%s", "op": "eq", "value": %s}]}' % (attr.encode(), deep)
    answer = shared_client.post(
        "/api/documents/dataset/query", content=body, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code in (400, 422)
    assert answer.json()["detail"].endswith(".")


def test_dates_mean_what_edtf_defines(library: Library, folder: Make) -> None:
    box = folder("Box")
    for name, date in (
        ("decade", "175X"),
        ("about", "1750~"),
        ("unsure", "1750-03?"),
        ("spring", "1750-21"),
        ("winter", "1749-24"),
        ("interval", "1750-06/1751-02"),
        ("open", "1750-07/.."),
        ("one of", "[1750-08,1752]"),
        ("long ago", "-0044-03-15"),
        ("none", "1750-02-30"),
        ("words", "about 1750"),
    ):
        folder(name, box, attributes={"d": date})
    year = [{"attr": "d", "op": "eq", "value": "1750", "type": "date"}]
    answer = ask(
        library,
        parent_id=box,
        filters=year,
        sort={"attr": "d", "type": "date"},
        bins={"attr": "d", "granularity": "month"},
    )
    names = [row["name"] for row in answer["rows"]]
    assert names == ["winter", "decade", "about", "spring", "unsure", "interval", "open", "one of"]
    assert [(bin_row["bin"], bin_row["count"]) for bin_row in answer["bins"]] == [
        ("1749-24", 1),
        ("175X", 1),
        ("1750", 1),
        ("1750-03", 1),
        ("1750-21", 1),
        ("1750-06", 1),
        ("1750-07", 1),
        ("1750-08", 1),
    ]
    by_date = ask(library, parent_id=box, sort={"attr": "d", "type": "date"})
    assert by_date["rows"][0]["name"] == "long ago"
    assert [row["name"] for row in by_date["rows"]][-2:] == ["none", "words"]


def test_an_unknown_folder_is_404(shared_client: Any) -> None:
    assert shared_client.post("/api/documents/dataset/query", json={"parent_id": "f" * 32}).status_code == 404


def test_nothing_was_dropped(library: Library) -> None:
    ask(
        library,
        filters=[{"attr": "x'); DROP TABLE document; --", "op": "eq", "value": "'; DROP TABLE document; --"}],
    )
    assert rows(library, "SELECT count(*) FROM document") == [(1,)]


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("1750", 17500101, 17501231),
        ("1750-03", 17500301, 17500331),
        ("1750-03-15", 17500315, 17500315),
        ("1750-03-15T10:00:00Z", 17500315, 17500315),
        ("175X", 17500101, 17591231),
        ("17XX", 17000101, 17991231),
        ("1750-XX", 17500101, 17501231),
        ("1750?", 17500101, 17501231),
        ("1750-03~", 17500301, 17500331),
        ("1750%/1760", 17500101, 17601231),
        ("1750/..", 17500101, LAST),
        ("../1760", FIRST, 17601231),
        ("[1750,1752]", 17500101, 17521231),
        ("{1750..1752}", 17500101, 17521231),
        ("1750-21", 17500301, 17500531),
        ("1751-24", 17511201, 17520229),
        ("175X-24", 17501201, 17600229),
        ("1750-24/1752", 17501201, 17521231),
        ("-0044-03-15", -439685, -439685),
        ("Y-10000", -99999899, -99998769),
        ("1750-13", None, None),
        ("2024-02-30", None, None),
        ("1750-02-29", None, None),
        ("1752-02-29", 17520229, 17520229),
        ("about 1750", None, None),
        ("", None, None),
        ("/", None, None),
    ],
)
def test_where_a_date_begins_and_ends(text: str, start: int | None, end: int | None) -> None:
    span = span_of(text)
    assert (span.start, span.end) == (start, end) if start is not None and span is not None else span is None
