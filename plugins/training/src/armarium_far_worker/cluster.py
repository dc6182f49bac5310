"""What a worker of a dask cluster runs: each shard in its own process. Sent by value, so it imports none of
our packages.
"""

from __future__ import annotations

import importlib
import io
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Ends when the process that started it is gone, whatever it is doing.
START = """
import os, sys, threading
def end():
    sys.stdin.buffer.read()
    os._exit(9)
threading.Thread(target=end, daemon=True).start()
sys.path.insert(0, sys.argv[1])
from armarium_far_worker.container import main_in_folder
status = main_in_folder(*sys.argv[1:4])
sys.stdout.flush()
os._exit(status)
"""
LINES = 20


def do_shard(code: bytes, cargo: bytes, python: str, seconds: float) -> tuple[str, list[str]]:
    """Do the shard in the archive *cargo* with the code in the archive *code*; return its result as JSON, and
    its last lines.

    Raises RuntimeError with the last line if it failed, so that the cluster tries it again.
    """
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        for data, name in ((code, "code"), (cargo, "work")):
            zipfile.ZipFile(io.BytesIO(data)).extractall(work / name)
        log = work / "log"
        with log.open("wb") as out:
            command = [sys.executable, "-c", START, str(work / "code"), str(work / "work"), python]
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out, stderr=subprocess.STDOUT)
            try:
                ended = _wait(process, seconds, _is_cancelled())
            finally:
                process.kill()
                process.wait()
        lines = [line[:500] for line in log.read_text("utf-8", "replace").splitlines() if line.strip()][
            -LINES:
        ]
        if ended is not None or process.returncode:
            raise RuntimeError(
                ended or (lines[-1] if lines else f"The worker ended with status {process.returncode}.")
            )
        return (work / "work" / "result.json").read_text("utf-8"), lines


def _wait(process: subprocess.Popen[bytes], seconds: float, is_cancelled: Callable[[], bool]) -> str | None:
    """Wait for the end of the process; return why it is not waited for any longer."""
    until = time.monotonic() + seconds
    while process.poll() is None:
        if time.monotonic() > until:
            return "It exceeded its time limit."
        if is_cancelled():
            return "It was cancelled."
        time.sleep(0.1)
    return None


def _is_cancelled() -> Callable[[], bool]:
    """Return whether nobody waits for the task any longer; always False outside a cluster."""
    try:
        distributed: Any = importlib.import_module("distributed.worker")
        worker, key = distributed.get_worker(), distributed.thread_state.key
    except (ImportError, ValueError, AttributeError):
        return lambda: False

    def ask_cancelled() -> bool:
        task = worker.state.tasks.get(key)
        return task is None or task.state in ("cancelled", "released", "forgotten")

    return ask_cancelled
