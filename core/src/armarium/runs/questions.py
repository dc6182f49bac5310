"""Questions about rows of the core as data: which columns, under which conditions; so that each is put in one place."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Connection

from armarium.store.database import raw_of
from armarium.store.tables import json_text

Asked = Connection | sqlite3.Connection
Names = str | Iterable[str] | None
"""One value of a column, or several; None for any."""


def connection_of(conn: Asked) -> sqlite3.Connection:
    """Return the `sqlite3` connection of either."""
    return conn if isinstance(conn, sqlite3.Connection) else raw_of(conn)


def conditions(columns: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """Return SQL saying that each column has its value, or one of its values, and the values; None asks nothing."""
    wheres, values = [], []
    for column, value in columns.items():
        if value is None:
            continue
        if isinstance(value, str | int):
            wheres.append(f" AND {column} = ?")
            values.append(value)
        else:
            wheres.append(f" AND {column} IN (SELECT value FROM json_each(?))")
            values.append(json_text(list(value)))
    return "".join(wheres), values


@cache
def select_columns(row: type[NamedTuple], stored: tuple[str, ...], of: tuple[str, ...]) -> str:
    """Return the columns of *row* as SQL selects them, of the large ones (*of*) only the *stored* ones that are wanted."""
    return ", ".join(name if name in stored or name not in of else "NULL" for name in row._fields)


def decode_json(row: Any, json_columns: Iterable[str]) -> Any:
    """Return *row* with its JSON as objects; an empty one for what is null or was not asked for."""
    return row._replace(**{name: orjson.loads(getattr(row, name) or b"{}") for name in json_columns})
