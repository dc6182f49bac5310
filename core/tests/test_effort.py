"""What a process does is told from what it waits for, however busy the machine is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from armarium.effort import Effort


@contextmanager
def program(text: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", text], stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        yield process
    finally:
        # With its children: one that computes would do so for ever.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_a_process_that_computes_is_never_idle_and_its_time_counts_with_that_of_its_children() -> None:
    child = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'while True: pass'])"
    with program(child) as process:
        effort = Effort(process.pid)
        while effort.used < 1:
            time.sleep(0.1)
            idle = effort.look()
        assert idle < 1


def test_a_process_that_waits_is_idle_for_as_long_as_it_waits() -> None:
    with program("import time; time.sleep(3600)") as process:
        effort = Effort(process.pid)
        while effort.look() < 1:
            time.sleep(0.1)
        used = effort.used
        while effort.look() < 2:
            time.sleep(0.1)
        assert effort.used - used < 0.1


def test_a_process_that_has_ended_does_nothing_more() -> None:
    with program("") as process:
        process.wait()
        effort = Effort(process.pid)
        while effort.look() < 0.5:
            time.sleep(0.1)
        assert effort.used == 0
