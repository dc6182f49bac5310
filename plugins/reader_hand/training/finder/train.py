"""Trains the line finder within MINUTES and writes `finder.onnx`: `make train-finder`.

Every processor composes pages into a store on the device that trains, which draws from it again and again. What a stopped
training goes on from is written every minute.
"""

from __future__ import annotations

import argparse
import json
import os
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from torch.utils.data import DataLoader, IterableDataset

from training.checkpoints import copy_state, write
from training.finder.bank import Bank
from training.finder.compose import Composer
from training.finder.net import MAPS, LineNet, count_weights, onnx_of, weigh
from training.finder.targets import target_maps

Made = tuple[Tensor, Tensor]


class Pages(IterableDataset[Made]):
    """Composed windows for ever, each worker its own."""

    def __init__(self, bank: Bank, size: int, together: int, seed: int) -> None:
        self.bank, self.size, self.together, self.seed = bank, size, together, seed

    def __iter__(self) -> Iterator[Made]:
        cv2.setNumThreads(1)
        worker = torch.utils.data.get_worker_info()
        composer = Composer(self.bank, self.seed * 1000 + (worker.id if worker else 0))
        while True:
            pictures, maps = [], []
            while len(pictures) < self.together:
                picture, lines, whole = composer.window(self.size)
                pictures.append(torch.from_numpy(picture))
                maps.append(torch.from_numpy(target_maps(lines, self.size, whole)))
            yield torch.stack(pictures), torch.stack(maps)


class Store:
    """The last pages that were composed, on the device."""

    def __init__(self, room: int, size: int, device: torch.device) -> None:
        self.pictures = torch.zeros((room, size, size), dtype=torch.uint8, device=device)
        self.maps = torch.zeros((room, MAPS + 1, size // 4, size // 4), dtype=torch.uint8, device=device)
        self.room, self.made = room, 0

    def add(self, made: Made) -> None:
        at = (torch.arange(len(made[0])) + self.made) % self.room
        self.pictures[at.to(self.pictures.device)] = made[0].to(self.pictures.device, non_blocking=True)
        self.maps[at.to(self.maps.device)] = made[1].to(self.maps.device, non_blocking=True)
        self.made += len(made[0])

    def fill(self, pages: Iterable[Made]) -> None:
        for made in pages:
            self.add(made)

    def draw(self, count: int) -> tuple[Tensor, Tensor]:
        at = torch.randint(min(self.made, self.room), (count,), device=self.pictures.device)
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


def main() -> None:
    """Train."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packed", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=8.0)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--size", type=int, default=896)
    parser.add_argument("--store", type=int, default=6000)
    parser.add_argument(
        "--every", type=int, default=1, help="for trials: only each such line of the packed ones"
    )
    parser.add_argument("--workers", type=int, default=max(1, len(os.sched_getaffinity(0)) - 1))
    parser.add_argument("--rate", type=float, default=3e-3)
    options = parser.parse_args()
    started = time.monotonic()
    # The processes that compose are forked: OpenCV must have started no threads by then.
    cv2.setNumThreads(0)
    options.out.mkdir(parents=True, exist_ok=True)
    bank = Bank(options.packed, options.every)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    fast = device.type == "cuda"
    torch.backends.cudnn.benchmark = True
    torch.backends.cuda.matmul.allow_tf32 = True
    net = LineNet().to(device, memory_format=torch.channels_last)
    average = {name: value.detach().clone() for name, value in net.state_dict().items()}
    decays = [one for one in net.parameters() if one.ndim > 1]
    rest = [one for one in net.parameters() if one.ndim <= 1]
    groups: list[dict[str, Any]] = [
        {"params": decays, "weight_decay": 0.02},
        {"params": rest, "weight_decay": 0.0},
    ]
    optimiser = torch.optim.AdamW(groups, lr=options.rate, betas=(0.9, 0.98), fused=fast)
    spent, steps = 0.0, 0
    kept = options.out / "checkpoint.pt"
    if kept.exists():
        state = torch.load(kept, map_location=device, weights_only=True)
        net.load_state_dict(state["net"])
        optimiser.load_state_dict(state["optimiser"])
        average, spent, steps = state["average"], state["seconds"], state["steps"]
    print(
        f"{count_weights(net):,} weights; {len(bank.strips)} lines; {device}; {options.workers} workers",
        flush=True,
    )
    pages = Pages(bank, options.size, 4, 1 + steps)
    loader = DataLoader(
        pages, batch_size=None, num_workers=options.workers, pin_memory=fast, prefetch_factor=3
    )
    store = Store(options.store, options.size, device)
    # Pages are stored as fast as they come, however fast the device trains.
    threading.Thread(target=store.fill, args=(iter(loader),), daemon=True).start()
    while store.made < min(4 * options.batch, options.store):
        time.sleep(0.1)
    whole = options.minutes * 60
    losses = torch.zeros((), device=device)
    counted, told, saved = 0, time.monotonic(), time.monotonic()
    while (share := (spent + time.monotonic() - started) / whole) < 1:
        rate = options.rate * min(1.0, (steps + 1) / 200) * (0.5 + 0.5 * np.cos(np.pi * share)) + 1e-6
        for group in optimiser.param_groups:
            group["lr"] = rate
        with torch.no_grad():
            pictures, wanted = store.draw(options.batch)
            if steps % 10 == 9:
                pictures, wanted = pictures.flip(3), wanted.flip(3)
            pictures = photograph(pictures).contiguous(memory_format=torch.channels_last)
        with torch.autocast(device.type, torch.bfloat16):
            answers = net(pictures)
        loss = weigh(answers, wanted)
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
        if now - told > 15 or steps == 3:
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
            counted, told = 0, now
        if now - saved > 60:
            _save(options.out, net, average, optimiser, spent + now - started, steps)
            saved = now
    _save(options.out, net, average, optimiser, spent + time.monotonic() - started, steps)
    final = LineNet()
    final.load_state_dict({name: value.cpu() for name, value in average.items()})
    onnx_of(final, str(options.out / "finder.onnx"))
    print("written", (options.out / "finder.onnx").stat().st_size, flush=True)
    os._exit(0)


def _save(
    out: Path,
    net: LineNet,
    average: dict[str, Tensor],
    optimiser: torch.optim.Optimizer,
    seconds: float,
    steps: int,
) -> None:
    made = {
        "net": net.state_dict(),
        "average": copy_state(average),
        "optimiser": optimiser.state_dict(),
        "seconds": seconds,
        "steps": steps,
    }
    write(out / "checkpoint.pt", made)
    torch.save(
        {name: value.half() if value.is_floating_point() else value for name, value in average.items()},
        out / "average.pt",
    )


if __name__ == "__main__":
    main()
