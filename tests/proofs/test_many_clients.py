"""Many clients at once while an import runs: nothing locked, nothing lost (quality 10)."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
import uvicorn

from armarium.app import create_app
from armarium.engine import Engine
from armarium.principals import LOCAL_OWNER
from armarium.testing.fixtures import OWNER_TOKEN


def memory() -> int:
    import psutil

    return int(psutil.Process(os.getpid()).memory_info().rss)


class Load:
    """Clients of one running server; counts what was answered and how long it took."""

    def __init__(self, base_url: str, library: Path, shared: str) -> None:
        self.base_url = base_url
        self.headers = {
            "Authorization": f"Bearer {OWNER_TOKEN}",
            "X-Service-Library-Path": quote(str(library)),
        }
        self.shared = shared
        self.made: list[str] = []
        self.renamed = 0
        self.odd: list[str] = []
        self.reads: list[float] = []
        self.writes: list[float] = []

    async def run(self, clients: int, seconds: float) -> None:
        until = time.monotonic() + seconds
        limits = httpx.Limits(max_connections=clients)
        async with httpx.AsyncClient(
            base_url=self.base_url, headers=self.headers, limits=limits, timeout=60, trust_env=False
        ) as http:
            await asyncio.gather(*(self._client(http, number, until) for number in range(clients)))

    async def _client(self, http: httpx.AsyncClient, number: int, until: float) -> None:
        turn = 0
        while time.monotonic() < until:
            turn += 1
            name = f"{number}-{turn}"
            made = await self._ask(http, "POST", "/api/documents", {"doc_type": "folder", "name": name})
            if made is None:
                continue
            self.made.append(made["id"])
            for path in (
                f"/api/documents/{made['id']}",
                "/api/documents?limit=20",
                f"/api/documents/{self.shared}",
            ):
                await self._ask(http, "GET", path, None)
            if await self._ask(http, "PATCH", f"/api/documents/{self.shared}", {"name": name}) is not None:
                self.renamed += 1

    async def _ask(self, http: httpx.AsyncClient, method: str, path: str, body: object) -> dict | None:
        began = time.monotonic()
        answer = await http.request(method, path, json=body)
        (self.reads if method == "GET" else self.writes).append(time.monotonic() - began)
        if answer.status_code >= 300:
            self.odd.append(f"{method} {path}: {answer.status_code} {answer.text[:200]}")
            return None
        return answer.json()


@pytest.fixture
def storm(make_engine: Callable[..., Engine], tmp_path: Path) -> Callable[[int, float], Load]:
    def blow(clients: int, seconds: float) -> Load:
        from PIL import Image

        engine = make_engine(jobs=True)
        place = tmp_path / "Storm.library"
        engine.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER)
        library = engine.libraries.get(place)
        source = tmp_path / "source"
        source.mkdir()
        for number in range(60):
            Image.new("L", (200, 200), number).save(source / f"{number}.png")
        shared = engine.run(library, "document.create", {"doc_type": "folder", "name": "shared"}, LOCAL_OWNER)
        config = uvicorn.Config(create_app(engine=engine), port=0, lifespan="off", log_level="error")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        engine.run(library, "document.import", {"folder": str(source)}, LOCAL_OWNER)
        load = Load(f"http://127.0.0.1:{port}", place, shared.result["id"])
        asyncio.run(load.run(clients, seconds))
        server.should_exit = True
        thread.join(20)
        engine.jobs.run_until_idle(library, 60)
        with library.db.read() as conn:
            there = set(conn.exec_driver_sql("SELECT id FROM document").scalars())
            renames = conn.exec_driver_sql(
                "SELECT count(*) FROM document__history WHERE op = 'U' AND id = ?", (load.shared,)
            ).scalar()
            pictures = conn.exec_driver_sql("SELECT count(*) FROM rendition").scalar()
        assert load.odd == []
        assert set(load.made) <= there
        assert renames >= load.renamed > 0
        assert pictures == 60
        return load

    return blow


@pytest.mark.slow
def test_twenty_clients_lose_nothing(storm: Callable[[int, float], Load]) -> None:
    load = storm(20, 4.0)
    assert len(load.reads) > len(load.writes) > 0


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_two_hundred_clients_for_ten_minutes(storm: Callable[[int, float], Load]) -> None:
    before = memory()
    load = storm(200, 600.0)
    reads, writes = sorted(load.reads), sorted(load.writes)
    print(
        f"{len(reads)} reads, p99 {reads[len(reads) * 99 // 100] * 1000:.0f} ms; {len(writes)} writes, "
        f"p99 {writes[len(writes) * 99 // 100] * 1000:.0f} ms; memory {before >> 20} to {memory() >> 20} MiB"
    )
