"""Which documents the rows of a table are about: by id, path, name, or an attribute that identifies them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

import orjson
from sqlalchemy import Connection

from armarium.api import NAME_KEY, raw_of
from armarium_documents.cells import text_of
from armarium_documents.queries.metadata.columns import Column
from armarium_documents.queries.tree import require_live

_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,4}$")

BENEATH = (
    "WITH RECURSIVE down(id, level, sort_order, named, name, path) AS ("
    f" SELECT d.id, 0, d.sort_order, {NAME_KEY}(d.name), d.name, {{above}} || '/' || d.name FROM document d WHERE {{top}} AND d.deleted_at IS NULL"
    f" UNION ALL SELECT c.id, down.level + 1, c.sort_order, {NAME_KEY}(c.name), c.name, down.path || '/' || c.name FROM down"
    " JOIN document c ON c.parent_id = down.id WHERE c.deleted_at IS NULL AND down.level < 1000"
    # SQLite leaves out the order of a part of a join, unless the part has a limit.
    " ORDER BY 2 DESC, 3, 4, 1 LIMIT -1)"
)
"""The live documents of a folder, or of the project, in the order of the tree, with their paths."""


def beneath(conn: Connection, parent_id: str | None) -> tuple[str, dict[str, str | None]]:
    """Return the beginning of a statement about `down`, the documents in a folder, and its parameters. Raises as `require_live`."""
    if parent_id is None:
        return BENEATH.format(above="''", top="d.parent_id IS NULL"), {}
    require_live(conn, parent_id)
    steps = raw_of(conn).execute(
        "WITH RECURSIVE up(id, parent_id, name, level) AS (SELECT id, parent_id, name, 0 FROM document WHERE id = ?"
        " UNION ALL SELECT p.id, p.parent_id, p.name, up.level + 1 FROM up JOIN document p ON p.id = up.parent_id)"
        " SELECT name FROM up ORDER BY level DESC",
        (parent_id,),
    )
    above = "".join(f"/{name}" for (name,) in steps)
    return BENEATH.format(above=":above", top="d.parent_id = :parent"), {"above": above, "parent": parent_id}


class Keys(NamedTuple):
    """How rows name documents, and the documents of each: exactly so, or apart from case and the ending of the name."""

    exact: dict[str, set[str]]
    loose: dict[str, set[str]]

    def find(self, key: str) -> set[str]:
        """Return the documents that *key* may name."""
        ids = self.exact.get(key)
        if ids is None:
            ids = next((self.loose[form] for form in _loosely(key) if form in self.loose), None)
        return ids or set()


def key_of(cell: object) -> str:
    """Return the cell that names a document, in the form in which names are stored."""
    return unicodedata.normalize("NFC", text_of(cell))


def find_documents(
    conn: Connection, column: Column, keys: Iterable[str], parent_id: str | None, hidden: Collection[str]
) -> Keys:
    """Return which live documents the *keys* in *column* name, without those *hidden*."""
    sought = set(keys)
    by_name = column.is_own and column.name == "name"
    loosely = {form for key in sought for form in _loosely(key)} if by_name else set()
    matches = Keys({}, {})
    for identity, key in _list_names(conn, column, parent_id):
        if key is None or identity in hidden:
            continue
        if key in sought:
            matches.exact.setdefault(key, set()).add(identity)
        if loosely:
            for form in _loosely(key):
                if form in loosely:
                    matches.loose.setdefault(form, set()).add(identity)
    return matches


def _loosely(name: str) -> tuple[str, str]:
    folded = name.casefold()
    return folded, _ENDING.sub("", folded)


def _list_names(conn: Connection, column: Column, parent_id: str | None) -> Iterator[tuple[str, str | None]]:
    """Yield the documents of the scope, each with what a row may call it."""
    raw = raw_of(conn)
    start, parameters = beneath(conn, parent_id)
    if not column.is_own:
        rows = raw.execute(
            f"{start} SELECT d.id, d.attributes FROM down JOIN document d ON d.id = down.id", parameters
        )
        for identity, attributes in rows:
            value = orjson.loads(attributes).get(column.name)
            for member in value if isinstance(value, list) else (value,):
                yield identity, None if member is None or member == "" else key_of(member)
        return
    name = column.name
    for identity, key in raw.execute(f"{start} SELECT id, {name} FROM down", parameters):
        yield identity, key
        if name == "path":
            yield identity, key.removeprefix("/")
            if parameters:
                yield identity, key.removeprefix(f"{parameters['above']}/")
