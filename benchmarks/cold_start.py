"""Row 6: from the command to the first answer, against a bare FastAPI app; and the engine's memory when idle."""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

from benchmarks.harness import Result, compare
from benchmarks.places import scratch_folder

ENGINE = "from armarium_cli import main; main()"
BARE = """
import sys, uvicorn
from fastapi import FastAPI
app = FastAPI()
@app.get("/")
def root() -> dict[str, str]:
    return {"ready": "yes"}
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
"""
AS_INSTALLED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""The environment of both: an installation keeps its compiled modules, so the second start compiles none."""

IDLE_SECONDS = 3.0
MOST_MEMORY = 150.0
PATIENCE = 60.0


def measure(rounds: int) -> list[Result]:
    """Measure the time to the first answer, with every installed family; and the resident memory after it."""
    with scratch_folder() as folder:
        memory: dict[str, float] = {}

        def ours() -> float:
            port = _free_port()
            environment = {
                **AS_INSTALLED,
                "SERVICE_STATE_DIR": str(folder / "state"),
                "SERVICE_PORT": str(port),
                "SERVICE_LOCAL_ONLY": "true",
            }
            took, memory["engine"] = _start(
                [sys.executable, "-c", ENGINE, "serve"], port, folder, environment
            )
            return took

        def theirs() -> float:
            port = _free_port()
            took, memory["bare"] = _start([sys.executable, "-c", BARE, str(port)], port, folder, AS_INSTALLED)
            return took

        # The very first start makes the state folder, and compiles what was just installed.
        ours()
        start = compare(
            6,
            "cold start to the first answer",
            engine=ours,
            peer=theirs,
            peer_name="bare FastAPI app",
            unit="s",
            rounds=rounds,
            limit=3.0,
        )
        idle = Result(
            6,
            f"idle memory, of the {MOST_MEMORY:.0f} MB that are allowed",
            "MB",
            memory["engine"],
            MOST_MEMORY,
            f"allowed (a bare FastAPI app takes {memory['bare']:.0f} MB)",
            memory["engine"] / MOST_MEMORY,
            limit=1.0,
        )
        return [start, idle]


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def _start(
    command: Sequence[str], port: int, folder: Path, environment: Mapping[str, str]
) -> tuple[float, float]:
    """Return the seconds until *command* answers on *port*, and the resident megabytes of all its processes a little
    later.
    """
    with (folder / "words.txt").open("wb") as words:
        begun = time.perf_counter()
        process = subprocess.Popen(command, stdout=words, stderr=words, env=dict(environment))
        try:
            while not _answers(port):
                if process.poll() is not None or time.perf_counter() - begun > PATIENCE:
                    text = (folder / "words.txt").read_text(errors="replace")[-600:]
                    raise RuntimeError(f"no answer came from {command[-1]}: {text}")
                time.sleep(0.002)
            took = time.perf_counter() - begun
            time.sleep(IDLE_SECONDS)
            family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
            return took, sum(one.memory_info().rss for one in family) / 1e6
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(20)


def _answers(port: int) -> bool:
    """Return whether there is any HTTP answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/")
        connection.getresponse().read()
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
    return True
