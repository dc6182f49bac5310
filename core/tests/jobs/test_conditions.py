"""When the machine's condition delays heavy work: each condition on a simulated machine; a missing sensor delays
nothing.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from armarium.jobs.conditions import WORDS, Conditions, Standing, ThisMachine, hindrance


class NoSensors:
    """A machine without sensors."""

    def memory_free(self) -> float | None:
        return None

    def degrees_below_limit(self) -> float | None:
        return None

    def on_battery(self) -> bool | None:
        return None

    def seconds_since_input(self) -> float | None:
        return None


def conditions_with(**told: Any) -> Standing:
    machine = NoSensors()
    for name, value in told.items():
        setattr(machine, name, lambda value=value: value)
    return Conditions(machine).now()


def test_a_missing_sensor_delays_nothing() -> None:
    assert conditions_with() == Standing()
    assert hindrance(conditions_with(), heavy_running=9, mode="automatic", watched=False) is None


@pytest.mark.parametrize(
    ("free", "tight", "low"), [(0.5, False, False), (0.19, True, False), (0.04, True, True)]
)
def test_memory(free: float, tight: bool, low: bool) -> None:
    conditions = conditions_with(memory_free=free)
    assert (conditions.memory, conditions.memory_low) == (tight, low)
    assert hindrance(conditions, heavy_running=0, mode="started", watched=True) == ("memory" if low else None)
    assert hindrance(conditions, heavy_running=1, mode="started", watched=True) == (
        "memory" if tight else None
    )


@pytest.mark.parametrize(("below", "hot"), [(20.0, False), (0.0, True), (-3.0, True)])
def test_heat_holds_whatever_the_mode(below: float, hot: bool) -> None:
    conditions = conditions_with(degrees_below_limit=below)
    assert conditions.heat is hot
    assert hindrance(conditions, heavy_running=0, mode="started", watched=True) == ("heat" if hot else None)


@pytest.mark.parametrize(
    ("told", "code"), [({"on_battery": True}, "battery"), ({"seconds_since_input": 29.0}, "in-use")]
)
def test_battery_and_a_person_hold_unless_started_or_watched(told: dict[str, Any], code: str) -> None:
    conditions = conditions_with(**told)
    assert hindrance(conditions, heavy_running=0, mode="automatic", watched=False) == code
    assert hindrance(conditions, heavy_running=0, mode="started", watched=False) is None
    assert hindrance(conditions, heavy_running=0, mode="automatic", watched=True) is None
    assert code in WORDS


def test_input_half_a_minute_ago_is_no_use() -> None:
    assert not conditions_with(seconds_since_input=30.0).in_use


def test_a_measurement_serves_two_seconds() -> None:
    machine, at = NoSensors(), [0.0]
    conditions = Conditions(machine, clock=lambda: at[0])
    assert not conditions.now().battery
    machine.on_battery = lambda: True  # type: ignore[method-assign]
    at[0] = 1.9
    assert not conditions.now().battery
    at[0] = 2.0
    assert conditions.now().battery
    machine.on_battery = lambda: False  # type: ignore[method-assign]
    conditions.forget()
    assert not conditions.now().battery


def test_this_machine_answers_every_question() -> None:
    machine = ThisMachine()
    free = machine.memory_free()
    assert free is None or 0 <= free <= 1
    assert machine.on_battery() in (True, False, None)
    for answer in (machine.degrees_below_limit(), machine.seconds_since_input()):
        assert answer is None or isinstance(answer, float)


def test_this_machine_reads_sensors_where_there_are_some(monkeypatch: pytest.MonkeyPatch) -> None:
    import psutil

    def entry(current: float, high: float | None, critical: float | None) -> Any:
        return SimpleNamespace(current=current, high=high, critical=critical)

    sensors = {"a": [entry(70, 80, 100), entry(60, None, None)], "b": [entry(0, 1, 1)]}
    monkeypatch.setattr(psutil, "sensors_temperatures", lambda: sensors, raising=False)
    monkeypatch.setattr(
        psutil, "sensors_battery", lambda: SimpleNamespace(power_plugged=False), raising=False
    )
    machine = ThisMachine()
    assert machine.degrees_below_limit() == 25
    assert machine.on_battery() is True
    monkeypatch.setattr(psutil, "sensors_battery", lambda: SimpleNamespace(power_plugged=None), raising=False)
    assert machine.on_battery() is None

    def fail() -> Any:
        raise OSError

    monkeypatch.setattr(psutil, "sensors_temperatures", fail, raising=False)
    monkeypatch.setattr(psutil, "sensors_battery", fail, raising=False)
    assert machine.degrees_below_limit() is None
    assert machine.on_battery() is None
    monkeypatch.delattr(psutil, "sensors_temperatures")
    monkeypatch.delattr(psutil, "sensors_battery")
    assert machine.degrees_below_limit() is None
    assert machine.on_battery() is None
