"""The words for steps of the log: the texts that actions declare, with the names of what the steps touched."""

from __future__ import annotations

import logging
import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy import Connection

from armarium.history.capture import key_columns, quote_name
from armarium.store.database import raw_of
from armarium.store.tables import rules_of

if TYPE_CHECKING:
    from armarium.actions import ActionRegistry
    from armarium.history.schema import Schema
    from armarium.plugin import Plugin

log = logging.getLogger("armarium.wording")

LOOKED_AT = 100
"""How many ids of one step are looked up; the rest is only counted."""

NAMED = 3
"""How many names one phrase lists."""

_SLOT = re.compile(r" ?\{(\w*)(?:\|([^}]*))?\}")


@dataclass(frozen=True, slots=True)
class Origin:
    """The step that a row of the log is about: itself, or the one it undid or redid."""

    action_name: str
    params: Mapping[str, Any]
    target_ids: Sequence[str]
    depth: int = 0
    """The number of undos between them: odd for an undo, even for a redo."""


@dataclass
class Wording:
    """Words for rows of a log; names are looked up once for all rows."""

    actions: ActionRegistry
    plugins: Sequence[Plugin]
    schema: Schema
    _names: dict[str, tuple[str, str]] = field(default_factory=dict)
    """For each id that was looked up, the id and name of the document that it is or belongs to."""

    def add_to(self, conn: Connection, rows: Sequence[dict[str, Any]]) -> None:
        """Add to each of *rows* its `words`, whether it is an undo or a redo, and in `about` the documents it concerns."""
        origins = {row["id"]: _own_origin(row) for row in rows} | _origins(raw_of(conn), rows)
        self._look_up(conn, origins.values())
        for row in rows:
            origin = origins[row["id"]]
            row["words"] = self._words(origin)
            row["reversal"] = ("undo" if origin.depth % 2 else "redo") if origin.depth else None
            about = dict(self._documents(origin.target_ids))
            row["about"] = [{"id": identity, "name": name} for identity, name in about.items()]

    def _words(self, origin: Origin) -> str:
        action = self.actions.find(origin.action_name)
        if action is None:
            return origin.action_name
        if action.words is None:
            return action.title
        try:
            template = action.words if isinstance(action.words, str) else action.words(origin.params)
            return _SLOT.sub(lambda slot: self._fill_slot(slot, origin), template)
        except Exception:
            # A plugin's fault costs its own words, not the history.
            log.warning("The wording of %s failed", origin.action_name, exc_info=True)
            return action.title

    def _fill_slot(self, slot: re.Match[str], origin: Origin) -> str:
        """Return a slot of a template filled with names, or its alternative text where there are none."""
        space = " " if slot[0].startswith(" ") else ""
        value = origin.params.get(slot[1]) if slot[1] else origin.target_ids
        if isinstance(value, Mapping) and isinstance(value.get("count"), int):
            # A long list, of which the log keeps only the length.
            names = [name for _, name in self._documents(origin.target_ids)]
            return space + _enumeration(names, max(value["count"], len(names)))
        ids = [value] if isinstance(value, str) else [item for item in value or () if isinstance(item, str)]
        names = [name for _, name in self._documents(ids)]
        if names:
            return space + _enumeration(names, len(names) + max(0, len(ids) - LOOKED_AT))
        return f"{space}{slot[2]}" if slot[2] else ""

    def _documents(self, ids: Iterable[str]) -> list[tuple[str, str]]:
        """Return (id, name) of the documents that *ids* are or belong to, each once, in order."""
        return list(dict.fromkeys(self._names[row_id] for row_id in ids if row_id in self._names))

    def _look_up(self, conn: Connection, origins: Iterable[Origin]) -> None:
        ids: dict[str, None] = {}
        for origin in origins:
            ids.update(dict.fromkeys(origin.target_ids[:LOOKED_AT]))
            for value in origin.params.values():
                listed = value if isinstance(value, list) else [value]
                ids.update(dict.fromkeys(item for item in listed if isinstance(item, str)))
        if not ids:
            return
        homes = {row_id: row_id for row_id in ids} | _documents_of(raw_of(conn), self.schema, list(ids))
        names = names_of_documents(self.plugins, self.schema, conn, list(dict.fromkeys(homes.values())))
        self._names.update({row_id: (home, names[home]) for row_id, home in homes.items() if home in names})


def names_of_documents(
    plugins: Sequence[Plugin], schema: Schema, conn: Connection, document_ids: Sequence[str]
) -> dict[str, str]:
    """Return the names of the documents among *document_ids*, by the plugins that know them."""
    names: dict[str, str] = {}
    for plugin in plugins:
        own = plugin.metadata.tables.values() if plugin.metadata is not None else ()
        here = all(table.name in schema.by_name for table in own if rules_of(table).kind != "foreign")
        if plugin.names is None or not here:
            # The engine's own log lies in a database without documents.
            continue
        try:
            names.update(plugin.names(conn, document_ids))
        except Exception:
            log.warning("Looking up names in the plugin %s failed", plugin.name, exc_info=True)
    return names


def _enumeration(names: list[str], number: int) -> str:
    """Return `a`, `a and b`, `a, b and c`, or `a, b, c and 5 more`."""
    first_names = names[:NAMED]
    if number > len(first_names):
        return (
            f"{', '.join(first_names)} and {number - len(first_names)} more"
            if first_names
            else f"{number} documents"
        )
    return " and ".join(filter(None, (", ".join(first_names[:-1]), first_names[-1])))


def _documents_of(raw: sqlite3.Connection, schema: Schema, ids: list[str]) -> dict[str, str]:
    """Return the document to which each of these rows belongs, according to the declarations of the tables."""
    table_names = {name for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    parts = [
        f"SELECT {quote_name(keys[0])}, {quote_name(column)} FROM {quote_name(table.name)} "
        f"WHERE {quote_name(keys[0])} IN (SELECT value FROM json_each(?1))"
        for table in schema.tracked
        if table.name in table_names
        and (column := rules_of(table).document)
        and len(keys := key_columns(table)) == 1
    ]
    if not parts:
        return {}
    return dict(raw.execute(" UNION ALL ".join(parts), (orjson.dumps(ids).decode(),)))


def _own_origin(row: Mapping[str, Any]) -> Origin:
    return Origin(row["action_name"], row["params"], row["target_ids"])


def _origins(raw: sqlite3.Connection, rows: Sequence[Mapping[str, Any]]) -> dict[str, Origin]:
    """Return, for each of *rows* that is an undo or redo, the step at the start of its chain."""
    reversing = [row["id"] for row in rows if row["inverse_of"]]
    chains = raw.execute(
        "WITH RECURSIVE chain(start, inverse_of, depth) AS ("
        "SELECT id, inverse_of, 0 FROM audit WHERE id IN (SELECT value FROM json_each(?)) "
        "UNION ALL SELECT chain.start, audit.inverse_of, depth + 1 FROM chain JOIN audit ON audit.id = chain.inverse_of) "
        "SELECT chain.start, chain.depth, origin.action_name, origin.params, origin.target_ids FROM chain "
        "JOIN chain AS last ON last.start = chain.start AND last.depth = chain.depth - 1 "
        "JOIN audit AS origin ON origin.id = last.inverse_of WHERE chain.inverse_of IS NULL",
        (orjson.dumps(reversing).decode(),),
    )
    return {
        start: Origin(name, orjson.loads(params), orjson.loads(targets), depth)
        for start, depth, name, params, targets in chains
    }
