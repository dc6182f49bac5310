"""Trains the line finder within MINUTES, or for STEPS, and writes `finder.onnx`: `make train-finder`.

Every processor composes pages into a store on the device that trains, which draws from it again and again. What a stopped
training goes on from is written every minute. Within MINUTES the learning rate falls with the time, and pages are stored as fast
as they come; for STEPS it falls with the steps and each has its own new pages, so that a training that was stopped ends with the
weights of one that was not (on a processor to the bit, on a card as far as it repeats its own sums).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from torch.utils.data import DataLoader, IterableDataset

from training.checkpoints import chances, copy_state, set_chances, write
from training.finder.bank import Bank
from training.finder.compose import Composer
from training.finder.net import MAPS, LineNet, count_weights, onnx_of, weigh
from training.finder.targets import target_maps

Made = tuple[Tensor, Tensor]
TOGETHER = 4
"""Pages that are handed over at a time; of STEPS, those that are new to a step."""
SAVED = 60
"""Seconds between two checkpoints."""


class Pages(IterableDataset[Made]):
    """Composed windows from the group *first* on, for ever: a group is the same whoever composes it, and when."""

    def __init__(self, bank: Bank, size: int, seed: int, first: int) -> None:
        self.bank, self.size, self.seed, self.first = bank, size, seed, first

    def __iter__(self) -> Iterator[Made]:
        cv2.setNumThreads(1)
        worker = torch.utils.data.get_worker_info()
        composer = Composer(self.bank, self.seed)
        for group in count(self.first + (worker.id if worker else 0), worker.num_workers if worker else 1):
            composer.chance = np.random.default_rng((self.seed, group))
            pictures, maps = [], []
            while len(pictures) < TOGETHER:
                picture, lines, whole = composer.window(self.size)
                pictures.append(torch.from_numpy(picture))
                maps.append(torch.from_numpy(target_maps(lines, self.size, whole)))
            yield torch.stack(pictures), torch.stack(maps)


class Store:
    """The last pages that were composed, on the device; *first* were composed before them and are not in it."""

    def __init__(self, room: int, size: int, device: torch.device, first: int) -> None:
        self.pictures = torch.zeros((room, size, size), dtype=torch.uint8, device=device)
        self.maps = torch.zeros((room, MAPS + 1, size // 4, size // 4), dtype=torch.uint8, device=device)
        self.room, self.first, self.made = room, first, first

    def add(self, batch: Made) -> None:
        at = (torch.arange(len(batch[0])) + self.made) % self.room
        self.pictures[at.to(self.pictures.device)] = batch[0].to(self.pictures.device, non_blocking=True)
        self.maps[at.to(self.maps.device)] = batch[1].to(self.maps.device, non_blocking=True)
        self.made += len(batch[0])

    def fill(self, pages: Iterable[Made]) -> None:
        for batch in pages:
            self.add(batch)

    def draw(self, count: int) -> tuple[Tensor, Tensor]:
        here = min(self.made - self.first, self.room)
        at = (self.made - 1 - torch.randint(here, (count,), device=self.pictures.device)) % self.room
        return self.pictures[at][:, None].float().div_(255), self.maps[at]


def photograph(pages: Tensor) -> Tensor:
    """Light, contrast, blur and noise at random; a page in fifty is white on black."""
    count, device = len(pages), pages.device

    def each(low: float, high: float) -> Tensor:
        return torch.empty((count, 1, 1, 1), device=device).uniform_(low, high)

    sigma = each(-0.4, 1.5).clamp(min=0.05)
    at = torch.arange(-3, 4, device=device)
    kernel = (-(at**2) / (2 * sigma[:, 0, 0, 0][:, None] ** 2)).exp()
    kernel = kernel / kernel.sum(1, keepdim=True)
    side = pages.shape[-1]
    flat = pages.reshape(1, count, side, -1)
    flat = functional.conv2d(flat, kernel[:, None, None, :], padding=(0, 3), groups=count)
    pages = functional.conv2d(flat, kernel[:, None, :, None], padding=(3, 0), groups=count).reshape(
        pages.shape
    )
    pages = pages.clamp(1e-3, 1) ** each(-0.5, 0.5).exp()
    pages = (pages - 0.6) * each(0.35, 1.25) + 0.6 + each(-0.3, 0.2)
    pages = pages + torch.randn_like(pages) * each(-0.02, 0.06).clamp(min=0)
    pages = pages.clamp(0, 1)
    return torch.where(each(0, 1) < 0.02, 1 - pages, pages)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packed", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=8.0)
    parser.add_argument("--steps", type=int, help="train so many steps, however long it takes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--size", type=int, default=896)
    parser.add_argument("--store", type=int, default=6000)
    parser.add_argument(
        "--every", type=int, default=1, help="for trials: only each such line of the packed ones"
    )
    parser.add_argument("--workers", type=int, default=max(1, len(os.sched_getaffinity(0)) - 1))
    parser.add_argument("--rate", type=float, default=3e-3)
    options = parser.parse_args(arguments)
    options.store -= options.store % TOGETHER
    started = time.monotonic()
    # The processes that compose are forked: OpenCV must have started no threads by then.
    cv2.setNumThreads(0)
    options.out.mkdir(parents=True, exist_ok=True)
    bank = Bank(options.packed, options.every)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    fast = device.type == "cuda"
    torch.manual_seed(options.seed)
    torch.backends.cudnn.benchmark = not options.steps
    torch.backends.cuda.matmul.allow_tf32 = True
    net = LineNet().to(device, memory_format=torch.channels_last)
    average = {name: value.detach().clone() for name, value in net.state_dict().items()}
    decays = [weights for weights in net.parameters() if weights.ndim > 1]
    parameters = [weights for weights in net.parameters() if weights.ndim <= 1]
    groups: list[dict[str, Any]] = [
        {"params": decays, "weight_decay": 0.02},
        {"params": parameters, "weight_decay": 0.0},
    ]
    optimiser = torch.optim.AdamW(groups, lr=options.rate, betas=(0.9, 0.98), fused=fast)
    spent, steps, composed = 0.0, 0, 0
    at_first = min(4 * options.batch, options.store)
    checkpoint = options.out / "checkpoint.pt"
    if checkpoint.exists():
        state = torch.load(checkpoint, map_location=device, weights_only=True)
        net.load_state_dict(state["net"])
        optimiser.load_state_dict(state["optimiser"])
        average, spent, steps = state["average"], state["seconds"], state["steps"]
        composed = state.get("pages", 0)
        set_chances(state.get("chances", {}))
    # With STEPS the pages that a stopped training had in its store are composed again; else others are.
    first = max(0, composed - options.store) // TOGETHER if options.steps else composed // TOGETHER
    print(
        f"{count_weights(net):,} weights; {len(bank.strips)} lines; {device}; {options.workers} workers",
        flush=True,
    )
    pages = Pages(bank, options.size, options.seed, first)
    ahead = 3 if options.workers else None
    # The loader has chances of its own: it would take one of those of the training whenever it begins.
    loader = DataLoader(
        pages,
        batch_size=None,
        num_workers=options.workers,
        pin_memory=fast,
        prefetch_factor=ahead,
        generator=torch.Generator(),
    )
    store = Store(options.store, options.size, device, first * TOGETHER)
    coming = iter(loader)
    if not options.steps:
        # Pages are stored as fast as they come, however fast the device trains.
        threading.Thread(target=store.fill, args=(coming,), daemon=True).start()
        while store.made < store.first + at_first:
            time.sleep(0.1)
    whole = options.minutes * 60
    losses = torch.zeros((), device=device)
    counted, reported, saved = 0, time.monotonic(), time.monotonic()

    def share_done() -> float:
        return steps / options.steps if options.steps else (spent + time.monotonic() - started) / whole

    while (share := share_done()) < 1:
        while options.steps and store.made < at_first + TOGETHER * steps:
            store.add(next(coming))
        rate = options.rate * min(1.0, (steps + 1) / 200) * (0.5 + 0.5 * math.cos(math.pi * share)) + 1e-6
        for group in optimiser.param_groups:
            group["lr"] = rate
        with torch.no_grad():
            pictures, targets = store.draw(options.batch)
            if steps % 10 == 9:
                pictures, targets = pictures.flip(3), targets.flip(3)
            pictures = photograph(pictures).contiguous(memory_format=torch.channels_last)
        with torch.autocast(device.type, torch.bfloat16):
            answers = net(pictures)
        loss = weigh(answers, targets)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 2.0)
        optimiser.step()
        steps += 1
        losses += loss.detach()
        counted += 1
        with torch.no_grad():
            keep = min(0.998, 1 - 1 / (steps / 4 + 1))
            state = net.state_dict()
            floats = [name for name, value in state.items() if value.is_floating_point()]
            torch._foreach_lerp_(
                [average[name] for name in floats], [state[name] for name in floats], 1 - keep
            )
        now = time.monotonic()
        if now - reported > 15 or steps == 3:
            line = {
                "seconds": round(spent + now - started, 1),
                "steps": steps,
                "pages": store.made,
                "loss": round(float(losses) / counted, 4),
                "rate": round(rate, 5),
            }
            print(json.dumps(line), flush=True)
            with (options.out / "log.jsonl").open("a", encoding="utf-8") as log:
                log.write(json.dumps(line) + "\n")
            losses.zero_()
            counted, reported = 0, now
        if now - saved > SAVED:
            _save(options.out, net, average, optimiser, spent + now - started, steps, store.made)
            saved = now
    _save(options.out, net, average, optimiser, spent + time.monotonic() - started, steps, store.made)
    final = LineNet()
    final.load_state_dict({name: value.cpu() for name, value in average.items()})
    onnx_of(final, str(options.out / "finder.onnx"))
    print("written", (options.out / "finder.onnx").stat().st_size, flush=True)


def _save(
    out: Path,
    net: LineNet,
    average: dict[str, Tensor],
    optimiser: torch.optim.Optimizer,
    seconds: float,
    steps: int,
    pages: int,
) -> None:
    state = {
        "net": net.state_dict(),
        "average": copy_state(average),
        "optimiser": optimiser.state_dict(),
        "seconds": seconds,
        "steps": steps,
        "pages": pages,
        "chances": chances(),
    }
    write(out / "checkpoint.pt", state)
    torch.save(
        {name: value.half() if value.is_floating_point() else value for name, value in average.items()},
        out / "average.pt",
    )


if __name__ == "__main__":
    main()
    os._exit(0)  # those that compose pages do so for ever
