"""Reads of workspaces: the list, and one with what it refers to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Annotated, Any

from fastapi import Query
from sqlalchemy import Connection, RowMapping, func, select

from armarium.api import Conflict, Engine, NotFound, WithheldAlong, is_among, query, raw_of
from armarium_agents.errors import unknown_target, unknown_workspace
from armarium_agents.records import Member, Workspace, Workspaces, members, workspaces
from armarium_documents.api import documents, find_node, require_live
from armarium_source_model.api import armarium_source_model_link_ends

NODE_KIND = "workspace"
IN_TREE = ("source", "note")
"""The kinds of members that are nodes of the tree; the others belong to families that may not be installed."""

MEMBERS = Member.rows

_COLUMNS = (
    documents.c.id,
    documents.c.name,
    documents.c.parent_id,
    documents.c.created_at,
    documents.c.updated_at.label("node_updated_at"),
    workspaces.c.provider,
    workspaces.c.model,
    workspaces.c.message_history_ref,
    workspaces.c.messages,
    workspaces.c.scoped_document_ids,
    workspaces.c.updated_at,
)
_WITH_NODE = documents.outerjoin(workspaces, workspaces.c.id == documents.c.id)
"""A node created through the tree alone is a workspace as well; it has no fields of its own yet."""


@query("/api/chat/workspaces", summary="The workspaces of a project", answer=Workspaces, refusals=())
def list_workspaces(
    conn: Connection,
    engine: Engine,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    offset: Annotated[int, Query(ge=0, le=10**12)] = 0,
) -> dict[str, Any]:
    """Return the most recently changed first, without those in the Trash."""
    live = (documents.c.node_kind == NODE_KIND, documents.c.deleted_at.is_(None))
    total = conn.execute(select(func.count()).select_from(documents).where(*live)).scalar_one()
    newest = func.max(documents.c.updated_at, func.coalesce(workspaces.c.updated_at, "")).desc()
    rows = (
        conn.execute(
            select(*_COLUMNS)
            .select_from(_WITH_NODE)
            .where(*live)
            .order_by(newest, documents.c.id.desc())
            .limit(limit)
            .offset(offset)
        )
        .mappings()
        .all()
    )
    items = _answers(conn, engine, rows)
    return {"items": items, "count": len(items), "total": total, "limit": limit, "offset": offset}


@query(
    "/api/chat/workspaces/{workspace_id}",
    summary="A workspace with its members",
    answer=Workspace,
    refusals=(404, 409),
)
def read_workspace(conn: Connection, engine: Engine, workspace_id: str) -> dict[str, Any]:
    """Return it. NotFound; Conflict for one in the Trash."""
    require_workspace(conn, workspace_id)
    row = conn.execute(select(*_COLUMNS).select_from(_WITH_NODE).where(documents.c.id == workspace_id))
    return _answers(conn, engine, row.mappings().all())[0]


def require_workspace(conn: Connection, workspace_id: str) -> None:
    """Raise NotFound for what is not a workspace, Conflict for one in the Trash."""
    node = find_node(conn, workspace_id)
    if node is None or node.node_kind != NODE_KIND:
        raise unknown_workspace(workspace_id)
    require_live(conn, workspace_id)


def _answers(conn: Connection, engine: Engine, rows: Sequence[RowMapping]) -> list[dict[str, Any]]:
    members_by_workspace = _members(conn, engine, [row["id"] for row in rows])
    scoped = {document_id for row in rows for document_id in row["scoped_document_ids"] or ()}
    live = _live_nodes(conn, scoped)
    return [
        {
            "id": row["id"],
            "title": row["name"],
            **{name: row[name] for name in ("parent_id", "provider", "model", "message_history_ref")},
            "messages": row["messages"] or [],
            "members": members_by_workspace.get(row["id"], []),
            "scoped_document_ids": [
                document_id for document_id in row["scoped_document_ids"] or () if document_id in live
            ],
            "created_at": row["created_at"],
            "updated_at": max(row["node_updated_at"], row["updated_at"] or ""),
        }
        for row in rows
    ]


def _members(
    conn: Connection, engine: Engine, workspace_ids: Sequence[str]
) -> dict[str, list[dict[str, Any]]]:
    """Return the existing members of each workspace, in the order they were added."""
    rows = MEMBERS.all(
        conn, is_among(members.c.workspace_id, workspace_ids), order=(members.c.added_at, members.c.id)
    )
    live = _live_nodes(conn, {row["target_id"] for row in rows if row["kind"] in IN_TREE})
    members_by_workspace: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if row["kind"] in IN_TREE:
            stands = row["target_id"] in live
        else:
            stands = stands_elsewhere(conn, engine, row["kind"], row["target_id"])
        if stands:
            members_by_workspace.setdefault(row["workspace_id"], []).append(row)
    return members_by_workspace


def _live_nodes(conn: Connection, ids: Iterable[str]) -> set[str]:
    live = select(documents.c.id).where(is_among(documents.c.id, ids), documents.c.deleted_at.is_(None))
    return set(conn.execute(live).scalars())


class WithheldConversations(WithheldAlong):
    """The conversations of workspaces that are about something withheld: they may tell of it."""

    def find_partial(self, conn: Connection, documents: str, parts: str) -> list[str]:
        """Return the workspaces with such a document in their scope, or such a member."""
        statement = (
            f"SELECT w.id FROM main.{workspaces} w, json_each(w.scoped_document_ids) j"
            f" WHERE j.value IN (SELECT id FROM {documents}) UNION SELECT m.workspace_id FROM main.{members} m"
            f" WHERE m.target_id IN (SELECT id FROM {documents}) OR m.target_id IN (SELECT id FROM {parts})"
        )
        return [row[0] for row in raw_of(conn).execute(statement)]


def check_elsewhere(conn: Connection, engine: Engine, kind: str, target_id: str) -> None:
    """Check that an entity or claim exists, by asking the family that owns it; NotFound, Conflict for a
    merged one.
    """
    for end in engine.points.collect(armarium_source_model_link_ends):
        if end.kind == kind:
            end.check(conn, target_id)
            return
    raise unknown_target(kind, target_id)


def stands_elsewhere(conn: Connection, engine: Engine, kind: str, target_id: str) -> bool:
    """Return whether an entity or claim exists; a merged one still does, under another name."""
    with suppress(NotFound):
        with suppress(Conflict):
            check_elsewhere(conn, engine, kind, target_id)
        return True
    return False
