"""Listening: a Unix socket only this user may open, or TCP on loopback; and the card that says how to reach the engine."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import socket
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armarium import __version__
from armarium.auth.authenticate import is_local
from armarium.auth.secret_files import make_private_folder, write_private
from armarium.engine_card import (
    CARD,
    LOCK,
    LOG,
    Reachable,
    behaviour,
    code_in_place,
    fingerprint,
    forget,
    running_engine,
)
from armarium.errors import Conflict, Invalid, Unavailable
from armarium.ids import now
from armarium.settings import Settings
from armarium.web.app import create_app
from armarium.web.early_answers import refuse
from armarium.web.heap import spare_the_heap
from armarium.web.slow_senders import WatchedProtocol

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import ASGIApp, Receive, Scope, Send

    from armarium.engine import Engine
    from armarium.engine_lifetime import EngineLifetime

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8
"""Constants of glibc's malloc.h."""

SWITCH_SECONDS = 0.0005
"""Seconds a Python thread may run while others wait. The default of 5 ms is paid at each statement and each answer that
lets another thread in, and a write makes some twenty statements while it holds the writer."""

ARENAS, OWN_MAPPING, KEPT_FREE = 2, 1024 * 1024, 1024 * 1024
"""Heaps shared by threads; bytes from which an allocation is mapped separately; free bytes a heap keeps at its end. So
memory used for pictures is returned to the system instead of staying in as many heaps as there were threads."""

FILES = 8192
"""Files the engine may hold open if the system allows it: an open project takes six, and more during requests."""

GIVE_BACK_EVERY = 5.0
"""Seconds between two returns of free memory to the system: the gaps that connections and pictures leave, and cached
pages that idle readers no longer need."""

GOING_SECONDS = 60.0
"""Seconds a new engine waits for a former one that is about to stop."""

LARGEST_LOG = 1024 * 1024
"""Bytes from which the log of a background engine is started anew; the former one is kept beside it."""

SOCKET, SOCKET_FOLDER = "engine.sock", "armarium-"
"""The socket of a background engine; the prefix of the folder used where its path in the state folder is too long."""

SOCKET_PATH_LIMIT = 100
"""Bytes a Unix socket's path may have: systems accept 104 to 108."""


def bind(settings: Settings) -> tuple[socket.socket, Reachable]:
    """Return a bound socket and how to reach it.

    A Unix socket is made 0600 in a folder 0700 (uvicorn alone would leave it 0666); TCP only on a loopback address.
    Raises Conflict when somebody listens there already, Invalid for an address that is not loopback.
    """
    if settings.uds is not None:
        path = settings.uds.expanduser().absolute()
        bound = _bind_unix(path)
        place: dict[str, Any] = {"transport": "uds", "uds": str(path), "host": None, "port": None}
        base_url = "http://localhost"
    else:
        bound = _bind_tcp(settings.host, settings.port)
        host, port = bound.getsockname()[:2]
        place = {"transport": "tcp", "uds": None, "host": host, "port": port}
        base_url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    return bound, Reachable(
        **place,
        base_url=base_url,
        pid=os.getpid(),
        version=__version__,
        started_at=now(),
        asked=behaviour(os.environ),
        settings=settings.behaviour(),
    )


@contextmanager
def private_socket(state_dir: Path) -> Iterator[Path]:
    """Return where a background engine listens: in its state folder, or, where that path is too long, in a folder of
    its own."""
    place = state_dir.absolute() / SOCKET
    if len(os.fsencode(place)) <= SOCKET_PATH_LIMIT:
        yield place
        return
    short = len(os.fsencode(tempfile.gettempdir())) + len(SOCKET) + 20 <= SOCKET_PATH_LIMIT
    with tempfile.TemporaryDirectory(prefix=SOCKET_FOLDER, dir=None if short else "/tmp") as folder:
        yield Path(folder) / SOCKET


