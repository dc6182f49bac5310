"""Row 48: a tool call over MCP, over stdio and over HTTP, against the same query over its published route.

The engine is a process of its own; client and route ask it over the same loopback port, one request after another.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from armarium.api import Example
from benchmarks.harness import Result, compare
from benchmarks.places import OWNER, running_engine, scratch_folder

CALLS = 50
LINES = 36
COMMAND = [sys.executable, "-c", "from armarium_cli import main; main()"]

Call = Callable[[], Awaitable[object]]


@dataclass(frozen=True)
class Ground:
    """What is asked, where, and with which token."""

    state: Path
    library: Path
    page: str
    token: str
    port: int

    @property
    def headers(self) -> dict[str, str]:
        """The headers of a request."""
        return {"Authorization": f"Bearer {self.token}", "X-Service-Library-Path": str(self.library)}

    @property
    def env(self) -> dict[str, str]:
        """The environment of the engine and of its commands."""
        own = {"SERVICE_STATE_DIR": str(self.state), "ARMARIUM_AGENT_TOKEN": self.token}
        return {**os.environ, **own}


def measure(rounds: int) -> list[Result]:
    """Measure the ratio for both transports, in milliseconds for one call."""
    with scratch_folder() as folder, _serve_page(folder) as ground:
        return [_compare(ground, transport, rounds) for transport in ("HTTP", "stdio")]


def _compare(ground: Ground, transport: str, rounds: int) -> Result:
    import httpx2
    from anyio.from_thread import start_blocking_portal
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters
    from mcp.client.streamable_http import streamable_http_client

    base = f"http://127.0.0.1:{ground.port}"
    http = httpx2.AsyncClient(base_url=base, headers=ground.headers, trust_env=False)
    command = [*COMMAND, "--library", str(ground.library), "mcp"]
    params = StdioServerParameters(command=command[0], args=command[1:], env=ground.env)
    place: Any = streamable_http_client(f"{base}/mcp", http_client=http) if transport == "HTTP" else params
    ours: list[float] = []
    theirs: list[float] = []

    async def repeat(work: Call, spent: list[float]) -> float:
        for _ in range(CALLS):
            begun = time.perf_counter()
            await work()
            spent.append((time.perf_counter() - begun) * 1000)
        return statistics.median(spent[-CALLS:])

    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(place)) as client:

        async def call() -> object:
            answer = await client.call_tool("read_page", {"page_id": ground.page})
            assert not answer.is_error, answer.content
            return answer

        async def ask() -> object:
            answer = await http.get(f"/api/segments/document/{ground.page}/text")
            return answer.raise_for_status().json()

        result = compare(
            48,
            f"a tool call over {transport}: the text of a page of {LINES} lines",
            engine=lambda: portal.call(repeat, call, ours),
            peer=lambda: portal.call(repeat, ask, theirs),
            peer_name="the published route, over a kept-alive connection",
            unit="ms",
            rounds=rounds,
            limit=2.0,
        )
    more = statistics.median(ours) - statistics.median(theirs)
    return replace(result, note=f"{more:.1f} ms more a call (at most 20)")


@contextmanager
def _serve_page(folder: Path) -> Iterator[Ground]:
    """Serve a project with one page of lines."""
    from armarium.engine_card import read_card
    from armarium_testing.sample_pages import sample_page

    state, library_path = folder / "state", folder / "bench.library"
    with running_engine(folder) as (engine, library):
        rows = [
            {"anchor": {"rect": [0.1, row / LINES, 0.8, 0.9 / LINES], "granularity": "line"}}
            for row in range(LINES)
        ]
        texts = [f"line {row}: in the name of God, amen" for row in range(LINES)]
        page = sample_page(Example(engine, library, OWNER, folder), texts, segments=rows)
        asked = {"name": "bench", "libraries": [str(library_path)]}
        token = (engine.run(None, "token.create", asked, OWNER).result or {})["token"]
    ground = Ground(state, library_path, page.document_id, token, 0)
    process = subprocess.Popen(
        [*COMMAND, "serve", "--port", "0", "--no-browser"],
        env=ground.env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 60
        while (card := read_card(state)) is None or card.pid != process.pid or card.port is None:
            assert time.monotonic() < deadline, "the engine did not start"
            time.sleep(0.05)
        yield Ground(state, library_path, page.document_id, token, card.port)
    finally:
        process.terminate()
        process.wait(30)
