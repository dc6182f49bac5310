"""The worker's side: take calls from standard input one at a time, answer them, stop when the engine is gone."""

from __future__ import annotations

import contextlib
import os
import platform
import queue
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import IO, Any

from .errors import ProtocolError, Refused
from .frames import VERSION, Frame, read_frame, write_frame

EXIT_ENGINE_GONE = 0
EXIT_BROKEN_PIPE = 75
EXIT_NO_MEMORY = 71
EXIT_CANNOT_START = 70

Handler = Callable[["Call"], "Mapping[str, Any] | None"]


class Stopped(Exception):
    """The engine asked the current call to stop; raised by `Call.check` between two items."""


@dataclass(frozen=True, slots=True)
class WorkerContext:
    """What the engine passes to a worker at its start: how much of the machine it may use."""

    threads: int = 1
    device: str = "cpu"


@dataclass(slots=True)
class Call:
    """The current call: its parameters, and methods to report progress and to learn that it should stop."""

    method: str
    params: dict[str, Any]
    binary: bytes = b""
    send: Callable[[dict[str, Any]], None] = field(default=lambda _body: None, repr=False)
    stopping: threading.Event = field(default_factory=threading.Event, repr=False)
    answer_binary: bytes = b""

    def progress(self, done: int, total: int | None = None, **data: Any) -> None:
        """Report how far this call is, in items; cheap, may be called for every line."""
        self.send({"progress": {"done": done, "total": total, **data}})

    def check(self) -> None:
        """To be called between two items: raises (and so ends the call) when the engine asked it to stop."""
        if self.stopping.is_set():
            raise Stopped


def serve(handlers: Mapping[str, Handler], pipes: tuple[IO[bytes], IO[bytes]] | None = None) -> int:
    """Answer calls until standard input ends; return the exit status. `pipes`: the result of `take_over_pipes`.

    Standard output is reserved for frames: whatever a library prints goes to standard error instead, and a library that
    reads standard input finds it empty. Every call runs on the calling thread, one at a time; a second thread reads the
    pipe, so a stop is noticed and the process ends at once when the engine is gone, even in the middle of a long call.
    """
    incoming, outgoing = pipes or take_over_pipes()
    lock = threading.Lock()

    def send(body: dict[str, Any], binary: bytes = b"") -> None:
        with lock:
            write_frame(outgoing, body, binary)

    calls: queue.Queue[tuple[int, Call]] = queue.Queue()
    open_calls: dict[int, Call] = {}
    threading.Thread(target=_listen, args=(incoming, calls, open_calls, send), daemon=True).start()
    table = {"hello": lambda _call: _hello(handlers), **handlers}
    while True:
        number, call = calls.get()
        try:
            _answer(number, call, table, send)
        except BrokenPipeError:
            return EXIT_ENGINE_GONE
        finally:
            open_calls.pop(number, None)


def _hello(handlers: Mapping[str, Handler]) -> dict[str, Any]:
    return {
        "protocol": VERSION,
        "python": platform.python_version(),
        "pid": os.getpid(),
        "methods": sorted({"hello", *handlers}),
    }


def _answer(
    number: int, call: Call, table: Mapping[str, Handler], send: Callable[[dict[str, Any], bytes], None]
) -> None:
    """Run one call and send its one closing frame: a result or an error."""
    handler = table.get(call.method)
    binary = b""
    try:
        if handler is None:
            raise Refused(
                f"This worker has no method {call.method!r}; it has {', '.join(sorted(table))}. "
                "Is the reader's version older than the engine's?"
            )
        call.check()
        body: dict[str, Any] = {"id": number, "result": dict(handler(call) or {})}
        binary = call.answer_binary
    except Stopped:
        body = {"id": number, "error": {"kind": "stopped", "detail": "Stopped after the item in progress."}}
    except Refused as error:
        body = {"id": number, "error": {"kind": "refused", "detail": str(error)}}
    except MemoryError:
        send({"id": number, "error": {"kind": "memory", "detail": "The worker ran out of memory."}}, b"")
        os._exit(EXIT_NO_MEMORY)
    except Exception as error:
        traceback.print_exc(file=sys.stderr)
        body = {"id": number, "error": {"kind": "failed", "detail": f"{type(error).__name__}: {error}"}}
    try:
        send(body, binary)
    except ProtocolError as error:
        send({"id": number, "error": {"kind": "failed", "detail": str(error)}}, b"")


def _listen(
    incoming: IO[bytes],
    calls: queue.Queue[tuple[int, Call]],
    open_calls: dict[int, Call],
    send: Callable[[dict[str, Any]], None],
) -> None:
    """Read frames until the engine closes the pipe, then end the process whatever it is doing."""
    while True:
        try:
            frame = read_frame(incoming)
            if frame is None:
                _leave(EXIT_ENGINE_GONE)
            _take(frame, calls, open_calls, send)
        except ProtocolError as error:
            print(f"armarium-worker: {error}", file=sys.stderr)
            _leave(EXIT_BROKEN_PIPE)
        except OSError:
            _leave(EXIT_ENGINE_GONE)


def _take(
    frame: Frame | None,
    calls: queue.Queue[tuple[int, Call]],
    open_calls: dict[int, Call],
    send: Callable[[dict[str, Any]], None],
) -> None:
    body = frame.body if frame else {}
    if "stop" in body:
        call = open_calls.get(body["stop"]) if isinstance(body["stop"], int) else None
        if call is not None:
            call.stopping.set()
        return
    number, method, params = body.get("id"), body.get("method"), body.get("params", {})
    if not isinstance(number, int) or not isinstance(method, str) or not isinstance(params, dict):
        raise ProtocolError("A call needs an id (a number), a method (a word) and params (an object).")

    def report(message: dict[str, Any]) -> None:
        with contextlib.suppress(BrokenPipeError):
            send({"id": number, **message})

    call = Call(method, params, frame.binary if frame else b"", report)
    open_calls[number] = call
    calls.put((number, call))


def _leave(status: int) -> None:
    with contextlib.suppress(Exception):
        sys.stderr.flush()
    os._exit(status)


def take_over_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Return private copies of the two pipes; file descriptors 0 and 1 are redirected for everyone else.

    Done before anything heavy is imported, because libraries print while they are imported.
    """
    sys.stdout.flush()
    incoming = os.fdopen(os.dup(0), "rb")
    outgoing = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return incoming, outgoing
