"""Writes that wait for the writer leave threads for reads, and a body that is slow to come holds up nobody."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson

from armarium.libraries import Library
from armarium.turns import WRITES_IN_THREADS, WriteRoom

from .conftest import Asker


def test_reads_are_answered_while_a_hundred_writes_wait(ask: Asker, project: Library) -> None:
    async def go() -> tuple[list[int], list[int]]:
        with project.db.write():
            writes = [
                asyncio.ensure_future(
                    ask.later("PATCH", "/api/library/settings", library=project.path, json={"name": f"{n}"})
                )
                for n in range(100)
            ]
            await asyncio.sleep(0.2)
            reads = [
                await asyncio.wait_for(ask.later("GET", "/api/library/settings", library=project.path), 30)
                for _ in range(20)
            ]
            assert not any(one.done() for one in writes)
        return [one.status for one in reads], [one.status for one in await asyncio.gather(*writes)]

    assert asyncio.run(go()) == ([200] * 20, [200] * 100)


def test_a_body_that_does_not_come_takes_no_room() -> None:
    answered: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while (await receive())["more_body"]:
            continue
        await send({"type": "http.response.start", "status": 200, "headers": []})
        answered.append(scope["path"])

    async def go() -> None:
        room = WriteRoom(app, size=1)
        never = asyncio.Event()

        async def slow() -> dict[str, Any]:
            await never.wait()
            return {"type": "http.request", "body": b"", "more_body": False}

        async def there() -> dict[str, Any]:
            return {"type": "http.request", "body": orjson.dumps({}), "more_body": False}

        async def send(_: Any) -> None:
            return

        hanging = [
            asyncio.ensure_future(room({"type": "http", "method": "POST", "path": "/slow"}, slow, send))
            for _ in range(3)
        ]
        await asyncio.sleep(0)
        for _ in range(3):
            await asyncio.wait_for(
                room({"type": "http", "method": "POST", "path": "/quick"}, there, send), 10
            )
        for one in hanging:
            one.cancel()
        await asyncio.gather(*hanging, return_exceptions=True)

    asyncio.run(go())
    assert answered == ["/quick"] * 3


def test_a_write_that_fails_or_whose_client_leaves_gives_its_place_back() -> None:
    async def go() -> None:
        async def app(scope: Any, receive: Any, send: Any) -> None:
            await receive()
            if scope["path"] == "/fails":
                raise RuntimeError("it failed")
            await asyncio.sleep(60 if scope["path"] == "/left" else 0)

        room = WriteRoom(app, size=1)

        async def there() -> dict[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(_: Any) -> None:
            return

        for path in ("/fails", "/left", "/fails", "/well"):
            asked = asyncio.ensure_future(room({"type": "http", "method": "POST", "path": path}, there, send))
            await asyncio.sleep(0.01)
            if path == "/left":
                asked.cancel()
            await asyncio.wait({asked}, timeout=10)
            assert asked.done()

    asyncio.run(go())
    assert WRITES_IN_THREADS < 40  # what anyio gives
