"""Where the writes of a session go: its branch, or the project.

An agent works on a branch unless its token says otherwise: the first write of a session opens one, through the action
`branches.create`, and everything that the session asks for from then on, reads too, goes there; where that write is refused,
the branch is removed again. A session that the engine
forgot, because it was started again, goes on with the branch that its token and client opened last, unless that was proposed
or reviewed. Where no plugin brings that action the project itself is written to, within the rights of the token.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from typing import Any

from armarium_agents.mcp.doors import Door
from armarium_agents.mcp.refusals import ToolRefused
from armarium_agents.mcp.sessions import AgentSession

CREATE = "branches.create"
DELETE = "branches.delete"
PROPOSE = "branches.propose"


@asynccontextmanager
async def open_for_write(
    door: Door,
    session: AgentSession,
    client: str,
    actions: Mapping[str, Any],
    occupied: Collection[str | None],
) -> AsyncIterator[None]:
    """See that the write within the block has a branch to go to; one that was opened for writes that are all
    refused is removed again.
    """
    await _open_branch(door, session, client, actions, occupied)
    session.writing += 1
    try:
        yield
        session.opened = None
    except ToolRefused:
        async with session.opening:
            if session.opened is not None and session.writing == 1:
                params = {"branch_id": session.opened}
                body = {"name": DELETE, "params": params}
                if (await door.ask("POST", "/api/actions/invoke", body=body)).status < 400:
                    session.branch = session.opened = None
        raise
    finally:
        session.writing -= 1


async def _open_branch(
    door: Door,
    session: AgentSession,
    client: str,
    actions: Mapping[str, Any],
    occupied: Collection[str | None],
) -> None:
    """See that the writes of *session* have a branch to go to; called before each write, it does something once.

    *client* is what its client calls itself, *actions* are those of the engine, by name, and *occupied* the branches of other
    sessions. ToolRefused where a branch is refused: nothing is written to the project
    instead.
    """
    async with session.opening:
        if session.branch is not None or session.works_in_project or CREATE not in actions:
            return
        begins = f"{session.agent[:80]}, {client[:80]}, "
        session.branch = await _find_former(door, session, begins, occupied)
        if session.branch is not None:
            return
        params = {"name": begins + session.id[:8], "made_for": session.agent[:200]}
        opened = await door.ask("POST", "/api/actions/invoke", body={"name": CREATE, "params": params})
        if opened.status >= 400:
            raise ToolRefused(
                f"No branch could be opened for this session, so nothing was written. {opened.sentence}"
            )
        branch = opened.json()["result"]
        session.branch, session.opened = branch["library_path"], branch["id"]


def refuse_outside(session: AgentSession, actions: Mapping[str, Any], action: str) -> None:
    """Raise ToolRefused for what is done to the engine, or to projects as a whole, where the session writes to a branch."""
    if not session.works_in_project and CREATE in actions and actions[action]["scope"] == "engine":
        raise ToolRefused(
            f"{action} works on the whole engine or on a project from outside, and your session writes to its branch alone. "
            "Ask the owner to do it, or for a token that writes to the project."
        )


async def _find_former(
    door: Door, session: AgentSession, begins: str, occupied: Collection[str | None]
) -> str | None:
    """Return the branch that an agent with this token and client left open."""
    listed = await door.ask("GET", "/api/branches")
    for branch in reversed(listed.json()["items"] if listed.status < 400 else []):
        own = branch["for_token"] == session.standing.get("token_id") and str(branch["name"]).startswith(
            begins
        )
        place = branch["library_path"]
        if own and not branch["proposed_at"] and not branch["reviewed"] and place not in {None, *occupied}:
            return str(place)
    return None


def place_of(door: Door, session: AgentSession) -> Door:
    """Return the door to where the session works: its branch, once there is one."""
    return door if session.branch is None else door.within(session.branch)
