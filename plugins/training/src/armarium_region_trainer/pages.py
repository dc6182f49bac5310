"""Reads the pages of a training from its folder as tensors, with small random changes."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from armarium_worker import Refused, flatten_image

Part = Literal["taught", "validation", "held-out"]


@dataclass(frozen=True)
class TaughtPage:
    """A page for training: its picture, its regions {class, rect} in fractions of it, and its part."""

    path: Path
    regions: list[dict[str, Any]]
    part: Part


def read_pages(folder: Path) -> list[TaughtPage]:
    """Return the pages of `lines.json`, in order."""
    entries = json.loads((folder / "lines.json").read_text("utf-8"))["pages"]
    return [TaughtPage(folder / entry["file"], entry["regions"], entry["part"]) for entry in entries]


def classes_of(pages: Sequence[TaughtPage]) -> list[str]:
    """Return the classes of the regions to train on, by name."""
    return sorted({region["class"] for page in pages if page.part != "held-out" for region in page.regions})


def picture(path: Path, side: int, max_pixels: int) -> Any:
    """Return the picture as floats from 0 to 1, (3, side, side), stretched as detectors of this family expect."""
    import numpy as np
    import torch
    from PIL import Image, ImageOps

    Image.MAX_IMAGE_PIXELS = None
    try:
        with Image.open(path) as image:
            if image.width * image.height > max_pixels:
                raise Refused("The page picture has more pixels than the engine allows.")
            image.draft("RGB", (side * 2, side * 2))
            turned = ImageOps.exif_transpose(image) or image
            small = flatten_image(turned).resize((side, side), Image.Resampling.BILINEAR)
    except (OSError, ValueError, SyntaxError) as error:
        raise Refused("A page picture is missing or cannot be decoded.") from error
    return torch.from_numpy(np.asarray(small).copy()).permute(2, 0, 1).float().div_(255)


def label(page: TaughtPage, classes: Sequence[str]) -> dict[str, Any]:
    """Return the regions as training targets: classes by number, centre and size in fractions."""
    import torch

    numbers = {name: number for number, name in enumerate(classes)}
    regions = [region for region in page.regions if region["class"] in numbers]
    boxes = [_as_centre_and_size(region["rect"]) for region in regions]
    return {
        "class_labels": torch.tensor([numbers[region["class"]] for region in regions], dtype=torch.long),
        "boxes": torch.tensor(boxes, dtype=torch.float32).reshape(-1, 4),
    }


def _as_centre_and_size(rect: Sequence[float]) -> list[float]:
    """Return a rectangle within the page as its centre and size; one without an area gets a hair's width."""
    left, top = min(max(rect[0], 0.0), 1.0), min(max(rect[1], 0.0), 1.0)
    right, bottom = min(rect[0] + rect[2], 1.0), min(rect[1] + rect[3], 1.0)
    return [(left + right) / 2, (top + bottom) / 2, max(right - left, 1e-4), max(bottom - top, 1e-4)]


def augment(image: Any, labels: dict[str, Any], chance: random.Random) -> tuple[Any, dict[str, Any]]:
    """Return the page as another camera would show it: brightness, contrast and a crop towards one corner vary.

    It is never mirrored: writing is not.
    """
    import torch
    from torch.nn import functional

    contrast, light = chance.uniform(0.7, 1.3), chance.uniform(-0.15, 0.15)
    image = ((image - 0.5) * contrast + 0.5 + light).clamp_(0, 1)
    scale = chance.uniform(0.85, 1.0)
    left, top = chance.uniform(0, 1 - scale), chance.uniform(0, 1 - scale)
    # The source of each pixel, in fractions of half a side; outside the page the paper's colour continues.
    matrix = torch.tensor(
        [[[1 / scale, 0, (1 - 2 * left - scale) / scale], [0, 1 / scale, (1 - 2 * top - scale) / scale]]]
    )
    grid = functional.affine_grid(matrix, [1, *image.shape], align_corners=False)
    image = functional.grid_sample(image[None], grid, align_corners=False, padding_mode="border")[0]
    boxes = labels["boxes"] * scale
    boxes[:, 0] += left
    boxes[:, 1] += top
    return image, {**labels, "boxes": boxes}
