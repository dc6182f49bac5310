"""The writes of workspaces: create, change and delete one, and say what it refers to."""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, select

from armarium.api import ActionContext, Route, action, find_withheld, is_among, new_id
from armarium_agents import errors
from armarium_agents.queries import (
    IN_TREE,
    MEMBERS,
    NODE_KIND,
    check_elsewhere,
    read_workspace,
    require_workspace,
)
from armarium_agents.records import (
    MAX_MEMBERS,
    MembersPatch,
    NewMember,
    Workspace,
    WorkspaceCreate,
    WorkspaceDeleted,
    WorkspaceFields,
    WorkspaceId,
    WorkspaceUpdate,
    members,
    workspaces,
)
from armarium_documents.api import find_node, require_all_live, require_live


@action(
    "workspace.create",
    result=Workspace,
    summary="Create a workspace: what people and agents work on together.",
    route=Route("POST", "/api/chat/workspaces"),
    words="Created the workspace {|}",
)
def create(ctx: ActionContext, p: WorkspaceCreate) -> dict[str, Any]:
    """Create it. Raises NotFound for an unknown folder or document, Conflict for one in the Trash."""
    node = {"name": p.title, "node_kind": NODE_KIND, "parent_id": p.parent_id}
    workspace_id = str(ctx.run("document.create", node)["id"])
    ctx.conn.execute(
        workspaces.insert().values(
            id=workspace_id,
            **{"messages": [], "scoped_document_ids": [], **_fields(ctx, p)},
            updated_at=ctx.now,
        )
    )
    return _answer(ctx, workspace_id)


def _fields(ctx: ActionContext, p: WorkspaceFields) -> dict[str, Any]:
    """Return the workspace's own fields from the request, as they are stored."""
    values: dict[str, Any] = {
        name: getattr(p, name)
        for name in ("provider", "model", "message_history_ref")
        if name in p.model_fields_set
    }
    if "messages" in p.model_fields_set:
        values["messages"] = [
            {"role": message.role, "content": message.content, "at": message.at or ctx.now}
            for message in p.messages or ()
        ]
    if "scoped_document_ids" in p.model_fields_set:
        ids = list(dict.fromkeys(p.scoped_document_ids or ()))
        require_all_live(ctx.conn, ids)
        values["scoped_document_ids"] = ids
    return values


def _answer(ctx: ActionContext, workspace_id: str) -> dict[str, Any]:
    ctx.target(workspace_id)
    ctx.note_changes(document_ids=[workspace_id])
    return _as_seen(ctx, read_workspace(ctx.conn, ctx.engine, workspace_id))


def _as_seen(ctx: ActionContext, workspace: dict[str, Any]) -> dict[str, Any]:
    """Return what a read would show the caller: nothing but the title of a workspace that is about something withheld,
    and no withheld members.
    """
    about = [*workspace["scoped_document_ids"], *(member["target_id"] for member in workspace["members"])]
    withheld = find_withheld(ctx.project, ctx.principal, about, "show")
    if not withheld:
        return workspace
    return {
        **workspace,
        **dict.fromkeys(("provider", "model", "message_history_ref")),
        "messages": [],
        "scoped_document_ids": [
            document_id for document_id in workspace["scoped_document_ids"] if document_id not in withheld
        ],
        "members": [member for member in workspace["members"] if member["target_id"] not in withheld],
    }


@action(
    "workspace.update",
    result=Workspace,
    summary="Rename a workspace, or change its model, its conversation and the documents it is about.",
    route=Route("PATCH", "/api/chat/workspaces/{workspace_id}"),
    words="Changed the workspace {workspace_id|}",
)
def update(ctx: ActionContext, p: WorkspaceUpdate) -> dict[str, Any]:
    """Change it. Raises NotFound, Conflict for one in the Trash; NotFound and Conflict for a document it is
    to be about.
    """
    require_workspace(ctx.conn, p.workspace_id)
    if "title" in p.model_fields_set:
        ctx.run("document.update", {"document_id": p.workspace_id, "name": p.title})
    values = _fields(ctx, p)
    for name in ("messages", "scoped_document_ids"):
        if name in values:
            values[name] = values[name] or []
    if values:
        _write(ctx, p.workspace_id, values)
    return _answer(ctx, p.workspace_id)


