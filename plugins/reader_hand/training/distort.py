"""Changes a batch of line pictures as other hands, pens, papers and scanners would, on the device where the batch is."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

BLANK = 0.12
"""Ink, 0 to 1: columns whose darkest pixel nearby is below are taken for a space between words."""
GAP = 9
"""Pixels: what is blank must be as wide."""


class Dice:
    """Random numbers per line, shaped to be broadcast over pictures (lines, 1, height, width)."""

    def __init__(self, count: int, device: torch.device) -> None:
        self.count, self.device = count, device

    def uniform(self, low: float, high: float) -> Tensor:
        return torch.rand(self.count, 1, 1, 1, device=self.device) * (high - low) + low

    def normal(self, spread: float) -> Tensor:
        return torch.randn(self.count, 1, 1, 1, device=self.device) * spread

    def sometimes(self, chance: float) -> Tensor:
        """1 for that share of the lines, else 0."""
        return (torch.rand(self.count, 1, 1, 1, device=self.device) < chance).float()


def distort(ink: Tensor, before: Tensor, after: Tensor, width: int) -> Tensor:
    """Changed pictures (lines, 1, height, *width*) of *ink* (lines, 1, height, widest), 0 to 1.

    *before* and *after* are the widths (lines) in pixels that each line has and shall have; right of it is paper.
    """
    dice = Dice(len(ink), ink.device)
    out = _written_otherwise(ink, before, after, width, dice)
    inside = (torch.arange(width, device=ink.device) < after[:, None])[:, None, None].to(out.dtype)
    out = _pen(out, dice)
    out = _neighbours(out, dice) * inside
    out = _blur(out, dice)
    gamma, gain = dice.normal(0.25).exp(), dice.uniform(0.6, 1.15)
    out = gain * out.clamp(1e-4, 1) ** gamma
    out = _paper(out, dice)
    out = _strips(out, dice)
    hard = dice.sometimes(0.06)
    out = torch.lerp(out, ((out - dice.uniform(0.3, 0.55)) * 12).sigmoid(), hard)
    return out.clamp(0, 1) * inside


def _written_otherwise(ink: Tensor, before: Tensor, after: Tensor, width: int, dice: Dice) -> Tensor:
    """Width of letters and of spaces, slant, size, position, slope and waves, in one resampling."""
    count, _, height, widest = ink.shape
    x = torch.arange(width, device=ink.device, dtype=torch.float32)[None]
    columns = _columns(ink, before, after, x, dice)
    middle = (height - 1) / 2
    y = torch.arange(height, device=ink.device, dtype=torch.float32)[None, :, None]
    slant = (dice.normal(0.18) * dice.sometimes(0.75))[:, 0]
    high = dice.uniform(-0.2, 0.14).exp()[:, 0]
    tilt = (dice.normal(2.5) / after.clamp(min=300)[:, None, None, None])[:, 0] * (x - after[:, None] / 2)[
        :, None
    ]
    waves = _smooth(count, width, 160, ink.device)[:, None] * dice.uniform(0, 1.6)[:, 0]
    rows = (y - middle) / high + middle + dice.normal(2.5)[:, 0] + tilt + waves
    places = columns[:, None] + slant * (y - middle)
    grid = torch.stack(
        [(2 * places + 1) / widest - 1, ((2 * rows + 1) / height - 1).expand_as(places)], dim=-1
    )
    return functional.grid_sample(ink, grid, mode="bilinear", padding_mode="zeros", align_corners=False)


def _smooth(count: int, width: int, period: int, device: torch.device) -> Tensor:
    """A random curve for each line, with a turn about every *period* pixels."""
    points = torch.randn(count, 1, width // period + 2, device=device)
    return functional.interpolate(points, width, mode="linear", align_corners=True)[:, 0]


def _columns(ink: Tensor, before: Tensor, after: Tensor, x: Tensor, dice: Dice) -> Tensor:
    """For each column of the result, the place in the picture that it is taken from: letters unevenly wide, and the spaces
    between words narrower or wider than they were."""
    count, _, _, widest = ink.shape
    here = torch.arange(widest, device=ink.device)[None] < before[:, None]
    darkest = functional.max_pool1d(ink.amax(2), GAP, 1, GAP // 2)[:, 0]
    blank = (darkest < BLANK).float()
    pace = _smooth(count, widest, 110, ink.device) * dice.uniform(0, 0.14)[:, 0, 0]
    spaces = _smooth(count, widest, 60, ink.device) * 0.5 + dice.normal(0.35)[:, 0, 0]
    pace = pace + blank * (spaces * dice.sometimes(0.5)[:, 0, 0]).clamp(-1.1, 0.9)
    lengths = pace.exp() * here
    ends = lengths.cumsum(1)
    total = ends[:, -1:]
    position = (x + 0.5) * (total / after[:, None])
    at = torch.searchsorted(ends, position.contiguous()).clamp(max=widest - 1)
    end, length = ends.gather(1, at), lengths.gather(1, at)
    return at + 0.5 - (end - position) / length.clamp(min=1e-3)


def _pen(out: Tensor, dice: Dice) -> Tensor:
    """Thicker or thinner strokes."""
    thick = functional.max_pool2d(out, 3, 1, 1)
    thin = -functional.max_pool2d(-out, (2, 2), 1, 1)[:, :, : out.shape[2], : out.shape[3]]
    out = torch.lerp(out, thick, dice.uniform(0.2, 0.9) * dice.sometimes(0.15))
    return torch.lerp(out, thin, dice.uniform(0.2, 0.9) * dice.sometimes(0.15))


def _neighbours(out: Tensor, dice: Dice) -> Tensor:
    """The writing of the other side of the leaf, and the feet and heads of the lines above and below."""
    other = out.roll(1, 0)
    behind = functional.avg_pool2d(other.flip(3), 5, 1, 2) * dice.uniform(0.1, 0.45) * dice.sometimes(0.12)
    out = torch.maximum(out, behind)
    height = out.shape[2]
    rows = torch.arange(height, device=out.device)[None, None, :, None]
    deep = dice.uniform(3, 15)
    above = other.roll(height // 4, 2) * (rows < deep) * dice.sometimes(0.12)
    below = other.roll(-height // 4, 2) * (rows >= height - deep) * dice.sometimes(0.12)
    return torch.maximum(out, torch.maximum(above, below))


def _blur(out: Tensor, dice: Dice) -> Tensor:
    """Out of focus, and scanned at a lower resolution."""
    soft = functional.avg_pool2d(out, 3, 1, 1, count_include_pad=False)
    out = torch.lerp(out, soft, dice.uniform(0.2, 1.0) * dice.sometimes(0.2))
    height, width = out.shape[2:]
    low = int(torch.randint(22, 46, ()))
    small = functional.interpolate(
        out, (low, max(1, width * low // height)), mode="bilinear", align_corners=False, antialias=True
    )
    back = functional.interpolate(small, (height, width), mode="bilinear", align_corners=False)
    return torch.lerp(out, back, dice.sometimes(0.2))


def _paper(out: Tensor, dice: Dice) -> Tensor:
    """Stains (coarse) and grain (fine)."""
    height, width = out.shape[2:]
    coarse = torch.randn(len(out), 1, 3, max(2, width // 64), device=out.device)
    stains = functional.interpolate(coarse, (height, width), mode="bilinear", align_corners=True)
    out = out + stains * dice.uniform(0.02, 0.11) * dice.sometimes(0.3)
    return out + torch.randn_like(out) * dice.uniform(0.01, 0.09) * dice.sometimes(0.35)


def _strips(out: Tensor, dice: Dice) -> Tensor:
    """Narrow upright strips without ink, so that the neighbours must help; ruled lines."""
    height, width = out.shape[2:]
    columns = torch.arange(width, device=out.device)[None, None, None]
    rows = torch.arange(height, device=out.device)[None, None, :, None]
    for _ in range(3):
        start = dice.uniform(0, width)
        gone = (columns >= start) & (columns < start + dice.uniform(3, 15))
        out = out * (1 - gone * dice.sometimes(0.2))
    level = dice.uniform(0, height)
    ruled = (rows >= level) & (rows < level + dice.uniform(1, 3))
    return torch.maximum(out, ruled * dice.uniform(0.2, 0.8) * dice.sometimes(0.06))
