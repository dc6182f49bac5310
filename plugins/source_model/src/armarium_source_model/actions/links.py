"""Links two things by a type of the vocabulary; links are withdrawn softly."""

from __future__ import annotations

import re
from typing import Any

from armarium.api import ActionContext, Conflict, Invalid, NotFound, Route, action, new_id
from armarium_documents.api import require_live
from armarium_source_model.actions.edits import editable
from armarium_source_model.errors import refuse_provisional
from armarium_source_model.hookspecs import armarium_source_model_link_ends
from armarium_source_model.models import links
from armarium_source_model.queries.links import get_link, standing_link
from armarium_source_model.queries.segments import rows_named
from armarium_source_model.schemas.fields import Id
from armarium_source_model.schemas.links import DeletedLink, LinkCreate, LinkOut
from armarium_source_model.vocabulary import LINK_TYPES, link_type

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")


@action(
    "link.create",
    result=LinkOut,
    summary="Link two things: segments, documents, notes, entities, claims, or a URI.",
    route=Route("POST", "/api/links"),
    words="Linked {|two things}",
    guards_targets=True,
)
def create(ctx: ActionContext, p: LinkCreate) -> dict[str, Any]:
    """Raises Invalid for an unknown type or equal ends, NotFound, Conflict for an existing link or a deleted
    end.
    """
    kind = link_type(p.link_type)
    if kind is None:
        raise Invalid(
            f"There is no link type {p.link_type!r}; the vocabulary is {', '.join(LINK_TYPES)}.",
            code="unknown_link_type",
        )
    if p.from_id == p.to_id:
        raise Invalid("A thing cannot be linked with itself; name two different ends.", code="equal_ends")
    pages = [_check_end(ctx, p.from_kind, p.from_id), _check_end(ctx, p.to_kind, p.to_id)]
    standing = standing_link(ctx.conn, kind.key, p.from_id, p.to_id, kind.is_directed)
    if standing is not None:
        raise Conflict(f"These two are already linked by {kind.key}.", code="already_exists", id=standing.id)
    link_id = new_id()
    ctx.conn.execute(
        links.insert().values(
            id=link_id,
            **{**p.model_dump(), "link_type": kind.key},
            document_id=next((page for page in pages if page is not None), None),
            **ctx.provenance(),
        )
    )
    return _answer(ctx, link_id)


def _check_end(ctx: ActionContext, kind: str, identity: str) -> str | None:
    """Check that an end exists and may be written about; return the page it is on, if any."""
    refuse_provisional(identity)
    if kind == "segment":
        return str(editable(ctx, identity, None).document_id)
    if kind in ("document", "note"):
        node = require_live(ctx.conn, identity)
        if kind == "note" and node.node_kind != "note":
            raise Invalid(
                f"“{node.name}” is a {node.node_kind}, not a note; name its own kind.", code="other_kind"
            )
        return node.id
    if kind == "uri":
        if _URI.fullmatch(identity) is None:
            raise Invalid(
                f"{identity[:120]} is not a URI; write it in full, with its scheme.", code="bad_uri"
            )
        return None
    for end in ctx.engine.points.collect(armarium_source_model_link_ends):
        if end.kind == kind:
            end.check(ctx.conn, identity)
            return None
    raise NotFound(f"There is no {kind} {identity} in this project.", id=identity)


def _answer(ctx: ActionContext, link_id: str) -> dict[str, Any]:
    row = get_link(ctx.conn, link_id)
    ends = ((row.from_kind, row.from_id), (row.to_kind, row.to_id))
    lines = [identity for kind, identity in ends if kind == "segment"]
    # A link states something about both ends, and its row belongs to the page of one: a lock on either
    # refuses it.
    pages = [segment.document_id for segment in rows_named(ctx.conn, lines).values()]
    ctx.target(link_id, row.from_id, row.to_id, *pages)
    ctx.note_changes(segment_ids=lines)
    if row.document_id is not None:
        ctx.note_changes(document_ids=[row.document_id])
    kind = LINK_TYPES[row.link_type]
    return {"ok": True, "result": {"link_id": link_id, "link_type": kind.key, "directed": kind.is_directed}}


@action(
    "link.delete",
    result=DeletedLink,
    summary="Withdraw a link.",
    route=Route("DELETE", "/api/links/{link_id}"),
    words="Withdrew a link of {|two things}",
    guards_targets=True,
)
def delete(ctx: ActionContext, link_id: Id) -> dict[str, Any]:
    """Raises NotFound, Conflict if it is already withdrawn, Forbidden on a locked page."""
    row = get_link(ctx.conn, link_id)
    if row.deleted_at is not None:
        raise Conflict(f"Link {row.id} is already withdrawn.", code="already_deleted")
    ctx.conn.execute(links.update().where(links.c.id == row.id).values(deleted_at=ctx.now))
    return {**_answer(ctx, row.id), "status": "deleted", "id": row.id}


@action(
    "link.restore",
    result=LinkOut,
    summary="Restore a withdrawn link.",
    route=Route("POST", "/api/links/{link_id}/restore"),
    words="Restored a link of {|two things}",
    guards_targets=True,
)
def restore(ctx: ActionContext, link_id: Id) -> dict[str, Any]:
    """Raises NotFound, Conflict if it was not withdrawn or an equal one exists."""
    row = get_link(ctx.conn, link_id)
    if row.deleted_at is None:
        raise Conflict(f"Link {row.id} was not withdrawn.", code="not_deleted")
    standing = standing_link(
        ctx.conn, row.link_type, row.from_id, row.to_id, LINK_TYPES[row.link_type].is_directed
    )
    if standing is not None:
        raise Conflict("An equal link has been made since.", code="already_exists", id=standing.id)
    ctx.conn.execute(links.update().where(links.c.id == row.id).values(deleted_at=None))
    return _answer(ctx, row.id)
