"""The connection of one command to an engine: the running one's socket, or an engine of the command's own."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from armarium.settings import Settings

START_WAIT = 30.0
"""Seconds an engine of the command's own may take to come up."""


class Refused(Exception):
    """The engine (or this command) said no; `body` is the refusal as the API gives it."""

    def __init__(self, body: Mapping[str, Any] | str) -> None:
        self.body = dict(body) if isinstance(body, Mapping) else {"detail": body}
        super().__init__(str(self.body.get("detail")))

    def show(self) -> None:
        """Print it: one sentence, or JSON where the command was asked for JSON."""
        if os.environ.get("ARMARIUM_JSON"):
            print(json.dumps(self.body, ensure_ascii=False), file=sys.stderr)
        else:
            print(self.body.get("detail"), file=sys.stderr)


@dataclass
class Session:
    """Asks an engine; every answer is JSON already read, every refusal a `Refused`."""

    http: httpx.Client
    library: str | None
    running: bool
    """Whether it is an engine that was there before this command."""

    def headers(self) -> dict[str, str]:
        """The header that names the project, when one is named."""
        return {"X-Service-Library-Path": quote(self.library, safe="/")} if self.library else {}

    def ask(self, method: str, path: str, *, stream: Any = None, **options: Any) -> Any:
        """One request; its JSON. Raises Refused with the engine's own sentence."""
        answer = self.raw(method, path, **options)
        return answer.json() if answer.content else None

    def raw(self, method: str, path: str, **options: Any) -> httpx.Response:
        """One request; the whole response, for bytes."""
        headers = {**self.headers(), **options.pop("headers", {})}
        try:
            answer = self.http.request(method, path, headers=headers, **options)
        except httpx.HTTPError as error:
            raise Refused(f"The engine does not answer ({error}). Is it still running?") from error
        if answer.status_code >= 400:
            try:
                body = answer.json()
            except ValueError:
                body = {"detail": f"The engine answered {answer.status_code}."}
            raise Refused(body)
        return answer

    def get(self, path: str, **query: Any) -> Any:
        """GET with a query; absent values are left out."""
        return self.ask("GET", path, params={k: v for k, v in query.items() if v is not None})

    def post(self, path: str, body: Any = None) -> Any:
        """POST a JSON body."""
        return self.ask("POST", path, json=body)

    def put(self, path: str, body: Any) -> Any:
        """PUT a JSON body."""
        return self.ask("PUT", path, json=body)

    def delete(self, path: str) -> Any:
        """DELETE."""
        return self.ask("DELETE", path)

    def act(self, name: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Run an action by name: `{ok, result, audit_id}`."""
        answer: dict[str, Any] = self.post("/api/actions/invoke", {"name": name, "params": dict(params)})
        return answer

    def follow(
        self, job_id: str, seen: Callable[[dict[str, Any]], None], *, every: float = 0.2
    ) -> dict[str, Any]:
        """Wait for a job and everything under it; *seen* is called with its node as it moves on."""
        while True:
            node: dict[str, Any] = self.get(f"/api/activity/jobs/{job_id}")
            seen(node)
            if node["state"] in ("done", "failed", "cancelled", "paused"):
                return node
            time.sleep(every)


@contextmanager
def connect(settings: Settings, library: str | None) -> Iterator[Session]:
    """A session with the running engine when there is one, else with one that lives as long as the block."""
    with _engine(settings) as (http, running):
        yield Session(http, library, running)


@contextmanager
def _engine(settings: Settings) -> Iterator[tuple[httpx.Client, bool]]:
    found = _running(settings)
    if found is not None:
        with found:
            yield found, True
        return
    with _own(settings) as http:
        yield http, False


def _running(settings: Settings) -> httpx.Client | None:
    """A client of the engine that serves this state folder, when one does."""
    from armarium.serving import running_engine

    card = running_engine(settings)
    return (
        None
        if card is None
        else _client(settings, uds=card.uds, base_url=None if card.uds else card.base_url)
    )


def _client(settings: Settings, *, uds: str | None, base_url: str | None) -> httpx.Client:
    token = settings.owner_token or _owner_token(settings.state_dir)
    headers = {"Authorization": f"Bearer {token}", "X-Service-Client": "command line"}
    transport = httpx.HTTPTransport(uds=uds) if uds else None
    return httpx.Client(
        base_url=base_url or "http://localhost",
        headers=headers,
        transport=transport,
        timeout=None,
        trust_env=False,
    )


def _owner_token(state_dir: Path) -> str:
    from armarium.auth.secret_files import OWNER_TOKEN_FILE

    try:
        return (state_dir / OWNER_TOKEN_FILE).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise Refused(f"The owner token in {state_dir} cannot be read: {error.strerror}.") from error


@contextmanager
def _own(settings: Settings) -> Iterator[httpx.Client]:
    """An engine in a thread of this process, behind a socket in a private folder."""
    import uvicorn

    from armarium.app import create_app

    app = create_app(settings)
    with tempfile.TemporaryDirectory(prefix="armarium-") as folder:
        socket = str(Path(folder) / "engine.sock")
        server = uvicorn.Server(
            uvicorn.Config(app, uds=socket, log_level="error", access_log=False, lifespan="on", ws="none")
        )
        failure: list[BaseException] = []

        def serve() -> None:
            try:
                server.run()
            except BaseException as error:
                failure.append(error)

        thread = threading.Thread(target=serve, name="engine", daemon=True)
        thread.start()
        deadline = time.monotonic() + START_WAIT
        while not server.started:
            if failure or not thread.is_alive() or time.monotonic() > deadline:
                raise Refused(f"The engine did not start{_why(failure)}.")
            time.sleep(0.005)
        try:
            with _client(settings, uds=socket, base_url=None) as client:
                yield client
        finally:
            server.should_exit = True
            thread.join(START_WAIT)


def _why(failure: list[BaseException]) -> str:
    return f": {failure[0]}" if failure else " (its log says why)"
