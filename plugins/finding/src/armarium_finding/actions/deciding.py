"""Accepts documents of a proposal, which makes them nodes, and rejects others."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from armarium.api import ActionContext, Route, action, refuse_withheld
from armarium_documents.api import require_live
from armarium_finding import errors, store
from armarium_finding.actions.answering import answer, hidden_pages, keep
from armarium_finding.actions.placing import arrange_canvas, keep_places, places_before
from armarium_finding.adjusting import open_document
from armarium_finding.cues import plain
from armarium_finding.loose import folders_of
from armarium_finding.proposing import is_sure_enough
from armarium_finding.schemas import Accepted, AcceptParams, Rejected, RejectParams


@action(
    "finddocs.accept",
    result=Accepted,
    summary="Accept documents of a proposal: each becomes a group of its pages, or stays a page, with its prototype.",
    route=Route("POST", "/api/find-documents/proposals/{proposal_id}/accept", name="accept_found_documents"),
    words="Accepted documents found in {|a folder}",
    undo_name="finddocs.unaccept",
)
def accept(ctx: ActionContext, p: AcceptParams) -> dict[str, Any]:
    """Accept them. Raises NotFound, Conflict if the proposal was superseded, a document was decided, or a
    page is no longer loose; Invalid for an index out of range and for both ways of choosing.
    """
    if p.document_indexes is not None and p.min_confidence is not None:
        raise errors.two_ways()
    proposal = store.dress(ctx.conn, store.require_current(ctx.conn, p.proposal_id))
    chosen = _choose_documents(ctx, proposal, p)
    folder_id = proposal["folder_id"]
    _refuse_moved(ctx, folder_id, chosen)
    by = _decided_by(ctx)
    places = places_before(
        ctx.conn, folder_id, [page for document in chosen for page in document["page_ids"]]
    )
    accepted = []
    for document in chosen:
        node_id = _made_node(ctx, folder_id, document)
        document |= {"state": "accepted", "accepted_as": node_id, "decided_by": by, "from_proposal_id": None}
        accepted.append({"index": document["index"], "node_id": node_id})
        if len(document["page_ids"]) > 1:
            places.put(node_id, document["page_ids"])
    groups = _make_groups(ctx, proposal, by, places) if p.groups else []
    if chosen:
        keep_places(ctx, folder_id, places)
        if p.arrange:
            arrange_canvas(ctx, folder_id)
        keep(ctx, proposal)
    # Once more: a prototype may have been created for a kind.
    store.dress(ctx.conn, proposal)
    return {"proposal": answer(ctx, proposal), "accepted": accepted, "groups_made": groups}


def _choose_documents(ctx: ActionContext, proposal: dict[str, Any], p: AcceptParams) -> list[dict[str, Any]]:
    """Return the chosen documents; those with pages the caller may not see are refused when chosen by index,
    otherwise skipped.
    """
    if p.document_indexes is not None:
        documents_named = [open_document(proposal, index) for index in dict.fromkeys(p.document_indexes)]
        refuse_withheld(
            ctx.project,
            ctx.principal,
            [page for document in documents_named for page in document["page_ids"]],
            "show",
        )
        return sorted(documents_named, key=lambda document: int(document["index"]))
    hidden = set(hidden_pages(ctx, proposal))
    open_documents = [
        document
        for document in proposal["documents"]
        if document["state"] == "proposed" and hidden.isdisjoint(document["page_ids"])
    ]
    if p.min_confidence is None:
        if not open_documents:
            raise errors.nothing_left()
        return open_documents
    return [document for document in open_documents if is_sure_enough(document, p.min_confidence)]


def _refuse_moved(ctx: ActionContext, folder_id: str, chosen: Sequence[Mapping[str, Any]]) -> None:
    folders = folders_of(ctx.conn, [page for document in chosen for page in document["page_ids"]])
    for document in chosen:
        for page_id in document["page_ids"]:
            if folders.get(page_id) != folder_id:
                raise errors.page_gone(page_id, document["index"])


def _decided_by(ctx: ActionContext) -> dict[str, Any]:
    is_person = ctx.principal.kind == "person"
    return {"by": "person" if is_person else "run", "run_id": ctx.run_id, "actor": ctx.principal.name}


def _made_node(ctx: ActionContext, folder_id: str, document: Mapping[str, Any]) -> str:
    """Create the node of a document: a group of its pages, or its one page."""
    key = None if document["kind"] is None else _prototype(ctx, document["kind"])
    pages = document["page_ids"]
    if len(pages) == 1:
        # A page that has a kind keeps it, unless a person accepts the document: a person may have given it.
        if key is not None and (ctx.principal.kind == "person" or not _has_kind(ctx, pages[0])):
            ctx.run("document.update", {"document_id": pages[0], "prototype_key": key})
        return str(pages[0])
    group = {"name": document["name"], "parent_id": folder_id, "doc_type": "group", "prototype_key": key}
    node_id = str(ctx.run("document.create", {**group, "date_iso": document["date"]})["id"])
    ctx.run("document.move", {"ids": pages, "parent_id": node_id})
    return node_id


def _has_kind(ctx: ActionContext, page_id: str) -> bool:
    return require_live(ctx.conn, page_id).prototype_key is not None


def _prototype(ctx: ActionContext, kind: str) -> str:
    """Return the key of the project's prototype of that name; create one if there is none."""
    keys = store.prototype_keys(ctx.conn)
    if kind.casefold() in keys:
        return keys[kind.casefold()]
    slug = re.sub(r"[^a-z0-9]+", "-", plain(kind)).strip("-")[:80] or "kind"
    used_keys = set(keys.values())
    key, number = slug, 2
    while key in used_keys:
        key, number = f"{slug}-{number}", number + 1
    ctx.run("classification.create", {"key": key, "label": kind})
    return key


