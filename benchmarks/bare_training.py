"""The peer of row 28, run where torch is: training steps of the hand reader's network on the same lines, and nothing
else.

Each line on its standard input requests one round; it prints how many lines a second were trained.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from armarium_hand_trainer.graph import weights_of
from armarium_hand_trainer.lines import batches, codes_of, pad_pictures, read_lines, vary_lines
from armarium_hand_trainer.net import PAIR, base_net, steps_of
from armarium_hand_trainer.trainer import BATCH_PIXELS, CLIP, SHORTCUT


def main() -> None:
    """Read the lines, build all batches' tensors beforehand, and train on request."""
    given = json.loads(sys.argv[1])
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    alphabet = given["base"]["alphabet"]
    lines = [line for line in read_lines(Path(given["folder"])) if not line.for_validation]
    net = base_net(*weights_of(Path(given["base"]["path"])), len(alphabet) + 1).train()
    change = torch.optim.AdamW(net.parameters(), 4e-4, betas=(0.9, 0.98), weight_decay=0.01)
    chance = np.random.default_rng(28)
    ready = []
    for batch in batches([line.ink.shape[1] for line in lines], given["batch_size"], BATCH_PIXELS, chance):
        some = [(lines[at], codes_of(lines[at].text, alphabet)) for at in batch]
        ready.append(
            (
                vary_lines(pad_pictures([line.ink for line, _ in some]), chance),
                torch.tensor([steps_of(line.ink.shape[1]) for line, _ in some]),
                torch.tensor([code for _, codes in some for code in codes]),
                torch.tensor([len(codes) for _, codes in some]),
            )
        )
    for _ in sys.stdin:
        begun = time.perf_counter()
        for pictures, steps, codes, lengths in ready:
            loss = sum(
                weight
                * functional.ctc_loss(
                    functional.log_softmax(scores, -1),
                    codes,
                    PAIR * steps,
                    lengths,
                    reduction="sum",
                    zero_infinity=True,
                )
                for weight, scores in zip((1.0, SHORTCUT), net(pictures, steps), strict=True)
            )
            (loss / len(lengths)).backward()
            nn.utils.clip_grad_norm_(net.parameters(), CLIP)
            change.step()
            change.zero_grad(set_to_none=True)
        print(len(lines) / (time.perf_counter() - begun), flush=True)


if __name__ == "__main__":
    main()
