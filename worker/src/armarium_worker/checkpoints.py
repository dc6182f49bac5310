"""The checkpoint of a training with PyTorch; torch itself is imported only when it is needed."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .epochs import write_whole

CHECKPOINT = "checkpoint.pt"


@dataclass(kw_only=True)
class TrainingState:
    """How far a training has come, beside the weights that it has now."""

    folder: Path
    change: Any
    """The optimizer."""
    epochs: list[dict[str, Any]] = field(default_factory=list)
    """The outcome of each complete epoch."""
    steps: int = 0
    best: float = math.inf
    """What the best epoch scored; which scores are better the trainer decides."""
    best_state: dict[str, Any] = field(default_factory=dict)
    """The weights of the best epoch."""

    def resume(self, device: str = "cpu") -> dict[str, Any] | None:
        """Go on from the checkpoint in the folder; return the weights in it as they were named, None where there is none."""
        path = self.folder / CHECKPOINT
        if not path.is_file():
            return None
        import torch

        state: dict[str, Any] = torch.load(path, weights_only=True, map_location=device)
        self.change.load_state_dict(state.pop("change"))
        self.best_state, self.best, self.steps = (state.pop(name) for name in ("best_state", "best", "steps"))
        self.epochs = json.loads(state.pop("epochs"))
        return state

    def step(self, parameters: Iterable[Any], rate: float, *, warm_up: int, clip: float) -> None:
        """Move the *parameters* along their gradients, clipped to the norm *clip*; the learning rate rises to *rate* over the
        first *warm_up* steps.
        """
        import torch

        self.steps += 1
        for group in self.change.param_groups:
            group["lr"] = rate * min(1.0, self.steps / warm_up)
        torch.nn.utils.clip_grad_norm_(parameters, clip)
        self.change.step()
        self.change.zero_grad(set_to_none=True)

    def save(self, **weights: Any) -> None:
        """Write the checkpoint with these *weights*, whole or not at all; raises Refused where there is no space."""
        import torch

        state = {
            **weights,
            "change": self.change.state_dict(),
            "best_state": self.best_state,
            "best": self.best,
            "steps": self.steps,
            "epochs": json.dumps(self.epochs),
        }
        file = io.BytesIO()
        torch.save(state, file)
        write_whole(self.folder / CHECKPOINT, file.getbuffer())
