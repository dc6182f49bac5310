"""The dataset query over SQL: every name and value is a bound parameter, every expression is made here (A 4.2).

It answers for small folders, and is what the answers from columns are proved against.
"""

from __future__ import annotations

import sqlite3
from typing import Any

import orjson

from armarium_documents.queries.dataset.values import (
    EXCERPT,
    MOST_FACET_VALUES,
    contains,
    folded,
    json_path,
    members_of,
    number_in,
)
from armarium_documents.queries.edtf import bin_of, span_of, start_of
from armarium_documents.schemas.dataset import DatasetQuery, Filter

ROW = (
    "d.id, d.name, d.prototype_key, d.node_kind, d.doc_type, d.parent_id, d.attributes,"
    f" substr(COALESCE(d.page_content, ''), 1, {EXCERPT}), d.date_original, d.date_iso"
)
_NAMES = ("id", "name", "prototype_key", "node_kind", "doc_type", "parent_id", "attributes", "excerpt",
          "date_original", "date_iso")  # fmt: skip


class _Statement:
    """Parameters of one statement, named as they are added."""

    def __init__(self) -> None:
        self.given: dict[str, Any] = {}

    def bind(self, value: Any) -> str:
        name = f"p{len(self.given)}"
        self.given[name] = value
        return f":{name}"


def found_by_sql(raw: sqlite3.Connection, query: DatasetQuery) -> dict[str, Any]:
    """What *query* finds: `total`, `rows`, `bins` and `facets`."""
    _register(raw)
    made = _Statement()
    scope = _scope(query, made)
    wheres = ["d.deleted_at IS NULL"]
    if query.prototype_key is not None:
        wheres.append(f"d.prototype_key = {made.bind(query.prototype_key)}")
    if query.attributed_only:
        wheres.append("d.attributes <> '{}'")
    wheres += [_condition(one, made) for one in query.filters]
    matching = f"{scope} WHERE {' AND '.join(wheres)}"
    (total,) = raw.execute(f"SELECT count(*) {matching}", made.given).fetchone()
    return {
        "total": total,
        "rows": _rows(raw, query, matching, made),
        "bins": _bins(raw, query, matching, made),
        "facets": {attr: _facet(raw, attr, matching, made) for attr in dict.fromkeys(query.facets)},
    }


def row_value(row: tuple[Any, ...]) -> dict[str, Any]:
    """A row selected as `ROW`; its attributes go through as they are stored."""
    value = dict(zip(_NAMES, row, strict=True))
    value["attributes"] = orjson.Fragment(value["attributes"])
    return value


def _scope(query: DatasetQuery, made: _Statement) -> str:
    """`FROM` what is under the folder: its children, or with `recursive` all beneath it."""
    if not query.recursive:
        if query.parent_id is None:
            return "FROM (SELECT * FROM document WHERE parent_id IS NULL) d"
        return f"FROM (SELECT * FROM document WHERE parent_id = {made.bind(query.parent_id)}) d"
    if query.parent_id is None:
        return "FROM document d"
    return (
        "FROM (WITH RECURSIVE down(id) AS ("
        f" SELECT id FROM document WHERE parent_id = {made.bind(query.parent_id)} AND deleted_at IS NULL"
        " UNION SELECT c.id FROM down JOIN document c ON c.parent_id = down.id WHERE c.deleted_at IS NULL)"
        " SELECT id FROM down) reached JOIN document d ON d.id = reached.id"
    )


class _Value:
    """The SQL of one attribute's value, by type. A value that is not of the type counts as none."""

    def __init__(self, attr: str, made: _Statement) -> None:
        if attr.startswith("document."):
            # One of FIELDS: the request model lets no other through.
            self.stored = f'd."{attr.removeprefix("document.")}"'
            self.kind = f"typeof({self.stored})"
        else:
            path = made.bind(json_path(attr))
            self.stored = f"json_extract(d.attributes, {path})"
            self.kind = f"json_type(d.attributes, {path})"

    def typed(self, kind: str) -> str:
        if kind in ("number", "rating"):
            return f"CASE {self.kind} WHEN 'integer' THEN {self.stored} WHEN 'real' THEN {self.stored}" + (
                f" WHEN 'text' THEN as_number({self.stored}) END"
            )
        if kind == "date":
            return f"CASE WHEN {self.kind} IN ('text', 'integer') THEN date_start({self.stored}) END"
        if kind == "checkbox":
            return f"CASE {self.kind} WHEN 'true' THEN 1 WHEN 'false' THEN 0 WHEN 'integer' THEN {self.stored} END"
        return (
            f"CASE {self.kind} WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' WHEN 'null' THEN NULL"
            f" ELSE CAST({self.stored} AS TEXT) END"
        )

    def is_set(self) -> str:
        return f"({self.stored} IS NOT NULL AND {self.stored} <> '')"


