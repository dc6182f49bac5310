"""A connection that sends half a request is closed after a while; one that continues, or is idle between two, is not."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import uvicorn

from armarium.web import slow_senders
from armarium.web.slow_senders import WatchedProtocol

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[Any]]


async def app(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] != "http":
        return
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


def talk(what: Talk, app: Any = app) -> Any:
    """Send *what* to a server that waits a fifth of a second for more; return its answer."""

    async def run() -> Any:
        server = uvicorn.Server(
            uvicorn.Config(app, port=0, lifespan="off", log_config=None, http=WatchedProtocol)
        )
        serving = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            return await asyncio.wait_for(what(reader, writer), 10)
        finally:
            writer.close()
            server.should_exit = True
            await serving

    return asyncio.run(run())


@pytest.fixture(autouse=True)
def short_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slow_senders, "HEADERS_WITHIN", 0.4)
    monkeypatch.setattr(slow_senders, "BODY_SILENCE", 0.4)


HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n"


@pytest.mark.parametrize("sent", [b"", b"POST / HT", HEAD])
def test_headers_that_do_not_come_are_not_waited_for(sent: bytes) -> None:
    async def stall(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(sent)
        return await reader.read()

    assert talk(stall).startswith(b"HTTP/1.1 408 ")


def test_headers_that_come_drop_by_drop_have_one_time_for_all() -> None:
    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        async def send() -> None:
            for number in range(100):
                writer.write(b"x: %d\r\n" % number)
                await asyncio.sleep(0.05)

        writer.write(HEAD)
        sending = asyncio.create_task(send())
        found = await reader.read()
        sending.cancel()
        return found

    assert talk(drip).startswith(b"HTTP/1.1 408 ")


def test_a_body_that_stops_is_not_waited_for() -> None:
    async def stall(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(HEAD + b"\r\nab")
        return await reader.read()

    assert talk(stall) == b""


def test_a_body_that_keeps_arriving_is_not_cut_off_nor_is_the_next_request() -> None:
    async def go_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> list[bytes]:
        answers = []
        for _ in range(2):
            writer.write(HEAD + b"\r\n")
            for _ in range(4):
                await asyncio.sleep(0.2)
                writer.write(b"a")
            answers.append(await reader.readuntil(b"ok"))
            await asyncio.sleep(0.8)
        return answers

    assert [one[:15] for one in talk(go_on)] == [b"HTTP/1.1 200 OK"] * 2


def test_an_answer_that_takes_long_is_not_cut_off() -> None:
    async def slow(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(1.2)
        await app(scope, receive, send)

    async def wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(HEAD + b"\r\nabcd")
        return await reader.readuntil(b"ok")

    assert talk(wait, slow).startswith(b"HTTP/1.1 200 OK")
