"""The ways from a tool to the engine: its published routes, with the token of the agent and with nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote, unquote, urlencode

if TYPE_CHECKING:
    from starlette.requests import Request

    from armarium_cli.api import Session

LIBRARY = "X-Service-Library-Path"
CLIENT = "X-Service-Client"
WINDOW = "X-Service-Origin-Window"


@dataclass(frozen=True)
class Answer:
    """What the engine answered."""

    status: int
    content: bytes

    def json(self) -> Any:
        """Return its JSON; None where it has none."""
        try:
            return json.loads(self.content)
        except ValueError:
            return None

    @property
    def sentence(self) -> str:
        """Return the sentence of a refusal."""
        body = self.json()
        detail = body.get("detail") if isinstance(body, dict) else None
        return str(detail or f"The engine answered {self.status} without a reason.")


class Door(Protocol):
    """Asks the engine on behalf of one agent in one session."""

    async def ask(
        self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None
    ) -> Answer:
        """Send one request and return the answer, whatever it is."""
        ...

    def within(self, library: str) -> Door:
        """Return the same door into another project."""
        ...


def target_of(path: str, query: Mapping[str, Any] | None) -> str:
    """Return a path with its query; what is None is left out."""
    pairs = {
        name: str(value).lower() if isinstance(value, bool) else value
        for name, value in (query or {}).items()
        if value is not None
    }
    return f"{path}?{urlencode(pairs, doseq=True)}" if pairs else path


@dataclass(frozen=True)
class CommandDoor:
    """Over HTTP, as every command asks. Requests go one after another."""

    session: Session
    lock: Any
    """An asynchronous lock."""
    names: Mapping[str, str]
    """The headers that carry the agent's token, and name the client and the session."""
    library: str | None = None

    def within(self, library: str) -> Door:
        """Return the same door into another project."""
        return CommandDoor(self.session, self.lock, self.names, library)

    async def ask(
        self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None
    ) -> Answer:
        """Send one request in a thread."""
        import anyio.to_thread

        async with self.lock:
            return await anyio.to_thread.run_sync(self._ask, method, target_of(path, query), body)

    def _ask(self, method: str, target: str, body: Any) -> Answer:
        from armarium_cli.api import Refused

        library_header = {LIBRARY: quote(self.library, safe="/")} if self.library else {}
        try:
            return Answer(
                200, self.session.raw(method, target, body=body, headers={**self.names, **library_header})
            )
        except Refused as refused:
            return Answer(refused.status or 503, json.dumps(refused.body).encode())


@dataclass(frozen=True)
class EngineDoor:
    """Within the engine: the request goes through the same gate as one that comes from outside."""

    request: Request
    """The agent's request, of which host, token and project are taken over, and no cookie."""
    names: Mapping[str, str]
    library: str | None = None

    def within(self, library: str) -> Door:
        """Return the same door into another project."""
        return EngineDoor(self.request, self.names, library)

    async def ask(
        self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None
    ) -> Answer:
        """Hand one request to the engine's own application."""
        content = b"" if body is None else json.dumps(body).encode()
        raw_path, _, raw_query = target_of(path, query).partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "scheme": self.request.scope["scheme"],
            "path": unquote(raw_path),
            "raw_path": raw_path.encode(),
            "query_string": raw_query.encode(),
            "root_path": "",
            "headers": self._headers(content),
            "client": self.request.scope.get("client"),
            "server": self.request.scope.get("server"),
        }
        status, pieces, is_body_sent = 500, [], False

        async def receive() -> dict[str, Any]:
            nonlocal is_body_sent
            if is_body_sent:
                return {"type": "http.disconnect"}
            is_body_sent = True
            return {"type": "http.request", "body": content, "more_body": False}

        async def send(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            else:
                pieces.append(message.get("body", b""))

        await self.request.app(scope, receive, send)
        return Answer(status, b"".join(pieces))

    def _headers(self, content: bytes) -> list[tuple[bytes, bytes]]:
        ours = [
            (name, value)
            for name, value in self.request.scope["headers"]
            if name in (b"host", b"authorization") or name.startswith((b"x-forwarded-", b"forwarded", b"via"))
        ]
        names = dict(self.names)
        if self.library:
            names[LIBRARY] = quote(self.library, safe="/")
        ours += [(name.lower().encode(), value.encode()) for name, value in names.items()]
        if content:
            ours += [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
        return ours
