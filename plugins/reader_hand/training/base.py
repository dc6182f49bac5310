"""Train the base model in a few minutes on a graphics card: `python -m training.base --lines FOLDER... --out FOLDER`.

All lines lie on the card and are changed there. The learning rate falls with the time that is left, so that the training
is finished when it ends, however fast the card is; with `--steps N` it falls with the steps, and a training that was stopped and
resumed ends with the weights of one that was not (on a processor to the bit, on a card as far as it repeats its own sums). Every
minute it validates, writes the averaged weights so far and a checkpoint; `--resume` goes on from that. `weights.pt` is written
before the last evaluation begins.
"""

from __future__ import annotations

import argparse
import json
import math
import signal
import time
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

BEGUN = time.monotonic()

import numpy as np  # noqa: E402
import torch  # noqa: E402
from torch import Tensor, nn  # noqa: E402

from armarium_hand_trainer.net import LineNet  # noqa: E402
from training.checkpoints import chances, copy_state, set_chances, write  # noqa: E402
from training.line_net import normalised_net  # noqa: E402
from training.lines_on_device import Batch, Draw, Lines, loss_of, places, whole  # noqa: E402
from training.measures import distance, rate  # noqa: E402
from training.packed import HELD_OUT, TEST, TRAIN, Line, pack  # noqa: E402

SETTINGS = Path(__file__).with_name("base.toml")
LOOKED = 25
"""Steps between two looks at the loss: each makes the card wait."""
RAMP = 10
"""Steps: the average of the weights follows faster at first."""
MEASURED = 80
"""Batches over which normalisation is measured at the end."""


