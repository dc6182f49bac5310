"""The worker of the trainer: one epoch per call, with its state in a checkpoint written atomically, then the
model file.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from armarium_hand_trainer.direction import is_right_to_left
from armarium_hand_trainer.graph import onnx_model, weights_of
from armarium_hand_trainer.lines import (
    Line,
    batches,
    codes_of,
    fits,
    grow_alphabet,
    pad_pictures,
    plain,
    read_lines,
    vary_lines,
)
from armarium_hand_trainer.net import PAIR, SHAPE, LineNet, base_net, steps_of
from armarium_worker import Call, EpochTrainer, Refused, TrainingState, WorkerContext, distance, write_whole

MODEL = "model.onnx"
RATE, RATE_NEW = 4e-4, 1e-3
"""Learning rates: with a base, and without."""
WARM_UP = 40
"""Steps of the warm-up."""
AVERAGE = 0.98
"""Decay per step of the averaged weights; the average is what is evaluated and saved."""
CLIP = 20.0
SHORTCUT = 0.25
"""Weight of the loss of the convolutions' own answer, as in the base's training."""
BATCH_PIXELS = 24_576
"""Total width of a batch."""
TOGETHER = 16
"""How many lines are read together for evaluation."""
SEED = 16


@dataclass(kw_only=True)
class Ready(TrainingState):
    """A training in progress."""

    net: LineNet
    average: LineNet
    alphabet: list[str]
    taught: list[tuple[Line, list[int]]]
    validation: list[Line]


class HandTrainer(EpochTrainer[Ready]):
    """Answers `epoch` and `finish`; params: folder, base? {path, alphabet, calibration}, batch_size.

    The result of an epoch: epoch, loss, cer (on the validation lines), lines, validation_lines, best (whether
    no epoch was better).
    """

    def __init__(self, context: WorkerContext) -> None:
        super().__init__(context)
        torch.set_num_threads(context.threads)
        # Denormal numbers make the LSTM several times slower.
        torch.set_flush_denormal(True)

    def finish(self, call: Call) -> dict[str, Any]:
        """Write the best weights as the reader's model file; return its path, its alphabet and its classes."""
        ready = self.load_finished(call)
        state = {name: value.float().numpy() for name, value in ready.best_state.items()}
        base = call.params.get("base") or {}
        properties = {
            "alphabet": ready.alphabet,
            "calibration": base.get("calibration") or [[0.0, 0.0], [1.0, 1.0]],
        }
        path = ready.folder / MODEL
        write_whole(path, onnx_model(state, properties).SerializeToString())
        letter_count = len(base.get("alphabet") or ())
        return {
            "model": str(path),
            "letters": len(ready.alphabet),
            "new_letters": len(ready.alphabet) - letter_count,
        }

    def begin(self, folder: Path, params: Mapping[str, Any]) -> Ready:
        """Return the network with its base's weights, or as saved in the checkpoint."""
        return _begin(folder, params.get("base"))

    def one_epoch(self, call: Call, ready: Ready) -> None:
        """Train on all lines once, then read those for validation."""
        number = len(ready.epochs) + 1
        chance = np.random.default_rng((SEED, number))
        torch.manual_seed(SEED + number)
        started, losses, letters, read = time.monotonic(), 0.0, 0, 0
        widths = [line.ink.shape[1] for line, _ in ready.taught]
        size = int(call.params.get("batch_size", 4))
        rate = RATE if call.params.get("base") else RATE_NEW
        ready.net.train()
        with self.whole_epoch():
            for batch in batches(widths, size, BATCH_PIXELS, chance):
                call.check()
                lines = [ready.taught[at] for at in batch]
                losses += _train(ready, lines, chance, rate)
                letters += sum(len(codes) for _, codes in lines)
                read += len(lines)
                call.progress(read, len(ready.taught), unit="lines", epoch=number)
        rate_now = error_rate(ready.average, ready.alphabet, ready.validation)
        is_best = rate_now < ready.best
        if is_best:
            ready.best = rate_now
            ready.best_state = {name: value.clone() for name, value in ready.average.state_dict().items()}
        ready.epochs.append(
            self.outcome(
                started,
                epoch=number,
                loss=round(losses / max(1, letters), 4),
                cer=round(rate_now, 5),
                lines=len(ready.taught),
                validation_lines=len(ready.validation),
                best=is_best,
            )
        )
        ready.save(net=ready.net.state_dict(), average=ready.average.state_dict())


