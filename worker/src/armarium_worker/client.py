"""The engine's side of one worker process: start it, call it, ask it to stop, kill it, and say how it ended."""

from __future__ import annotations

import collections
import contextlib
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .errors import (
    ProtocolError,
    WorkerDied,
    WorkerError,
    WorkerFailed,
    WorkerRefused,
    WorkerStopped,
    WorkerTimeout,
)
from .frames import Frame, encode_frame, read_frame
from .server import EXIT_CANNOT_START

START_SECONDS = 120.0
STDERR_LINES = 40
STDERR_LINE_LENGTH = 500
POLL_SECONDS = 0.1

NO_REPORTS = {"ORT_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "DO_NOT_TRACK": "1"}
"""The environment in which libraries tell their makers nothing: ONNX Runtime 1.31 does by itself, from native code that no
guard of the network sees, and keeps a number of this machine in the person's home for it."""

OnProgress = Callable[[dict[str, Any]], None]
_ENDED = object()


class WorkerProcess:
    """One worker process. Calls are made one at a time; a second caller waits for the first.

    `target` is `module:name` of an object with a `handlers(context)` method (a `Reader` class is one).
    `packages` maps top-level package names to their folders, for an interpreter that does not have them.
    """

    def __init__(
        self,
        target: str,
        *,
        python: str | Path,
        packages: Mapping[str, Path] | None = None,
        threads: int = 1,
        device: str = "cpu",
        niceness: int = 0,
        environment: Mapping[str, str] | None = None,
        network: bool = False,
    ) -> None:
        self.target = target
        self._lock = threading.Lock()
        self._write_lock = threading.Lock()
        self._number = 0
        self._killed = False
        self._last_lines: collections.deque[str] = collections.deque(maxlen=STDERR_LINES)
        self._frames: queue.Queue[Frame | ProtocolError | object] = queue.Queue()
        command = _command(target, python, packages or {}, threads, device, niceness, network)
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=_environment(threads, environment or {}),
                start_new_session=True,
            )
        except OSError as error:
            raise WorkerDied(
                f"The worker for {target} could not be started with {Path(python).name}: {error.strerror or error}."
            ) from error
        self._readers = [
            threading.Thread(target=self._read_frames, daemon=True, name=f"worker-{self.pid}-frames"),
            threading.Thread(target=self._read_stderr, daemon=True, name=f"worker-{self.pid}-stderr"),
        ]
        for reader in self._readers:
            reader.start()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process is running."""
        return self._process.poll() is None

    @property
    def stderr_lines(self) -> tuple[str, ...]:
        """The last lines the worker wrote to standard error."""
        return tuple(self._last_lines)

    def hello(self) -> dict[str, Any]:
        """Wait until the worker answers for the first time: its protocol, Python version and methods."""
        return self.call("hello", timeout=START_SECONDS)

    def call(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        binary: bytes = b"",
        on_progress: OnProgress | None = None,
        timeout: float | None = None,
        should_stop: Callable[[], bool] | None = None,
    ) -> dict[str, Any]:
        """Run one method and return its result; bytes the worker adds are under `"binary"`.

        `timeout` is how many seconds the worker may be silent (each progress message restarts it); then it is killed
        and WorkerTimeout raised. `should_stop` is called a few times a second; once it returns True the worker is asked
        to stop after the item in progress. Raises WorkerRefused, WorkerFailed, WorkerStopped (worker alive) or
        WorkerDied (gone).
        """
        with self._lock:
            self._number += 1
            number = self._number
            self._send({"id": number, "method": method, "params": dict(params or {})}, binary)
            try:
                return self._await(number, on_progress, timeout, should_stop)
            except WorkerError:
                raise
            except BaseException:
                # The caller left in the middle (its progress function raised): do not let the worker continue for long.
                with contextlib.suppress(WorkerError):
                    self._send({"stop": number})
                raise

    def stop(self, grace: float = 5.0) -> None:
        """End the worker: close its pipe, wait `grace` seconds, then kill it. Safe to call twice."""
        self._killed = True
        with contextlib.suppress(OSError, ValueError):
            if self._process.stdin:
                self._process.stdin.close()
        try:
            self._process.wait(grace)
        except subprocess.TimeoutExpired:
            self.kill()
        self._join()

    def kill(self) -> None:
        """End the worker at once, even during a call."""
        self._killed = True
        with contextlib.suppress(OSError):
            self._process.kill()
        self._process.wait()
        self._join()

    def _join(self) -> None:
        for reader in self._readers:
            if reader is not threading.current_thread():
                reader.join(timeout=2.0)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            with contextlib.suppress(OSError, ValueError):
                if stream:
                    stream.close()

    def _send(self, body: dict[str, Any], binary: bytes = b"") -> None:
        data = encode_frame(body, binary)
        with self._write_lock:
            try:
                assert self._process.stdin is not None
                self._process.stdin.write(data)
                self._process.stdin.flush()
            except (OSError, ValueError) as error:
                raise self._make_died_error() from error

    def _await(
        self,
        number: int,
        on_progress: OnProgress | None,
        timeout: float | None,
        should_stop: Callable[[], bool] | None,
    ) -> dict[str, Any]:
        last_frame_at = time.monotonic()
        stop_sent = False
        while True:
            if should_stop is not None and not stop_sent and should_stop():
                stop_sent = True
                self._send({"stop": number})
            try:
                frame = self._frames.get(timeout=POLL_SECONDS if should_stop or timeout else None)
            except queue.Empty:
                if timeout is not None and time.monotonic() - last_frame_at > timeout:
                    self.kill()
                    raise WorkerTimeout(
                        f"The worker for {self.target} was silent for {timeout:g} seconds and was ended; "
                        "the item it was working on may be too large for this machine.",
                        self.stderr_lines,
                    ) from None
                continue
            last_frame_at = time.monotonic()
            if frame is _ENDED:
                raise self._make_died_error()
            if isinstance(frame, ProtocolError):
                self.kill()
                raise WorkerDied(
                    f"The worker for {self.target} sent bytes that are not a message, and was ended: {frame}",
                    self.stderr_lines,
                )
            assert isinstance(frame, Frame)
            if frame.body.get("id") != number:
                continue
            if "progress" in frame.body:
                if on_progress is not None and isinstance(frame.body["progress"], dict):
                    on_progress(frame.body["progress"])
            elif "error" in frame.body:
                raise self._error(frame.body["error"])
            else:
                return self._result(frame)

    def _result(self, frame: Frame) -> dict[str, Any]:
        result = frame.body.get("result")
        if not isinstance(result, dict):
            self.kill()
            raise WorkerDied(f"The worker for {self.target} answered without a result.", self.stderr_lines)
        return {**result, "binary": frame.binary} if frame.binary else result

    def _error(self, error: Any) -> WorkerError:
        kind = error.get("kind") if isinstance(error, dict) else None
        detail = str(error.get("detail", "")) if isinstance(error, dict) else str(error)
        if kind == "refused":
            return WorkerRefused(detail, self.stderr_lines)
        if kind == "stopped":
            return WorkerStopped(detail, self.stderr_lines)
        if kind == "memory":
            self.kill()
            return WorkerDied(_NO_MEMORY.format(target=self.target), self.stderr_lines)
        return WorkerFailed(f"The worker for {self.target} failed: {detail}.", self.stderr_lines)

    def _make_died_error(self) -> WorkerDied:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5.0)
        if self.alive:
            self.kill()
        self._readers[1].join(timeout=2.0)
        lines = self.stderr_lines
        return WorkerDied(_how_it_ended(self.target, self._process.returncode, self._killed, lines), lines)

    def _read_frames(self) -> None:
        assert self._process.stdout is not None
        try:
            while (frame := read_frame(self._process.stdout)) is not None:
                self._frames.put(frame)
        except ProtocolError as error:
            self._frames.put(error)
        except (OSError, ValueError):
            pass
        finally:
            self._frames.put(_ENDED)

    def _read_stderr(self) -> None:
        assert self._process.stderr is not None
        with contextlib.suppress(OSError, ValueError):
            while line := self._process.stderr.readline(65536):
                text = line.decode("utf-8", "replace").rstrip()
                if text:
                    self._last_lines.append(text[:STDERR_LINE_LENGTH])


_NO_MEMORY = (
    "The worker for {target} ran out of memory. Close other programs, choose a smaller model, "
    "or use smaller pictures, and try again."
)


def _how_it_ended(target: str, status: int | None, killed: bool, lines: tuple[str, ...]) -> str:
    """Return one sentence for an exit status; a kill that was not ours is most likely the system short of memory."""
    if status is not None and status < 0:
        name = signal.Signals(-status).name if -status in signal.valid_signals() else str(-status)
        if killed:
            return f"The worker for {target} was ended."
        if name == "SIGKILL":
            return _NO_MEMORY.format(target=target)
        return f"The worker for {target} crashed ({name}). The job can be tried again."
    if killed:
        return f"The worker for {target} was ended."
    if status == EXIT_CANNOT_START:
        return f"The worker for {target} could not start: {lines[-1] if lines else 'it gave no reason'}"
    return f"The worker for {target} ended unexpectedly (exit status {status}). The job can be tried again."


def _command(
    target: str,
    python: str | Path,
    packages: Mapping[str, Path],
    threads: int,
    device: str,
    niceness: int,
    network: bool,
) -> list[str]:
    """Return `python -P .../bootstrap.py …`: by path, so that the interpreter needs nothing of ours installed."""
    bootstrap = Path(__file__).with_name("bootstrap.py")
    command = [str(python), "-P", "-u", str(bootstrap), "--target", target, "--threads", str(threads)]
    command += ["--device", device, "--nice", str(niceness)]
    if network:
        command.append("--network")
    for name, folder in packages.items():
        command += ["--package", f"{name}={folder}"]
    return command


def _environment(threads: int, extra: Mapping[str, str]) -> dict[str, str]:
    """Return the worker's environment: this one without the engine's settings (they hold secrets), with thread counts
    set.
    """
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("SERVICE_", "PYTHON"))
    }
    for key in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"):
        environment[key] = str(threads)
    environment["OMP_THREAD_LIMIT"] = str(threads)
    environment["PYTHONUNBUFFERED"] = "1"
    environment["HF_HUB_OFFLINE"] = "1"
    return {**environment, **NO_REPORTS, **extra}
