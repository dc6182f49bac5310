"""The connection of one command to an engine: the shared one, or one of the command's own."""

from __future__ import annotations

import gc
import json
import logging
import os
import re
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Unpack
from urllib.parse import quote

from armarium_cli.options import global_options
from armarium_cli.output import tell_if_slow
from armarium_cli.refusals import DEBUG_VARIABLE, Refused, as_refusal
from armarium_cli.shared_engine import (
    STARTING,
    Place,
    connect_shared,
    engine_elsewhere,
    running,
    this_place,
    wire_to,
)
from armarium_cli.user_settings import settings_of_this_user
from armarium_cli.wire import Answer, Form, Payload, Unreached, Wire

if TYPE_CHECKING:
    from armarium.settings import Settings

STOP_WAIT = 30.0
"""Seconds an engine of the command's own may take to stop."""

REPLACED_WAIT = 10.0
"""Seconds within which the successor of a replaced engine is expected."""

ID = re.compile(r"[\w.:@-]{1,128}")
ENDED = ("done", "failed", "cancelled", "paused")


@dataclass
class Session:
    """Sends requests to an engine; answers are parsed JSON, refusals raise `Refused`."""

    wire: Wire
    library: str | None
    running: bool
    """Whether the engine goes on after this command."""
    rejoin: Callable[[bool], Wire | None] | None = None
    """Finds an engine again after it went away: by itself, or because it was replaced. Called with whether to start one
    where there is none.
    """

    def ask(self, method: str, path: str, **sent: Unpack[Payload]) -> Any:
        """Send one request and return its JSON. Raises Refused with the engine's own sentence."""
        answer = self.raw(method, path, **sent)
        return json.loads(answer) if answer else None

    def raw(self, method: str, path: str, **sent: Unpack[Payload]) -> bytes:
        """Send one request and return the bytes of the answer; its headers replace what the session would send."""
        import http.client

        library_header = {"X-Service-Library-Path": quote(self.library, safe="/")} if self.library else {}
        sent["headers"] = {**library_header, **sent.get("headers", {})}
        try:
            status, answer = self._send_or_retry(method, path, sent)
        except (OSError, http.client.HTTPException) as error:
            why = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise Refused(f"The engine does not answer ({why}). Is it still running?") from error
        if status < 400:
            return answer
        try:
            refusal = json.loads(answer)
        except ValueError:
            refusal = None
        if status == 404:
            self._name_refused_plugin()
        raise Refused(
            refusal
            if isinstance(refusal, dict) and refusal.get("detail")
            else f"The engine answered {status} without a reason.",
            status=status,
        )

    def _name_refused_plugin(self) -> None:
        """Raise Refused with the reason where the engine has refused the plugin that brings this command: nothing of it
        is there to be found.
        """
        plugin = global_options().plugin
        if not plugin:
            return
        status, answer = self.wire.request("GET", "/api/plugins")
        for refused in json.loads(answer)["refused"] if status < 400 else ():
            if refused["name"] == plugin:
                raise Refused(
                    {
                        "detail": f"The plugin {plugin} was refused: {refused['why']} See armarium plugins.",
                        "code": "plugin_refused",
                    },
                    status=404,
                )

    def _send_or_retry(self, method: str, path: str, payload: Payload) -> Answer:
        """Return the answer; from another engine when this one has shut down meanwhile, as during a long edit in an
        editor.
        """
        try:
            status, answer = self.wire.request(method, path, **payload)
            if status != 503 or b'"stopping"' not in answer:
                return status, answer
        except Unreached:
            if self.rejoin is None:
                raise
        if self.rejoin is None or not self._join(start=True):
            raise Unreached("it has ended")
        return self.wire.request(method, path, **payload)

    def _join(self, *, start: bool) -> bool:
        wire = self.rejoin(start) if self.rejoin is not None else None
        if wire is None:
            return False
        self.wire.close()
        self.wire = wire
        return True

    def get(self, path: str, **query: Any) -> Any:
        """GET with a query; absent values are left out."""
        return self.ask("GET", path, query=query)

    def every(self, path: str, **query: Any) -> dict[str, Any]:
        """GET a list with the items of all its pages."""
        listing: dict[str, Any] = self.get(path, limit=500, **query)
        while len(listing["items"]) < listing["total"]:
            more = self.get(path, limit=500, offset=len(listing["items"]), **query)["items"]
            if not more:
                break
            listing["items"] += more
        return {**listing, "count": len(listing["items"])}

    def post(self, path: str, body: Any = None) -> Any:
        """POST a JSON body."""
        return self.ask("POST", path, body=body)

    def send(
        self, path: str, files: Sequence[tuple[str, str, bytes]], words: Mapping[str, str] | None = None
    ) -> Any:
        """POST a form of files, each as (field, file name, bytes), and text fields."""
        return self.ask("POST", path, body=Form(files, words or {}))

    def put(self, path: str, body: Any) -> Any:
        """PUT a JSON body."""
        return self.ask("PUT", path, body=body)

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
        """Wait for a job and everything beneath it; *seen* is called with its node whenever it changes.

        An engine that was stopped meanwhile is not started again; a successor is followed.
        """
        rejoin, self.rejoin = self.rejoin, None
        try:
            while True:
                try:
                    node: dict[str, Any] = self.get(f"/api/activity/jobs/{job_id}")
                except Refused as refused:
                    self.rejoin = rejoin
                    if refused.status is not None or rejoin is None:
                        raise
                    if not self._join(start=False):
                        raise Refused(
                            {
                                "detail": "The engine was stopped. Finished work is kept, and the next command on this "
                                f"project continues: armarium jobs --watch waits for it, armarium jobs cancel "
                                f"{job_id} ends it.",
                                "job_id": job_id,
                                "code": "stopped",
                            }
                        ) from refused
                    self.rejoin = None
                    continue
                seen(node)
                if node["state"] in ENDED:
                    return node
                time.sleep(every)
        finally:
            self.rejoin = rejoin


