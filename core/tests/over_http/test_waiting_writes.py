"""Only a few of many requests are processed at a time; waiting writes leave threads for reads; slow requests do not
delay quick ones.
"""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest

from armarium.projects.libraries import Library
from armarium.web import request_limits
from armarium.web.request_limits import QUICK, READS_IN_THREADS, WRITES_IN_THREADS, RequestLimits

from .conftest import AppClient


def test_reads_are_answered_while_a_hundred_writes_wait(ask: AppClient, project: Library) -> None:
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
            assert not any(write.done() for write in writes)
        return [read.status for read in reads], [one.status for one in await asyncio.gather(*writes)]

    assert asyncio.run(go()) == ([200] * 20, [200] * 100)


def test_a_body_that_does_not_arrive_takes_no_slot() -> None:
    answered: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while (await receive())["more_body"]:
            continue
        await send({"type": "http.response.start", "status": 200, "headers": []})
        answered.append(scope["path"])

    async def go() -> None:
        limits = RequestLimits(app, writes=1)
        never = asyncio.Event()

        async def slow() -> dict[str, Any]:
            await never.wait()
            return {"type": "http.request", "body": b"", "more_body": False}

        async def there() -> dict[str, Any]:
            return {"type": "http.request", "body": orjson.dumps({}), "more_body": False}

        async def send(_: Any) -> None:
            return

        hanging = [
            asyncio.ensure_future(limits({"type": "http", "method": "POST", "path": "/slow"}, slow, send))
            for _ in range(3)
        ]
        await asyncio.sleep(0)
        for _ in range(3):
            await asyncio.wait_for(
                limits({"type": "http", "method": "POST", "path": "/quick"}, there, send), 10
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

        limits = RequestLimits(app, writes=1)

        async def there() -> dict[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(_: Any) -> None:
            return

        for path in ("/fails", "/left", "/fails", "/well"):
            asked = asyncio.ensure_future(
                limits({"type": "http", "method": "POST", "path": path}, there, send)
            )
            await asyncio.sleep(0.01)
            if path == "/left":
                asked.cancel()
            await asyncio.wait({asked}, timeout=60)
            assert asked.done()

    asyncio.run(go())
    assert READS_IN_THREADS + WRITES_IN_THREADS < 40  # the number of threads that anyio has


class GatedApp:
    """An application whose answers come when released; records how many were processed at once."""

    def __init__(self) -> None:
        self.inside = self.most = 0
        self.go_on = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.inside += 1
        self.most = max(self.most, self.inside)
        if scope["path"] == "/slow":
            await self.go_on.wait()
        else:
            await asyncio.sleep(0)
        self.inside -= 1
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def ask(self, limits: RequestLimits, path: str) -> None:
        async def never() -> Any:
            raise AssertionError("a read has no body to wait for")

        async def send(_: Any) -> None:
            return

        await limits({"type": "http", "method": "GET", "path": path}, never, send)


def test_of_many_reads_a_few_are_worked_on_at_a_time() -> None:
    async def go() -> GatedApp:
        app = GatedApp()
        limits = RequestLimits(app)
        await asyncio.gather(*(app.ask(limits, "/quick") for _ in range(50)))
        return app

    app = asyncio.run(go())
    assert (app.most, app.inside) == (QUICK, 0)


def test_slow_requests_let_quick_ones_pass_until_all_slots_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_limits, "QUICK_SECONDS", 0.001)

    async def go() -> None:
        app = GatedApp()
        limits = RequestLimits(app, reads=6)
        slow = [asyncio.ensure_future(app.ask(limits, "/slow")) for _ in range(5)]
        for _ in range(20):
            await asyncio.wait_for(app.ask(limits, "/quick"), 10)
        assert app.inside == 5
        slow.append(asyncio.ensure_future(app.ask(limits, "/slow")))
        last = asyncio.ensure_future(app.ask(limits, "/quick"))
        await asyncio.sleep(0.1)
        # All six slots are taken by slow requests.
        assert (app.inside, last.done()) == (6, False)
        app.go_on.set()
        await asyncio.wait_for(asyncio.gather(last, *slow), 10)
        # Released and retained slots were counted correctly: as many requests are admitted as before.
        app.most = 0
        monkeypatch.setattr(request_limits, "QUICK_SECONDS", 60)
        await asyncio.gather(*(app.ask(limits, "/quick") for _ in range(50)))
        assert (app.most, app.inside) == (QUICK, 0)

    asyncio.run(go())


def test_a_read_that_leaves_while_it_waits_takes_no_place_with_it() -> None:
    async def go() -> None:
        app = GatedApp()
        limits = RequestLimits(app, reads=1)
        first = asyncio.ensure_future(app.ask(limits, "/slow"))
        await asyncio.sleep(0)
        waiting = [asyncio.ensure_future(app.ask(limits, "/quick")) for _ in range(3)]
        await asyncio.sleep(0)
        for one in waiting:
            one.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        app.go_on.set()
        await asyncio.wait_for(asyncio.gather(first, app.ask(limits, "/quick")), 10)
        assert app.most == 1

    asyncio.run(go())
