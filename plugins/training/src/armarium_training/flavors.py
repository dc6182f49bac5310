"""Machine classes of the model hub: their prices and sizes, as known when this was written."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("hub_flavors.json")
BILLIONS = 8.0
"""Billions of weights assumed for a base whose name states no number."""
BYTES = 2.0
"""Bytes per weight in bf16."""
SHARE, MORE_GB = 1.15, 4.0
"""GB for gradients and the adapter, and for one line's activations with gradient checkpointing."""
_SIZE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)[bB](?![a-zA-Z0-9])")


@cache
def flavors() -> dict[str, dict[str, Any]]:
    """Return name to {usd, gpu_gb}."""
    by_name: dict[str, dict[str, Any]] = json.loads(FILE.read_text("utf-8"))["flavors"]
    return by_name


def price_per_hour_usd(flavor: str) -> float | None:
    """Return the price per hour of that class; None if it is not known."""
    known_flavor = flavors().get(flavor)
    return None if known_flavor is None else float(known_flavor["usd"])


def memory_needed_gb(base_repo: str) -> float:
    """Return the GPU memory needed to train an adapter of that base, from the billions of weights its name states."""
    sizes = _SIZE.findall(base_repo.replace("_", "-"))
    return (float(sizes[-1]) if sizes else BILLIONS) * BYTES * SHARE + MORE_GB


def cheapest(base_repo: str) -> str | None:
    """Return the cheapest class with enough GPU memory for that base; None if there is none."""
    need = memory_needed_gb(base_repo)
    fitting = [
        (flavor["usd"], flavor["gpu_gb"], name)
        for name, flavor in flavors().items()
        if flavor["gpu_gb"] >= need
    ]
    return min(fitting)[2] if fitting else None
