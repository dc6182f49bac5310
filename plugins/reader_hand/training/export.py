"""Write what a training left in FOLDER (its --out) as the reader's `model.onnx`, and the beginning of its card:
`python -m training.export FOLDER --machine "one NVIDIA H200, 9.3 minutes in all"`. The steps that follow fill the card:
`training.spelling`, `training.calibrate`, `training.evaluate --write`, `training.card`.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

import torch

from armarium_hand_trainer.graph import fold_normalisation, onnx_model
from armarium_reader_hand import WEIGHTS
from armarium_reader_hand.spelling import WEIGHED
from training.held_out import all_lines, provenance
from training.packed import TRAIN
from training.settings import PACKAGE, write_card


def main() -> None:
    """Export."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--machine", required=True, help="what it was trained on, for the card")
    options = parser.parse_args()
    saved = torch.load(options.folder / "weights.pt", weights_only=True)
    weights = fold_normalisation({name: value.float().numpy() for name, value in saved["average"].items()})
    (PACKAGE / WEIGHTS).write_bytes(onnx_model(weights, {}).SerializeToString())
    curve = [json.loads(line) for line in (options.folder / "log.jsonl").read_text("utf-8").splitlines()]
    lines = all_lines()
    write_card(
        {
            "name": "hand-base",
            **provenance(lines),
            "alphabet": json.loads((options.folder / "alphabet.json").read_text("utf-8")),
            "spelling": WEIGHED,
            "calibration": [[0.0, 0.0], [1.0, 1.0]],
            "training": {
                "machine": options.machine,
                "samples": curve[-1]["samples"],
                "seconds": round(curve[-1]["seconds"]),
                "lines": Counter(line["kind"] for line in lines if line["part"] == TRAIN),
                "curve": curve,
            },
        }
    )


if __name__ == "__main__":
    main()
