"""Runs the dataset query over columns: which rows match, in which order, and the counts of values and dates.

Callers' input reaches polars only as literals: no text becomes a name or an expression.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

import orjson
import polars as pl

from armarium_documents.dates.edtf import FIRST_OF_SEASONS, label_of
from armarium_documents.queries.dataset.columns import PARENT, Table, name_keys_of
from armarium_documents.queries.dataset.values import compose, members_of, number_parts, read_members
from armarium_documents.schemas.dataset import Bins, DatasetQuery, Filter, Sort, days_asked

MOST_FACET_VALUES = 1000
"""Values of one facet that are answered, the most frequent first."""

# The column must be on the left of a comparison: otherwise polars 2.1 fails if all values are null.
_text, _folded, _json = pl.col("text"), pl.col("folded"), pl.col("json")
_start = pl.col("date") // 4
_checked = (
    pl.when(_json == pl.lit("true"))
    .then(1.0)
    .when(_json == pl.lit("false"))
    .then(0.0)
    .when(_json.str.contains(r"^-?\d+$"))
    .then(pl.col("number"))
)


def find(table: Table, query: DatasetQuery, hidden: Collection[str] = ()) -> dict[str, Any]:
    """Run *query* without the documents *hidden*: `total`, `ids` of the page, `bins`, `facets`."""
    matching = _match_rows(table, query)
    if hidden:
        matching = matching & ~table.ids.is_in(pl.Series(values=list(hidden)).implode())
    rows = matching.arg_true()
    return {
        "total": len(rows),
        "ids": _page(table, query, rows),
        "bins": [] if query.bins is None else _bins(table, query.bins, rows),
        "facets": {attr: _facet(table, attr, rows) for attr in dict.fromkeys(query.facets)},
    }


def _match_rows(table: Table, query: DatasetQuery) -> pl.Series:
    """Return, by row, whether it matches."""
    matching = table.live
    if not (query.recursive and query.parent_id is None):
        matching = matching & _rows_where(table, PARENT, _lies_in(table, query))
    if query.prototype_key is not None:
        matching = matching & _rows_where(
            table, "document.prototype_key", _text == pl.lit(query.prototype_key)
        )
    if query.attributed_only:
        matching = matching & table.attributed
    for condition in query.filters:
        matching = matching & _rows_that_meet(table, condition)
    return matching


def _rows_where(table: Table, name: str, condition: pl.Expr) -> pl.Series:
    """Return, by row, whether its value in column *name* meets *condition*; tested once per value."""
    codes, values = table.column(name)
    return values.with_columns(meets=condition.fill_null(False))["meets"].gather(codes)


def _rows_that_meet(table: Table, condition: Filter) -> pl.Series:
    """Return, by row, whether its value meets *condition*; a list does where one of its members does."""
    if condition.op in ("is_set", "not_set"):
        return _rows_where(table, condition.attr, _is_set() if condition.op == "is_set" else ~_is_set())
    codes, values = table.column(condition.attr)
    test = _build_condition(condition).fill_null(False)
    meets = values.select(meets=test)["meets"]
    lists = _find_lists(values)
    if len(lists):
        members = read_members(values["json"].gather(lists).to_list())
        met = members.filter(test)["list"].unique()
        meets = meets.scatter(lists, False).scatter(lists.gather(met), True)
    return (~meets if condition.op == "ne" else meets).gather(codes)


def _find_lists(values: pl.DataFrame) -> pl.Series:
    return values["json"].str.starts_with("[").fill_null(False).arg_true()


def _is_set() -> pl.Expr:
    return _text.is_not_null() & (_text != pl.lit(""))


def _lies_in(table: Table, query: DatasetQuery) -> pl.Expr:
    if query.parent_id is None:
        return _text.is_null()
    reached = [query.parent_id]
    if query.recursive:
        folders = table.folders()
        for folder_id in reached:
            reached.extend(folders.get(folder_id, ()))
    return _text.is_in(pl.Series(values=reached, dtype=pl.String).implode())


def _build_condition(condition: Filter) -> pl.Expr:
    """Return the condition on a value's readings, for `ne` that of being equal; a value of another type counts as none."""
    if condition.op == "contains":
        return _contains(compose(condition.value).casefold())
    if condition.op == "has":
        return _json == pl.lit(compose(orjson.dumps(condition.value).decode()))
    low, high = condition.value, condition.value2 if condition.op == "between" else condition.value
    if condition.type == "date":
        # A date is found by each day that it may mean, and a bound that is only a year or month covers all of it.
        first, last = days_asked(low), days_asked(high)
        at_least, at_most = pl.col("last") >= pl.lit(first.start), pl.col("first") <= pl.lit(last.end)
    elif condition.type in ("number", "rating"):
        at_least, at_most = _number_from(low), ~_number_from(high, beyond=True)
    elif condition.type == "checkbox":
        at_least, at_most = _checked >= pl.lit(float(low)), _checked <= pl.lit(float(high))
    else:
        at_least, at_most = _text >= pl.lit(compose(low)), _text <= pl.lit(compose(high))
    if condition.op == "gte":
        return at_least
    if condition.op == "lte":
        return at_most
    return at_least & at_most


def _contains(needle: str) -> pl.Expr:
    return _folded.str.contains(pl.lit(needle), literal=True)


