"""Prototypes as stored, resolved along their chain, and applied to a document."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select

from armarium.api import Invalid, Rows, query
from armarium_documents.errors import (
    classification_not_found,
    prototype_cycle,
    unknown_document,
    unknown_prototype,
)
from armarium_documents.models import classifications as classification_table
from armarium_documents.models import documents
from armarium_documents.schemas.classifications import (
    Classification,
    ClassificationList,
    EffectiveAttributes,
    Resolved,
)

PROTOTYPES = Rows(classification_table, missing=classification_not_found)


def _value(row: dict[str, Any]) -> dict[str, Any]:
    for declaration in row["declarations"]:
        declaration["from_key"] = row["key"]
    return row


@query(
    "/api/classifications",
    summary="The prototypes of the project",
    answer=ClassificationList,
    refusals=(404, 409),
    name="list_classifications",
)
def classifications(conn: Connection) -> dict[str, Any]:
    """Return all prototypes, by key."""
    items = [_value(row) for row in PROTOTYPES.all(conn, order=(classification_table.c.key,))]
    return {"items": items, "count": len(items)}


def find(conn: Connection, key: str) -> dict[str, Any] | None:
    """Return the prototype *key*, or None."""
    row = PROTOTYPES.get(conn, key)
    return None if row is None else _value(row)


@query(
    "/api/classifications/{key}",
    summary="One prototype as it is stored",
    answer=Classification,
    refusals=(404, 409),
    name="read_classification",
)
def require(conn: Connection, key: str) -> dict[str, Any]:
    """Return the prototype *key*; NotFound if there is none."""
    return _value(PROTOTYPES.require(conn, key))


def chain_of(conn: Connection, key: str) -> list[dict[str, Any]]:
    """Return the prototype *key* and its ancestors, the root first; Invalid for an unknown key or a cycle."""
    chain: list[dict[str, Any]] = []
    keys: list[str] = []
    current: str | None = key
    while current is not None:
        if current in keys:
            raise prototype_cycle([*keys, current])
        prototype = find(conn, current)
        if prototype is None:
            raise unknown_prototype(current, because=keys[-1] if keys else None)
        keys.append(current)
        chain.append(prototype)
        current = prototype["parent_key"]
    chain.reverse()
    return chain


def merge_chain(chain: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Merge declarations (nearer ones win) by order, and defaults (declared ones, then stated ones)."""
    declarations: dict[str, dict[str, Any]] = {}
    for prototype in chain:
        for declaration in prototype["declarations"]:
            declarations[declaration["key"]] = declaration
    ordered = sorted(declarations.values(), key=lambda declaration: declaration["order"])
    defaults = {
        declaration["key"]: declaration["default"]
        for declaration in ordered
        if declaration["default"] is not None
    }
    for prototype in chain:
        defaults |= prototype["defaults"]
    return ordered, defaults


@query(
    "/api/classifications/resolved/{key}",
    summary="A prototype with all it inherits",
    answer=Resolved,
    refusals=(404, 409),
    name="resolved_classification",
)
def resolve_prototype(conn: Connection, key: str) -> dict[str, Any]:
    """Resolve a prototype; Invalid for an unknown key or a cycle."""
    chain = chain_of(conn, key)
    declarations, defaults = merge_chain(chain)
    return {
        "key": key,
        "label": chain[-1]["label"],
        "chain": [prototype["key"] for prototype in chain],
        "declarations": declarations,
        "defaults": defaults,
    }


@query(
    "/api/documents/{doc_id}/effective-attributes",
    summary="A document's attributes merged over its prototype's",
    answer=EffectiveAttributes,
    refusals=(404, 409),
)
def effective_attributes(conn: Connection, doc_id: str) -> dict[str, Any]:
    """Return the effective attributes; Invalid if the prototype does not resolve, never partial data."""
    statement = select(documents.c.prototype_key, documents.c.attributes).where(documents.c.id == doc_id)
    row = conn.execute(statement).first()
    if row is None:
        raise unknown_document(doc_id)
    key, own = row
    chain = chain_of(conn, key) if key is not None else []
    declarations, defaults = merge_chain(chain)
    return {
        "document_id": doc_id,
        "prototype_key": key,
        "chain": [prototype["key"] for prototype in chain],
        "declarations": declarations,
        "values": defaults | own,
        "own_keys": list(own),
    }


def defaults_by_prototype(conn: Connection, keys: list[str]) -> dict[str, dict[str, Any]]:
    """Return the merged defaults of each prototype, or under `_unresolved` why it does not resolve."""
    defaults: dict[str, dict[str, Any]] = {}
    for key in keys:
        try:
            defaults[key] = resolve_prototype(conn, key)["defaults"]
        except Invalid as refusal:
            defaults[key] = {"_unresolved": refusal.detail}
    return defaults
