"""The worker that trains a layout detector: one epoch per call, with its state in a checkpoint written atomically."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from armarium_region_trainer.network import found_on, load_detector, new_detector
from armarium_region_trainer.pages import TaughtPage, augment, classes_of, label, picture, read_pages
from armarium_region_trainer.scoring import (
    FoundRegion,
    TrueRegion,
    distinct,
    mean_average_precision,
    sure_from,
)
from armarium_worker import Call, EpochTrainer, Refused, TrainingState, no_room

MODEL = "model"
RATE, RATE_NEW = 5e-5, 4e-4
"""Learning rates: with a base, and without."""
WARM_UP = 20
"""Steps of the warm-up."""
CLIP = 0.1
SEED = 16


@dataclass(kw_only=True)
class Ready(TrainingState):
    """A training in progress. best: the highest mAP50 so far; negative before the first epoch."""

    network: Any
    classes: list[str]
    pages: list[TaughtPage]
    side: int
    max_pixels: int
    rate: float
    best: float = -1.0

    def of(self, part: str) -> list[TaughtPage]:
        """Return the pages of one part."""
        return [page for page in self.pages if page.part == part]


class RegionTrainer(EpochTrainer[Ready]):
    """Answers `epoch` and `finish`; params: folder, base? {path}, image_size, batch_size, max_pixels.

    The result of an epoch: epoch, loss (per page), map50 (on the validation pages), lines (training pages),
    best.
    """

    def finish(self, call: Call) -> dict[str, Any]:
        """Write the best epoch's model as a folder: {model, map50, held_out_pages}; the score is that of the
        held-out pages.
        """
        ready = self.load_finished(call)
        ready.network.load_state_dict(ready.best_state)
        held_out = ready.of("held-out")
        score = mean_average_precision(*self._looked_at(call, ready, held_out))
        detected, truth = self._looked_at(call, ready, ready.of("validation") or ready.of("taught"))
        ready.network.config.sure_from = sure_from([distinct(page) for page in detected], truth)
        target, beside = ready.folder / MODEL, ready.folder / f"{MODEL}.part"
        for folder in (target, beside):
            # An earlier attempt may have left part of it.
            shutil.rmtree(folder, ignore_errors=True)
        ready.network.config.taught_at = ready.side
        try:
            ready.network.save_pretrained(beside)
            os.replace(beside, target)
        except OSError as error:
            raise no_room("the model", error) from error
        finally:
            # Now it contains the best epoch's weights, not the last one's.
            self.ready = None
        return {
            "model": str(target / "config.json"),
            "map50": score,
            "held_out_pages": sum(bool(page.regions) for page in held_out),
            "classes": ready.classes,
        }

    def begin(self, folder: Path, params: Mapping[str, Any]) -> Ready:
        """Return the detector with its base's weights, or as saved in the checkpoint."""
        import torch

        torch.set_num_threads(self.context.threads)
        torch.manual_seed(SEED)
        pages = read_pages(folder)
        classes = classes_of(pages)
        if not classes:
            raise Refused("No region of the training pages has a type; draw some and state their types.")
        base = params.get("base")
        network = load_detector(Path(base["path"]), classes) if base else new_detector(classes)
        rate = RATE if base else RATE_NEW
        change = torch.optim.AdamW(network.parameters(), rate, weight_decay=1e-4)
        ready = Ready(
            folder=folder,
            network=network,
            change=change,
            classes=classes,
            pages=pages,
            # The network works in steps of 32 pixels.
            side=max(32, int(params.get("image_size", 960)) // 32 * 32),
            max_pixels=int(params.get("max_pixels", 1 << 28)),
            rate=rate,
        )
        if (weights := ready.resume()) is not None:
            network.load_state_dict(weights["network"])
        return ready

    def one_epoch(self, call: Call, ready: Ready) -> None:
        """Train on all training pages once, then evaluate on those for validation."""
        import torch

        number = len(ready.epochs) + 1
        chance = random.Random(SEED * 1_000_003 + number)
        torch.manual_seed(SEED + number)
        started, losses, steps_done = time.monotonic(), 0.0, 0
        taught = ready.of("taught")
        order = chance.sample(taught, len(taught))
        size = int(call.params.get("batch_size", 4))
        ready.network.train()
        with self.whole_epoch():
            for start in range(0, len(order), size):
                call.check()
                batch = order[start : start + size]
                losses += _teach(ready, batch, chance) * len(batch)
                steps_done += len(batch)
                call.progress(steps_done, len(order), unit="pages", epoch=number)
            looked_at = self._looked_at(call, ready, ready.of("validation") or taught)
            score = mean_average_precision(*looked_at)
        is_best = (score or 0.0) > ready.best
        if (score or 0.0) >= ready.best:
            # Of equally good epochs the last is kept: its scores are the highest.
            ready.best = score or 0.0
            ready.best_state = {name: weights.clone() for name, weights in ready.network.state_dict().items()}
        ready.epochs.append(
            self.outcome(
                started,
                epoch=number,
                loss=round(losses / max(1, len(order)), 4),
                map50=round(score or 0.0, 5),
                lines=len(order),
                best=is_best,
            )
        )
        ready.save(network=ready.network.state_dict())

    def _looked_at(
        self, call: Call, ready: Ready, pages: Sequence[TaughtPage]
    ) -> tuple[list[list[FoundRegion]], list[list[TrueRegion]]]:
        """Return what is found on *pages* and what is there, including types not trained on; without pages
        nobody drew on.
        """
        numbers = {name: number for number, name in enumerate(ready.classes)}
        detected: list[list[FoundRegion]] = []
        truth: list[list[TrueRegion]] = []
        for page in pages:
            if not page.regions:
                continue
            call.check()
            image = picture(page.path, ready.side, ready.max_pixels)
            detected += found_on(ready.network, image[None])
            # A type that was not trained on has a number that no detection gets.
            truth.append(
                [
                    TrueRegion(numbers.setdefault(region["class"], len(numbers)), tuple(region["rect"]))
                    for region in page.regions
                ]
            )
        return detected, truth


def _teach(ready: Ready, pages: Sequence[TaughtPage], chance: random.Random) -> float:
    """Do one step; return the loss per page."""
    import torch

    both = [
        augment(picture(page.path, ready.side, ready.max_pixels), label(page, ready.classes), chance)
        for page in pages
    ]
    output = ready.network(
        pixel_values=torch.stack([image for image, _ in both]), labels=[labels for _, labels in both]
    )
    output.loss.backward()
    ready.step(ready.network.parameters(), ready.rate, warm_up=WARM_UP, clip=CLIP)
    return float(output.loss.detach())
