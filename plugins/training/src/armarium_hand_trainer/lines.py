"""Reads the lines of a training from its folder, encodes them in an alphabet, and forms batches with
variations of the hand.
"""

from __future__ import annotations

import itertools
import json
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from armarium_hand_trainer.net import MARGIN, PAIR, SHAPE, STEP, steps_of
from armarium_worker import Refused

Ink = NDArray[np.uint8]
HEIGHT = SHAPE["height"]
"""Pixels, of every line's picture."""


@dataclass(frozen=True)
class Line:
    """A line's picture, (HEIGHT, width) of ink from 0 to 255, and its text."""

    ink: Ink
    text: str
    for_validation: bool


def read_lines(folder: Path) -> list[Line]:
    """Return the lines of `lines.json` and `pictures.bin`, in order."""
    entries: list[dict[str, Any]] = json.loads((folder / "lines.json").read_text("utf-8"))["lines"]
    pictures = np.memmap(folder / "pictures.bin", np.uint8, "r") if entries else np.zeros(0, np.uint8)
    lines, at = [], 0
    if len(pictures) != HEIGHT * sum(int(entry["width"]) for entry in entries):
        raise Refused(
            f"The lines of this training were not cut to {HEIGHT} pixels of height, as by an earlier version. "
            "Start the training again."
        )
    for entry in entries:
        size = HEIGHT * int(entry["width"])
        ink = np.asarray(pictures[at : at + size]).reshape(HEIGHT, -1)
        at += size
        lines.append(Line(ink, entry["text"], bool(entry["for_validation"])))
    return lines


def plain(text: str) -> str:
    """Normalise *text* for training: composed characters, single spaces, none at the ends."""
    return unicodedata.normalize("NFC", " ".join(text.split()))


def grow_alphabet(alphabet: Sequence[str], texts: Iterable[str]) -> list[str]:
    """Append to *alphabet* those characters of *texts* that it cannot write, even decomposed."""
    letters = dict.fromkeys(alphabet)
    for text in texts:
        for character in plain(text):
            if any(part not in letters for part in _spell_character(character, letters)):
                letters[character] = None
    return list(letters)


def codes_of(text: str, alphabet: Sequence[str]) -> list[int]:
    """Return the classes of *text*, from 1 on; a character missing from the alphabet is decomposed, else left out."""
    numbers = {character: at for at, character in enumerate(alphabet, 1)}
    return [
        numbers[part]
        for character in plain(text)
        for part in _spell_character(character, numbers)
        if part in numbers
    ]


def _spell_character(character: str, letters: Any) -> Sequence[str]:
    if character in letters:
        return (character,)
    parts = unicodedata.normalize("NFD", character)
    return parts if all(part in letters for part in parts) else (character,)


def fits(line: Line, codes: Sequence[int]) -> bool:
    """Return whether the picture has enough answers for its letters: a repeated letter needs a blank between."""
    repeated = sum(code == following for code, following in itertools.pairwise(codes))
    return bool(codes) and PAIR * steps_of(line.ink.shape[1]) >= len(codes) + repeated


def pad_pictures(pictures: Sequence[Ink]) -> Tensor:
    """Return pictures of different widths as one tensor of ink from 0 to 1, padded with paper on the right as
    the reader does.
    """
    width = max(steps_of(picture.shape[1]) for picture in pictures) * STEP + MARGIN
    out = np.zeros((len(pictures), 1, HEIGHT, width), dtype=np.uint8)
    for row, picture in zip(out, pictures, strict=True):
        row[0, :, : picture.shape[1]] = picture
    return torch.from_numpy(out).float().div_(255)


def batches(
    widths: Sequence[int], size: int, pixels: int, chance: np.random.Generator
) -> Iterator[list[int]]:
    """Yield all lines once, as indices: similar widths together, batches in random order, each at most
    *pixels* wide in all.
    """
    keys = np.array(widths) * np.exp(chance.normal(0, 0.1, len(widths)))
    all_batches: list[list[int]] = []
    batch: list[int] = []
    for at in np.argsort(keys):
        widest = max([widths[at], *(widths[other] for other in batch)])
        if batch and (len(batch) == size or widest * (len(batch) + 1) > pixels):
            all_batches.append(batch)
            batch = []
        batch.append(int(at))
    if batch:
        all_batches.append(batch)
    for number in chance.permutation(len(all_batches)):
        yield all_batches[number]


def vary_lines(lines: Tensor, chance: np.random.Generator) -> Tensor:
    """Vary the pictures as if written on another day: slant, stretch, shift, thickness, faintness, rougher paper."""
    count, _, height, width = lines.shape
    slant = chance.normal(0, 0.12, count)
    tall, long = np.exp(chance.normal(0, 0.08, count)), np.exp(chance.normal(0, 0.06, count))
    down = chance.normal(0, 0.06, count)
    # grid_sample maps each output pixel to its source, in fractions of half a side; the slant is in pixels.
    # Stretching starts at the left edge, so that no letter leaves the steps that its line has.
    matrix = np.zeros((count, 2, 3), dtype=np.float32)
    long = np.maximum(long, 1.0)
    matrix[:, 0, 0], matrix[:, 0, 1], matrix[:, 0, 2] = long, slant * height / width, long - 1
    matrix[:, 1, 1], matrix[:, 1, 2] = tall, down
    grid = functional.affine_grid(torch.from_numpy(matrix), list(lines.shape), align_corners=False)
    out = functional.grid_sample(lines, grid, align_corners=False, padding_mode="zeros")
    for number, kind in enumerate(chance.random(count)):
        line = out[number : number + 1]
        if kind < 0.2:
            out[number : number + 1] = functional.max_pool2d(line, 3, 1, 1).lerp(line, 0.5)
        elif kind < 0.4:
            out[number : number + 1] = (-functional.max_pool2d(-line, 3, 1, 1)).lerp(line, 0.6)
        elif kind < 0.55:
            out[number : number + 1] = functional.avg_pool2d(line, 3, 1, 1)
    strength = torch.from_numpy(np.exp(chance.normal(0, 0.2, (count, 1, 1, 1))).astype(np.float32))
    noise = torch.from_numpy(chance.normal(0, 0.04, (count, 1, height, width)).astype(np.float32))
    return (out * strength + noise).clamp_(0, 1)
