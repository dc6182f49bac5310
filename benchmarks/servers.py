"""The two servers of the HTTP measurements, each in a process of its own: the engine, and a bare FastAPI app.

``python -m benchmarks.servers engine FOLDER`` and ``… bare FOLDER`` serve and print their address.
"""

from __future__ import annotations

import json
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from fastapi import Body, FastAPI, Response
from pydantic import BaseModel

from benchmarks.http_load import Server

TOKEN = "bench-token-of-the-measurements-only"


@contextmanager
def engine_server(folder: Path, *, installed: bool = False, project: Path | None = None) -> Iterator[Server]:
    """The engine with only the bench family, or with every installed family, over TCP on the loopback interface.

    It serves *project*, which no other engine has open, or one that it creates.
    """
    which = "engine-installed" if installed else "engine"
    with _serve(which, folder, *([str(project)] if project else [])) as server:
        yield server


@contextmanager
def bare_server(folder: Path, ready: bytes = b"{}") -> Iterator[Server]:
    """A bare FastAPI app: POST /items writes one row, GET /ready returns *ready* as it is."""
    (folder / "ready.json").write_bytes(ready)
    with _serve("bare", folder) as server:
        yield server


@contextmanager
def _serve(which: str, folder: Path, *more: str) -> Iterator[Server]:
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.servers", which, str(folder), *more],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"the {which} server of the measurement did not start; its words are above")
        said = json.loads(line)
        yield Server(said["port"], said["headers"], said["paths"])
    finally:
        process.terminate()
        process.wait(30)


def _listen() -> socket.socket:
    # asyncio turns off Nagle only on sockets that declare TCP; without that each answer waits 40 ms.
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.bind(("127.0.0.1", 0))
    sock.listen(128)
    return sock


def _run(app: FastAPI, sock: socket.socket) -> None:
    import uvicorn

    # The same server with the same settings on both sides.
    config = uvicorn.Config(app, access_log=False, log_level="warning", lifespan="on")
    uvicorn.Server(config).run(sockets=[sock])


def _say(sock: socket.socket, headers: dict[str, str], paths: dict[str, str]) -> None:
    print(json.dumps({"port": sock.getsockname()[1], "headers": headers, "paths": paths}), flush=True)


def _serve_engine(folder: Path, project: Path | None, *, installed: bool) -> None:
    from armarium.engine import Engine
    from armarium.settings import Settings
    from armarium.web.app import create_app
    from benchmarks import bench_family
    from benchmarks.places import OWNER

    settings = Settings(state_dir=folder / "engine-state", local_only=True, owner_token=TOKEN)
    plugins = None if installed else [bench_family.plugin()]
    path = project or folder / "served.library"
    paths = {}
    if project is None:
        engine = Engine(settings, plugins=plugins)
        engine.start(jobs=False)
        engine.run(None, "library.create", {"path": str(path)}, OWNER)
        if installed:
            library = engine.libraries.get(path)
            page = {"name": "A page", "doc_type": "folder"}
            result = engine.run(library, "document.create", page, OWNER).result or {}
            paths["document"] = f"/api/documents/{result['id']}"
        engine.close()
    sock = _listen()
    _say(sock, {"Authorization": f"Bearer {TOKEN}", "X-Service-Library-Path": str(path)}, paths)
    _run(create_app(settings, plugins=plugins), sock)


class _Item(BaseModel):
    """The body of a write."""

    text: str
    position: int = 0


def _serve_bare(folder: Path) -> None:
    from armarium.ids import new_id, now
    from benchmarks import bench_family as family
    from benchmarks.places import bare_database

    app = FastAPI()
    conn: sqlite3.Connection = bare_database(folder / "bare.sqlite", *family.bare_table())
    turn = threading.Lock()
    ready = (folder / "ready.json").read_bytes()

    @app.post("/items")
    def post_item(item: Annotated[_Item, Body()]) -> dict[str, str]:
        identity = new_id()
        with turn:
            conn.execute("BEGIN IMMEDIATE")
            conn.execute(
                family.INSERT, family.row_of(identity, family.PLACE, item.position, item.text, now())
            )
            conn.execute("COMMIT")
        return {"id": identity}

    @app.get("/ready")
    async def get_ready() -> Response:
        return Response(ready, media_type="application/json")

    sock = _listen()
    _say(sock, {}, {})
    _run(app, sock)


if __name__ == "__main__":
    chosen, place, *more = sys.argv[1:]
    if chosen == "bare":
        _serve_bare(Path(place))
    else:
        given = Path(more[0]) if more else None
        _serve_engine(Path(place), given, installed=chosen == "engine-installed")
