"""The change stream: framing, resuming, what a listener may see, when it ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import orjson
import pytest

import armarium.web.stream_routes as stream
from armarium.engine import Engine
from armarium.principals import LOCAL_OWNER, Principal
from armarium.projects.libraries import Library
from armarium.web.stream_routes import ALIVE, events

from .conftest import AppClient


def parse_event(frame: bytes) -> tuple[int, str, dict[str, Any]]:
    """Return (id, event, data) of one framed event."""
    lines = frame.decode().split("\n")
    assert lines[3:] == ["", ""]
    number, kind, data = (line.partition(": ")[2] for line in lines[:3])
    assert [line.partition(":")[0] for line in lines[:3]] == ["id", "event", "data"]
    return int(number), kind, orjson.loads(data)


def listen(
    engine: Engine,
    do: Callable[[], None],
    *,
    principal: Principal = LOCAL_OWNER,
    library: Library | None = None,
    after: int | None = None,
    expect: int = 1,
) -> list[bytes]:
    """Return the frames that arrive while *do* runs, up to *expect* of them or until none comes for a while."""

    async def run() -> list[bytes]:
        found: list[bytes] = []
        async with aclosing(_generator(engine, principal, library, after)) as frames:
            assert await anext(frames) == ALIVE
            waiting = asyncio.ensure_future(anext(frames))
            await asyncio.sleep(0.02)
            await asyncio.to_thread(do)
            while len(found) < expect:
                try:
                    found.append(await asyncio.wait_for(asyncio.shield(waiting), 0.5))
                except (TimeoutError, StopAsyncIteration):
                    break
                waiting = asyncio.ensure_future(anext(frames))
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
        return found

    return asyncio.run(run())


def _generator(
    engine: Engine, principal: Principal, library: Library | None, after: int | None
) -> AsyncIterator[bytes]:
    return events(engine, principal, library, after)


def rename(engine: Engine, library: Library, name: str) -> str:
    return engine.run(library, "library.set", {"name": name}, LOCAL_OWNER).audit_id


def test_the_event_of_a_step_has_its_number_and_audit_row(core_engine: Engine, project: Library) -> None:
    made: list[str] = []
    (frame,) = listen(core_engine, lambda: made.append(rename(core_engine, project, "B")), library=project)
    number, kind, data = parse_event(frame)
    assert (kind, data["seq"], data["type"], data["audit_id"]) == ("change", number, "library.set", made[0])
    assert data["actor"] == {"kind": "person", "name": "owner"}
    for name in ("document_ids", "segment_ids", "job_ids", "pass_ids", "metadata"):
        assert name in data


def test_a_listener_resumes_where_it_left(core_engine: Engine, project: Library) -> None:
    before = core_engine.events.seq
    for name in ("B", "C", "D"):
        rename(core_engine, project, name)
    frames = listen(core_engine, lambda: None, library=project, after=before + 1, expect=2)
    assert [parse_event(frame)[0] for frame in frames] == [before + 2, before + 3]


def test_a_number_that_is_too_old_gets_one_resync(core_engine: Engine, project: Library) -> None:
    frames = listen(core_engine, lambda: None, after=0, expect=2)
    ((number, kind, data),) = [parse_event(frame) for frame in frames]
    assert (kind, data["seq"]) == ("resync", number)
    assert number == core_engine.events.seq


def test_a_listener_sees_its_project_and_what_its_token_reaches(
    core_engine: Engine, project: Library, tmp_path: Path
) -> None:
    core_engine.run(None, "library.create", {"path": str(tmp_path / "Other.library")}, LOCAL_OWNER)
    other = core_engine.libraries.get(tmp_path / "Other.library")
    bound = Principal(
        "machine", "agent", "editor", token_kind="agent", libraries=frozenset({str(project.path)})
    )

    def work() -> None:
        rename(core_engine, project, "B")
        rename(core_engine, other, "C")
        core_engine.run(None, "compute.set", {"priority": "fast"}, LOCAL_OWNER)

    def read_events(**of: Any) -> list[str]:
        frames = listen(core_engine, work, expect=9, **of)
        return [parse_event(frame)[2]["type"] for frame in frames if frame != ALIVE]

    assert read_events() == ["library.set", "library.set", "compute.set"]
    assert read_events(library=project) == ["library.set", "compute.set"]
    assert read_events(principal=bound) == ["library.set"]


def test_a_quiet_stream_shows_that_it_lives(
    core_engine: Engine, project: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stream.QUIET == 10.0
    monkeypatch.setattr(stream, "QUIET", 0.05)
    frames = listen(core_engine, lambda: None, expect=2)
    assert frames == [ALIVE, ALIVE]
    assert ALIVE.startswith(b":")


def test_a_stream_ends_with_its_token(
    ask: AppClient, core_engine: Engine, device: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "QUIET", 0.01)
    token = device()
    (row,) = ask("GET", "/api/tokens").json["items"]
    principal = core_engine.auth.book.find(token).principal(None, None, "tcp")
    frames = listen(
        core_engine,
        lambda: core_engine.run(None, "token.revoke", {"token_id": row["id"]}, LOCAL_OWNER),
        principal=principal,
        expect=10_000,
    )
    assert len(frames) < 10_000


def test_the_stream_over_http(ask: AppClient, core_engine: Engine, project: Library) -> None:
    before = core_engine.events.seq
    rename(core_engine, project, "B")
    # Once closed, the stream delivers what is left and ends.
    publish = core_engine.events
    original = publish.subscribe

    async def ending(after: int | None = None, *, quiet: float = 10.0) -> AsyncIterator[Any]:
        async with aclosing(original(after, quiet=0.01)) as all_:
            async for event in all_:
                if event is None:
                    return
                yield event

    publish.subscribe = ending  # type: ignore[method-assign]
    by_query = ask("GET", "/api/changes/stream", library=project.path, query=f"after={before}")
    by_header = ask("GET", "/api/changes/stream", headers={"Last-Event-ID": str(before)}, query="after=1")
    for reply in (by_query, by_header):
        assert reply.headers["content-type"].startswith("text/event-stream")
        assert reply.headers["cache-control"] == "no-store"
        first, event = reply.body.split(b"\n\n", 1)
        assert first == b": alive"
        assert parse_event(event)[0] == before + 1
    nonsense = ask("GET", "/api/changes/stream", headers={"Last-Event-ID": "nonsense"})
    assert b"event: resync" in nonsense.body
    assert ask("GET", "/api/changes/stream", query="after=x").status == 422
    assert ask("GET", "/api/changes/stream", query="after=-1").status == 422
    assert ask("GET", "/api/changes/stream", token=None).status == 401
