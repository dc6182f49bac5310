"""What is true of this machine, so that setup need not ask: its chip, and how much memory it has."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from armarium.api import Engine


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine that the engine runs on."""

    chip: str | None
    memory_gb: float | None
    """In units of 10^9 bytes; what this process may use, where it is allowed less than the machine has."""
    source: str
    """Words: where this is known from."""


def this_machine(engine: Engine) -> Machine:
    """The chip and memory of the machine that *engine* runs on; read once, for they do not change under it."""
    return _machine()


@cache
def _machine() -> Machine:
    import psutil

    memory = psutil.virtual_memory().total
    limit = _limit()
    source = "the operating system"
    if limit is not None and limit < memory:
        memory, source = limit, "the operating system, and the limit it sets to the engine's memory"
    return Machine(_chip(), round(memory / 1e9, 1), source)


def _chip() -> str | None:
    """The name of the processor, as the system says it."""
    if platform.system() == "Darwin":
        return _asked("sysctl", "-n", "machdep.cpu.brand_string") or platform.processor() or None
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() in ("model name", "Hardware") and value.strip():
                return value.strip()
    return platform.processor() or platform.machine() or None


def _asked(*command: str) -> str | None:
    import subprocess

    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=5, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip() or None


def _limit() -> int | None:
    """Bytes that a control group of Linux allows; None where there is no limit."""
    for place in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            stated = Path(place).read_text(encoding="ascii").strip()
        except OSError:
            continue
        if stated.isdigit():
            return int(stated)
    return None
