"""Worker targets for the tests of the protocol: one that behaves, and several that misbehave on purpose."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from armarium_worker import (
    Call,
    FoundLine,
    Handler,
    LineReading,
    LineShape,
    Page,
    Reader,
    Refused,
    WorkerContext,
)

print("a library that prints while it is imported")


class Echo:
    """Answers, counts, refuses, crashes, hangs and prints, as asked."""

    @classmethod
    def handlers(cls, context: WorkerContext) -> Mapping[str, Handler]:
        """Return the table of methods; `context` answers with the context."""
        return {
            "echo": cls.echo,
            "count": cls.count,
            "refuse": cls.refuse,
            "fail": cls.fail,
            "crash": cls.crash,
            "kill": cls.kill,
            "memory": cls.memory,
            "hang": cls.hang,
            "noise": cls.noise,
            "garbage": cls.garbage,
            "huge": cls.huge,
            "network": cls.network,
            "environment": cls.environment,
            "context": lambda _call: {"threads": context.threads, "device": context.device},
        }

    @staticmethod
    def echo(call: Call) -> dict[str, Any]:
        """Return what was sent, bytes too."""
        call.answer_binary = call.binary
        return {"params": call.params}

    @staticmethod
    def count(call: Call) -> dict[str, Any]:
        """Count to `to`, reporting each step; stop between two when asked."""
        for number in range(int(call.params["to"])):
            call.check()
            time.sleep(float(call.params.get("pause", 0)))
            call.progress(number + 1, int(call.params["to"]))
        return {"counted": int(call.params["to"])}

    @staticmethod
    def refuse(call: Call) -> dict[str, Any]:
        """Refuse with a sentence."""
        raise Refused(f"The page {call.params['page']!r} is no picture.")

    @staticmethod
    def fail(call: Call) -> dict[str, Any]:
        """Raise an unexpected exception."""
        raise KeyError("weights")

    @staticmethod
    def crash(call: Call) -> dict[str, Any]:
        """End as after a fault in native code."""
        sys.stderr.write("the last words\n")
        sys.stderr.flush()
        os.kill(os.getpid(), signal.SIGSEGV)
        return {}

    @staticmethod
    def kill(call: Call) -> dict[str, Any]:
        """End as a process that the system kills for its memory."""
        os.kill(os.getpid(), signal.SIGKILL)
        return {}

    @staticmethod
    def memory(call: Call) -> dict[str, Any]:
        """Run out of memory in a way that Python notices."""
        raise MemoryError

    @staticmethod
    def hang(call: Call) -> dict[str, Any]:
        """Never answer."""
        time.sleep(3600)
        return {}

    @staticmethod
    def noise(call: Call) -> dict[str, Any]:
        """Print, through Python and by file descriptor, and read standard input."""
        print("progress bar: 50 %")
        os.write(1, b"native noise\n")
        return {"stdin": sys.stdin.read()}

    @staticmethod
    def garbage(call: Call) -> dict[str, Any]:
        """Write garbage onto the pipe reserved for frames: the duplicate the server made of descriptor 1."""
        for descriptor in range(3, 64):
            try:
                if os.readlink(f"/proc/self/fd/{descriptor}").startswith("pipe:"):
                    os.write(descriptor, b"this is not a frame at all")
            except OSError:
                continue
        time.sleep(60)
        return {}

    @staticmethod
    def huge(call: Call) -> dict[str, Any]:
        """Answer more than a frame can hold."""
        return {"text": "x" * (33 * 1024 * 1024)}

    @staticmethod
    def network(call: Call) -> dict[str, Any]:
        """Try to reach another machine, then this one."""
        import socket

        try:
            socket.create_connection(("192.0.2.1", 80), timeout=1)
        except PermissionError as error:
            outside = str(error)
        with socket.socket() as listening, socket.socket() as client:
            listening.bind(("127.0.0.1", 0))
            listening.listen(1)
            client.connect(listening.getsockname())
        return {"outside": outside, "loopback": True}

    @staticmethod
    def environment(call: Call) -> dict[str, Any]:
        """Return the names of the environment's variables."""
        return {"names": sorted(os.environ)}


class Unable:
    """A target that cannot be loaded."""

    @classmethod
    def handlers(cls, context: WorkerContext) -> Mapping[str, Handler]:
        """Fail as if a library were missing."""
        raise ImportError("libgomp.so.1 is missing")


class Steps(Reader):
    """A reader that finds a line every 20 pixels and reads each as its number, without opening the picture."""

    name = "steps"
    label = "Steps"
    can = frozenset({"find_lines", "read_lines", "read_page"})
    loads = 0

    def load(self) -> None:
        """Count how often weights were loaded."""
        type(self).loads += 1

    def open_page(self, path: Any, max_pixels: int) -> Page:
        """Return a page of 100 by 60 pixels, whatever the file."""
        if path.read_bytes() == b"broken":
            raise Refused("The page picture cannot be decoded.")
        return Page(path, 100, 60, None)

    def find_lines(self, page: Page) -> Iterator[FoundLine]:
        """Find three lines, the last extending beyond the page, and one completely off the page."""
        for top in (0, 20, 40):
            yield FoundLine(polygon=((-5, top), (90, top), (90, top + 25), (-5, top + 25)), confidence=1.5)
        yield FoundLine(polygon=((200, 200), (210, 200), (210, 210)))

    def read_lines(self, page: Page, lines: Sequence[LineShape]) -> Iterator[LineReading]:
        """Read Hebrew, a lone surrogate, and how often the weights were loaded."""
        for number, _line in enumerate(lines):
            yield LineReading(("שלום", "a\ud800b", f"loads {self.loads}")[number % 3], float("nan"))


class Forgetful(Steps):
    """A reader that reads fewer lines than it was given."""

    def read_lines(self, page: Page, lines: Sequence[LineShape]) -> Iterator[LineReading]:
        """Read the first line only."""
        yield LineReading("one")