def _condition(one: Filter, made: _Statement) -> str:
    value = _Value(one.attr, made)
    if one.op == "is_set":
        return value.is_set()
    if one.op == "not_set":
        return f"NOT {value.is_set()}"
    if one.op == "contains":
        return f"COALESCE(contains_folded({value.typed('text')}, {made.bind(one.value.casefold())}), 0)"
    typed = value.typed(one.type)
    if one.type == "date":
        return _date_condition(one, typed, made)
    if one.op == "eq":
        return f"COALESCE({typed} = {made.bind(_plain(one.value))}, 0)"
    if one.op == "ne":
        return f"COALESCE({typed} <> {made.bind(_plain(one.value))}, 1)"
    if one.op == "between":
        return f"COALESCE({typed} BETWEEN {made.bind(one.value)} AND {made.bind(one.value2)}, 0)"
    return f"COALESCE({typed} {'>=' if one.op == 'gte' else '<='} {made.bind(one.value)}, 0)"


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, bool) else value


def _date_condition(one: Filter, typed: str, made: _Statement) -> str:
    """A date is compared by the day it begins; a coarse bound means all of its year or month."""
    low = span_of(one.value)
    high = span_of(one.value2) if one.op == "between" else low
    if low is None or high is None:
        # No date to compare with: nothing equals it, everything differs from it.
        return "1" if one.op == "ne" else "0"
    start, end = made.bind(low.start), made.bind(high.end)
    within = f"{typed} BETWEEN {start} AND {end}"
    if one.op == "ne":
        return f"NOT COALESCE({within}, 0)"
    if one.op == "gte":
        return f"COALESCE({typed} >= {start}, 0)"
    if one.op == "lte":
        return f"COALESCE({typed} <= {end}, 0)"
    return f"COALESCE({within}, 0)"


def _rows(
    raw: sqlite3.Connection, query: DatasetQuery, matching: str, made: _Statement
) -> list[dict[str, Any]]:
    order = "d.sort_order, d.name, d.id"
    if query.sort is not None:
        typed = _Value(query.sort.attr, made).typed(query.sort.type)
        if query.sort.type not in ("number", "rating", "date", "checkbox"):
            typed = f"folded({typed})"
        order = f"{typed} {query.sort.direction.upper()} NULLS LAST, d.name, d.id"
    page = f"LIMIT {made.bind(query.limit)} OFFSET {made.bind(query.offset)}"
    found = raw.execute(f"SELECT {ROW} {matching} ORDER BY {order} {page}", made.given)
    return [row_value(row) for row in found]


def _bins(
    raw: sqlite3.Connection, query: DatasetQuery, matching: str, made: _Statement
) -> list[dict[str, Any]]:
    """How many dates begin in each year, month or day; SQLite counts the values, each is read as a date once."""
    if query.bins is None:
        return []
    value = _Value(query.bins.attr, made)
    found = raw.execute(
        f"SELECT {value.stored}, count(*) {matching} AND {value.kind} IN ('text', 'integer') GROUP BY 1",
        made.given,
    )
    counts: dict[str, int] = {}
    starts: dict[str, int] = {}
    for stored, count in found:
        label, start = bin_of(stored, query.bins.granularity), start_of(stored)
        if label is not None and start is not None:
            counts[label] = counts.get(label, 0) + count
            starts[label] = min(start, starts.get(label, start))
    return [
        {"bin": label, "count": counts[label]} for label in sorted(counts, key=lambda one: (starts[one], one))
    ]


def _facet(raw: sqlite3.Connection, attr: str, matching: str, made: _Statement) -> list[dict[str, Any]]:
    """How often each value occurs, the most frequent first; each member of a list counts by itself."""
    counts: dict[bytes, int] = {}
    if attr.startswith("document."):
        stored = _Value(attr, made).stored
        flags = attr.startswith("document.is_")
        for value, count in raw.execute(
            f"SELECT {stored}, count(*) {matching} AND {stored} IS NOT NULL GROUP BY 1", made.given
        ):
            counts[orjson.dumps(bool(value) if flags else value)] = count
    else:
        found = raw.execute(
            f"SELECT d.attributes -> {made.bind(json_path(attr))}, count(*) {matching} GROUP BY 1", made.given
        )
        for written, count in found:
            for key in () if written is None else members_of(written):
                counts[key] = counts.get(key, 0) + count
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return [{"value": orjson.Fragment(key), "count": count} for key, count in ordered[:MOST_FACET_VALUES]]


def _register(raw: sqlite3.Connection) -> None:
    """The functions SQLite lacks: case folding, dates, numbers written as text."""
    for name, arguments, function in (
        ("folded", 1, folded),
        ("contains_folded", 2, contains),
        ("as_number", 1, number_in),
        ("date_start", 1, start_of),
    ):
        raw.create_function(name, arguments, function, deterministic=True)
