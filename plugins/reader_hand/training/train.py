"""Train the model: `python -m training.train` starts, or goes on from the last checkpoint, until it is stopped (SIGTERM
writes a checkpoint first).

Each process trains on batches of its own, on one core, and all change the same weights in shared memory without
waiting for each other: where other programs take a core for a while the rest goes on undisturbed.

With `--cool-down MINUTES` it takes the last checkpoint, lowers the learning rate to nothing in that time and writes the
result beside it (`cooled.pt`); the checkpoint itself stays as it is, so that the training can go on from it.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rapidfuzz.distance import Levenshtein
from torch import nn
from torch.nn import functional

from training.batches import Batch, endless, pad_pictures
from training.corpus import HELD_OUT, TRAIN, Line, PreparedCorpus, prepare
from training.model import HandNet, steps
from training.settings import PACKAGE, Settings, settings
from training.warm_start import load_exported, unfold

RAMP = 10
"""Steps: the average of the weights follows faster at first."""
EVALUATION_LINES = 32
LOGGED = 40
"""Steps between two lines of the log."""
STATISTICS = 16
"""Batches over which batch normalisation is measured where only an exported model is at hand."""
RESUMED = 1000
"""The step at which such a training counts itself: the averaged weights follow slowly from the start."""


@dataclass
class State:
    """What a checkpoint keeps, apart from weights and optimiser."""

    samples: int = 0
    step: int = 0
    seconds: float = 0.0
    curve: list[dict[str, float]] = field(default_factory=list)


class Run:
    """One training: network, averaged network, optimiser, state."""

    def __init__(self, wanted: Settings) -> None:
        self.wanted = wanted
        self.folder = Path(wanted.training.folder)
        if not (self.folder / "corpus" / "alphabet.json").is_file():
            prepare(wanted, self.folder / "corpus")
        self.corpus = PreparedCorpus(self.folder / "corpus")
        torch.manual_seed(wanted.training.seed)
        classes = len(self.corpus.alphabet) + 1
        self.net = HandNet(wanted.model, classes).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.average = HandNet(wanted.model, classes).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.average.load_state_dict(self.net.state_dict())
        self.average.eval()
        self.net.share_memory()
        self.optimiser = optimiser(self.net, wanted)
        self.state = State()
        held_out = self.corpus.lines_of(HELD_OUT)
        chosen = np.random.default_rng(0).permutation(len(held_out))[: wanted.training.validation_lines]
        self.validation = sorted((held_out[at] for at in chosen), key=lambda line: line.width)

    @property
    def checkpoint(self) -> Path:
        return self.folder / "checkpoint.pt"

    def load(self) -> None:
        """Go on where the last checkpoint was written, if there is one."""
        if self.checkpoint.is_file():
            kept = torch.load(self.checkpoint, weights_only=True)
            self.net.load_state_dict(kept["net"])
            self.average.load_state_dict(kept["average"])
            self.optimiser.load_state_dict(kept["optimiser"])
            self.state = State(**kept["state"])

    def begin_from_shipped(self) -> None:
        """Start from the weights in the package, as far as their card says they have come; the optimiser starts anew."""
        card = json.loads((PACKAGE / "card.json").read_text(encoding="utf-8"))
        if card["alphabet"] != self.corpus.alphabet:
            raise SystemExit(
                "The shipped model knows other letters than the prepared corpus: start without it."
            )
        load_exported(self.net, PACKAGE / "model.onnx")
        lines = self.corpus.lines_of(TRAIN)
        drawn = np.random.default_rng(0).permutation(len(lines))[: STATISTICS * EVALUATION_LINES]
        chosen = sorted((lines[at] for at in drawn), key=lambda line: line.width)
        pictures = [self.corpus.picture(line) for line in chosen]
        unfold(
            self.net,
            [
                pad_pictures(pictures[at : at + EVALUATION_LINES])
                for at in range(0, len(pictures), EVALUATION_LINES)
            ],
        )
        self.average.load_state_dict(self.net.state_dict())
        self.average.eval()
        past = card["training"]
        self.state = State(past["samples"], RESUMED, past["seconds"], past["curve"])

    def save(self, path: Path) -> None:
        """Write a checkpoint; one that is half written never takes the place of a whole one."""
        kept = {
            "net": self.net.state_dict(),
            "average": self.average.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "state": vars(self.state),
        }
        beside = path.with_suffix(".part")
        torch.save(kept, beside)
        os.replace(beside, path)
        curve = json.dumps(self.state.curve, indent=1)
        path.with_suffix(".curve.json").write_text(curve, encoding="utf-8")

    def follow(self, cooling: bool) -> None:
        """Move the averaged weights towards those of now; faster while cooling, when the older ones are the worse."""
        longest = self.wanted.training.average_cooling if cooling else self.wanted.training.average
        share = min(longest, (1 + self.state.step) / (RAMP + self.state.step))
        with torch.no_grad():
            pairs = zip(self.average.state_dict().values(), self.net.state_dict().values(), strict=True)
            kept, now = zip(*(pair for pair in pairs if pair[0].is_floating_point()), strict=True)
            torch._foreach_lerp_(kept, now, 1 - share)

    def error_rate(self) -> float:
        """CER of the averaged weights on the validation lines, best path."""
        wrong = letters = 0
        for start in range(0, len(self.validation), EVALUATION_LINES):
            lines = self.validation[start : start + EVALUATION_LINES]
            for line, text in zip(lines, self.read(lines), strict=True):
                wrong += Levenshtein.distance(line.text, text)
                letters += len(line.text)
        return wrong / letters

    def read(self, lines: list[Line]) -> list[str]:
        """The best path of the averaged weights for each line."""
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=self.wanted.training.bfloat16):
            out = self.average(pad_pictures([self.corpus.picture(line) for line in lines]))
        best = out.float().argmax(-1).T.tolist()
        return [self._text(row[: steps(line.width)]) for row, line in zip(best, lines, strict=True)]

    def _text(self, row: list[int]) -> str:
        kept = [code for at, code in enumerate(row) if code and (at == 0 or row[at - 1] != code)]
        return "".join(self.corpus.alphabet[code - 1] for code in kept)

    def note(self, losses: list[float]) -> None:
        """Append a point of the learning curve: the *losses* since the last one, and the error rate now."""
        point = {
            "samples": self.state.samples,
            "seconds": round(self.state.seconds),
            "loss": round(float(np.mean(losses)), 4),
            "cer": round(self.error_rate(), 4),
        }
        self.state.curve.append(point)
        print(time.strftime("%H:%M:%S", time.gmtime()), json.dumps(point), flush=True)
        lines = self.validation[:: max(1, len(self.validation) // 4)]
        for line, text in zip(lines, self.read(lines), strict=True):
            print(f"    {line.text}\n    {text}", flush=True)


def optimiser(net: HandNet, wanted: Settings) -> torch.optim.AdamW:
    """AdamW; biases and normalisations do not decay."""
    plain = [weight for weight in net.parameters() if weight.ndim == 1]
    decayed = [weight for weight in net.parameters() if weight.ndim > 1]
    groups = [{"params": plain, "weight_decay": 0.0}, {"params": decayed}]
    return torch.optim.AdamW(
        groups, wanted.training.rate, betas=(0.9, 0.98), weight_decay=wanted.training.weight_decay
    )


def train_batch(
    net: HandNet, change: torch.optim.AdamW, batch: Batch, rate: float, wanted: Settings, guided: bool
) -> float:
    """One step of the optimiser; the loss per letter, without what guided it."""
    for group in change.param_groups:
        group["lr"] = rate
    net.train()
    net.rest.p = net.memory.dropout = 0.0 if guided else wanted.model.dropout
    with torch.autocast("cpu", torch.bfloat16, enabled=wanted.training.bfloat16):
        out = net(batch.pictures.contiguous(memory_format=torch.channels_last))
    chances = functional.log_softmax(out.float(), -1)
    loss = functional.ctc_loss(
        chances, batch.letters, batch.steps, batch.lengths, reduction="sum", zero_infinity=True
    )
    aim = loss + guidance(chances, batch) if guided else loss
    (aim / batch.samples).backward()  # type: ignore[no-untyped-call]
    nn.utils.clip_grad_norm_(net.parameters(), wanted.training.clip)
    change.step()
    change.zero_grad(set_to_none=True)
    return float(loss.detach()) / max(1, int(batch.lengths.sum()))


def guidance(chances: torch.Tensor, batch: Batch) -> torch.Tensor:
    """The loss of letters at the places where they would stand if all were equally wide.

    It is roughly true of short lines, and ends the long time in which CTC alone answers with blanks.
    """
    counts = batch.lengths
    lines = torch.repeat_interleave(torch.arange(len(counts)), counts)
    first = torch.repeat_interleave(counts.cumsum(0) - counts, counts)
    share = (torch.arange(len(lines)) - first + 0.5) / counts[lines]
    places = (share * batch.steps[lines]).long()
    return -chances[places, lines, batch.letters].sum()


@dataclass
class Clock:
    """The learning rate over steps and, while it cools down, over time."""

    wanted: Settings
    cool_down: float | None
    begun: float = field(default_factory=time.monotonic)

    @property
    def share_left(self) -> float:
        """The share of the cooling that is left; 1 where there is none."""
        return (
            1.0 if self.cool_down is None else max(0.0, 1 - (time.monotonic() - self.begun) / self.cool_down)
        )

    def rate(self, step: int) -> float:
        """The learning rate at a *step*."""
        return (
            self.wanted.training.rate * min(1.0, (step + 1) / self.wanted.training.warm_up) * self.share_left
        )


def set_up_torch(wanted: Settings) -> None:
    """Threads, and no denormal numbers: they make the LSTM several times slower."""
    torch.set_num_threads(wanted.training.threads)
    torch.set_flush_denormal(True)


def help_along(
    net: HandNet, kept: dict[str, Any], state: State, number: int, seen: Any, cool_down: float | None
) -> None:
    """A further process: trains the shared weights until the first process ends."""
    wanted = settings()
    set_up_torch(wanted)
    parent = os.getppid()
    change = optimiser(net, wanted)
    change.load_state_dict(kept)
    clock = Clock(wanted, cool_down)
    corpus = PreparedCorpus(Path(wanted.training.folder) / "corpus")
    for step, batch in enumerate(endless(corpus, wanted.training, seen, number), state.step):
        guided = seen.value < wanted.training.guided_first
        train_batch(net, change, batch, clock.rate(step), wanted, guided)
        with seen.get_lock():
            seen.value += batch.samples
        if os.getppid() != parent or not clock.share_left:
            break


def main(arguments: Any = None) -> None:
    """Train until stopped, or cool down for the time that is asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--from-shipped", action="store_true", help="start from the package's weights")
    parser.add_argument("--cool-down", type=float, metavar="MINUTES")
    options = parser.parse_args(arguments)
    wanted = settings()
    set_up_torch(wanted)
    run = Run(wanted)
    if options.from_shipped and not run.checkpoint.is_file():
        run.begin_from_shipped()
    run.load()
    cool_down = options.cool_down and 60 * options.cool_down
    target = run.folder / "cooled.pt" if cool_down else run.checkpoint
    context = torch.multiprocessing.get_context("spawn")
    seen = context.Value("q", run.state.samples)
    for number in range(1, wanted.training.processes):
        context.Process(
            target=help_along,
            args=(run.net, run.optimiser.state_dict(), run.state, number, seen, cool_down),
            daemon=True,
        ).start()
    clock = Clock(wanted, cool_down)
    stops: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: stops.append(number))
    since = time.monotonic()
    losses: list[float] = []
    for batch in endless(run.corpus, wanted.training, seen, 0):
        guided = seen.value < wanted.training.guided_first
        rate = clock.rate(run.state.step)
        losses.append(train_batch(run.net, run.optimiser, batch, rate, wanted, guided))
        with seen.get_lock():
            seen.value += batch.samples
            run.state.samples = seen.value
        run.state.step += 1
        run.follow(cool_down is not None)
        now = time.monotonic()
        if len(losses) % LOGGED == 0:
            print(f"  {run.state.samples} samples, loss {np.mean(losses[-LOGGED:]):.3f}", flush=True)
        if now - since >= wanted.training.checkpoint_every or not clock.share_left or stops:
            run.state.seconds += now - since
            if not stops:
                run.note(losses)
            run.save(target)
            losses, since = [], time.monotonic()
        if not clock.share_left or stops:
            break


if __name__ == "__main__":
    main()
