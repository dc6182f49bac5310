"""Fixtures for the core's HTTP interface without families: an app, a way to send it any request, and a project."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson
import pytest
from fastapi import FastAPI

from armarium.engine import Engine
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium.web.app import create_app
from armarium_testing.fixtures import OWNER_TOKEN


@dataclass(frozen=True)
class Reply:
    """An answer: status, headers by lower-case name (the last of each), all headers, body."""

    status: int
    headers: dict[str, str]
    raw_headers: list[tuple[bytes, bytes]]
    body: bytes

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)

    @property
    def code(self) -> str | None:
        return self.json.get("code") if self.body else None


class AppClient:
    """Sends requests to an ASGI app directly: any header, any client address, in any combination, without a server."""

    def __init__(self, app: FastAPI) -> None:
        self.app = app
        self.engine: Engine = app.state.engine

    def __call__(self, method: str, path: str, **given: Any) -> Reply:
        """Send a request and wait for the answer."""
        return asyncio.run(self.later(method, path, **given))

    def later(
        self,
        method: str,
        path: str,
        *,
        token: str | None = OWNER_TOKEN,
        host: str | None = "127.0.0.1:8765",
        json: Any = None,
        body: bytes | Iterable[bytes] = b"",
        content_type: str | None = None,
        headers: dict[str, str] | None = None,
        library: str | Path | None = None,
        client: tuple[str, int] | None = ("127.0.0.1", 50000),
        query: str = "",
    ) -> Coroutine[Any, Any, Reply]:
        """Return the request without waiting for its answer, for tests that send several at once."""
        sent = [] if host is None else [(b"host", host.encode("latin-1"))]
        if token is not None:
            sent.append((b"authorization", f"Bearer {token}".encode()))
        if json is not None:
            body, content_type = orjson.dumps(json), content_type or "application/json"
        if content_type is not None:
            sent.append((b"content-type", content_type.encode()))
        if library is not None:
            sent.append((b"x-service-library-path", quote(str(library)).encode()))
        parts = [body] if isinstance(body, bytes) else list(body)
        if isinstance(body, bytes):
            if body:
                sent.append((b"content-length", str(len(body)).encode()))
        else:
            sent.append((b"transfer-encoding", b"chunked"))
        sent += [(name.lower().encode(), value.encode("latin-1")) for name, value in (headers or {}).items()]
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": sent,
            "client": client,
            "server": ("127.0.0.1", 8765),
            "state": {},
        }
        return self._ask(scope, parts)

    async def _ask(self, scope: dict[str, Any], parts: list[bytes]) -> Reply:
        waiting = list(parts)
        replies: list[Any] = []

        async def receive() -> dict[str, Any]:
            if waiting:
                return {"type": "http.request", "body": waiting.pop(0), "more_body": bool(waiting)}
            if not replies or replies[-1].get("more_body", True):
                await asyncio.sleep(0)
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            replies.append(message)

        await self.app(scope, receive, send)
        raw = [(name.lower(), value) for name, value in replies[0]["headers"]]
        named = {name.decode("latin-1"): value.decode("latin-1") for name, value in raw}
        body = b"".join(message.get("body", b"") for message in replies[1:])
        return Reply(replies[0]["status"], named, raw, body)


@pytest.fixture
def core_engine(make_engine: Callable[..., Engine]) -> Engine:
    """An engine with the core only."""
    return make_engine(plugins=[])


@pytest.fixture
def ask(core_engine: Engine) -> AppClient:
    """Sends requests to the core's app; by default as the owner, from this machine."""
    return AppClient(create_app(engine=core_engine))


@pytest.fixture
def project(core_engine: Engine, tmp_path: Path) -> Library:
    """An open project."""
    place = tmp_path / "Proben ü.library"
    core_engine.run(None, "library.create", {"path": str(place), "name": "Proben"}, LOCAL_OWNER)
    return core_engine.libraries.get(place)


@pytest.fixture
def device(ask: AppClient) -> Callable[..., str]:
    """`device("viewer")` pairs a device with that role; returns its token."""

    def pair(role: str = "editor", libraries: Any = "all") -> str:
        code = ask("POST", "/api/pair/code", json={"role": role, "libraries": libraries}).json["code"]
        return str(ask("POST", "/api/pair", token=None, json={"code": code}).json["device_token"])

    return pair
