"""Whether the machine allows heavy work just now: memory, heat, battery, a person at it.

What a machine cannot measure does not hold anything back. A test gives `Conditions` a `Machine` of its own.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

MEMORY_TIGHT = 0.20
"""Share of memory free below which heavy jobs run one at a time."""

MEMORY_LOW = 0.05
"""Share of memory free below which no further heavy job starts."""

HOT_DEGREES = 95.0
"""Degrees Celsius that count as hot where the sensor states no limit of its own."""

IN_USE_SECONDS = 30.0
"""Seconds since the last input below which a person counts as present."""

KEPT_SECONDS = 2.0
"""Seconds for which one measurement is used."""


class Machine(Protocol):
    """The measurements behind the conditions; None where the machine cannot measure."""

    def memory_free(self) -> float | None:
        """Return the share of memory that is available, 0 to 1."""

    def degrees_below_limit(self) -> float | None:
        """Return the degrees Celsius between the hottest sensor and its limit; negative above it."""

    def on_battery(self) -> bool | None:
        """Return whether the machine runs on its battery."""

    def seconds_since_input(self) -> float | None:
        """Return the seconds since a person last touched keyboard or pointer."""


class ThisMachine:
    """The machine the engine runs on, through psutil and the operating system."""

    def memory_free(self) -> float | None:
        """See `Machine`."""
        import psutil

        memory = psutil.virtual_memory()
        return float(memory.available) / memory.total if memory.total else None

    def degrees_below_limit(self) -> float | None:
        """See `Machine`."""
        import psutil

        read = getattr(psutil, "sensors_temperatures", None)
        if read is None:
            return None
        try:
            sensors = read()
        except OSError:
            return None
        margins = [
            (entry.critical - 5 if entry.critical else entry.high or HOT_DEGREES) - entry.current
            for entries in sensors.values()
            for entry in entries
            if entry.current and entry.current > 0
        ]
        return min(margins) if margins else None

    def on_battery(self) -> bool | None:
        """See `Machine`."""
        import psutil

        read = getattr(psutil, "sensors_battery", None)
        try:
            battery = read() if read is not None else None
        except OSError:
            return None
        return None if battery is None or battery.power_plugged is None else not battery.power_plugged

    def seconds_since_input(self) -> float | None:
        """See `Machine`."""
        if sys.platform == "win32":
            return _windows_idle()
        if sys.platform == "darwin":
            return _mac_idle()
        return _terminal_idle()


def _terminal_idle() -> float | None:
    """Return the seconds since the last key in any logged-in person's terminal: the access time of its device, as `w`
    reads it.
    """
    import psutil

    touched: list[float] = []
    for user in psutil.users():
        try:
            touched.append(os.stat(f"/dev/{user.terminal}").st_atime)
        except (OSError, TypeError):
            continue
    return max(0.0, time.time() - max(touched)) if touched else None


def _mac_idle() -> float | None:
    import re
    import subprocess

    try:
        output = subprocess.run(
            ["/usr/sbin/ioreg", "-c", "IOHIDSystem", "-d", "4"],
            capture_output=True,
            text=True,
            timeout=5,
            check=False,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r'"HIDIdleTime" = (\d+)', output)
    return int(match.group(1)) / 1e9 if match else None


def _windows_idle() -> float | None:
    import ctypes

    class LastInput(ctypes.Structure):
        _fields_ = [("cbSize", ctypes.c_uint), ("dwTime", ctypes.c_uint)]

    windll = getattr(ctypes, "windll", None)
    if windll is None:
        return None
    info = LastInput(ctypes.sizeof(LastInput), 0)
    if not windll.user32.GetLastInputInfo(ctypes.byref(info)):
        return None
    return float((windll.kernel32.GetTickCount() - info.dwTime) & 0xFFFFFFFF) / 1000.0


@dataclass(frozen=True, slots=True)
class Standing:
    """The conditions at one moment; True holds work back."""

    memory: bool = False
    """Memory is tight: one heavy job at a time."""
    memory_low: bool = False
    """Memory is so low that no further heavy job starts."""
    heat: bool = False
    battery: bool = False
    in_use: bool = False

    def as_answer(self) -> dict[str, bool]:
        """Return them as `GET /api/activity/jobs` shows them."""
        return {"memory": self.memory, "heat": self.heat, "battery": self.battery, "in_use": self.in_use}


WORDS = {
    "memory": "Waits until memory is free: little is left, so heavy jobs run one at a time.",
    "heat": "Waits until the machine has cooled down.",
    "battery": "Waits until the machine is plugged in; mode started lets it run on battery.",
    "in-use": "Waits while a person is at the machine; mode started lets it run all the same.",
}
"""Reason code to the sentence a waiting job shows."""


class Conditions:
    """The conditions of one machine, measured at most every two seconds."""

    def __init__(
        self, machine: Machine | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.machine: Machine = machine or ThisMachine()
        self._clock = clock
        self._lock = threading.Lock()
        self._standing: Standing | None = None
        self._measured_at = 0.0

    def now(self) -> Standing:
        """Return the conditions now, or of up to two seconds ago."""
        with self._lock:
            at = self._clock()
            if self._standing is None or at - self._measured_at >= KEPT_SECONDS:
                self._standing = self._measure()
                self._measured_at = at
            return self._standing

    def forget(self) -> None:
        """Measure again on next use."""
        with self._lock:
            self._standing = None

    def _measure(self) -> Standing:
        free = self.machine.memory_free()
        degrees = self.machine.degrees_below_limit()
        idle = self.machine.seconds_since_input()
        return Standing(
            memory=free is not None and free < MEMORY_TIGHT,
            memory_low=free is not None and free < MEMORY_LOW,
            heat=degrees is not None and degrees <= 0,
            battery=bool(self.machine.on_battery()),
            in_use=idle is not None and idle < IN_USE_SECONDS,
        )


def hindrance(standing: Standing, *, heavy_running: int, mode: str, watched: bool) -> str | None:
    """Return the reason code that keeps a heavy job from starting, or None.

    Mode `started`, and a person who watches the job, override battery and in-use; memory and heat always apply.
    """
    if standing.memory_low or (standing.memory and heavy_running > 0):
        return "memory"
    if standing.heat:
        return "heat"
    if mode != "started" and not watched:
        if standing.battery:
            return "battery"
        if standing.in_use:
            return "in-use"
    return None
