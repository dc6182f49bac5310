"""Prototypes as stored, resolved along their chain, and what they make of a document (A 4.2)."""

from __future__ import annotations

import sqlite3
from typing import Any

import orjson

from armarium.api import Invalid
from armarium_documents.errors import (
    classification_not_found,
    prototype_cycle,
    unknown_document,
    unknown_prototype,
)

_COLUMNS = (
    "key",
    "label",
    "parent_key",
    "icon",
    "color",
    "applies_to",
    "declarations",
    "defaults",
    "builtin",
    "created_at",
    "updated_at",
)
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM classification"


def _value(row: tuple[Any, ...]) -> dict[str, Any]:
    value = dict(zip(_COLUMNS, row, strict=True))
    value["builtin"] = value["builtin"] == 1
    for name in ("applies_to", "declarations", "defaults"):
        value[name] = orjson.loads(value[name])
    for declaration in value["declarations"]:
        declaration["from_key"] = value["key"]
    return value


def classifications(raw: sqlite3.Connection) -> list[dict[str, Any]]:
    """Every prototype by key."""
    return [_value(row) for row in raw.execute(f"{_SELECT} ORDER BY key")]


def find(raw: sqlite3.Connection, key: str) -> dict[str, Any] | None:
    """The prototype *key*, or None."""
    row = raw.execute(f"{_SELECT} WHERE key = ?", (key,)).fetchone()
    return None if row is None else _value(row)


def require(raw: sqlite3.Connection, key: str) -> dict[str, Any]:
    """The prototype *key*; NotFound where there is none."""
    found = find(raw, key)
    if found is None:
        raise classification_not_found(key)
    return found


def chain_of(raw: sqlite3.Connection, key: str) -> list[dict[str, Any]]:
    """The prototype *key* and all it inherits from, the root first; Invalid for an unknown key or a circle."""
    found: list[dict[str, Any]] = []
    seen: list[str] = []
    wanted: str | None = key
    while wanted is not None:
        if wanted in seen:
            raise prototype_cycle([*seen, wanted])
        one = find(raw, wanted)
        if one is None:
            raise unknown_prototype(wanted, because=seen[-1] if seen else None)
        seen.append(wanted)
        found.append(one)
        wanted = one["parent_key"]
    found.reverse()
    return found


def merged(chain: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Declarations (a nearer one replaces a farther) by order, and defaults (declared ones, then those stated)."""
    declarations: dict[str, dict[str, Any]] = {}
    for prototype in chain:
        for declaration in prototype["declarations"]:
            declarations[declaration["key"]] = declaration
    ordered = sorted(declarations.values(), key=lambda declaration: declaration["order"])
    defaults = {one["key"]: one["default"] for one in ordered if one["default"] is not None}
    for prototype in chain:
        defaults |= prototype["defaults"]
    return ordered, defaults


def resolved(raw: sqlite3.Connection, key: str) -> dict[str, Any]:
    """The prototype *key* with all it inherits; Invalid for an unknown key or a circle."""
    chain = chain_of(raw, key)
    declarations, defaults = merged(chain)
    return {
        "key": key,
        "label": chain[-1]["label"],
        "chain": [one["key"] for one in chain],
        "declarations": declarations,
        "defaults": defaults,
    }


def effective_attributes(raw: sqlite3.Connection, document_id: str) -> dict[str, Any]:
    """A document's attributes over its prototype's; Invalid when that does not resolve, never partial data."""
    row = raw.execute(
        "SELECT prototype_key, attributes FROM document WHERE id = ?", (document_id,)
    ).fetchone()
    if row is None:
        raise unknown_document(document_id)
    own = orjson.loads(row[1])
    chain = chain_of(raw, row[0]) if row[0] is not None else []
    declarations, defaults = merged(chain)
    return {
        "document_id": document_id,
        "prototype_key": row[0],
        "chain": [one["key"] for one in chain],
        "declarations": declarations,
        "values": defaults | own,
        "own_keys": list(own),
    }


def defaults_by_prototype(raw: sqlite3.Connection, keys: list[str]) -> dict[str, dict[str, Any]]:
    """The merged defaults of each prototype, or why it does not resolve under `_unresolved`."""
    found: dict[str, dict[str, Any]] = {}
    for key in keys:
        try:
            found[key] = resolved(raw, key)["defaults"]
        except Invalid as refusal:
            found[key] = {"_unresolved": refusal.detail}
    return found
