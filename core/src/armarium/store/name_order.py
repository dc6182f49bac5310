"""The one order of names (`names.order`) in SQL: its function, and the indexes made with it."""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, Function, Table, Text
from sqlalchemy.schema import CreateIndex

from armarium.names.order import KEY_VERSION, name_key

if TYPE_CHECKING:
    from alembic.operations import Operations

NAME_KEY = f"name_key_{KEY_VERSION}_{unicodedata.unidata_version.replace('.', '_')}"
"""The name of the function `name_key` in SQL. It says by which version of Unicode letters are folded: an index that a Python of
another version made is not taken for one of this, but made again (`renew_indexes`)."""

_ANY_NAME_KEY = re.compile(r"\bname_key(_\d+)+(?=\()")


@lru_cache(maxsize=1024)
def _key_of(name: str | None) -> str | None:
    return None if name is None else name_key(name)


def register_name_key(raw: sqlite3.Connection) -> None:
    """Give *raw* the function NAME_KEY, without which it can read a project's tables but not write those with such an index."""
    raw.create_function(NAME_KEY, 1, _key_of, deterministic=True)


def by_name(column: ColumnElement[str]) -> ColumnElement[str]:
    """Return what rows are sorted by, or an index is made of, so that the names in *column* are in order."""
    return Function(NAME_KEY, column, type_=Text)


def find_outdated_indexes(raw: sqlite3.Connection) -> list[tuple[str, str]]:
    """Return the indexes whose keys another version made, each with the statement that makes it anew."""
    indexes = raw.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql LIKE '%name\\_key\\_%' ESCAPE '\\'"
    ).fetchall()
    return [
        (name, current)
        for name, statement in indexes
        if (current := _ANY_NAME_KEY.sub(NAME_KEY, statement)) != statement
    ]


def renew_indexes(raw: sqlite3.Connection) -> None:
    """Make those indexes anew whose keys another version made; within a transaction."""
    for name, statement in find_outdated_indexes(raw):
        raw.execute(f'DROP INDEX "{name}"')
        raw.execute(statement)


def index_names(table: Table) -> Callable[[Operations], None]:
    """Return what a `Migration` does where indexes of *table* hold names in order that did not before: it makes them anew."""

    def make_indexes(operations: Operations) -> None:
        for index in table.indexes:
            if NAME_KEY in str(CreateIndex(index)):
                operations.execute(f'DROP INDEX IF EXISTS "{index.name}"')
                index.create(operations.get_bind())

    return make_indexes
