"""`armarium` with a trainer that learns nothing and needs no runtime, so that a training can be watched in seconds."""

import sys

from armarium_cli import main
from armarium_training.trainers import HandTrainer

HandTrainer.worker, HandTrainer.runtime, HandTrainer.fits_text = (
    "armarium_testing.loopback_trainers:LineTrainer",
    None,
    False,
)

if __name__ == "__main__":
    sys.exit(main())
