"""MCP over standard input and output: one client, one session, and the engine over HTTP as for any command."""

from __future__ import annotations

import uuid
from collections.abc import Mapping

import anyio
from mcp.server.stdio import stdio_server

from armarium_agents.mcp.doors import CommandDoor, Door
from armarium_agents.mcp.server import AgentServer, Context
from armarium_cli.api import Session


class StdioTransport:
    """The one client at the other end."""

    def __init__(self, session: Session, library: str, secret: str) -> None:
        self._session = session
        self._credential = {"Authorization": f"Bearer {secret}"}
        self._library = library
        self._lock = anyio.Lock()
        self._id = uuid.uuid4().hex

    def holder(self, ctx: Context) -> str:
        """Return a word: all requests carry the one token."""
        return "stdio"

    def session_id(self, ctx: Context) -> str:
        """Return the session's id, which is that of this process."""
        return self._id

    def door(self, ctx: Context, names: Mapping[str, str]) -> Door:
        """Return the way to the engine that all commands share."""
        return CommandDoor(self._session, self._lock, {**names, **self._credential}, self._library)


def serve(session: Session, library: str, secret: str, version: str) -> None:
    """Answer the client until it closes its end; every request carries the agent's token *secret*, not the caller's."""

    async def run() -> None:
        server = AgentServer(StdioTransport(session, library, secret)).build(version)
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    anyio.run(run)
