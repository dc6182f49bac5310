"""Row 20: calls of a provider on this machine that takes 20 ms each, 16 at a time, recorded in the ledger, against bare
httpx.

``python -m benchmarks.gateway serve`` is the provider: a process of its own that prints its address.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from armarium.api import new_id
from benchmarks.harness import Result, compare, seconds
from benchmarks.places import OWNER, running_engine, scratch_folder

CALLS = 1000
AT_ONCE = 16
TAKES = 0.02
"""Seconds that the provider takes for an answer."""

ANSWER = json.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "tiny-1",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Muy señor mío"},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7},
    }
).encode()


def measure(rounds: int) -> list[Result]:
    """Measure the ratio, in seconds for all calls."""
    # Imported here, so that other measurements do not load httpx and the reading family.
    import httpx

    from armarium_reading.api import Caller, ModelRequest, Subject, ask

    with scratch_folder() as folder, running_engine(folder) as (engine, library), _provider() as url:
        stated = {"name": "Loopback", "provider_type": "openai-compatible", "api_base": url}
        result = engine.run(None, "provider.create", stated, OWNER).result or {}
        model = {"name": "Tiny", "model_id": "tiny", "input_cost": 1.0, "output_cost": 2.0}
        engine.run(None, "provider.set_models", {"provider_id": result["id"], "models": [model]}, OWNER)
        caller = Caller(engine, library, OWNER)
        request = ModelRequest(
            provider="Loopback",
            model="tiny",
            prompt="Read this line.",
            subject=Subject(new_id()),
            use_case="bench",
        )
        body = {"model": "tiny", "messages": [{"role": "user", "content": "Read this line."}]}
        with httpx.Client(trust_env=False) as client:

            def bare() -> None:
                answer = client.post(f"{url}/chat/completions", json=body).json()
                assert answer["choices"][0]["message"]["content"] == "Muy señor mío"

            def ask_once() -> None:
                assert ask(caller, request).answer == "Muy señor mío"

            return [
                compare(
                    20,
                    f"{CALLS:,} calls of a provider that takes 20 ms, {AT_ONCE} at a time, in the ledger",
                    engine=lambda: _all(ask_once),
                    peer=lambda: _all(bare),
                    peer_name="bare httpx, nothing kept",
                    unit="s",
                    rounds=rounds,
                    limit=1.3,
                )
            ]


def _all(call: Callable[[], None]) -> float:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return seconds(lambda: [one.result() for one in [pool.submit(call) for _ in range(CALLS)]])


@contextmanager
def _provider() -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.gateway", "serve"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait(30)


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the requests of one connection, one after another."""
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(ANSWER)
    try:
        while True:
            asked = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(asked.partition(b"content-length:")[2].split(b"\r\n")[0])
            await reader.readexactly(length)
            await asyncio.sleep(TAKES)
            writer.write(head + ANSWER)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def _serve() -> None:
    server = await asyncio.start_server(_answer, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


if __name__ == "__main__" and sys.argv[1:] == ["serve"]:
    asyncio.run(_serve())
