"""What workspaces lose when documents move to another project: their members in workspaces that stay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, select

from armarium.api import ActionContext, is_among
from armarium_agents.queries import IN_TREE
from armarium_agents.records import members
from armarium_documents.api import Carrier, documents


def _slots(conn: Connection, moved: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return (member, the document's name, the workspace's title) for each member of a workspace that stays."""
    workspace = documents.alias("workspace")
    statement = (
        select(members.c.id, documents.c.name, workspace.c.name)
        .join(documents, documents.c.id == members.c.target_id)
        .join(workspace, workspace.c.id == members.c.workspace_id)
        .where(
            members.c.kind.in_(IN_TREE),
            is_among(members.c.target_id, moved),
            ~is_among(members.c.workspace_id, moved),
        )
        .order_by(members.c.id)
    )
    return [(row[0], row[1], row[2]) for row in conn.execute(statement)]


def cuts(conn: Connection, moved: Sequence[str]) -> list[dict[str, Any]]:
    """Return the memberships that a move of the documents *moved* ends."""
    return [
        {
            "kind": "workspace_slot",
            "id": member_id,
            "name": name,
            "why": f"“{name}” is a member of the workspace “{title}”, which stays.",
        }
        for member_id, name, title in _slots(conn, moved)
    ]


def cut(ctx: ActionContext, moved: Sequence[str]) -> None:
    """Remove those members; undoing the move restores them."""
    gone = [row[0] for row in _slots(ctx.conn, moved)]
    ctx.conn.execute(members.delete().where(is_among(members.c.id, gone)))


carrier = Carrier(kinds={members.name: "workspace_members"}, cuts=cuts, cut=cut)
"""How workspaces take part in a transfer: one that moves takes its members along through their own columns."""