def _write(ctx: ActionContext, workspace_id: str, values: dict[str, Any]) -> None:
    row = ctx.conn.execute(select(workspaces.c.id).where(workspaces.c.id == workspace_id)).first()
    if row is None:
        empty: dict[str, Any] = {"messages": [], "scoped_document_ids": []}
        ctx.conn.execute(workspaces.insert().values(id=workspace_id, **empty, updated_at=ctx.now))
    ctx.conn.execute(
        workspaces.update().where(workspaces.c.id == workspace_id).values(**values, updated_at=ctx.now)
    )


@action(
    "workspace.delete",
    result=WorkspaceDeleted,
    summary="Send a workspace to the Trash; what it refers to stays where it is.",
    route=Route("DELETE", "/api/chat/workspaces/{workspace_id}"),
    words="Sent the workspace {workspace_id|} to the Trash",
)
def delete(ctx: ActionContext, p: WorkspaceId) -> dict[str, Any]:
    """Send it to the Trash. Raises NotFound, Conflict if it is already there."""
    require_workspace(ctx.conn, p.workspace_id)
    ctx.run("document.delete", {"ids": [p.workspace_id]})
    ctx.target(p.workspace_id)
    return {"status": "deleted", "id": p.workspace_id}


@action(
    "workspace.members",
    result=Workspace,
    summary="Add sources, entities, claims and notes to a workspace, and remove members.",
    route=Route("PATCH", "/api/chat/workspaces/{workspace_id}/members"),
    words="Changed what the workspace {workspace_id|} refers to",
)
def change_members(ctx: ActionContext, p: MembersPatch) -> dict[str, Any]:
    """Change its members. Raises NotFound for an unknown workspace, target or member, Conflict for what is in
    the Trash, Invalid for a target of another kind and for too many members.
    """
    require_workspace(ctx.conn, p.workspace_id)
    for member_id in p.remove_ids:
        if MEMBERS.require(ctx.conn, member_id)["workspace_id"] != p.workspace_id:
            raise errors.unknown_member(member_id)
    ctx.conn.execute(members.delete().where(is_among(members.c.id, p.remove_ids)))
    own = members.c.workspace_id == p.workspace_id
    existing = {
        (row[0], row[1]) for row in ctx.conn.execute(select(members.c.kind, members.c.target_id).where(own))
    }
    new: list[dict[str, Any]] = []
    for member in p.add:
        _check_target(ctx, member)
        if (member.kind, member.target_id) in existing:
            continue
        existing.add((member.kind, member.target_id))
        fields = member.model_dump()
        new.append(
            {
                "id": new_id(),
                "workspace_id": p.workspace_id,
                **fields,
                "added_at": ctx.now,
                "added_by": ctx.principal.name,
            }
        )
    if new:
        ctx.conn.execute(members.insert(), new)
    count = ctx.conn.execute(select(func.count()).select_from(members).where(own)).scalar_one()
    if count > MAX_MEMBERS:
        raise errors.too_many(MAX_MEMBERS)
    if new or p.remove_ids:
        _write(ctx, p.workspace_id, {})
    ctx.target(*(row["id"] for row in new), *p.remove_ids)
    return _answer(ctx, p.workspace_id)


def _check_target(ctx: ActionContext, member: NewMember) -> None:
    if member.kind not in IN_TREE:
        check_elsewhere(ctx.conn, ctx.engine, member.kind, member.target_id)
        return
    node = find_node(ctx.conn, member.target_id)
    if node is None:
        raise errors.unknown_target(member.kind, member.target_id)
    require_live(ctx.conn, member.target_id)
    if node.node_kind == NODE_KIND:
        raise errors.is_workspace(node.name)
    is_note = node.node_kind == "note"
    if is_note != (member.kind == "note"):
        raise errors.other_kind(member.target_id, node.name, is_note)