class Training:
    """One training: lines, network, averaged network, optimiser, and how far it has come."""

    def __init__(self, wanted: dict[str, Any], options: argparse.Namespace) -> None:
        self.shape, self.wanted = wanted["model"], wanted["training"]
        self.out, self.checkpoint = options.out, options.state / "checkpoint.pt"
        self.end, self.steps = BEGUN + 60 * options.minutes, options.steps
        self.reserve = min(self.wanted["reserve"], 6 * options.minutes)
        if options.batch_columns:
            self.wanted["batch_columns"] = options.batch_columns
        short = self.wanted["short_text"]
        packed = pack(options.lines, wanted["corpus"], self.shape["height"], short, options.scale)
        self.say(
            f"{len(packed.lines)} lines, {len(packed.alphabet)} letters, {packed.columns.nbytes >> 20} MiB"
        )
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        torch.manual_seed(self.wanted["seed"])
        torch.set_flush_denormal(True)
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
        self.lines, self.alphabet = Lines(packed, self.device), packed.alphabet
        splits: dict[str, list[int]] = defaultdict(list)
        for at, line in enumerate(packed.lines):
            splits[line.split].append(at)
        self.usable = [at for at in splits[TRAIN] if self.lines.fits[at]]
        self.short = [at for at in self.usable if self.lines.lengths[at] <= short]
        if not self.usable:
            raise SystemExit("None of the lines can be trained on: name folders of the corpus with --lines.")
        self.held_out = splits[HELD_OUT] + splits[TEST]
        self.validation = self.some_held_out(splits[HELD_OUT] or splits[TEST] or self.usable)
        self.net = self.new_net().train()
        self.average = self.new_net().eval()
        self.average.load_state_dict(self.net.state_dict())
        plain = [weight for weight in self.net.parameters() if weight.ndim == 1]
        decayed = [weight for weight in self.net.parameters() if weight.ndim > 1]
        self.change = torch.optim.AdamW(
            [{"params": plain, "weight_decay": 0.0}, {"params": decayed}],
            self.wanted["rate"],
            betas=(0.9, 0.99),
            weight_decay=self.wanted["weight_decay"],
            fused=True,
        )
        self.state: dict[str, Any] = {"step": 0, "samples": 0, "seconds": 0.0, "slower": 1.0, "curve": []}
        # Lines are drawn anew from the step `begun` on; `taken` of these draws were trained on.
        self.state |= {"begun": 0, "taken": 0}
        if options.resume and self.checkpoint.is_file():
            self.load(torch.load(self.checkpoint, map_location=self.device, weights_only=True))
        self.state["alphabet"] = self.alphabet
        self.before, self.since = self.state["seconds"], time.monotonic()
        self.kept = self.snapshot()
        self.stop = False
        signal.signal(signal.SIGTERM, self.ask_to_stop)

    def say(self, text: str) -> None:
        print(f"{time.monotonic() - BEGUN:6.1f} s  {text}", flush=True)

    def ask_to_stop(self, *_: object) -> None:
        self.stop = True

    def new_net(self) -> LineNet:
        net = normalised_net(self.shape, len(self.alphabet) + 1).to(self.device)
        return net.to(memory_format=torch.channels_last)  # type: ignore[call-overload, no-any-return]

    def some_held_out(self, lines: Sequence[int]) -> list[int]:
        """Lines to validate on, of each source and document nearly as many."""
        counts: dict[tuple[str, bool], int] = defaultdict(int)
        ranked = []
        for at in np.random.default_rng(0).permutation(lines).tolist():
            line = self.lines.known[at]
            counts[line.source, line.unseen] += 1
            ranked.append((counts[line.source, line.unseen], at))
        return [at for _, at in sorted(ranked)[: self.wanted["validation_lines"]]]

    # What is kept

    def snapshot(self) -> dict[str, Any]:
        """Everything that a training goes on from, as a copy."""
        parts: dict[str, Any] = {"net": self.net, "average": self.average, "change": self.change}
        now = {name: copy_state(part.state_dict()) for name, part in parts.items()}
        return {**now, "chances": chances(), "state": {**self.state, "curve": list(self.state["curve"])}}

    def load(self, checkpoint: dict[str, Any]) -> None:
        if checkpoint["state"]["alphabet"] != self.alphabet:
            raise SystemExit(
                "The checkpoint was trained with other lines than these: start without --resume."
            )
        self.net.load_state_dict(checkpoint["net"])
        self.average.load_state_dict(checkpoint["average"])
        self.change.load_state_dict(checkpoint["change"])
        begun = {"begun": checkpoint["state"]["step"], "taken": 0}
        self.state = {**begun, **checkpoint["state"], "curve": list(checkpoint["state"]["curve"])}
        set_chances(checkpoint.get("chances", {}))

    def write_weights(self) -> None:
        """The averaged weights as 16-bit numbers, and what is needed to read with them."""
        small = {
            name: value.half().cpu().contiguous()
            for name, value in self.average.state_dict().items()
            if value.is_floating_point()
        }
        state = {name: value for name, value in self.state.items() if name != "alphabet"}
        write(self.out / "weights.pt", {"average": small, "shape": self.shape, "state": state})
        write(self.out / "alphabet.json", self.alphabet)

    # Training

    @property
    def share_left(self) -> float:
        """The share of the time for training that is left, of all runs together; of the steps, if these are given."""
        if self.steps:
            return max(0.0, 1 - self.state["step"] / self.steps)
        last = self.end - self.reserve
        gone = self.before + time.monotonic() - self.since
        return max(0.0, (last - time.monotonic()) / max(1e-3, gone + last - time.monotonic()))

    def rate(self) -> float:
        warm = min(1.0, (self.state["step"] + 1) / self.wanted["warm_up"])
        falling = 0.5 - 0.5 * math.cos(math.pi * self.share_left)
        return float(self.wanted["rate"] * self.state["slower"] * warm * falling)

    @property
    def is_guided(self) -> bool:
        return self.guided_at(self.state["step"])

    def guided_at(self, step: int) -> bool:
        return bool(self.short) and step < self.wanted["short_steps"]

    def draws(self) -> Iterator[Draw]:
        """The draws that follow those that were trained on."""
        guided = self.is_guided
        if guided != self.guided_at(self.state["begun"]):
            self.state |= {"begun": self.state["step"], "taken": 0}
        usable, seed = (self.short if guided else self.usable), self.wanted["seed"] + self.state["begun"]
        every = self.lines.draws(usable, self.wanted, seed, plain=guided)
        for draw in islice(every, self.state["taken"], None):
            self.state["taken"] += 1
            yield draw
            if self.is_guided != guided:
                break

    def answer(self, net: LineNet, batch: Batch) -> tuple[Tensor, Tensor]:
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            pictures = batch.pictures.contiguous(memory_format=torch.channels_last)
            both: tuple[Tensor, Tensor] = net(pictures, batch.steps)
        return both

    def train(self, draw: Draw) -> Tensor:
        """One step of the optimiser; the loss. A step whose gradient is not a number changes nothing."""
        guided, rate = self.is_guided, self.rate()
        for group in self.change.param_groups:
            group["lr"] = rate
        rest = 0.0 if guided else self.shape["dropout"]
        self.net.rest.p = self.net.memory.dropout = rest
        batch = self.lines.batch(draw, plain=guided)
        scores, glance = self.answer(self.net, batch)
        frames = places(batch, draw.widths) if guided else None
        loss = loss_of(scores, batch, frames)
        aim = loss + self.wanted["shortcut"] * loss_of(glance, batch, frames)
        aim.backward()  # type: ignore[no-untyped-call]
        norm = nn.utils.clip_grad_norm_(self.net.parameters(), self.wanted["clip"])
        self.change.grad_scale = None  # type: ignore[attr-defined]
        self.change.found_inf = (~torch.isfinite(norm)).float()  # type: ignore[attr-defined]
        self.change.step()
        self.change.zero_grad(set_to_none=True)
        self.state["step"] += 1
        self.state["samples"] += len(draw.lines)
        self.follow()
        return loss.detach()

    def follow(self) -> None:
        """Move the averaged weights towards those of now."""
        share = min(self.wanted["average"], (1 + self.state["step"]) / (RAMP + self.state["step"]))
        with torch.no_grad():
            pairs = zip(self.average.state_dict().values(), self.net.state_dict().values(), strict=True)
            averages, now = zip(*(pair for pair in pairs if pair[0].is_floating_point()), strict=True)
            torch._foreach_lerp_(list(averages), list(now), 1 - share)

    def run(self) -> None:
        """Train until the time is over."""
        losses: list[Tensor] = []
        draws, noted, samples, set_back = self.draws(), time.monotonic(), self.state["samples"], 0
        every = self.wanted["checkpoint_every"]
        while self.share_left > 0 and not self.stop:
            draw = next(draws, None)
            if draw is None:
                draws = self.draws()
                continue
            try:
                losses.append(self.train(draw))
            except torch.OutOfMemoryError:
                self.change.zero_grad(set_to_none=True)
                torch.cuda.empty_cache()
                self.wanted["batch_columns"] //= 2
                self.say(f"Out of memory: batches of {self.wanted['batch_columns']} columns from here on.")
                if self.wanted["batch_columns"] < 4096:
                    raise
                self.state |= {"begun": self.state["step"], "taken": 0}
                draws = self.draws()
                continue
            if len(losses) % LOOKED == 0:
                loss = float(torch.stack(losses[-LOOKED:]).mean())
                if not math.isfinite(loss):
                    set_back += 1
                    self.say(f"The loss is {loss}: set back to the last good weights.")
                    if set_back > 5:
                        break
                    self.kept["state"]["slower"] *= 0.5
                    self.load(self.kept)
                    draws, losses = self.draws(), []
                elif time.monotonic() - noted >= every / 4 and len(losses) % (4 * LOOKED) == 0:
                    self.say(f"step {self.state['step']}, {self.state['samples']} samples, loss {loss:.3f}")
            if time.monotonic() - noted >= every and losses:
                seconds = time.monotonic() - noted
                noted = time.monotonic()
                self.note(losses, (self.state["samples"] - samples) / seconds)
                losses, samples = [], self.state["samples"]
        self.finish(losses)

    def note(self, losses: Sequence[Tensor], speed: float | None) -> None:
        """A point of the learning curve; weights so far, and a checkpoint."""
        self.state["seconds"] = self.before + time.monotonic() - self.since
        loss = float(torch.stack(list(losses)).mean()) if losses else math.nan
        point = {
            **{name: self.state[name] for name in ("step", "samples")},
            "seconds": round(self.state["seconds"], 1),
            "rate": round(self.rate(), 7),
            "lines_per_second": speed and round(speed, 1),
            "loss": round(loss, 4) if math.isfinite(loss) else None,
            **self.error_rates(self.validation),
        }
        self.state["curve"].append(point)
        with (self.out / "log.jsonl").open("a", encoding="utf-8") as log:
            log.write(json.dumps(point, ensure_ascii=False) + "\n")
        self.say(json.dumps(point, ensure_ascii=False))
        if math.isfinite(loss):
            self.kept = self.snapshot()
            write(self.checkpoint, self.kept)
            self.write_weights()

    # Reading

    def read(self, lines: Sequence[int]) -> Iterator[tuple[int, list[int]]]:
        """Each line with the letters of the averaged weights' best path."""
        columns = max(8192, int(self.wanted["batch_columns"]) // 2)
        for draw in whole(self.lines, lines, columns, self.wanted["width_step"]):
            with torch.no_grad():
                batch = self.lines.batch(draw, plain=True)
                best = self.answer(self.average, batch)[0].argmax(-1).T.cpu().numpy()
            for at, row, frames in zip(draw.lines.tolist(), best, batch.frames.tolist(), strict=True):
                codes = row[:frames]
                changed = np.concatenate([[True], codes[1:] != codes[:-1]])
                yield at, codes[changed & (codes != 0)].tolist()

    def counts(self, lines: Sequence[int]) -> list[tuple[Line, int, int]]:
        """Each line with its wrong letters and its letters."""
        counted = []
        for at, codes in self.read(lines):
            line = self.lines.known[at]
            text = "".join(self.alphabet[code - 1] for code in codes)
            codes_of = [list(map(ord, reading)) for reading in (line.text, " ".join(text.split()))]
            counted.append((line, distance(*codes_of), len(line.text)))
        return counted

    def error_rates(self, lines: Sequence[int]) -> dict[str, Any]:
        """CER of all lines, by kind, and of each source that nothing is trained on."""
        counted = self.counts(lines)
        by: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for line, wrong, letters in counted:
            by["cer"].append((wrong, letters))
            by[f"seen {line.kind}" if not line.unseen else line.source.rpartition("/")[2]].append(
                (wrong, letters)
            )
        return {name: rate(pairs) for name, pairs in sorted(by.items())}

    def finish(self, losses: Sequence[Tensor]) -> None:
        """Measure normalisation anew where that reads better, write the weights, then evaluate as long as there is time."""
        self.say("The training is over.")
        self.note(losses, None)
        before = self.state["curve"][-1]["cer"]
        averaged = copy_state(self.average.state_dict())
        self.measure()
        after = self.error_rates(self.validation)["cer"]
        self.say(f"CER {before} with averaged, {after} with measured normalisation")
        if not after <= before:
            self.average.load_state_dict(averaged)
        self.state["curve"][-1]["cer_measured"] = after
        self.write_weights()
        self.say(f"Written: {self.out / 'weights.pt'}")
        self.evaluate()

    def measure(self) -> None:
        """Give the averaged weights' normalisations the mean and variance of batches as they are trained on."""
        norms = [layer for layer in self.average.modules() if isinstance(layer, nn.BatchNorm2d)]
        for norm in norms:
            norm.reset_running_stats()
            norm.momentum = None
            norm.train()
        seconds = time.monotonic()
        with torch.no_grad():
            for number, draw in enumerate(self.lines.draws(self.usable, self.wanted, 1, plain=False)):
                self.answer(self.average, self.lines.batch(draw, plain=False))
                late = not self.steps and time.monotonic() - seconds > self.reserve / 4
                if number + 1 >= MEASURED or late:
                    break
        self.average.eval()

    def evaluate(self) -> None:
        """CER of every held-out and test line by source and document, in any order until the time is over."""
        order = np.random.default_rng(1).permutation(self.held_out).tolist()
        by: dict[str, dict[str, list[tuple[int, int]]]] = defaultdict(lambda: defaultdict(list))
        done = 0
        for start in range(0, len(order), 512):
            if start and time.monotonic() > self.end - 3:
                break
            for line, wrong, letters in self.counts(order[start : start + 512]):
                known = "unseen" if line.unseen else "seen"
                for group, name in (
                    ("source", f"{line.source} ({known}, {line.kind}, {line.split})"),
                    ("document", line.document),
                    ("kind", f"{known} {line.kind}"),
                ):
                    by[group][name].append((wrong, letters))
            done = min(len(order), start + 512)
            result: dict[str, Any] = {"lines": done, "of": len(order)}
            for group, names in by.items():
                result[group] = {
                    name: {"lines": len(pairs), "cer": rate(pairs)} for name, pairs in sorted(names.items())
                }
            write(self.out / "evaluation.json", result)
        self.say(f"Evaluated {done} of {len(order)} lines.")
        if done:
            self.say(json.dumps(result["kind"], ensure_ascii=False))
            self.say(json.dumps(result["source"], ensure_ascii=False))


def main(arguments: Sequence[str] | None = None) -> None:
    """Train as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=Path, nargs="+", required=True, metavar="FOLDER")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--state", type=Path, metavar="FOLDER", help="of the checkpoint; --out if not given")
    parser.add_argument("--settings", type=Path, default=SETTINGS, metavar="FILE")
    parser.add_argument("--minutes", type=float, default=8.5, help="until everything is written")
    parser.add_argument("--steps", type=int, metavar="N", help="train so many steps, however long it takes")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint, if there is one")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the lines, to try it")
    parser.add_argument("--batch-columns", type=int, metavar="PIXELS", help="width of all lines of a batch")
    options = parser.parse_args(arguments)
    options.state = options.state or options.out
    for folder in (options.out, options.state):
        folder.mkdir(parents=True, exist_ok=True)
    Training(tomllib.loads(options.settings.read_text(encoding="utf-8")), options).run()


if __name__ == "__main__":
    main()
