"""What setup finds out instead of asking: this machine, the providers that have a key, and the places where
work can run.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from armarium.api import Engine, ServiceError, cpu_name
from armarium_reading.api import list_providers

COMPUTE = "armarium.compute"
"""The group of drivers for places where very many pages are read and readers are trained."""
_HERE = "local"


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine that the engine runs on."""

    chip: str | None
    memory_gb: float | None
    """In units of 10^9 bytes; what this process may use, if that is less than the machine has."""
    source: str
    """In words: how this is known."""


@cache
def this_machine() -> Machine:
    """Return the chip and memory of the machine that the engine runs on; read only once, because they do not change."""
    import psutil

    memory = psutil.virtual_memory().total
    limit = _limit()
    source = "the operating system"
    if limit is not None and limit < memory:
        memory, source = limit, "the operating system, and its limit for the engine's memory"
    return Machine(cpu_name(), round(memory / 1e9, 1), source)


@dataclass(frozen=True, slots=True)
class Target:
    """A place where a step can run."""

    id: str
    """As recipes name it: this-machine, cluster, gpu-service, or cloud:<provider>."""
    title: str
    source: str
    """In words: how this is known."""


def providers_with_key(engine: Engine) -> list[dict[str, Any]]:
    """Return the enabled providers that have a key, in order. The key itself is never read."""
    with engine.state.read() as conn:
        return [provider for provider in list_providers(conn) if provider["enabled"] and provider["has_key"]]


def targets(engine: Engine) -> list[Target]:
    """Return this machine first, then the places that are installed or set up."""
    places = [Target("this-machine", "This machine", "the engine runs on it")]
    far = [name for name in engine.drivers.names(COMPUTE) if name != _HERE and _is_ready(engine, name)]
    if far:
        drivers_words = f"the installed driver{'s' if len(far) > 1 else ''} {', '.join(far)}"
        places.append(Target("cluster", "A place of compute", drivers_words))
    for provider in providers_with_key(engine):
        source = f"the provider {provider['name']}, which has a key"
        if provider["provider_type"] == "model-hub":
            places.append(Target("gpu-service", f"Machines of {provider['name']}", source))
        else:
            places.append(Target(f"cloud:{provider['name']}", provider["name"], source))
    return places


def _is_ready(engine: Engine, name: str) -> bool:
    """Return whether everything that a driver of compute needs is installed; a hub's machines are named by its provider."""
    try:
        driver = engine.drivers.load(COMPUTE, name)
    except ServiceError:
        return False
    return not driver.needs_hub_token and driver.lacks() is None


def _limit() -> int | None:
    """Return the bytes that a control group of Linux allows; None without a limit."""
    for place in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            text = Path(place).read_text(encoding="ascii").strip()
        except OSError:
            continue
        if text.isdigit():
            return int(text)
    return None