def _bind_unix(path: Path) -> socket.socket:
    if len(os.fsencode(path)) > SOCKET_PATH_LIMIT:
        raise Invalid(
            f"The path of the Unix socket has {len(os.fsencode(path))} bytes; at most {SOCKET_PATH_LIMIT} are possible. "
            "Set SERVICE_UDS to a shorter one."
        )
    make_private_folder(path.parent)
    with suppress(FileNotFoundError):
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise Conflict(f"{path.name} exists and is not a socket; set SERVICE_UDS to another path.")
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(2.0)
            try:
                probe.connect(str(path))
            except OSError:
                path.unlink(missing_ok=True)
            else:
                raise _address_in_use(str(path))
    bound = socket.socket(socket.AF_UNIX)
    before = os.umask(0o177)
    try:
        bound.bind(str(path))
    except OSError as error:
        bound.close()
        raise Unavailable(f"The Unix socket cannot be made: {error.strerror}.") from error
    finally:
        os.umask(before)
    path.chmod(0o600)
    return bound


def _bind_tcp(host: str, port: int) -> socket.socket:
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise Invalid(f"The address {host} cannot be found; listen on 127.0.0.1.") from error
    if not is_local((str(address[0]), port)):
        raise Invalid(
            f"{host} is not a loopback address. The engine listens on this machine only (127.0.0.1 or ::1); "
            "to reach it from elsewhere, use a tunnel such as ssh."
        )
    # Named as TCP, so that asyncio switches off Nagle's delay: without it every answer waits 40 ms.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((address[0], port))
    except OSError as error:
        bound.close()
        raise _address_in_use(f"{host}:{port}") from error
    return bound


_address_in_use = Conflict.saying(
    None,
    "Something listens on {where} already, perhaps another engine. Stop it, or name another port (--port) "
    "or a socket (--uds).",
)


def serve(
    settings: Settings | None = None,
    *,
    app: FastAPI | None = None,
    on_ready: Callable[[Reachable], None] | None = None,
    background: bool = False,
) -> None:
    """Serve the engine until it is stopped (SIGINT, SIGTERM). *on_ready* is called once it answers.

    In the *background* it listens on a socket of its own, writes to the log in its state folder, and stops by itself
    when nobody needs it any more (`EngineLifetime`).
    """
    # Until it answers, nearly all objects stay; collecting garbage took an eighth of the start.
    gc.disable()
    try:
        used = settings or Settings()
        with ExitStack() as stack:
            stack.enter_context(_place_of_its_own(used.state_dir))
            if background:
                socket_path = stack.enter_context(private_socket(used.state_dir))
                used = used.model_copy(update={"uds": socket_path})
            _serve(used, app, on_ready, background=background)
    finally:
        gc.enable()


@contextmanager
def _place_of_its_own(state_dir: Path) -> Iterator[None]:
    """Become the one engine that serves *state_dir*: waits for one that is about to stop, raises Conflict where one
    serves."""
    from filelock import FileLock, Timeout

    make_private_folder(state_dir)
    lock = FileLock(state_dir / LOCK, thread_local=False)
    deadline = time.monotonic() + GOING_SECONDS
    while True:
        already = running_engine(state_dir)
        if already is not None:
            raise Conflict(
                f"An engine already serves this state folder (process {already.pid}, {already.base_url}). "
                "Use that one, or stop it first.",
                code="already_serving",
            )
        try:
            lock.acquire(timeout=0)
        except Timeout:
            if time.monotonic() > deadline:
                raise Conflict(
                    "An engine for this state folder has been starting or stopping for more than "
                    f"{GOING_SECONDS:.0f} seconds; try again later.",
                    code="already_serving",
                ) from None
            time.sleep(0.05)
            continue
        break
    try:
        yield
    finally:
        lock.release()


