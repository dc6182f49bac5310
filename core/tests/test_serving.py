"""Listening: who may open the socket, how the engine is found, how it ends."""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import resource
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from armarium.engine_card import Reachable, running_engine
from armarium.errors import Conflict, Invalid
from armarium.settings import Settings
from armarium.web.serving import (
    ARENAS,
    FILES,
    KEPT_FREE,
    OWN_MAPPING,
    bind,
    give_memory_back,
    serve,
    settle_files,
    settle_memory,
    stop,
)
from armarium_testing.fixtures import OWNER_TOKEN

ENGINE = """
import gc, os, sys
os.umask(0)
from armarium.web.app import create_app
from armarium.web.serving import serve
from armarium.settings import Settings
settings = Settings()
def ready(card):
    assert gc.isenabled(), "what becomes garbage from now on is looked for again"
    print(card.base_url, flush=True)
serve(settings, app=create_app(settings, plugins=[]), on_ready=ready)
"""


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


class ServedEngine:
    """An engine in a process of its own, with a umask that would make everything public."""

    def __init__(self, state: Path, **environment: str) -> None:
        self.settings = Settings(state_dir=state)
        given = {
            **os.environ,
            "SERVICE_STATE_DIR": str(state),
            "SERVICE_OWNER_TOKEN": OWNER_TOKEN,
            **environment,
        }
        self.process = subprocess.Popen(
            [sys.executable, "-c", ENGINE],
            env=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.base_url = self.process.stdout.readline().strip()
        assert self.base_url, self.process.communicate()[1]

    @property
    def card(self) -> Reachable:
        found = running_engine(self.settings.state_dir)
        assert found is not None
        return found

    def client(self) -> httpx.Client:
        transport = httpx.HTTPTransport(uds=self.card.uds) if self.card.uds else None
        headers = {"Authorization": f"Bearer {OWNER_TOKEN}"}
        return httpx.Client(
            base_url=self.card.base_url, transport=transport, headers=headers, trust_env=False
        )

    def end(self, how: signal.Signals = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait(20)


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A folder with a path short enough for a Unix socket."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="arm") as folder:
        yield Path(folder)


@pytest.fixture
def by_socket(short_folder: Path) -> Iterator[ServedEngine]:
    (short_folder / "run").mkdir(mode=0o755)
    served = ServedEngine(short_folder / "state", SERVICE_UDS=str(short_folder / "run" / "engine.sock"))
    yield served
    served.end()


@pytest.fixture
def by_tcp(short_folder: Path) -> Iterator[ServedEngine]:
    served = ServedEngine(short_folder / "state", SERVICE_PORT="0")
    yield served
    served.end()


def test_the_socket_is_its_users_alone(by_socket: ServedEngine) -> None:
    card = by_socket.card
    assert card.uds is not None
    path = Path(card.uds)
    assert (mode(path), mode(path.parent), stat.S_ISSOCK(path.stat().st_mode)) == (0o600, 0o700, True)
    state = by_socket.settings.state_dir
    assert mode(state) == 0o700
    for name in ("engine.json", "owner-token", "enrollment-secret"):
        assert mode(state / name) == 0o600, name
    with by_socket.client() as client:
        assert client.get("/api/registry").status_code == 200
        (seen_client,) = client.get("/api/clients").json()["clients"]
        assert seen_client["transport"] == "uds"
        assert client.get("/api/health", headers={"Host": "evil.com"}).status_code == 403


def test_a_folder_that_others_use_is_not_closed_to_them(short_folder: Path) -> None:
    from armarium.auth.secret_files import make_private_folder
    from armarium.errors import Unavailable

    shared, state, disk = short_folder / "home", short_folder / "state", short_folder / "disk"
    for folder, inside in ((shared, "letters.txt"), (state, "owner-token"), (disk, "lost+found")):
        folder.mkdir()
        folder.chmod(0o755)
        (folder / inside).touch()
    with pytest.raises(
        Unavailable, match="is open to other users and contains other files than the engine's"
    ):
        make_private_folder(shared)
    assert mode(shared) == 0o755
    for folder in (state, disk):
        make_private_folder(folder)
        assert mode(folder) == 0o700
    # A folder that is private already may contain anything.
    shared.chmod(0o700)
    make_private_folder(shared)


@pytest.mark.parametrize("left", ["runtimes", "commands.json"])
def test_what_the_engine_left_before_it_first_ran_makes_the_folder_its_own(tmp_path: Path, left: str) -> None:
    """It may contain only an installed runtime, or the note that commands leave."""
    from armarium.auth.secret_files import make_private_folder

    state = tmp_path / "state"
    (state / left).mkdir(parents=True)
    state.chmod(0o755)
    make_private_folder(state)
    assert state.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can try as another user")
def test_another_user_cannot_open_the_socket(by_socket: ServedEngine, short_folder: Path) -> None:
    short_folder.chmod(0o755)
    card = by_socket.card
    # Even if the folder is public, the socket itself refuses others.
    for folder_mode in (0o700, 0o755):
        Path(str(card.uds)).parent.chmod(folder_mode)
        child = os.fork()
        if child == 0:
            os.setgid(65534)
            os.setuid(65534)
            try:
                socket.socket(socket.AF_UNIX).connect(str(card.uds))
            except PermissionError:
                os._exit(13)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 13


def test_over_tcp_the_engine_is_found_by_its_card_and_leaves_none(by_tcp: ServedEngine) -> None:
    card = by_tcp.card
    assert (card.transport, card.host, card.pid) == ("tcp", "127.0.0.1", by_tcp.process.pid)
    assert by_tcp.base_url == card.base_url == f"http://127.0.0.1:{card.port}"
    with by_tcp.client() as client:
        assert client.get("/api/health").json()["status"] == "ok"
        assert client.get("/api/registry", headers={"X-Forwarded-For": "1.2.3.4"}).status_code == 403
    stop(card)
    assert by_tcp.process.wait(20) in (0, -signal.SIGTERM)
    assert not (by_tcp.settings.state_dir / "engine.json").exists()
    assert running_engine(by_tcp.settings.state_dir) is None
    assert by_tcp.process.communicate()[1] == ""


def test_open_streams_do_not_hold_up_the_end(by_socket: ServedEngine) -> None:
    with by_socket.client() as client, client.stream("GET", "/api/changes/stream", timeout=20) as answer:
        lines = answer.iter_lines()
        assert next(lines) == ": alive"
        by_socket.process.send_signal(signal.SIGTERM)
        list(lines)
        by_socket.process.wait(60)
    assert by_socket.process.communicate()[1] == "", (
        "the server says when it had to cancel what was still open"
    )
    assert not Path(by_socket.settings.state_dir.parent / "run" / "engine.sock").exists()


def test_a_second_engine_on_the_same_state_is_refused(by_socket: ServedEngine) -> None:
    with pytest.raises(Conflict, match="already serves this state folder") as refused:
        serve(by_socket.settings)
    assert refused.value.code == "already_serving"
    with pytest.raises(Conflict, match="listens on"):
        bind(Settings(state_dir=by_socket.settings.state_dir, uds=Path(str(by_socket.card.uds))))


def test_what_a_killed_engine_left_is_cleared_away(by_socket: ServedEngine, short_folder: Path) -> None:
    by_socket.end(signal.SIGKILL)
    state, path = by_socket.settings.state_dir, short_folder / "run" / "engine.sock"
    assert (state / "engine.json").exists()
    assert path.exists()
    assert running_engine(by_socket.settings.state_dir) is None
    assert not (state / "engine.json").exists()
    bound, card = bind(Settings(state_dir=state, uds=path))
    assert (mode(path), card.transport) == (0o600, "uds")
    bound.close()


def test_a_damaged_card_is_no_engine(tmp_path: Path) -> None:
    for text in ("", "{", "[]", '{"pid": 1}', json.dumps({"transport": "tcp"})):
        (tmp_path / "engine.json").write_text(text)
        assert running_engine(tmp_path) is None


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.7", "::", "8.8.8.8"])
def test_only_loopback_is_listened_on(tmp_path: Path, host: str) -> None:
    with pytest.raises(Invalid, match="not a loopback address"):
        bind(Settings(state_dir=tmp_path, host=host, port=0))


def test_a_port_in_use_is_reported(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(Conflict, match="--port"):
            bind(Settings(state_dir=tmp_path, port=taken.getsockname()[1]))


def test_an_impossible_socket_path_is_reported(short_folder: Path) -> None:
    with pytest.raises(Invalid, match="shorter"):
        bind(Settings(state_dir=short_folder, uds=short_folder / ("x" * 120)))
    (short_folder / "notes.txt").write_text("mine")
    with pytest.raises(Conflict, match="not a socket"):
        bind(Settings(state_dir=short_folder, uds=short_folder / "notes.txt"))
    assert (short_folder / "notes.txt").read_text() == "mine"


def test_answers_do_not_wait_for_nagle(tmp_path: Path) -> None:
    bound, _ = bind(Settings(state_dir=tmp_path, port=0))
    with bound:
        assert bound.proto == socket.IPPROTO_TCP
        assert bound.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


def test_memory_is_settled_where_the_c_library_takes_it_and_left_alone_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: dict[int, int] = {}

    class Glibc:
        mallopt = staticmethod(told.__setitem__)

    monkeypatch.setattr(ctypes, "CDLL", lambda _: Glibc)
    settle_memory()
    assert told == {-8: ARENAS, -3: OWN_MAPPING, -1: KEPT_FREE}
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    settle_memory()


@pytest.mark.parametrize(
    ("now_may", "may_ask_for", "then"),
    [
        (256, resource.RLIM_INFINITY, FILES),
        (1024, 4096, 4096),
        (FILES * 2, FILES * 4, FILES * 2),
        (resource.RLIM_INFINITY, resource.RLIM_INFINITY, resource.RLIM_INFINITY),
    ],
)
def test_as_many_files_as_may_be_are_held_open(
    monkeypatch: pytest.MonkeyPatch, now_may: int, may_ask_for: int, then: int
) -> None:
    limit = [(now_may, may_ask_for)]
    monkeypatch.setattr(resource, "getrlimit", lambda _: limit[-1])
    monkeypatch.setattr(resource, "setrlimit", lambda _, wanted: limit.append(wanted))
    settle_files()
    assert limit[-1] == (then, may_ask_for)


def test_a_system_that_lets_no_more_files_be_opened_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise ValueError("not allowed to raise maximum limit")

    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, FILES))
    monkeypatch.setattr(resource, "setrlimit", refuse)
    settle_files()


def test_memory_is_given_back_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    trimmed: list[int] = []
    shrunk: list[str] = []

    class Glibc:
        malloc_trim = staticmethod(trimmed.append)

    def database(name: str) -> Any:
        return SimpleNamespace(give_memory_back=lambda: shrunk.append(name))

    engine: Any = SimpleNamespace(
        state=database("engine"),
        libraries=SimpleNamespace(open_now=lambda: [SimpleNamespace(db=database("project"))]),
    )

    async def until(what: list[Any], there: int, *, clib: object) -> None:
        monkeypatch.setattr(ctypes, "CDLL", lambda _: clib)
        giving = asyncio.ensure_future(give_memory_back(engine, 0))
        while len(what) < there:
            await asyncio.sleep(0.001)
        giving.cancel()

    # Some C libraries cannot return free memory; the readers are closed everywhere.
    asyncio.run(until(shrunk, 4, clib=object()))
    assert (set(shrunk), trimmed) == ({"engine", "project"}, [])
    asyncio.run(until(trimmed, 3, clib=Glibc))
    assert set(trimmed) == {0}
