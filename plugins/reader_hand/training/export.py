"""Write the averaged weights of a checkpoint as the reader's `model.onnx`: `python -m training.export [CHECKPOINT]`."""

from __future__ import annotations

import sys
from pathlib import Path

import torch

from training.calibrate import write_card
from training.graph import onnx_model
from training.settings import PACKAGE, settings


def main() -> None:
    """Export the cooled weights, or those of the checkpoint that is named, and fit the confidence anew."""
    wanted = settings()
    folder = Path(wanted.training.folder)
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else folder / "cooled.pt"
    kept = torch.load(path, weights_only=True)
    weights = {name: value.float().numpy() for name, value in kept["average"].items()}
    (PACKAGE / "model.onnx").write_bytes(onnx_model(weights, wanted.model.layers).SerializeToString())
    write_card(wanted, kept["state"])


if __name__ == "__main__":
    main()
