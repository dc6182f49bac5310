"""Where the writes of a session go: its branch, or the project.

An agent works on a branch unless its token says otherwise: the first write of a session opens one, through the action
`branches.create`, and everything that the session asks for from then on, reads too, goes there. A session that the engine
forgot, because it was started again, opens another. Where no plugin brings that action the project itself is written to,
within the rights of the token.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from armarium_agents.mcp.doors import Door
from armarium_agents.mcp.refusals import ToolRefused
from armarium_agents.mcp.sessions import AgentSession

CREATE = "branches.create"
PROPOSE = "branches.propose"


async def open_branch(door: Door, session: AgentSession, actions: Mapping[str, Any]) -> None:
    """See that the writes of *session* have a branch to go to; called before each write, it does something once.

    *actions* are those of the engine, by name. ToolRefused where a branch is refused: nothing is written to the project
    instead.
    """
    async with session.opening:
        if session.branch is not None or session.works_in_project or CREATE not in actions:
            return
        params = {"name": f"{session.agent}, {session.id[:8]}", "made_for": session.agent}
        opened = await door.ask("POST", "/api/actions/invoke", body={"name": CREATE, "params": params})
        if opened.status >= 400:
            raise ToolRefused(
                f"No branch could be opened for this session, so nothing was written. {opened.sentence}"
            )
        session.branch = opened.json()["result"]["library_path"]


def place_of(door: Door, session: AgentSession) -> Door:
    """Return the door to where the session works: its branch, once there is one."""
    return door if session.branch is None else door.within(session.branch)
