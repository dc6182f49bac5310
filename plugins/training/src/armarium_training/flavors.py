"""Machine classes of the model hub: what they cost and how large they are, as known when this was written."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("hub_flavors.json")
BILLIONS = 8.0
"""Weights of a base whose name does not say how many it has."""
BYTES = 2.0
"""Of a weight in bf16."""
SHARE, MORE_GB = 1.15, 4.0
"""For gradients and the adapter, and for what is computed of one line when activations are computed twice."""
_SIZE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)[bB](?![a-zA-Z0-9])")


@cache
def flavors() -> dict[str, dict[str, Any]]:
    """Name to {usd, gpu_gb}."""
    found: dict[str, dict[str, Any]] = json.loads(FILE.read_text("utf-8"))["flavors"]
    return found


def price_per_hour_usd(flavor: str) -> float | None:
    """What an hour of that class costs; None where it is not known."""
    known = flavors().get(flavor)
    return None if known is None else float(known["usd"])


def memory_needed_gb(base_repo: str) -> float:
    """GPU memory that training an adapter of that base takes, after the billions of weights that its name states."""
    stated = _SIZE.findall(base_repo.replace("_", "-"))
    return (float(stated[-1]) if stated else BILLIONS) * BYTES * SHARE + MORE_GB


def cheapest(base_repo: str) -> str | None:
    """The cheapest class whose GPU memory suffices for that base; None where none does."""
    need = memory_needed_gb(base_repo)
    fitting = [(one["usd"], one["gpu_gb"], name) for name, one in flavors().items() if one["gpu_gb"] >= need]
    return min(fitting)[2] if fitting else None
