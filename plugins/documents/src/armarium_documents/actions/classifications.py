"""Creates, changes and removes prototypes; proposes a kind for a node, accepts or rejects it."""

from __future__ import annotations

from typing import Any

import orjson

from armarium.api import ActionContext, Conflict, Route, action, raw_of
from armarium_documents.actions.documents import require_prototype
from armarium_documents.api import document, documents, require_live
from armarium_documents.errors import no_proposal, proposal_decided
from armarium_documents.models import classifications
from armarium_documents.queries.classifications import chain_of, find, require
from armarium_documents.schemas.classifications import (
    Classification,
    ClassificationCreateParams,
    ClassificationDeleted,
    ClassificationUpdateParams,
    KindAnswer,
    ProposeKindParams,
    PrototypeKey,
)
from armarium_documents.schemas.fields import Id

_BUILTIN: tuple[dict[str, Any], ...] = (
    {"key": "bookmark", "label": "Bookmark"},
    {
        "key": "source",
        "label": "Source",
        "declarations": [
            {"key": "title", "label": "Title", "renderer": "title", "order": 0},
            {"key": "date", "label": "Date", "type": "date", "renderer": "date", "order": 1},
            {"key": "place", "label": "Place", "renderer": "place", "order": 2},
            {"key": "shelfmark", "label": "Shelf mark", "renderer": "subtitle", "order": 9},
        ],
    },
    {
        "key": "letter",
        "label": "Letter",
        "parent_key": "source",
        "declarations": [
            {"key": "sender", "label": "Sender", "renderer": "person", "order": 3},
            {"key": "recipient", "label": "Recipient", "renderer": "person", "order": 4},
        ],
    },
    {
        "key": "notarial-act",
        "label": "Notarial act",
        "parent_key": "source",
        "declarations": [
            {"key": "notary", "label": "Notary", "renderer": "person", "order": 3},
            {"key": "parties", "label": "Parties", "renderer": "person", "order": 4},
        ],
    },
)
"""Prototypes every project starts with; they may be changed, not removed."""


def seed_prototypes(ctx: ActionContext) -> None:
    """Give a new project the prototypes that come with every project."""
    for prototype in _BUILTIN:
        parsed = ClassificationCreateParams.model_validate(prototype)
        ctx.conn.execute(classifications.insert().values(_row(ctx, parsed, builtin=True)))


def _row(ctx: ActionContext, p: ClassificationCreateParams, *, builtin: bool) -> dict[str, Any]:
    return {**p.model_dump(), "builtin": builtin, "created_at": ctx.now, "updated_at": ctx.now}


@action(
    "classification.create",
    result=Classification,
    summary="Declare a prototype: a kind of document with the attributes it has.",
    route=Route("POST", "/api/classifications"),
    words="Declared a kind of document",
)
def create(ctx: ActionContext, p: ClassificationCreateParams) -> dict[str, Any]:
    """Raises Conflict for a key that is taken, Invalid for an unknown parent or inconsistent declarations."""
    if find(ctx.conn, p.key) is not None:
        raise Conflict(f"There is already a prototype {p.key!r}.", code="already_exists", id=p.key)
    require_prototype(ctx, p.parent_key)
    ctx.conn.execute(classifications.insert().values(_row(ctx, p, builtin=False)))
    ctx.target(p.key)
    return require(ctx.conn, p.key)


@action(
    "classification.update",
    result=Classification,
    summary="Change a prototype's label, parent, declarations or defaults.",
    route=Route("PATCH", "/api/classifications/{key}"),
    words="Changed a kind of document",
)
def update(ctx: ActionContext, p: ClassificationUpdateParams) -> dict[str, Any]:
    """Raises NotFound for an unknown key, Invalid for an unknown parent or a cycle."""
    require(ctx.conn, p.key)
    changes = p.dump_changes("key", empty={"applies_to": [], "declarations": [], "defaults": {}})
    if changes:
        changes["updated_at"] = ctx.now
        ctx.conn.execute(classifications.update().where(classifications.c.key == p.key).values(changes))
    chain_of(ctx.conn, p.key)
    ctx.target(p.key)
    return require(ctx.conn, p.key)


