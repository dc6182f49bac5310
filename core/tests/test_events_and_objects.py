"""The change stream numbers its events and resumes; the object store keeps bytes whole or not at all."""

from __future__ import annotations

import asyncio
import errno
from pathlib import Path

import pytest

from armarium.actions.change_stream import AT_ONCE, KEPT, KEPT_BYTES, ChangeStream
from armarium.errors import NotFound, Unavailable
from armarium.store import objects as objects_module
from armarium.store.objects import ObjectStore


def collect(stream: ChangeStream, after: int | None, number: int) -> list:
    async def listen() -> list:
        found = []
        async for event in stream.subscribe(after, quiet=0.01):
            if event is not None:
                found.append(event)
            if len(found) >= number or event is None:
                return found
        return found

    return asyncio.run(listen())


def test_events_are_numbered_and_resumed() -> None:
    stream = ChangeStream()
    first = stream.publish("change", {"n": 1})
    stream.publish("change", {"n": 2}, "/a.library")
    assert [(e.seq, e.data["n"]) for e in collect(stream, first, 1)] == [(first + 1, 2)]
    assert collect(stream, None, 1) == []


@pytest.mark.parametrize("after", [0, 10**18])
def test_a_number_from_another_life_gets_one_resync(after: int) -> None:
    stream = ChangeStream()
    stream.publish("change", {})
    assert [event.kind for event in collect(stream, after, 1)] == ["resync"]


def test_too_far_behind_gets_a_resync() -> None:
    stream = ChangeStream()
    start = stream.seq
    for number in range(KEPT + 5):
        stream.publish("change", {"n": number})
    assert [event.kind for event in collect(stream, start, 1)] == ["resync"]
    assert len(stream.since(stream.seq - KEPT) or []) == KEPT


def test_large_events_are_kept_for_a_shorter_time() -> None:
    stream = ChangeStream()
    start = stream.seq
    for _ in range(5):
        stream.publish("change", {"segment_ids": ["id"] * (KEPT_BYTES // 3 // len('"id",') - 20)})
    assert [event.kind for event in collect(stream, start, 1)] == ["resync"]
    assert len(stream.since(stream.seq - 3) or []) == 3
    stream.publish("change", {"segment_ids": ["id"] * KEPT_BYTES})
    assert [event.seq for event in stream.since(stream.seq - 1) or []] == [stream.seq], (
        "the newest always stays"
    )
    assert stream.since(stream.seq - 2) is None


@pytest.mark.parametrize("most", [None, 1, 7, KEPT])
def test_what_came_since_is_found_from_either_end(most: int | None) -> None:
    stream = ChangeStream()
    start = stream.seq
    for number in range(50):
        stream.publish("change", {"n": number})
    for after in range(51):
        found = [event.data["n"] for event in stream.since(start + after, most) or []]
        assert found == list(range(after, 50))[:most]


def test_two_hundred_listeners_hear_all_of_it_and_a_slow_one_keeps_nothing_alive() -> None:
    stream = ChangeStream()
    start, told, listeners = stream.seq, 100, 200

    async def hear() -> list[int]:
        found = []
        async for event in stream.subscribe(None, quiet=30):
            assert event is not None
            found.append(event.data["n"])
            if len(found) == told:
                break
        return found

    async def run() -> None:
        hearing = [asyncio.ensure_future(hear()) for _ in range(listeners)]
        await asyncio.sleep(0)
        # Published from another thread, as steps are; no listener can delay the writer.
        await asyncio.to_thread(lambda: [stream.publish("change", {"n": n}) for n in range(told)])
        assert await asyncio.gather(*hearing) == [list(range(told))] * listeners
        slow = stream.subscribe(start, quiet=0.01)
        first = await anext(slow)
        assert first is not None
        assert first.data["n"] == 0
        # A slow listener keeps a handful of events while ten thousand more are dropped; then it is told to reload
        # everything.
        for n in range(KEPT + told):
            stream.publish("change", {"n": n})
        heard = [await anext(slow) for _ in range(AT_ONCE)]
        assert [event.kind for event in heard if event is not None] == ["change"] * (AT_ONCE - 1) + ["resync"]
        await slow.aclose()
        assert not stream._listeners

    asyncio.run(run())


def test_closing_ends_every_subscription() -> None:
    stream = ChangeStream()

    async def listen() -> int:
        asyncio.get_running_loop().call_later(0.01, stream.close)
        return len([event async for event in stream.subscribe(None, quiet=5)])

    assert asyncio.run(listen()) == 0


def test_the_same_bytes_are_stored_once(tmp_path: Path) -> None:
    store = ObjectStore(tmp_path)
    (tmp_path / "a").write_bytes(b"page")
    assert store.put_bytes(b"page") == store.put_file(tmp_path / "a")
    assert list(store.digests()) == [store.put_bytes(b"page")]
    assert store.size(store.put_bytes(b"page")) == 4
    assert not list((tmp_path / "tmp").iterdir())


def test_what_is_missing_is_refused_with_a_sentence(tmp_path: Path) -> None:
    store = ObjectStore(tmp_path)
    with pytest.raises(NotFound, match="missing"):
        store.open("ab" * 32)
    with pytest.raises(NotFound, match="missing"):
        store.size("ab" * 32)
    assert store.remove("ab" * 32) == 0
    with pytest.raises(FileNotFoundError):
        store.put_file(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("number", "code"), [(errno.ENOSPC, "disk_full"), (errno.EROFS, "read_only"), (errno.EIO, "disk_error")]
)
def test_a_disk_that_refuses_leaves_nothing(tmp_path: Path, monkeypatch, number: int, code: str) -> None:
    store = ObjectStore(tmp_path)

    def refuse(descriptor: int) -> None:
        raise OSError(number, "no")

    monkeypatch.setattr(objects_module.os, "fsync", refuse)
    with pytest.raises(Unavailable) as refused:
        store.put_bytes(b"page")
    assert refused.value.code == code
    monkeypatch.undo()
    assert list(store.digests()) == []
    assert not list((tmp_path / "tmp").iterdir())


def test_leftovers_of_an_interrupted_write_are_removed_on_opening(tmp_path: Path) -> None:
    store = ObjectStore(tmp_path)
    (tmp_path / "tmp").mkdir()
    (tmp_path / "tmp" / "half").write_bytes(b"pa")
    assert store.clear_temporary() == 1
    assert store.clear_temporary() == 0
