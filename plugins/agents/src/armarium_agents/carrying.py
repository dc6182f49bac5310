"""What workspaces lose when documents move to another project: their members in workspaces that stay."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, select

from armarium.api import is_among
from armarium_agents.queries import IN_TREE
from armarium_agents.records import members
from armarium_documents.api import Carrier, Tie, documents


def _slots(conn: Connection, moved: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return each member of a workspace that stays; undoing the move restores it."""
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
    return [
        (member, name, f"“{name}” is a member of the workspace “{title}”, which stays.")
        for member, name, title in conn.execute(statement)
    ]


carrier = Carrier(kinds={members.name: "workspace_members"}, ties=(Tie("workspace_slot", _slots, members),))
"""How workspaces take part in a transfer: one that moves takes its members along through their own columns."""
