"""Runs a command and ends it when standard input closes, so that an installer never outlives a killed engine."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading


def end_with_input(process: subprocess.Popen[bytes]) -> None:
    """Wait for the end of standard input, then end the command and all it started."""
    while sys.stdin.buffer.read(1024):
        pass
    if process.poll() is None:
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(os.getpgid(process.pid), signal.SIGKILL)
            else:
                process.kill()


def main(command: list[str]) -> int:
    """Run *command* in a process group of its own; return its exit status."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    threading.Thread(target=end_with_input, args=(process,), daemon=True).start()
    return process.wait()


if __name__ == "__main__":
    sys.stdout.flush()
    os._exit(main(sys.argv[1:]) & 0xFF)
