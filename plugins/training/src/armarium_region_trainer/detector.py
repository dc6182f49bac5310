"""The worker that finds regions with a trained detector, which it keeps loaded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from armarium_region_trainer.network import found_on, load_detector
from armarium_region_trainer.pages import picture
from armarium_region_trainer.scoring import FoundRegion, distinct
from armarium_worker import Call, Handler, Refused, WorkerContext

SIDE = 960
"""Pixels; used if the model does not say at which size it was trained."""
SURE = 0.4
"""The least score of a region, if the model does not state one."""


class Detector:
    """Answers `find_regions`."""

    def __init__(self, context: WorkerContext) -> None:
        self.context = context
        self.path: Path | None = None
        self.network: Any = None

    @classmethod
    def handlers(cls, context: WorkerContext) -> Mapping[str, Handler]:
        """Return the methods that the engine calls."""
        return {"find_regions": cls(context).find_regions}

    def find_regions(self, call: Call) -> dict[str, Any]:
        """Params: model (the path of its config.json), image, max_pixels, at_least? (the least score, 0 to 1;
        none: the one that suited the pages it was validated on).

        Result: regions[] {class, rect, score}, the highest score first, in fractions of the page and within
        it.
        """
        path = Path(str(call.params["model"]))
        if not path.is_file():
            raise Refused("The detector's model no longer exists; list the trained models to find another.")
        if self.path != path:
            import torch

            torch.set_num_threads(self.context.threads)
            self.path, self.network = None, load_detector(path)
            self.path = path
        config = self.network.config
        side = int(getattr(config, "taught_at", None) or SIDE)
        image = picture(Path(str(call.params["image"])), side, int(call.params["max_pixels"]))
        least = call.params.get("at_least")
        at_least = float(getattr(config, "sure_from", None) or SURE) if least is None else float(least)
        (regions,) = found_on(self.network, image[None], at_least)
        return {
            "regions": [
                {"class": config.id2label[region.kind], "rect": inside, "score": round(region.score, 4)}
                for region in distinct(regions)
                if (inside := _clip_region(region))
            ]
        }


def _clip_region(region: FoundRegion) -> list[float] | None:
    left, top = max(0.0, region.box[0]), max(0.0, region.box[1])
    right, bottom = min(1.0, region.box[0] + region.box[2]), min(1.0, region.box[1] + region.box[3])
    return [left, top, right - left, bottom - top] if right - left > 1e-4 and bottom - top > 1e-4 else None
