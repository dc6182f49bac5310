"""Streamable HTTP on the engine: sessions of the SDK behind the engine's own gate, each bound to the token that began it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from armarium_agents.mcp.doors import Door, EngineDoor
from armarium_agents.mcp.server import AgentServer, Context

MOST_SESSIONS = 200
IDLE_SECONDS = 1800.0

_LIBRARY = "armarium_agents.library"


class HttpTransport:
    """A request of HTTP: who asks is what the gate found."""

    def holder(self, ctx: Context) -> str:
        """Return the id of its token."""
        return str(_request_of(ctx).scope["user"].access_token.client_id)

    def session_id(self, ctx: Context) -> str:
        """Return the id of the SDK's session; newer clients have none, and their token is one session."""
        return str(_request_of(ctx).headers.get("mcp-session-id") or self.holder(ctx))

    def door(self, ctx: Context, names: Mapping[str, str]) -> Door:
        """Return the way through the engine's own gate, into the project that the request names."""
        request = _request_of(ctx)
        return EngineDoor(request, names, request.scope[_LIBRARY])


def _request_of(ctx: Context) -> Request:
    """Return the request that a message came with; over HTTP there always is one."""
    assert isinstance(ctx.request, Request)
    return ctx.request


class Endpoint:
    """The endpoint of one engine; its sessions live in the event loop in which they began."""

    def __init__(self, version: str) -> None:
        self._server = AgentServer(HttpTransport()).build(version)
        self._managers: WeakKeyDictionary[
            asyncio.AbstractEventLoop, tuple[StreamableHTTPSessionManager, asyncio.Task[None]]
        ] = WeakKeyDictionary()

    async def answer(
        self, request: Request, token_id: str, library: str | None, send: Send, receive: Receive
    ) -> None:
        """Answer one request of the token *token_id*, in the project *library*."""
        manager = await self._manager()
        token = AccessToken(token=token_id, client_id=token_id, scopes=[])
        scope: Scope = {**request.scope, "user": AuthenticatedUser(token), _LIBRARY: library}
        await manager.handle_request(scope, receive, send)

    async def _manager(self) -> StreamableHTTPSessionManager:
        """Return the manager of this event loop, started."""
        loop = asyncio.get_running_loop()
        known_manager = self._managers.get(loop)
        if known_manager is None or known_manager[1].done():
            manager = StreamableHTTPSessionManager(
                self._server,
                json_response=True,
                session_idle_timeout=IDLE_SECONDS,
                max_sessions=MOST_SESSIONS,
            )
            started = asyncio.Event()
            known_manager = self._managers[loop] = manager, loop.create_task(_run(manager, started))
            await started.wait()
        return known_manager[0]


async def _run(manager: Any, started: asyncio.Event) -> None:
    """Keep the sessions of *manager* going until the event loop ends."""
    async with manager.run():
        started.set()
        await asyncio.Event().wait()
