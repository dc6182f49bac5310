"""The dataset query over columns: which rows match, in which order, how often each value and date occurs (A 4.2)."""

from __future__ import annotations

import sqlite3
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from armarium_documents.queries.dataset.column import EXACT, Column, Ranks
from armarium_documents.queries.dataset.table import DocumentTable, Mask
from armarium_documents.queries.dataset.values import MOST_FACET_VALUES
from armarium_documents.queries.edtf import span_of
from armarium_documents.schemas.dataset import DatasetQuery, Filter

_NUMERIC = ("number", "rating", "date", "checkbox")

Rows = npt.NDArray[np.intp]


def found_in_columns(raw: sqlite3.Connection, table: DocumentTable, query: DatasetQuery) -> dict[str, Any]:
    """What *query* finds: `total`, the `ids` of the page, `bins` and `facets`; TooMuch when it does not fit."""
    table.refresh(raw)
    facets = list(dict.fromkeys(query.facets))
    named = [one.attr for one in query.filters] + facets + ["document.name"]
    named += [part.attr for part in (query.sort, query.bins) if part is not None]
    table.need(raw, named)
    rows = np.flatnonzero(_matching(table, query))
    return {
        "total": len(rows),
        "ids": [one.decode() for one in table.ids[_page(table, query, rows)].tolist()],
        "bins": _bins(table, query, rows),
        "facets": {attr: _facet(table.columns[attr], rows) for attr in facets},
    }


def _matching(table: DocumentTable, query: DatasetQuery) -> Mask:
    matching = table.beneath(query.parent_id) if query.recursive else table.children(query.parent_id)
    if query.prototype_key is not None:
        code = table.prototypes.code_of(query.prototype_key)
        matching &= table.prototypes.codes == (-1 if code is None else code)
    if query.attributed_only:
        matching &= table.attributed
    for one in query.filters:
        column = table.columns[one.attr]
        matching &= _fitting(column, one)[column.codes]
    return matching


def _fitting(column: Column, one: Filter) -> Mask:
    """Which of the column's distinct values meet the condition."""
    if one.op in ("is_set", "not_set"):
        there = _mask(value is not None and value != "" for value in column.stored())
        return there if one.op == "is_set" else ~there
    if one.op == "contains":
        needle = one.value.casefold()
        return _mask(text is not None and needle in text for text in column.typed("folded"))
    if one.type == "date":
        return _fitting_dates(column, one)
    kind = {"rating": "number"}.get(one.type, one.type if one.type in _NUMERIC else "text")
    low, high = one.value, one.value2
    numbers = column.numbers(kind) if kind != "text" else None
    if numbers is not None and all(
        not isinstance(value, int) or abs(value) <= EXACT for value in (low, high)
    ):
        # NaN, which is no value, equals nothing and differs from everything, as it should.
        if one.op == "eq":
            return np.asarray(numbers == low)
        if one.op == "ne":
            return np.asarray(numbers != low)
        if one.op == "between":
            return np.asarray((numbers >= low) & (numbers <= high))
        return np.asarray(numbers >= low if one.op == "gte" else numbers <= low)
    values = column.typed(kind)
    if one.op == "eq":
        return _mask(value == low for value in values)
    if one.op == "ne":
        return _mask(value != low for value in values)
    if one.op == "between":
        return _mask(value is not None and low <= value <= high for value in values)
    if one.op == "gte":
        return _mask(value is not None and value >= low for value in values)
    return _mask(value is not None and value <= low for value in values)


def _fitting_dates(column: Column, one: Filter) -> Mask:
    """A date is compared by the day it begins; a coarse bound means all of its year or month."""
    low = span_of(one.value)
    high = span_of(one.value2) if one.op == "between" else low
    if low is None or high is None:
        return np.full(column.size, one.op == "ne")
    starts = column.starts()
    within = np.asarray((starts >= low.start) & (starts <= high.end))
    if one.op == "ne":
        return ~within
    if one.op == "gte":
        return np.asarray(starts >= low.start)
    if one.op == "lte":
        return np.asarray(starts <= high.end)
    return within


def _mask(truths: Any) -> Mask:
    return np.fromiter(truths, np.bool_)


def _page(table: DocumentTable, query: DatasetQuery, rows: Rows) -> Rows:
    """The rows of the page in order: sorted, those without a value last, equal ones by name, then id."""
    names = table.name_order()[rows]
    if query.sort is None:
        first = table.order[rows]
    else:
        column = table.columns[query.sort.attr]
        kind = {"rating": "number"}.get(query.sort.type, query.sort.type)
        ranks = column.ranks(kind if kind in _NUMERIC else "folded")
        if query.sort.direction == "desc":
            ranks = np.where(ranks < 0, -1, ranks.max(initial=0) - ranks)
        first = np.where(ranks < 0, len(ranks), ranks)[column.codes[rows]]
    if query.offset >= len(rows):
        return rows[:0]
    return rows[_least(first, names, len(table.ids), query.offset, query.limit)]


def _least(first: Ranks, then: Ranks, most: int, offset: int, limit: int) -> Rows:
    """Where the values *offset* to *offset + limit* stand when sorted by *first*, then by *then* (0 to *most*)."""
    low, high = int(first.min()), int(first.max())
    if (high - low + 1) * (most + 1) >= 2**62:
        return np.lexsort((then, first))[offset : offset + limit]
    keys = (first - low) * (most + 1) + then
    end = min(offset + limit, len(keys))
    if end < len(keys):
        # Only the page's own rows are sorted, the rest is told apart by its ends.
        nearest = np.argpartition(keys, end - 1)[:end]
        return nearest[np.argsort(keys[nearest])][offset:]
    return np.argsort(keys)[offset:]


def _counts(column: Column, rows: Rows) -> npt.NDArray[np.int64]:
    """How many of *rows* have each distinct value."""
    return np.bincount(column.codes[rows], minlength=column.size)


def _bins(table: DocumentTable, query: DatasetQuery, rows: Rows) -> list[dict[str, Any]]:
    if query.bins is None:
        return []
    column = table.columns[query.bins.attr]
    bins, starts, labels, ranks = column.labels(query.bins.granularity)
    counts = _counts(column, rows)
    there = np.flatnonzero((counts > 0) & (bins >= 0))
    begins = np.full(len(labels), np.inf)
    np.minimum.at(begins, bins[there], starts[there])
    sums = np.bincount(bins[there], counts[there], minlength=len(labels))
    found = np.flatnonzero(sums)
    found = found[np.lexsort((ranks[found], begins[found]))]
    return [{"bin": labels[bin], "count": int(sums[bin])} for bin in found.tolist()]


def _facet(column: Column, rows: Rows) -> list[dict[str, Any]]:
    codes, members, keys, ranks = column.members()
    counts = np.bincount(members, _counts(column, rows)[codes], minlength=len(keys)).astype(np.int64)
    there = np.flatnonzero(counts)
    if not len(there):
        return []
    found = there[_least(-counts[there], ranks[there], len(keys), 0, MOST_FACET_VALUES)]
    return [{"value": orjson.Fragment(keys[at]), "count": int(counts[at])} for at in found.tolist()]
