"""What agents contributes to the engine: the only file with a hook."""

from __future__ import annotations

from collections.abc import Sequence

from armarium.api import Plugin, hookimpl
from armarium_agents import actions
from armarium_agents.carrying import carrier
from armarium_agents.queries import WithheldConversations, list_workspaces, read_workspace
from armarium_agents.records import metadata
from armarium_documents.api import Carrier


@hookimpl
def armarium_plugin() -> Plugin:
    """Workspaces: what people and agents work on together."""
    return Plugin(
        name="agents",
        summary="Workspaces: what people and agents work on together",
        prefixes=("agents", "workspace"),
        metadata=metadata,
        actions=(actions.create, actions.update, actions.delete, actions.change_members),
        queries=(list_workspaces, read_workspace),
        withheld_along=(WithheldConversations(),),
        hooks=__name__,
    )


@hookimpl
def armarium_documents_carriers() -> Sequence[Carrier]:
    return (carrier,)
