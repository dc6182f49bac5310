"""What agents contributes to the engine: the only file with a hook."""

from __future__ import annotations

from collections.abc import Sequence

from armarium.api import Plugin, actions_in, hookimpl, queries_in
from armarium_agents import actions, queries, routes
from armarium_agents.branches import actions as branch_actions
from armarium_agents.branches import file_actions, merge_actions, merge_jobs
from armarium_agents.branches import queries as branch_queries
from armarium_agents.carrying import carrier
from armarium_agents.queries import WithheldConversations
from armarium_agents.records import metadata
from armarium_documents.api import Carrier


@hookimpl
def armarium_plugin() -> Plugin:
    """Workspaces that people and agents share, branches in which they propose, and the endpoint of agents."""
    return Plugin(
        name="agents",
        summary="Workspaces that people and agents share, branches in which they propose, and the endpoint of agents",
        prefixes=("agents", "workspace", "branch", "branches"),
        metadata=metadata,
        actions=actions_in(actions, branch_actions, merge_actions, file_actions),
        jobs=(merge_jobs.MERGE_BRANCH,),
        queries=queries_in(queries, branch_queries),
        routers=(routes.router,),
        endpoints=("/mcp",),
        withheld_along=(WithheldConversations(),),
        hooks=__name__,
    )


@hookimpl
def armarium_documents_carriers() -> Sequence[Carrier]:
    return (carrier,)