def _number_from(bound: float, *, beyond: bool = False) -> pl.Expr:
    """Test whether the number is *bound* or more; with *beyond*, more. Exact for integers of any size."""
    number, low = (pl.lit(part) for part in number_parts(bound))
    is_above = pl.col("low") > low if beyond else pl.col("low") >= low
    return (pl.col("number") > number) | ((pl.col("number") == number) & is_above)


def _page(table: Table, query: DatasetQuery, rows: pl.Series) -> list[str]:
    """Return the ids of the page: sorted, those without a value last, equal ones by name, then id."""
    if query.offset >= len(rows):
        return []
    order = table.order if query.sort is None else _ranks(table, query.sort)
    frame = pl.DataFrame({"row": rows, "order": order.gather(rows)})
    most = query.offset + query.limit
    if most < len(rows):
        # Names are compared only where the order does not decide.
        last = frame["order"].bottom_k(most).max()
        frame = frame.filter(pl.col("order") <= pl.lit(last))
    frame = frame.with_columns(id=table.ids.gather(frame["row"]))
    tied = frame["order"].is_duplicated()
    if tied.any():
        codes, values = table.column("document.name")
        keys = name_keys_of(values["text"].gather(codes.gather(frame["row"].filter(tied))))
        same = frame.filter(tied).with_columns(name=keys)
        frame = pl.concat([frame.filter(~tied), same], how="diagonal")
        frame = frame.sort("order", "name", "id")
    else:
        frame = frame.sort("order")
    return frame["id"].slice(query.offset, query.limit).to_list()


def _ranks(table: Table, sort: Sort) -> pl.Series:
    """Return, by row, the rank of its value, the greatest if it has none; a list of numbers or dates has that of its first in this order."""
    codes, values = table.column(sort.attr)
    number = [pl.col("number"), pl.col("low")]
    keys = {"number": number, "rating": number, "checkbox": [_checked, pl.col("low")], "date": [_start]}.get(
        sort.type
    )
    by_text = [pl.lit(table.name_keys(sort.attr))] if keys is None else []
    named = [key.alias(f"key{at}") for at, key in enumerate(keys or by_text)]
    keyed = values.select(named).with_row_index("code")
    names = keyed.columns[1:]
    lists = _find_lists(values)
    if keys is not None and len(lists):
        members = read_members(values["json"].gather(lists).to_list())
        keyed = keyed.vstack(members.select(lists.gather(members["list"]).alias("code"), *named))
    keyed = keyed.filter(pl.col("key0").is_not_null()).sort(names, descending=sort.direction == "desc")
    keyed = keyed.unique("code", keep="first", maintain_order=True)
    ranks = keyed.select(pl.struct(names).rle_id().cast(pl.Int64)).to_series()
    last = pl.repeat(values.height, values.height, dtype=pl.Int64, eager=True)
    return last.scatter(keyed["code"], ranks).gather(codes)


def _counts(table: Table, name: str, rows: pl.Series) -> pl.DataFrame:
    """Count the values of *rows* in column *name*."""
    codes, values = table.column(name)
    counts = pl.DataFrame({"code": codes.gather(rows)}).group_by("code").len("count")
    return values[counts["code"]].with_columns(counts["count"])


def _bins(table: Table, bins: Bins, rows: pl.Series) -> list[dict[str, Any]]:
    """Count the dates by year, month or day, or by what coarser they state: a month, a season, a year, 19XX, ../1960."""
    finest = {"year": 1, "month": 2, "day": 3}[bins.granularity]
    season = (pl.col("date") % 4 == 0) & (_start % 10_000 >= FIRST_OF_SEASONS)
    stated = pl.when(season).then(1 if finest == 1 else 0).otherwise(pl.col("date") % 4)
    precision = pl.min_horizontal(stated, pl.lit(finest))
    unit = pl.when(precision == 1).then(10_000).when(precision == 2).then(100).otherwise(1)
    frame = (
        _counts(table, bins.attr, rows)
        .filter(pl.col("date").is_not_null())
        .group_by((_start // unit * unit * 4 + precision).alias("bin"))
        .agg(pl.col("count").sum(), _start.min().alias("start"))
    )
    labelled = [
        (start, label_of(date, bins.granularity), count)
        for date, count, start in frame.select("bin", "count", "start").iter_rows()
    ]
    return [{"bin": label, "count": count} for _, label, count in sorted(labelled)]


def _facet(table: Table, attr: str, rows: pl.Series) -> list[dict[str, Any]]:
    """Count each value, the most frequent first; members of a list count separately."""
    counts = _counts(table, attr, rows).filter(_json.is_not_null()).select("json", "count")
    lists = _json.str.starts_with("[")
    members: Counter[str] = Counter()
    for value_json, count in counts.filter(lists).iter_rows():
        for member in members_of(value_json):
            members[member] += count
    schema = counts.schema
    single = pl.DataFrame({"json": list(members), "count": list(members.values())}, schema=schema)
    frame = (
        pl.concat([counts.filter(~lists), single])
        .group_by("json")
        .agg(pl.col("count").sum())
        .sort("count", "json", descending=[True, False])
        .head(MOST_FACET_VALUES)
    )
    return [
        {"value": orjson.Fragment(written.encode()), "count": count} for written, count in frame.iter_rows()
    ]