@action(
    "classification.delete",
    result=ClassificationDeleted,
    summary="Remove a prototype that no document and no other prototype uses.",
    route=Route("DELETE", "/api/classifications/{key}"),
    words="Removed a kind of document",
)
def delete(ctx: ActionContext, key: PrototypeKey) -> dict[str, Any]:
    """Raises NotFound for an unknown key, Conflict for one that is in use or came with the project."""
    raw = raw_of(ctx.conn)
    prototype = require(ctx.conn, key)
    if prototype["builtin"]:
        raise Conflict(
            f"The prototype {key!r} comes with every project and cannot be removed.", code="builtin"
        )
    (used,) = raw.execute("SELECT count(*) FROM document WHERE prototype_key = ?", (key,)).fetchone()
    (children,) = raw.execute("SELECT count(*) FROM classification WHERE parent_key = ?", (key,)).fetchone()
    if used or children:
        raise Conflict(
            f"The prototype {key!r} is in use. Documents of it, those in the Trash included: {used}; prototypes that "
            f"inherit from it: {children}. Give them another first.",
            code="in_use",
            documents=used,
            prototypes=children,
        )
    ctx.conn.execute(classifications.delete().where(classifications.c.key == key))
    ctx.target(key)
    return {"status": "deleted", "id": key}


@action(
    "document.propose_kind",
    result=KindAnswer,
    summary="Propose a kind for a node, with what the model said; a person accepts or rejects it.",
    words="Proposed a kind for {document_id|a document}",
)
def propose_kind(ctx: ActionContext, p: ProposeKindParams) -> dict[str, Any]:
    """Raises Conflict for a kind rejected for this node before, Invalid for one that does not resolve."""
    node = require_live(ctx.conn, p.document_id)
    require_prototype(ctx, p.value)
    metadata = _metadata(ctx, node.id)
    proposed = metadata.setdefault("proposed_attributes", {})
    if p.value in proposed.get("rejected_prototypes", []):
        raise Conflict(
            f"The kind {p.value!r} was rejected for “{node.name}” before and is not proposed again.",
            code="kind_rejected",
            document_id=node.id,
        )
    evidence = p.model_dump(exclude={"document_id"})
    proposed["prototype"] = {**evidence, "state": "pending", "run_id": ctx.run_id, "proposed_at": ctx.now}
    _write(ctx, node.id, metadata)
    return {"document_id": node.id, "prototype_key": p.value, "state": "pending"}


@action(
    "document.accept_kind",
    result=KindAnswer,
    summary="Accept the kind proposed for a node: it becomes the node's prototype.",
    route=Route("POST", "/api/documents/{doc_id}/proposed-kind/accept", fields={"doc_id": "document_id"}),
    words="Accepted the kind proposed for {document_id|a document}",
)
def accept_kind(ctx: ActionContext, document_id: Id) -> dict[str, Any]:
    """Raises NotFound without a proposal, Conflict for a decided one, Invalid when it no longer resolves."""
    metadata, proposal = _require_pending(ctx, document_id)
    require_prototype(ctx, proposal["value"])
    proposal |= {"state": "accepted", "accepted_by": ctx.principal.name}
    _write(ctx, document_id, metadata, prototype_key=proposal["value"])
    return {"document_id": document_id, "prototype_key": proposal["value"], "state": "accepted"}


@action(
    "document.reject_kind",
    result=KindAnswer,
    summary="Reject the kind proposed for a node; the same kind is not proposed for it again.",
    route=Route("POST", "/api/documents/{doc_id}/proposed-kind/reject", fields={"doc_id": "document_id"}),
    words="Rejected the kind proposed for {document_id|a document}",
)
def reject_kind(ctx: ActionContext, document_id: Id) -> dict[str, Any]:
    """Raises NotFound without a proposal, Conflict for one that is already decided."""
    metadata, proposal = _require_pending(ctx, document_id)
    proposal["state"] = "rejected"
    rejected = metadata["proposed_attributes"].setdefault("rejected_prototypes", [])
    rejected.append(proposal["value"])
    _write(ctx, document_id, metadata)
    prototype = document(ctx.conn, document_id)["prototype_key"]
    return {"document_id": document_id, "prototype_key": prototype, "state": "rejected"}


def _metadata(ctx: ActionContext, document_id: str) -> dict[str, Any]:
    (stored,) = (
        raw_of(ctx.conn).execute("SELECT metadata FROM document WHERE id = ?", (document_id,)).fetchone()
    )
    metadata: dict[str, Any] = orjson.loads(stored)
    return metadata


def _require_pending(ctx: ActionContext, document_id: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a node's metadata and the proposal in it that is awaiting a decision."""
    node = require_live(ctx.conn, document_id)
    metadata = _metadata(ctx, node.id)
    proposal = metadata.get("proposed_attributes", {}).get("prototype")
    if proposal is None:
        raise no_proposal(node.name, node.id)
    if proposal["state"] != "pending":
        raise proposal_decided(node.name, proposal["state"], node.id)
    return metadata, proposal


def _write(ctx: ActionContext, document_id: str, metadata: dict[str, Any], **fields: Any) -> None:
    ctx.conn.execute(
        documents.update()
        .where(documents.c.id == document_id)
        .values(metadata=metadata, updated_at=ctx.now, **fields)
    )
    ctx.target(document_id)
    ctx.note_changes(document_ids=[document_id])
