"""The scopes of the query language that search itself answers; a scope is stated here, and nowhere else."""

from __future__ import annotations

import orjson
from sqlalchemy import Connection

from armarium.api import raw_of, words_of
from armarium_documents.api import annotation_table, classifications, documents
from armarium_search.hookspecs import Scope
from armarium_search.models import name_index, names
from armarium_search.queries.dates_asked import require_span


def find_named(conn: Connection, text: str) -> set[str]:
    words = words_of(text)
    if not words:
        return set()
    star = " *" if text.endswith("*") else ""
    rows = raw_of(conn).execute(
        f"SELECT n.document_id FROM {name_index} CROSS JOIN {names} n ON n.number = {name_index}.rowid "
        f"WHERE {name_index} MATCH :sought",
        {"sought": f'name : "{" ".join(words)}"{star}'},
    )
    return {row[0] for row in rows}


def find_tagged(conn: Connection, text: str) -> set[str]:
    words = words_of(text)
    fits = [
        tag
        for (tag,) in raw_of(conn).execute(
            f"SELECT DISTINCT j.value FROM {annotation_table} a, json_each(a.tags) j WHERE a.tags <> '[]'"
        )
        if words and words_of(str(tag)) == words
    ]
    keys = [
        key
        for key, label in raw_of(conn).execute(f"SELECT key, label FROM {classifications}")
        if words and words in (words_of(key), words_of(label))
    ]
    rows = raw_of(conn).execute(
        f"SELECT coalesce(a.page_id, a.document_id) FROM {annotation_table} a, json_each(a.tags) j "
        "WHERE a.tags <> '[]' AND j.value IN (SELECT value FROM json_each(:tags)) UNION "
        f"SELECT id FROM {documents} WHERE prototype_key IN (SELECT value FROM json_each(:keys))",
        {"tags": orjson.dumps(fits).decode(), "keys": orjson.dumps(keys).decode()},
    )
    return {row[0] for row in rows}


def find_dated(conn: Connection, text: str) -> set[str]:
    span = require_span(text)
    rows = raw_of(conn).execute(
        f"SELECT document_id FROM {names} WHERE first_day <= :last AND last_day >= :first",
        {"first": span.start, "last": span.end},
    )
    return {row[0] for row in rows}


SCOPES = (
    Scope("name", find_named),
    Scope("tag", find_tagged),
    Scope("dates", find_dated, example="1832, 183X, 1832/1840"),
)