def _begin(folder: Path, base: Mapping[str, Any] | None) -> Ready:
    lines = read_lines(folder)
    lines = [line for line in lines if not is_right_to_left(line.text)]
    taught = [line for line in lines if not line.for_validation]
    if not taught:
        raise Refused(
            "The lines are written from right to left. This reader's network reads from left to right and "
            "could never learn them; train a kraken reader instead."
        )
    alphabet = grow_alphabet(base["alphabet"] if base else (), (line.text for line in taught))
    if base:
        net = base_net(*weights_of(Path(base["path"])), len(alphabet) + 1)
    else:
        torch.manual_seed(SEED)
        net = LineNet(SHAPE, len(alphabet) + 1)
    average = LineNet(net.shape, net.classes)
    average.load_state_dict(net.state_dict())
    average.eval()
    change = torch.optim.AdamW(net.parameters(), RATE, betas=(0.9, 0.98), weight_decay=0.01)
    pairs = [(line, codes_of(line.text, alphabet)) for line in taught]
    usable = [pair for pair in pairs if fits(*pair)]
    if not usable:
        raise Refused(
            "None of the lines can be taught: their pictures are narrower than their texts. Check whether "
            "the lines are where the writing is."
        )
    validation = [line for line in lines if line.for_validation] or [line for line, _ in usable]
    ready = Ready(
        folder=folder,
        change=change,
        net=net,
        average=average,
        alphabet=alphabet,
        taught=usable,
        validation=validation,
    )
    if (weights := ready.resume()) is not None:
        net.load_state_dict(weights["net"])
        average.load_state_dict(weights["average"])
    return ready


def _train(
    ready: Ready, some: Sequence[tuple[Line, list[int]]], chance: np.random.Generator, rate: float
) -> float:
    pictures = vary_lines(pad_pictures([line.ink for line, _ in some]), chance)
    lengths = torch.tensor([steps_of(line.ink.shape[1]) for line, _ in some])
    codes = torch.tensor([code for _, codes in some for code in codes])
    counts = torch.tensor([len(codes) for _, codes in some])

    def loss(scores: torch.Tensor) -> torch.Tensor:
        chances = functional.log_softmax(scores, -1)
        return functional.ctc_loss(
            chances, codes, PAIR * lengths, counts, reduction="sum", zero_infinity=True
        )

    scores, glance = ready.net(pictures, lengths)
    whole = loss(scores)
    ((whole + SHORTCUT * loss(glance)) / len(some)).backward()
    ready.step(ready.net.parameters(), rate, warm_up=WARM_UP, clip=CLIP)
    share = min(AVERAGE, (1 + ready.steps) / (10 + ready.steps))
    with torch.no_grad():
        torch._foreach_lerp_(list(ready.average.parameters()), list(ready.net.parameters()), 1 - share)
    return float(whole.detach())


def error_rate(net: LineNet, alphabet: Sequence[str], lines: Sequence[Line]) -> float:
    """Return total distance over total characters of the best path on *lines*."""
    wrong = letters = 0
    order = sorted(lines, key=lambda line: line.ink.shape[1])
    for start in range(0, len(order), TOGETHER):
        batch = order[start : start + TOGETHER]
        for line, text in zip(batch, read(net, alphabet, batch), strict=True):
            wrong += distance(plain(line.text), text)
            letters += len(plain(line.text))
    return wrong / max(1, letters)


def read(net: LineNet, alphabet: Sequence[str], lines: Sequence[Line]) -> list[str]:
    """Return the text of each line, by the best path."""
    lengths = torch.tensor([steps_of(line.ink.shape[1]) for line in lines])
    with torch.no_grad():
        scores, _ = net(pad_pictures([line.ink for line in lines]), lengths)
    best = scores.argmax(-1).T.tolist()
    texts = []
    for row, length in zip(best, (PAIR * lengths).tolist(), strict=True):
        codes = [code for at, code in enumerate(row[:length]) if code and (at == 0 or row[at - 1] != code)]
        texts.append(plain("".join(alphabet[code - 1] for code in codes)))
    return texts