def id_of(text: str) -> str:
    """Return *text* if it can be an id in a path; raises Refused otherwise."""
    if ID.fullmatch(text) is None:
        raise Refused(f"{text!r} is not an id; armarium ls, history, jobs and token list show ids.")
    return text


@contextmanager
def connect() -> Iterator[Session]:
    """A session with the shared engine or one elsewhere, or with one of the command's own where it runs without."""
    place = this_place()
    wire = connect_shared(place)
    if wire is None:
        with own_engine(settings_of_this_user()) as session:
            yield session
        return
    rejoin = None if engine_elsewhere() else lambda start: _reconnect(place, start)
    session = Session(wire, None, True, rejoin)
    try:
        yield session
    finally:
        session.wire.close()


def _reconnect(place: Place, start: bool) -> Wire | None:
    """Return the connection to an engine after one went away: its successor, else a new one where *start* says so."""
    if start:
        return connect_shared(place)
    deadline = time.monotonic() + REPLACED_WAIT
    while time.monotonic() < deadline:
        engine = running(place)
        if engine is not None:
            return engine[1]
        time.sleep(0.1)
    return None


def in_process() -> ModuleType:
    """Import the engine's own code. Most commands speak to an engine over HTTP and start fast without it."""
    # Nearly all that is loaded stays; collecting garbage meanwhile took an eighth of the time.
    gc.disable()
    try:
        from armarium import serving
    finally:
        gc.enable()
    return serving


@contextmanager
def own_engine(settings: Settings) -> Iterator[Session]:
    """A session with an engine in this process, which ends with the block."""
    with _own_engine(settings) as wire:
        yield Session(wire, None, False)


@contextmanager
def _own_engine(settings: Settings) -> Iterator[Wire]:
    """An engine in a thread of this process, behind a socket in a private folder."""
    import uvicorn

    if not os.environ.get(DEBUG_VARIABLE):
        # Errors reach the caller as the answer to a request or as a job's reason.
        logging.getLogger("armarium").setLevel(logging.CRITICAL)
    with tell_if_slow(STARTING):
        app = in_process().create_app(settings)
    failure: list[BaseException] = []

    async def call_watched(scope: Any, receive: Any, send: Any) -> None:
        try:
            await app(scope, receive, send)
        except BaseException as error:
            if scope["type"] == "lifespan":
                failure.append(error)
            raise

    with tempfile.TemporaryDirectory(prefix="armarium-") as folder:
        socket = str(Path(folder) / "engine.sock")
        server = uvicorn.Server(
            uvicorn.Config(
                call_watched,
                uds=socket,
                log_config=None,
                log_level="critical",
                access_log=False,
                lifespan="on",
                ws="none",
            )
        )

        def serve() -> None:
            try:
                server.run()
            except BaseException as error:
                failure.append(error)

        thread = threading.Thread(target=serve, name="engine", daemon=True)
        thread.start()
        try:
            with tell_if_slow(STARTING):
                _wait_for_start(server, thread, failure)
            place = Place(settings.state_dir, {"SERVICE_OWNER_TOKEN": settings.owner_token or ""})
            wire = wire_to(place, uds=socket, base_url="http://localhost")
            try:
                yield wire
            finally:
                wire.close()
        finally:
            server.should_exit = True
            thread.join(STOP_WAIT)


def _wait_for_start(server: Any, thread: threading.Thread, failure: list[BaseException]) -> None:
    while not server.started:
        if not thread.is_alive():
            # When the start failed, the first error is the cause; later ones are the server shutting down.
            raise (
                as_refusal(failure[0]) if failure else Refused("The engine did not start and gave no reason.")
            )
        time.sleep(0.005)
