"""Record types: what a record of each contains, and how a plugin contributes its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import (
    Boolean,
    ColumnElement,
    Connection,
    Float,
    Integer,
    Table,
    Text,
    and_,
    case,
    false,
    func,
    literal,
    or_,
    select,
    true,
    type_coerce,
)

from armarium.api import HIDDEN, Engine, Json, is_among, json_text, raw_of, rules_of
from armarium_canvas.api import items, places
from armarium_checking.api import verdicts
from armarium_documents.api import annotation_table, artifacts, documents, renditions, representations
from armarium_exports.hookspecs import Contribution, armarium_exports_records
from armarium_exports.selection import Selection
from armarium_reading.api import episodes
from armarium_rights.api import records as rights_records
from armarium_source_model.api import links, order_entries, passes, reading_orders, segments

SCHEMA_VERSION = 1
SOURCES = ("source_document_ids",)
ENDED = ("withdrawn_at", "deleted_at", "superseded_at")
"""Columns that are empty while a row is live."""
_BATCH = 2_000


@dataclass(frozen=True)
class RecordType:
    """Records of one type. *columns*: name to "text", "json", "integer", "number" or "boolean"; None if only
    the records show them.
    """

    name: str
    rows: Callable[[Connection, Selection], Iterator[dict[str, Any]]]
    columns: Mapping[str, str] | None = None
    """Whether values of json columns are ready JSON text."""
    batches: Callable[[Connection, Selection], Iterator[Sequence[Sequence[Any]]]] | None = None
    """For a table: the same records as values in the order of *columns*, many at a time, as the database
    stores them: a boolean is 0 or 1.
    """
    lines: Callable[[Connection, Selection], Iterator[Sequence[Sequence[str]]]] | None = None
    """For a table: the same records as JSON, assembled by the database, each row being one text."""


def record_types(engine: Engine) -> list[RecordType]:
    """Return all record types: ours first, then those of plugins, which cannot use a name of ours."""
    by_name = {record_type.name: record_type for record_type in _OWN}
    for contributed in engine.points.ask(armarium_exports_records):
        for name, rows in contributed.items():
            # Names of tables and columns are a string type of SQLAlchemy, which orjson does not accept as
            # keys.
            if name != "manifest" and name not in by_name:
                by_name[str(name)] = _of_family(str(name), rows)
    return list(by_name.values())


def _of_family(name: str, contribution: Contribution) -> RecordType:
    if not isinstance(contribution, Table):
        return RecordType(name, _collect_contribution(contribution))
    owner = rules_of(contribution).document
    live = [contribution.c[column].is_(None) for column in ENDED if column in contribution.c]

    def where(selection: Selection) -> ColumnElement[bool]:
        if owner is not None:
            return and_(is_among(contribution.c[owner], selection.ids), *live)
        conditions = [_rests_on_none_of(selection.withheld, column) for column in named]
        return and_(true() if selection.whole else false(), *live, *conditions)

    # What belongs to no document may name a part of one: the picture of a sign, say.
    named = [
        key.parent for key in contribution.foreign_keys if rules_of(key.column.table).document is not None
    ]
    return _of_table(name, contribution, where)


def _rests_on_none_of(withheld: Iterable[str], column: ColumnElement[Any]) -> ColumnElement[bool]:
    """Whether what *column* refers to is of none of these documents."""
    (key,) = column.foreign_keys
    owner = rules_of(key.column.table).document
    assert owner is not None
    hidden = select(key.column).where(is_among(key.column.table.c[owner], withheld))
    return or_(column.is_(None), column.not_in(hidden))


def _collect_contribution(rows: Any) -> Callable[[Connection, Selection], Iterator[dict[str, Any]]]:
    def read(conn: Connection, selection: Selection) -> Iterator[dict[str, Any]]:
        for row in rows(conn, None if selection.whole else selection.ids, selection.withheld):
            restricted = _restrict_row({str(name): value for name, value in row.items()}, selection)
            if restricted is not None:
                yield restricted

    return read


def _restrict_row(row: dict[str, Any], selection: Selection) -> dict[str, Any] | None:
    """Return *row* without documents that are not exported; None if it rests on none that is."""
    for name in ("document_id", "source_document_id"):
        if row.get(name) is not None and row[name] not in selection.ids:
            return None
    for name in SOURCES:
        ids = row.get(name)
        if ids:
            row[name] = [identity for identity in ids if identity in selection.ids]
            if not row[name]:
                return None
    return row


def _kind(column: Any) -> str:
    if isinstance(column.type, Json):
        return "json"
    if isinstance(column.type, Boolean):
        return "boolean"
    if isinstance(column.type, Integer):
        return "integer"
    return "number" if isinstance(column.type, Float) else "text"


def _of_table(
    name: str,
    table: Table,
    where: Callable[[Selection], ColumnElement[bool]],
    *,
    order: Any = None,
    more: Mapping[str, ColumnElement[Any]] | None = None,
) -> RecordType:
    """Return the visible columns of *table*; *more* are computed JSON columns."""
    visible = [column for column in table.columns if HIDDEN.items() - column.info.items()]
    columns = {str(column.name): _kind(column) for column in visible} | dict.fromkeys(more or {}, "json")
    # Objects as the stored text: nothing is parsed only to be written again.
    chosen: list[Any] = [_raw(column) for column in visible]
    chosen += [value.label(key) for key, value in (more or {}).items()]

    # Ordered by document first: its rows are adjacent in an index, so that nothing is sorted.
    owner = rules_of(table).document
    ordered = (order,) if order is not None else (*([table.c[owner]] if owner else ()), *table.primary_key)

    def fetch(conn: Connection, selection: Selection, *values: Any) -> Iterator[Sequence[Sequence[Any]]]:
        result = conn.execute(select(*values).where(where(selection)).order_by(*ordered))
        # Bare rows: converting each with SQLAlchemy takes as long as reading it.
        assert result.cursor is not None
        try:
            while rows := result.cursor.fetchmany(_BATCH):
                yield rows
        finally:
            result.close()

    def batches(conn: Connection, selection: Selection) -> Iterator[Sequence[Sequence[Any]]]:
        return fetch(conn, selection, *chosen)

    numbers = [key for key, sort in columns.items() if sort == "number"]
    # Several numbers of a row are written by one call of a function of ours, and objects as they are stored.
    apart = len(numbers) > 1

    def lines(conn: Connection, selection: Selection) -> Iterator[Sequence[Sequence[str]]]:
        values = dict(zip(columns, chosen, strict=True))
        pairs: list[Any] = []
        for key, sort in columns.items():
            if not (apart and sort in ("json", "number")):
                pairs += (literal(key), _in_json(values[key], sort))
        # With the fewest digits that preserve a number: SQLite writes fifteen, and JSON has no infinity.
        raw_of(conn).create_function("armarium_number", 1, json_text, deterministic=True)
        raw_of(conn).create_function("armarium_members", -1, partial(_members, numbers), deterministic=True)
        lead = f'{{"record_type":"{name}","schema_version":{SCHEMA_VERSION},'
        line = func.substr(func.json_object(*pairs), 2)
        if not apart:
            return fetch(conn, selection, literal(lead).concat(line))
        objects = [key for key, sort in columns.items() if sort == "json"]
        empty = ",".join(f'"{key}":null' for key in numbers)
        number_members = case(
            (func.coalesce(*(values[key] for key in numbers)).is_(None), empty),
            else_=func.armarium_members(*(values[key] for key in numbers)),
        )
        form = lead + "%s," + "".join(f'"{key}":%s,' for key in objects) + "%s"
        ready = (func.ifnull(values[key], "null") for key in objects)
        return fetch(conn, selection, func.printf(form, number_members, *ready, line))

    def read(conn: Connection, selection: Selection) -> Iterator[dict[str, Any]]:
        booleans = [key for key, sort in columns.items() if sort == "boolean"]
        for rows in batches(conn, selection):
            for row in rows:
                record = dict(zip(columns, row, strict=True))
                for key in booleans:
                    record[key] = None if record[key] is None else bool(record[key])
                yield record

    return RecordType(name, read, columns, batches, lines)


def _members(keys: Sequence[str], *values: float | None) -> str:
    """Return several numbers as members of a JSON object."""
    return json_text(dict(zip(keys, values, strict=True)))[1:-1]


def _in_json(value: Any, sort: str) -> Any:
    """Return *value* as an argument of SQLite's json_object: numbers keep every digit, objects are passed on
    as stored.
    """
    if sort == "json":
        return func.json(value)
    if sort == "boolean":
        return case((value.is_(None), None), (value == true(), func.json("true")), else_=func.json("false"))
    if sort == "number":
        return case((value.is_(None), None), else_=func.json(func.armarium_number(value)))
    return value


def _raw(column: Any) -> Any:
    if isinstance(column.type, Json):
        return type_coerce(column, Text()).label(column.name)
    return column


def _is_within(column: Any) -> Callable[[Selection], ColumnElement[bool]]:
    return lambda selection: is_among(column, selection.ids)


def _select_live(column: Any, deleted: Any) -> Callable[[Selection], ColumnElement[bool]]:
    return lambda selection: and_(is_among(column, selection.ids), deleted.is_(None))


def _or_whole(column: Any, *also: ColumnElement[bool]) -> Callable[[Selection], ColumnElement[bool]]:
    """Return the condition for these documents; for the whole project, also what belongs to none."""
    return lambda selection: and_(
        or_(is_among(column, selection.ids), column.is_(None) if selection.whole else false()), *also
    )


_live_pass = select(passes.c.id).where(passes.c.deleted_at.is_(None))
_entries = (
    select(func.json_group_array(func.json_object(
        "segment_id", order_entries.c.segment_id, "parent_entry_id", order_entries.c.parent_entry_id,
        "id", order_entries.c.id, "position", order_entries.c.position)))
    .where(order_entries.c.order_id == reading_orders.c.id)
    .correlate(reading_orders)
    .scalar_subquery()
)  # fmt: skip


def _of_segments(selection: Selection) -> ColumnElement[bool]:
    segment = segments.c
    return and_(
        is_among(segment.document_id, selection.ids),
        segment.deleted_at.is_(None),
        segment.pass_id.in_(_live_pass),
    )


def _of_orders(selection: Selection) -> ColumnElement[bool]:
    order = reading_orders.c
    # A flow continues over several pages: one that includes an excluded page is left out too.
    elsewhere = select(order_entries.c.order_id).where(~is_among(order_entries.c.document_id, selection.ids))
    return and_(
        is_among(order.document_id, selection.ids), order.deleted_at.is_(None), order.id.not_in(elsewhere)
    )


def _of_links(selection: Selection) -> ColumnElement[bool]:
    """Return links whose ends are exported, if an end is a document or on one."""
    condition: ColumnElement[bool] = links.c.deleted_at.is_(None)
    for end in (links.c.from_id, links.c.to_id):
        node = select(documents.c.id).where(documents.c.id == end).exists()
        part = select(segments.c.document_id).where(segments.c.id == end).scalar_subquery()
        condition = and_(
            condition,
            or_(~node, is_among(end, selection.ids)),
            or_(part.is_(None), is_among(part, selection.ids)),
        )
    return and_(_or_whole(links.c.document_id)(selection), condition)


def _of_verdicts(selection: Selection) -> ColumnElement[bool]:
    """Return verdicts. Those of no document are about entities, and only their family knows which of these
    rest on withheld documents: if anything is withheld, none of them is included.
    """
    within = is_among(verdicts.c.document_id, selection.ids)
    anywhere = selection.whole and not selection.withheld
    return or_(within, verdicts.c.document_id.is_(None) if anywhere else false())


def _of_rights(selection: Selection) -> ColumnElement[bool]:
    project = (rights_records.c.target_kind == "library") if selection.whole else false()
    return and_(
        or_(is_among(rights_records.c.document_id, selection.ids), project),
        rights_records.c.withdrawn_at.is_(None),
    )


_OWN: tuple[RecordType, ...] = (
    _of_table("document", documents, _is_within(documents.c.id)),
    _of_table("rendition", renditions, _is_within(renditions.c.document_id)),
    _of_table("artifact", artifacts, _is_within(artifacts.c.document_id)),
    _of_table("representation", representations, _is_within(representations.c.document_id)),
    _of_table("pass", passes, _select_live(passes.c.document_id, passes.c.deleted_at)),
    _of_table("segment", segments, _of_segments),
    _of_table("order", reading_orders, _of_orders, more={"entries": _entries}),
    _of_table("link", links, _of_links),
    _of_table("annotation", annotation_table, _is_within(annotation_table.c.document_id)),
    _of_table("verdict", verdicts, _of_verdicts),
    _of_table("rights", rights_records, _of_rights),
    _of_table("canvas_item", items, _is_within(items.c.folder_id)),
    _of_table(
        "canvas_place",
        places,
        lambda selection: and_(
            is_among(places.c.folder_id, selection.ids),
            or_(is_among(places.c.item_id, selection.ids), ~_is_document(places.c.item_id)),
        ),
    ),
    _of_table("episode", episodes, _is_within(episodes.c.document_id), order=episodes.c.seq),
)


def _is_document(column: Any) -> ColumnElement[bool]:
    return select(true()).where(documents.c.id == column).exists()
