"""An agent in tests: the SDK's own client, over the engine's application in one event loop."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import quote

import httpx2
from fastapi import FastAPI
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.testclient import TestClient

from armarium.api import Engine, Example, Library
from armarium.principals import LOCAL_OWNER
from armarium_testing.fixtures import OWNER_TOKEN

T = TypeVar("T")
BASE = "http://127.0.0.1"


@dataclass
class ToolAnswer:
    """What a tool answered."""

    is_error: bool
    content: list[Any]

    @property
    def text(self) -> str:
        (one,) = self.content
        return str(one.text)

    @property
    def json(self) -> Any:
        assert not self.is_error, self.text
        return json.loads(self.text)


@dataclass
class Agent:
    """An agent with a token."""

    app: FastAPI
    token: str
    library: str | None = None
    mode: str = "legacy"
    headers: dict[str, str] = field(default_factory=dict)

    def http(self) -> httpx2.AsyncClient:
        """Return the HTTP client through which it speaks."""
        named = {"X-Service-Library-Path": quote(self.library)} if self.library else {}
        return httpx2.AsyncClient(
            transport=httpx2.ASGITransport(self.app, client=("127.0.0.1", 50000)),
            base_url=BASE,
            headers={"Authorization": f"Bearer {self.token}", **named, **self.headers},
        )

    def run(self, script: Callable[[Client], Awaitable[T]]) -> T:
        """Connect, do what *script* says, and go."""

        async def connect() -> T:
            async with (
                self.http() as http,
                Client(streamable_http_client(f"{BASE}/mcp", http_client=http), mode=self.mode) as client,
            ):
                return await script(client)

        return asyncio.run(connect())

    def call(self, tool: str, **arguments: Any) -> ToolAnswer:
        """Call one tool in a session of its own."""
        return self.call_all((tool, arguments))[0]

    def call_all(self, *calls: tuple[str, dict[str, Any]]) -> list[ToolAnswer]:
        """Call tools one after another in one session."""

        async def script(client: Client) -> list[ToolAnswer]:
            told = []
            for name, arguments in calls:
                answer = await client.call_tool(name, arguments)
                told.append(ToolAnswer(bool(answer.is_error), list(answer.content)))
            return told

        return self.run(script)

    def tools(self) -> dict[str, Any]:
        """Return the tools it is offered, by name."""

        async def script(client: Client) -> dict[str, Any]:
            return {tool.name: tool for tool in (await client.list_tools()).tools}

        return self.run(script)


@dataclass
class Place:
    """An engine with everything installed, a project, and agents that are let in."""

    engine: Engine
    app: FastAPI
    library: Library
    folder: Any

    @property
    def example(self) -> Example:
        return Example(self.engine, self.library, LOCAL_OWNER, self.folder)

    def do(self, name: str, params: dict[str, Any]) -> dict[str, Any]:
        """Run an action as the owner."""
        return self.engine.run(self.library, name, params, LOCAL_OWNER).result or {}

    def do_read(self, path: str) -> Any:
        """Ask a route as the owner."""
        client = TestClient(self.app, base_url=BASE, client=("127.0.0.1", 50000))
        named = {"X-Service-Library-Path": quote(str(self.library.path))}
        answer = client.get(path, headers={"Authorization": f"Bearer {OWNER_TOKEN}", **named})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def token(self, **terms: Any) -> dict[str, Any]:
        """Make a token of an agent that writes to the project and is bound to it, unless told otherwise."""
        bound = {"libraries": [str(self.library.path)], "writes_to": "project"}
        asked = {"name": "night reader", **bound, **terms}
        return self.engine.run(None, "token.create", asked, LOCAL_OWNER).result or {}

    def agent(self, mode: str = "legacy", **terms: Any) -> Agent:
        """Return an agent with a new token."""
        return Agent(self.app, self.token(**terms)["token"], mode=mode)

    def steps(self) -> list[dict[str, Any]]:
        """Return the project's steps, the newest first."""
        from armarium.history import audit

        with self.library.db.read() as conn:
            return audit.select_rows(conn, limit=1000)[0]
