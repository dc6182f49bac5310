"""The rules of the dataset query in plain Python over the rows of the table, to compare its answers with."""

from __future__ import annotations

import math
import sqlite3
from collections import Counter
from functools import cache
from typing import Any

import orjson
from documents_fixtures import rows

from armarium.api import Library, name_key
from armarium_documents.dates.edtf import bin_of, date_in, span_of, start_of
from armarium_documents.schemas.dataset import FIELDS, DatasetQuery

Row = dict[str, Any]


@cache
def written_by_sqlite(number: float) -> str:
    conn = sqlite3.connect(":memory:")
    try:
        return str(conn.execute("SELECT CAST(? AS TEXT)", (number,)).fetchone()[0])
    finally:
        conn.close()


def number_of(value: Any) -> float | None:
    if isinstance(value, bool | list | dict):
        return None
    if isinstance(value, int) and abs(value) < 2**63:
        return value
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def text_of(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | dict):
        return orjson.dumps(value).decode()
    if isinstance(value, int) and abs(value) < 2**63:
        return str(value)
    return written_by_sqlite(float(value))


def read_typed(value: Any, kind: str) -> Any:
    """Return a stored value in the form in which it is compared; None where it is of another type."""
    if kind in ("number", "rating"):
        return number_of(value)
    if kind == "date":
        return start_of(value) if isinstance(value, str | int) and not isinstance(value, bool) else None
    if kind == "checkbox":
        return int(value) if isinstance(value, bool | int) else None
    return text_of(value)


def matches(value: Any, one: dict[str, Any]) -> bool:
    op = one["op"]
    if op in ("is_set", "not_set"):
        return (value is not None and value != "") == (op == "is_set")
    if op == "ne":
        return not matches(value, one | {"op": "eq"})
    if isinstance(value, list):
        return any(single_matches(member, one) for member in value if member is not None)
    return single_matches(value, one)


def single_matches(value: Any, one: dict[str, Any]) -> bool:
    op, kind = one["op"], one.get("type", "text")
    if op == "has":
        return orjson.dumps(one["value"]) == orjson.dumps(value)
    if op == "contains":
        text = text_of(value)
        return text is not None and one["value"].casefold() in text.casefold()
    mine = read_typed(value, kind)
    if kind == "date":
        low = span_of(one["value"])
        high = span_of(one.get("value2", one["value"])) if op == "between" else low
        if low is None or high is None:
            return False
        span = None if isinstance(value, bool) else date_in(value)
        late = span is not None and span.end >= low.start
        early = span is not None and span.start <= high.end
        within = late and early
        return {"eq": within, "between": within, "gte": late, "lte": early}[op]
    if mine is None:
        return False
    given_value, other = one["value"], one.get("value2")
    return bool(
        {
            "eq": lambda: mine == given_value,
            "gte": lambda: mine >= given_value,
            "lte": lambda: mine <= given_value,
            "between": lambda: given_value <= mine <= other,
        }[op]()
    )


def in_order(found: list[Row], attr: str | None, kind: str, direction: str) -> list[Row]:
    """Sort by the attribute: rows without a value last, equal ones by name, then id; a list by its first member in this order."""

    def key(row: Row) -> Any:
        value = row["sort_order"] if attr is None else read_first(value_at(row, attr), kind, direction)
        return name_key(value) if isinstance(value, str) else value

    placed = sorted(found, key=lambda row: (name_key(row["name"]), row["id"]))
    there = [row for row in placed if key(row) is not None]
    there.sort(key=key, reverse=direction == "desc")
    return there + [row for row in placed if key(row) is None]


def read_first(value: Any, kind: str, direction: str) -> Any:
    """Return what a value is sorted by; of a list of numbers, dates or truths the least, or the greatest in descending order."""
    if not isinstance(value, list) or kind not in ("number", "rating", "checkbox", "date"):
        return read_typed(value, kind)
    read = [read_typed(member, kind) for member in value if member is not None]
    members = [member for member in read if member is not None]
    return (min if direction == "asc" else max)(members, default=None)


def value_at(row: Row, attr: str) -> Any:
    return (
        row[attr.removeprefix("document.")] if attr.startswith("document.") else row["attributes"].get(attr)
    )


def count_values(found: list[Row], attr: str) -> dict[str, int]:
    """Return how many rows have each value, by its JSON; each member of a list counts separately."""
    counts: Counter[str] = Counter()
    for row in found:
        value = value_at(row, attr)
        if attr.startswith("document.is_"):
            value = bool(value)
        members = value if isinstance(value, list) else [value]
        counts.update({orjson.dumps(member).decode() for member in members if member is not None})
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0].encode())))


def bin_dates(found: list[Row], attr: str, granularity: str) -> dict[str, int]:
    counts: Counter[str] = Counter()
    starts: dict[str, int] = {}
    for row in found:
        value = value_at(row, attr)
        if isinstance(value, bool) and attr.startswith("document."):
            value = int(value)
        label = None if isinstance(value, bool) else bin_of(value, granularity)
        start = start_of(value)
        if label is not None and start is not None:
            counts[label] += 1
            starts[label] = min(start, starts.get(label, start))
    return dict(sorted(counts.items(), key=lambda one: (starts[one[0]], one[0])))


def expected_answer(library: Library, query: DatasetQuery) -> dict[str, Any]:
    """Return the expected answer to *query*: `total`, the `ids` of the page, `bins` and `facets`."""
    names = ["id", "parent_id", "deleted_at", "sort_order", "attributes", *sorted(FIELDS)]
    every = [
        dict(zip(names, row, strict=True))
        for row in rows(library, f"SELECT {', '.join(names)} FROM document")
    ]
    live = [row for row in every if row["deleted_at"] is None]
    for row in live:
        row["attributes"] = orjson.loads(row["attributes"])
    reached = {query.parent_id}
    while query.recursive:
        more = {row["id"] for row in live if row["parent_id"] in reached} - reached
        if not more:
            break
        reached |= more
    found = [
        row
        for row in live
        if (row["parent_id"] in reached or (query.recursive and query.parent_id is None))
        and (query.prototype_key is None or row["prototype_key"] == query.prototype_key)
        and (row["attributes"] != {} or not query.attributed_only)
        and all(matches(value_at(row, condition.attr), condition.model_dump()) for condition in query.filters)
    ]
    sort = query.sort
    ordered = (
        in_order(found, None, "", "asc")
        if sort is None
        else in_order(found, sort.attr, sort.type, sort.direction)
    )
    bins = query.bins
    return {
        "total": len(found),
        "ids": [row["id"] for row in ordered[query.offset : query.offset + query.limit]],
        "bins": {} if bins is None else bin_dates(found, bins.attr, bins.granularity),
        "facets": {attr: count_values(found, attr) for attr in query.facets},
    }


def check_answer(answer: dict[str, Any], library: Library, query: DatasetQuery) -> None:
    """Check that *answer* is the expected one, in the right order."""
    found = orjson.loads(orjson.dumps(answer))
    wanted = expected_answer(library, query)
    assert found["total"] == wanted["total"], query
    assert [row["id"] for row in found["rows"]] == wanted["ids"], query
    assert [(bin_row["bin"], bin_row["count"]) for bin_row in found["bins"]] == list(
        wanted["bins"].items()
    ), query
    for attr, counts in wanted["facets"].items():
        got = [(orjson.dumps(one["value"]).decode(), one["count"]) for one in found["facets"][attr]]
        assert got == list(counts.items()), (attr, query)