def count_requests(app: ASGIApp, stay: EngineLifetime) -> ASGIApp:
    """Return *app* with its requests counted: one that goes on, such as a stream of changes, keeps the engine up."""

    async def run(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
        elif not stay.begin_request():
            await refuse(send, Unavailable("The engine is just stopping; try again.", code="stopping"))
        else:
            try:
                await app(scope, receive, send)
            finally:
                stay.end_request()

    return run


def _serve(
    used: Settings, app: FastAPI | None, on_ready: Callable[[Reachable], None] | None, *, background: bool
) -> None:
    import uvicorn

    settle_memory()
    settle_files()
    bound, card = bind(used)
    served = app or create_app(used)
    stay = served.state.engine.stay
    stay.serving = True
    stay.rest_seconds = used.rest_seconds if background else None
    path = used.state_dir / CARD

    class Server(uvicorn.Server):
        """Writes the card once it answers, and ends the change streams before it waits for open answers."""

        beside: tuple[asyncio.Future[None], ...] = ()

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                spare_the_heap()
                gc.enable()
                sys.setswitchinterval(SWITCH_SECONDS)
                sources = code_in_place()
                ready = replace(card, background=background, sources=sources, software=fingerprint(sources))
                write_private(path, json.dumps(asdict(ready), indent=2) + "\n")
                self.beside = (
                    asyncio.ensure_future(give_memory_back(served.state.engine)),
                    asyncio.ensure_future(self.go_in_time()),
                )
                if on_ready is not None:
                    on_ready(ready)

        async def go_in_time(self) -> None:
            await stay.ends()
            self.should_exit = True

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            forget(used.state_dir, card)
            for task in self.beside:
                task.cancel()
            served.state.engine.events.close()
            await super().shutdown(sockets)
            # Uvicorn raises the signal that stopped it once more, so nothing after this may run.
            _remove_socket(card)

    config = uvicorn.Config(
        count_requests(served, stay),
        # The log of requests would contain names of projects; the audit log records what was done.
        access_log=False,
        log_config=None,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=10,
        lifespan="on",
        http=WatchedProtocol,
    )
    try:
        with suppress(KeyboardInterrupt):
            Server(config).run(sockets=[bound])
    finally:
        forget(used.state_dir, card)
        bound.close()
        _remove_socket(card)


def write_to_log(state_dir: Path) -> None:
    """Redirect the process's output to the log in *state_dir*, beginning with what it wrote so far."""
    import logging

    place = state_dir / LOG
    with suppress(OSError):
        if place.stat().st_size > LARGEST_LOG:
            place.replace(place.with_name(f"{LOG}.1"))
    log = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with suppress(OSError):
        # Only a file can be read again; the starting command supplied one.
        os.lseek(2, 0, os.SEEK_SET)
        os.write(log, os.read(2, LARGEST_LOG))
    for descriptor in (1, 2):
        os.dup2(log, descriptor)
    os.close(log)
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("armarium").warning("the engine answers (process %d)", os.getpid())


def settle_memory() -> None:
    """Make the C library return memory (glibc; elsewhere nothing is done). Before the first thread starts."""
    import ctypes

    with suppress(AttributeError, OSError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(M_ARENA_MAX, ARENAS)
        # Set explicitly, it stays: by default it grows with each large allocation, until pictures lie in the heaps too.
        mallopt(M_MMAP_THRESHOLD, OWN_MAPPING)
        mallopt(M_TRIM_THRESHOLD, KEPT_FREE)


def settle_files() -> None:
    """Raise the limit of open files: macOS starts with 256, which forty projects take."""
    import resource

    now_may, may_ask_for = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = FILES if may_ask_for == resource.RLIM_INFINITY else min(FILES, may_ask_for)
    if resource.RLIM_INFINITY != now_may < limit:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, may_ask_for))


async def give_memory_back(engine: Engine, every: float = GIVE_BACK_EVERY) -> None:
    """Periodically free what idle readers cache and what glibc holds free."""
    import ctypes

    trim: Callable[[int], object] | None = None
    with suppress(AttributeError, OSError):
        trim = ctypes.CDLL(None).malloc_trim

    def give_back() -> None:
        for database in (engine.state, *(library.db for library in engine.libraries.open_now())):
            database.give_memory_back()
        if trim is not None:
            trim(0)

    while True:
        await asyncio.sleep(every)
        await asyncio.to_thread(give_back)


def _remove_socket(card: Reachable) -> None:
    if card.uds is not None:
        with suppress(OSError):
            os.unlink(card.uds)
            if Path(card.uds).parent.name.startswith(SOCKET_FOLDER):
                os.rmdir(Path(card.uds).parent)


def stop(card: Reachable) -> None:
    """Ask the engine of *card* to stop; it ends its answers, pauses its jobs at their checkpoints, closes projects."""
    with suppress(ProcessLookupError):
        os.kill(card.pid, signal.SIGTERM)
