"""The dataset query in plain Python over the rows of the table: filters, order, pages, facets and bins."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from typing import Any

from armarium.api import name_key
from armarium_documents.dates.edtf import Span, bin_of, date_in, span_asked, span_of, start_of
from proofs.listing_project import ATTRIBUTES, HARMFUL, KINDS, VALUES, ListingProject

Row = dict[str, Any]

FIELDS = ("name", "prototype_key", "doc_type", "date_iso", "is_starred")
TYPES = ("text", "number", "rating", "date", "checkbox", "choice", "url", "reference")
OPERATORS = ("eq", "ne", "contains", "gte", "lte", "between", "is_set", "not_set")
HARMFUL_NAMES = tuple(one for one in HARMFUL if one and '"' not in one and min(map(ord, one)) >= 32)


def number_of(value: Any) -> float | None:
    if isinstance(value, bool | list | dict):
        return None
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
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return repr(value)


def read_typed(value: Any, kind: str) -> Any:
    """Return a stored value in the form in which it is compared; None where it is of another type."""
    if kind in ("number", "rating"):
        return number_of(value)
    if kind == "date":
        return start_of(value) if isinstance(value, str | int) and not isinstance(value, bool) else None
    if kind == "checkbox":
        return int(value) if isinstance(value, bool | int) else None
    return text_of(value)


def spans_in(one: Row) -> list[Span | None]:
    """Return the days between which a filter by date looks."""
    bounds = (one["value"], one["value2"] if one["op"] == "between" else one["value"])
    return [span_of(bound) or span_asked(bound) for bound in bounds]


def is_refused(one: Row) -> bool:
    """Return whether a filter by date names what is no date, or days that run backwards."""
    if one["type"] != "date" or one["op"] in ("is_set", "not_set", "contains"):
        return False
    low, high = spans_in(one)
    return low is None or high is None or high.end < low.start


def is_kept(value: Any, one: Row) -> bool:
    """Return whether a row with the attribute value *value* passes the filter *one*."""
    op, kind = one["op"], one["type"]
    if op in ("is_set", "not_set"):
        return (value is not None and value != "") == (op == "is_set")
    if op == "contains":
        text = text_of(value)
        return text is not None and one["value"].casefold() in text.casefold()
    mine, given_value, other = read_typed(value, kind), one["value"], one.get("value2")
    if kind == "date":
        low, high = spans_in(one)
        assert low is not None
        assert high is not None
        span = None if isinstance(value, bool) else date_in(value)
        late = span is not None and span.end >= low.start
        early = span is not None and span.start <= high.end
        if op in ("eq", "between", "ne"):
            return (late and early) != (op == "ne")
        return late if op == "gte" else early
    if mine is None:
        return bool(op == "ne")
    if op in ("eq", "ne"):
        return bool((mine == given_value) == (op == "eq"))
    if op == "between":
        return bool(given_value <= mine <= other)
    return bool(mine >= given_value if op == "gte" else mine <= given_value)


class DatasetCases:
    """Generated dataset queries, each with its expected answer."""

    def __init__(self, ground: ListingProject, seed: int) -> None:
        self.ground, self.chance = ground, random.Random(seed)
        names = "id, name, prototype_key, doc_type, date_iso, is_starred, parent_id, attributes, sort_order"
        self.rows = [
            dict(zip(names.split(", "), row, strict=True))
            for row in ground.rows(f"SELECT {names} FROM document WHERE deleted_at IS NULL")
        ]
        for row in self.rows:
            row["attributes"] = json.loads(row["attributes"])

    def attribute(self) -> str:
        dice = self.chance.random()
        if dice < 0.75:
            return self.chance.choice(ATTRIBUTES)
        return f"document.{self.chance.choice(FIELDS)}" if dice < 0.9 else self.chance.choice(HARMFUL_NAMES)

    def value_at(self, row: Row, attr: str) -> Any:
        return (
            row[attr.removeprefix("document.")]
            if attr.startswith("document.")
            else row["attributes"].get(attr)
        )

    def filter(self) -> Row:
        chance = self.chance
        one: Row = {"attr": self.attribute(), "op": chance.choice(OPERATORS), "type": chance.choice(TYPES)}
        texts = [value for value in VALUES if isinstance(value, str)]
        if one["op"] in ("is_set", "not_set"):
            return one
        if one["op"] == "contains":
            return {**one, "value": chance.choice([*texts, *HARMFUL, "OT"]), "type": "text"}
        if one["type"] == "checkbox":
            return {**one, "op": chance.choice(["eq", "ne"]), "value": chance.random() < 0.5}
        pool: list[Any] = [0, 3, 9.5, -2.5, 10] if one["type"] in ("number", "rating") else [*texts, *HARMFUL]
        one["value"] = chance.choice(pool)
        if one["op"] == "between":
            one["value2"] = chance.choice(pool)
        return one

    def query(self) -> Row:
        chance = self.chance
        found: Row = {
            "parent_id": chance.choice([None, *self.ground.folders]),
            "recursive": chance.random() < 0.7,
            "attributed_only": chance.random() < 0.2,
            "filters": [self.filter() for _ in range(chance.choice([0, 1, 1, 2]))],
            "limit": chance.choice([1, 5, 500]),
            "offset": chance.choice([0, 0, 2, 1000]),
            "facets": list({self.attribute() for _ in range(chance.choice([0, 1, 2]))}),
        }
        if chance.random() < 0.2:
            found["prototype_key"] = chance.choice([*KINDS, *HARMFUL])
        if chance.random() < 0.5:
            found["sort"] = {
                "attr": self.attribute(),
                "type": chance.choice(TYPES),
                "direction": chance.choice(["asc", "desc"]),
            }
        if chance.random() < 0.3:
            found["bins"] = {"attr": self.attribute(), "granularity": chance.choice(["year", "month", "day"])}
        return found

    def ask(self) -> str | None:
        """Send one query; return the fault of its answer, or None."""
        query = self.query()
        answer = self.ground.client.post("/api/documents/dataset/query", json=query)
        said = f"dataset {query!r}: {answer.status_code} {answer.text[:400]}"
        if any(is_refused(condition) for condition in query["filters"]):
            return None if answer.status_code == 422 else said
        if answer.status_code != 200:
            return said
        found_answer, rows = answer.json(), self.matching(query)
        ordered = [row["id"] for row in self.order_rows(rows, query.get("sort"))]
        page = ordered[query["offset"] : query["offset"] + query["limit"]]
        if found_answer["total"] != len(rows) or [row["id"] for row in found_answer["rows"]] != page:
            extra = {row["id"] for row in found_answer["rows"]} - {row["id"] for row in rows}
            return (
                f"{len(extra)} extra rows, total {found_answer['total']} where {len(rows)} was wanted: {said}"
            )
        for attr in query["facets"]:
            counted = {
                json.dumps(one["value"], sort_keys=True): one["count"] for one in found_answer["facets"][attr]
            }
            if counted != self.facet(rows, attr):
                return f"facet {attr!r} is not {self.facet(rows, attr)}: {said}"
        if "bins" in query:
            counted = {bin_row["bin"]: bin_row["count"] for bin_row in found_answer["bins"]}
            if counted != self.bins(rows, **query["bins"]):
                return f"bins are not {self.bins(rows, **query['bins'])}: {said}"
        return None

    def matching(self, query: Row) -> list[Row]:
        parent, wanted = query["parent_id"], []
        reached = {parent}
        while query["recursive"]:
            more = {row["id"] for row in self.rows if row["parent_id"] in reached} - reached
            if not more:
                break
            reached |= more
        for row in self.rows:
            inside = row["parent_id"] in reached
            if query["recursive"] and parent is None:
                inside = True
            if not inside or (query["attributed_only"] and not row["attributes"]):
                continue
            if "prototype_key" in query and row["prototype_key"] != query["prototype_key"]:
                continue
            if all(
                is_kept(self.value_at(row, condition["attr"]), condition) for condition in query["filters"]
            ):
                wanted.append(row)
        return wanted

    def order_rows(self, rows: list[Row], sort: Row | None) -> list[Row]:
        if sort is None:
            return sorted(rows, key=lambda row: (row["sort_order"], name_key(row["name"]), row["id"]))
        placed = sorted(rows, key=lambda row: (name_key(row["name"]), row["id"]))

        def key(row: Row) -> Any:
            value = self.value_at(row, sort["attr"])
            if not isinstance(value, list) or sort["type"] not in ("number", "rating", "checkbox", "date"):
                read = read_typed(value, sort["type"])
                return name_key(read) if isinstance(read, str) else read
            members = [read_typed(member, sort["type"]) for member in value if member is not None]
            among = [member for member in members if member is not None]
            return (min if sort["direction"] == "asc" else max)(among, default=None)

        there = [row for row in placed if key(row) is not None]
        there.sort(key=key, reverse=sort["direction"] == "desc")
        return there + [row for row in placed if key(row) is None]

    def facet(self, rows: list[Row], attr: str) -> dict[str, int]:
        counts: Counter[str] = Counter()
        for row in rows:
            value = self.value_at(row, attr)
            if attr.startswith("document.is_"):
                value = bool(value)
            members = value if isinstance(value, list) else [value]
            counts.update({json.dumps(member, sort_keys=True) for member in members if member is not None})
        return dict(counts)

    def bins(self, rows: list[Row], attr: str, granularity: str) -> dict[str, int]:
        counts: Counter[str] = Counter()
        for row in rows:
            value = self.value_at(row, attr)
            if isinstance(value, bool) or not isinstance(value, str | int):
                continue
            if (label := bin_of(value, granularity)) is not None:
                counts[label] += 1
        return dict(counts)
