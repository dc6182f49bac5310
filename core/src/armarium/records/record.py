"""A noun declared once: the fields that a caller sends, and what the record has besides; its table, rows and answers follow.

class HandCreate(Params):
    label: Name
    notes: Words | None = None

@record(metadata, "hand", tracked(label="hand"), *provenance_columns(), hint="The list of hands has the right one.")
class Hand(HandCreate, Record):
    \"\"\"A hand.\"\"\"

Hand.table.c.label, Hand.rows.require(conn, hand_id), Hand   # the table, its rows, the model of their answers
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, TypeVar, Union, get_args, get_origin

from pydantic.fields import FieldInfo
from sqlalchemy import Boolean, Column, Float, Index, Integer, MetaData, Table, Text

from armarium.errors import ServiceError, missing
from armarium.messages import Message, Sent
from armarium.store.rows import Rows, answer_model
from armarium.store.tables import Json


class Record(Message):
    """Base of the classes that `record` decorates."""

    table: ClassVar[Table]
    rows: ClassVar[Rows]


R = TypeVar("R", bound=Record)
T = TypeVar("T")


class _ComputedMark:
    """Marks a field that no row has."""


Computed = Annotated[T, _ComputedMark()]
"""A field of the answers that is computed when a row is answered: it has no column, and stands at the end."""


def record(
    metadata: MetaData,
    name: str,
    info: dict[str, Any],
    *given: Column[Any] | Index,
    last: Sequence[Column[Any]] = (),
    hint: str | None = None,
    refusal: Callable[[str], ServiceError] | None = None,
) -> Callable[[type[R]], type[R]]:
    """Declare the table *name* with a column for each field of the decorated class, after the key `id`.

    A text, number or truth value is stored as one, anything else as JSON. A column that differs (a reference, a hidden
    one) is *given* and used instead; one that is not a field stands after the column given before it, and *last* at the
    end. The refusal of an unknown id is *refusal*, or the usual one with the *hint* how to find the right id.

    The class becomes the model of the answers: every shown column is there, and the limits on what is sent are not. What
    the class itself states of a field stays as it is, and what it says is `Computed` has no column.
    """
    columns = {column.name: column for column in given if isinstance(column, Column)}
    unknown = refusal or (None if hint is None else missing(info["rules"].label, hint))

    def declare(declared: type[R]) -> type[R]:
        table = Table(
            name,
            metadata,
            *_order_columns(declared, columns),
            *last,
            *(index for index in given if isinstance(index, Index)),
            info=info,
        )
        own = inspect.get_annotations(declared)
        kinds = {
            name: Union[*_kinds(field.annotation), *((None,) if table.c[name].nullable else ())]
            for name, field in declared.model_fields.items()
            if name not in columns and not _is_computed(field)
        }
        fields = {name: declared.model_fields[name] for name in own}
        record_type = answer_model(declared, table, fields, kinds, Record)
        record_type.table = table
        record_type.rows = Rows(table, missing=unknown)
        return record_type

    return declare


def _order_columns(declared: type[Record], columns_by_name: Mapping[str, Column[Any]]) -> list[Column[Any]]:
    """Return the columns in the fields' order; each of *columns_by_name* that is not a field follows the one given before it."""
    order, at = [name for name, field in declared.model_fields.items() if not _is_computed(field)], 0
    for name in columns_by_name:
        if name in order:
            at = order.index(name)
        else:
            order.insert(at, name)
        at += 1
    columns = [
        columns_by_name[name]
        if name in columns_by_name
        else _column(name, declared.model_fields[name].annotation)
        for name in order
    ]
    if not any(column.primary_key for column in columns):
        columns.insert(0, Column("id", Text, primary_key=True))
    return columns


def _is_computed(field: FieldInfo) -> bool:
    return any(isinstance(mark, _ComputedMark) for mark in field.metadata)


_STORED: dict[Any, Any] = {str: Text, int: Integer, float: Float, bool: Boolean}


def _column(name: str, annotation: Any) -> Column[Any]:
    kind = _kinds(annotation)[0]
    stored = Text if get_origin(kind) is Literal else _STORED.get(kind, Json)
    return Column(name, stored, nullable=types.NoneType in get_args(annotation))


def _kinds(annotation: Any) -> tuple[Any, ...]:
    """Return the types of value that *annotation* allows, without limits and without null."""
    plain = _without_limits(annotation)
    options = get_args(plain) if get_origin(plain) in (Union, types.UnionType) else (plain,)
    return tuple(option for option in options if option is not types.NoneType)


def _without_limits(annotation: Any) -> Any:
    """Return *annotation* without what `Annotated` adds to it or to its parts; what is sent as a model of its own is
    answered as the JSON that is stored.
    """
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _without_limits(parts[0])
    if origin in (Union, types.UnionType):
        return Union[tuple(_without_limits(part) for part in parts)]  # noqa: UP007
    if origin in (list, dict):
        return origin[tuple(_without_limits(part) for part in parts)]
    return dict[str, Any] if isinstance(annotation, type) and issubclass(annotation, Sent) else annotation