def _make_groups(
    ctx: ActionContext, proposal: dict[str, Any], by: Mapping[str, Any], places: Any
) -> list[dict[str, Any]]:
    """Create a group node for each proposed group whose documents are all accepted, with the documents in
    order of date.
    """
    documents = {document["index"]: document for document in proposal["documents"]}
    groups = []
    for group in proposal["groups"]:
        members = [documents[index] for index in group["document_indexes"]]
        if group["state"] != "proposed" or any(member["state"] != "accepted" for member in members):
            continue
        nodes = [member["accepted_as"] for member in members]
        # What was moved elsewhere or deleted since it was accepted is not brought back for its group.
        if folders_of(ctx.conn, nodes) != dict.fromkeys(nodes, proposal["folder_id"]):
            continue
        folder = {"name": group["label"], "parent_id": proposal["folder_id"], "doc_type": "group"}
        node_id = str(ctx.run("document.create", folder)["id"])
        ctx.run("document.move", {"ids": nodes, "parent_id": node_id})
        places.put(node_id, nodes)
        group |= {"state": "accepted", "accepted_as": node_id, "decided_by": dict(by)}
        groups.append({"index": group["index"], "node_id": node_id})
    return groups


@action(
    "finddocs.reject",
    result=Rejected,
    summary="Reject documents of a proposal; the rejections are kept to learn from.",
    route=Route("POST", "/api/find-documents/proposals/{proposal_id}/reject", name="reject_found_documents"),
    words="Rejected documents found in {|a folder}",
)
def reject(ctx: ActionContext, p: RejectParams) -> dict[str, Any]:
    """Reject them. Raises NotFound, Conflict if the proposal was superseded or a document was decided,
    Invalid for an index out of range.
    """
    proposal = store.dress(ctx.conn, store.require_current(ctx.conn, p.proposal_id))
    documents_named = [open_document(proposal, index) for index in dict.fromkeys(p.document_indexes)]
    refuse_withheld(
        ctx.project,
        ctx.principal,
        [page for document in documents_named for page in document["page_ids"]],
        "show",
    )
    by = _decided_by(ctx)
    for document in documents_named:
        document |= {"state": "rejected", "decided_by": by, "from_proposal_id": None}
    rejected = {document["index"] for document in documents_named}
    for group in proposal["groups"]:
        if group["state"] == "proposed" and rejected & set(group["document_indexes"]):
            group |= {"state": "rejected", "decided_by": by}
    keep(ctx, proposal)
    return {"proposal": answer(ctx, proposal)}
