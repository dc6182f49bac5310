"""The pages of a training as they lie in its folder, as tensors, and changed a little each time."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from armarium_worker import Refused

Part = Literal["taught", "validation", "held-out"]


@dataclass(frozen=True)
class TaughtPage:
    """A page: its picture, its regions {class, rect} in fractions of it, and what it is for."""

    path: Path
    regions: list[dict[str, Any]]
    part: Part


def read_pages(folder: Path) -> list[TaughtPage]:
    """The pages of `lines.json`, in their order."""
    told = json.loads((folder / "lines.json").read_text("utf-8"))["pages"]
    return [TaughtPage(folder / one["file"], one["regions"], one["part"]) for one in told]


def classes_of(pages: Sequence[TaughtPage]) -> list[str]:
    """The kinds of the regions that are taught, in the order of their names."""
    return sorted({one["class"] for page in pages if page.part != "held-out" for one in page.regions})


def picture(path: Path, side: int, max_pixels: int) -> Any:
    """The picture as floats from 0 to 1, (3, side, side): stretched, as detectors of this family want it."""
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
            small = turned.convert("RGB").resize((side, side), Image.Resampling.BILINEAR)
    except (OSError, ValueError, SyntaxError) as error:
        raise Refused("A page picture is not there any more, or is none.") from error
    return torch.from_numpy(np.asarray(small).copy()).permute(2, 0, 1).float().div_(255)


def label(page: TaughtPage, classes: Sequence[str]) -> dict[str, Any]:
    """The regions as the network is taught them: kinds by number, centre and size in fractions."""
    import torch

    numbers = {name: number for number, name in enumerate(classes)}
    known = [one for one in page.regions if one["class"] in numbers]
    boxes = [_as_centre_and_size(one["rect"]) for one in known]
    return {
        "class_labels": torch.tensor([numbers[one["class"]] for one in known], dtype=torch.long),
        "boxes": torch.tensor(boxes, dtype=torch.float32).reshape(-1, 4),
    }


def _as_centre_and_size(rect: Sequence[float]) -> list[float]:
    """A rectangle inside the page, as its centre and size; one without an area becomes as thin as a hair."""
    left, top = min(max(rect[0], 0.0), 1.0), min(max(rect[1], 0.0), 1.0)
    right, bottom = min(rect[0] + rect[2], 1.0), min(rect[1] + rect[3], 1.0)
    return [(left + right) / 2, (top + bottom) / 2, max(right - left, 1e-4), max(bottom - top, 1e-4)]


def augment(image: Any, told: dict[str, Any], chance: random.Random) -> tuple[Any, dict[str, Any]]:
    """The page as another camera saw it: lighter or darker, of more or less contrast, drawn nearer to one corner.

    It is never mirrored: writing is not.
    """
    import torch
    from torch.nn import functional

    contrast, light = chance.uniform(0.7, 1.3), chance.uniform(-0.15, 0.15)
    image = ((image - 0.5) * contrast + 0.5 + light).clamp_(0, 1)
    scale = chance.uniform(0.85, 1.0)
    left, top = chance.uniform(0, 1 - scale), chance.uniform(0, 1 - scale)
    # Where each pixel comes from, in fractions of half a side; outside the page the paper's own light goes on.
    matrix = torch.tensor(
        [[[1 / scale, 0, (1 - 2 * left - scale) / scale], [0, 1 / scale, (1 - 2 * top - scale) / scale]]]
    )
    grid = functional.affine_grid(matrix, [1, *image.shape], align_corners=False)
    image = functional.grid_sample(image[None], grid, align_corners=False, padding_mode="border")[0]
    boxes = told["boxes"] * scale
    boxes[:, 0] += left
    boxes[:, 1] += top
    return image, {**told, "boxes": boxes}
