"""Writes and copies what a training goes on from."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor


def write(path: Path, content: Any) -> None:
    """Write JSON, or what torch saves; a file that is half written never takes the place of a whole one."""
    beside = path.with_name(path.name + ".part")
    if path.suffix == ".json":
        beside.write_text(json.dumps(content, ensure_ascii=False, indent=1), encoding="utf-8")
    else:
        torch.save(content, beside)
    os.replace(beside, path)


def chances() -> dict[str, Tensor]:
    """Return where the random numbers of this training are: on the processor and, if there is one, on the card."""
    card = {"cuda": torch.cuda.get_rng_state()} if torch.cuda.is_available() else {}
    return {"cpu": torch.get_rng_state(), **card}


def set_chances(states: Mapping[str, Tensor]) -> None:
    """Go on with the random numbers that a checkpoint had come to."""
    if "cpu" in states:
        torch.set_rng_state(states["cpu"].cpu())
    if "cuda" in states and torch.cuda.is_available():
        torch.cuda.set_rng_state(states["cuda"].cpu())


def copy_state(state: Any) -> Any:
    """Return a copy of nested states."""
    if isinstance(state, Tensor):
        return state.detach().clone()
    if isinstance(state, Mapping):
        return {name: copy_state(value) for name, value in state.items()}
    return [copy_state(value) for value in state] if isinstance(state, list) else state
