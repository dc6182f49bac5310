"""Runs external commands for the engine: yields their output line by line, and reports why one failed."""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from armarium.errors import Unavailable
from armarium.runtimes import tethered_process

TAIL = 12


class CommandStopped(Exception):
    """A command was ended because it was asked to stop; the next run replaces what it left."""


def run_command(
    command: list[str],
    failure: str,
    should_stop: Callable[[], bool] = lambda: False,
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    error_marks: Sequence[str] = (),
) -> None:
    """Run *command* to its end; raises Unavailable with *failure* and the command's own message where it fails.

    *error_marks* are what the command writes before its errors, beside those of pip and npm.
    """
    lines = lines_of(
        command, failure, should_stop, folder=folder, environment=environment, error_marks=error_marks
    )
    for _line in lines:
        pass


def lines_of(
    command: list[str],
    failure: str,
    should_stop: Callable[[], bool],
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    error_marks: Sequence[str] = (),
) -> Iterator[str]:
    """Yield the output of *command* line by line. It ends with this process, whatever ends that (see
    `tethered_process`).
    """
    inherited = {
        key: value for key, value in os.environ.items() if not key.startswith(("SERVICE_", "PYTHON"))
    }
    process = subprocess.Popen(
        [sys.executable, "-I", tethered_process.__file__, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        cwd=folder,
        env={**inherited, "PYTHONUNBUFFERED": "1", **(environment or {})},
        start_new_session=True,
    )
    lines: queue.Queue[str | None] = queue.Queue()
    threading.Thread(target=_read, args=(process, lines), daemon=True).start()
    tail: deque[str] = deque(maxlen=TAIL)
    try:
        while True:
            if should_stop():
                raise CommandStopped
            try:
                line = lines.get(timeout=0.2)
            except queue.Empty:
                continue
            if line is None:
                break
            if line.strip():
                tail.append(line.strip())
            yield line
    finally:
        assert process.stdin is not None
        with contextlib.suppress(OSError):
            process.stdin.close()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
    if process.returncode != 0:
        raise Unavailable(f"{failure}. What it said: {_essence(tail, error_marks)}", code="runtime_failed")


def _read(process: subprocess.Popen[str], lines: queue.Queue[str | None]) -> None:
    assert process.stdout is not None
    with contextlib.suppress(ValueError, OSError):
        for line in process.stdout:
            lines.put(line.rstrip("\n"))
    lines.put(None)


def _essence(tail: deque[str], error_marks: Sequence[str]) -> str:
    """Return what went wrong: pip's last error, the lines marked as errors, else the last line."""
    errors = [line.removeprefix("ERROR:").strip() for line in tail if line.startswith("ERROR:")]
    if errors:
        return errors[-1][:400]
    marked = [
        line.partition(mark)[2].strip()
        for line in tail
        for mark in ("npm error", *error_marks)
        if mark in line
    ]
    return "; ".join(filter(None, marked))[:400] or (list(tail) or ["nothing"])[-1][:400]
