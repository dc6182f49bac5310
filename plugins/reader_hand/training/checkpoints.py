"""Writes and copies what a training goes on from."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor


def write(path: Path, made: Any) -> None:
    """Write JSON, or what torch saves; a file that is half written never takes the place of a whole one."""
    beside = path.with_name(path.name + ".part")
    if path.suffix == ".json":
        beside.write_text(json.dumps(made, ensure_ascii=False, indent=1), encoding="utf-8")
    else:
        torch.save(made, beside)
    os.replace(beside, path)


def copy_state(kept: Any) -> Any:
    """Return a copy of nested states."""
    if isinstance(kept, Tensor):
        return kept.detach().clone()
    if isinstance(kept, Mapping):
        return {name: copy_state(value) for name, value in kept.items()}
    return [copy_state(value) for value in kept] if isinstance(kept, list) else kept
