"""Pages drawn by the tests, so that their contents are known, and rules for when something counts as found."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy
import pytest
from PIL import Image, ImageDraw, ImageFont

from armarium_layout.finding.ink import Box

DATA = Path(os.environ.get("ARMARIUM_SHARED_DATA", Path(__file__).parents[4] / "shared" / "data"))
"""Published real pages, if they are available."""

WORDS = [
    "anno",
    "domini",
    "millesimo",
    "in",
    "dei",
    "nomine",
    "notum",
    "sit",
    "omnibus",
    "quod",
    "ego",
    "petrus",
    "de",
    "castro",
    "vendo",
    "tibi",
    "domum",
    "meam",
    "sitam",
    "juxta",
    "ecclesiam",
    "sancti",
    "martini",
    "pro",
    "precio",
    "viginti",
    "librarum",
    "quas",
    "a",
    "te",
    "habui",
    "et",
    "recepi",
    "numeratas",
]


def font(size: int) -> Any:
    """Return a typeface that comes with Pillow."""
    return ImageFont.load_default(size)


def paper(width: int, height: int, *, grain: int = 0, seed: int = 1) -> Image.Image:
    """Return a sheet of light paper, with noise of so many grey levels."""
    dice = numpy.random.default_rng(seed)
    pixels = numpy.full((height, width), 225, float)
    if grain:
        pixels += dice.normal(0, grain, pixels.shape)
    return Image.fromarray(numpy.clip(pixels, 0, 255).astype(numpy.uint8))


def sentence(dice: random.Random, width: float, size: int) -> str:
    """Return words that are about *width* pixels long."""
    words: list[str] = []
    while font(size).getlength(" ".join(words)) < width:
        words.append(dice.choice(WORDS))
    return " ".join(words[:-1]) or words[0]


def write(image: Image.Image, left: float, baseline: float, text: str, size: int = 22) -> Box:
    """Write *text*; return the box of its ink."""
    pen = ImageDraw.Draw(image)
    pen.text((left, baseline), text, font=font(size), fill=35, anchor="ls")
    return Box(*pen.textbbox((left, baseline), text, font=font(size), anchor="ls"))


def write_block(
    image: Image.Image,
    left: int,
    top: int,
    width: int,
    lines: int,
    *,
    seed: int = 1,
    size: int = 22,
    pitch: int = 34,
) -> list[Box]:
    """Write lines of text one below the other; return the boxes of their ink."""
    dice = random.Random(seed)
    return [
        write(image, left, top + pitch * (number + 1), sentence(dice, width, size), size)
        for number in range(lines)
    ]


def around(boxes: Sequence[Box]) -> Box:
    """Return the box that contains them all."""
    return Box(
        min(box.left for box in boxes),
        min(box.top for box in boxes),
        max(box.right for box in boxes),
        max(box.bottom for box in boxes),
    )


def overlap(a: Box, b: Box) -> float:
    """Return the area that two boxes share, as a share of the area that either covers."""
    width = max(0.0, min(a.right, b.right) - max(a.left, b.left))
    height = max(0.0, min(a.bottom, b.bottom) - max(a.top, b.top))
    both = width * height
    whole = (a.right - a.left) * (a.bottom - a.top) + (b.right - b.left) * (b.bottom - b.top) - both
    return both / whole if whole else 0.0


def precision_and_recall(
    found: Sequence[Box], truth: Sequence[Box], least: float = 0.5
) -> tuple[float, float]:
    """Return how much of what was found is right, and how much of what exists was found."""
    pairs = sorted(
        ((overlap(a, b), i, j) for i, a in enumerate(found) for j, b in enumerate(truth)), reverse=True
    )
    mine: set[int] = set()
    theirs: set[int] = set()
    for shared, i, j in pairs:
        if shared >= least and i not in mine and j not in theirs:
            mine.add(i)
            theirs.add(j)
    return len(mine) / max(1, len(found)), len(theirs) / max(1, len(truth))


def real_image(name: str, longest: int | None = None) -> Image.Image:
    """Return a real page; the test is skipped if it is not available."""
    path = DATA / name
    if not path.exists():
        pytest.skip(f"{name} is not here: set ARMARIUM_SHARED_DATA to the folder of real pages")
    Image.MAX_IMAGE_PIXELS = None
    image = Image.open(path)
    if longest:
        image.draft("L", (longest, longest))
    return image.convert("L")


def page_lines(name: str, size: tuple[int, int]) -> list[dict[str, Any]]:
    """Return the lines of a PAGE file with their baselines and outlines, in pixels of a picture of *size*."""
    from lxml import etree

    path = DATA / name
    if not path.exists():
        pytest.skip(f"{name} is not here: set ARMARIUM_SHARED_DATA to the folder of real pages")
    root = etree.parse(str(path)).getroot()
    page = next(e for e in root.iter() if isinstance(e.tag, str) and e.tag.endswith("}Page"))
    across, down = size[0] / float(page.get("imageWidth")), size[1] / float(page.get("imageHeight"))
    found = []
    for element in root.iter():
        if not isinstance(element.tag, str) or not element.tag.endswith("}TextLine"):
            continue
        line: dict[str, Any] = {"region": element.getparent().get("id")}
        for child in element:
            kind = child.tag.rsplit("}", 1)[-1]
            if kind in ("Coords", "Baseline"):
                pairs = re.findall(r"([\d.]+),([\d.]+)", child.get("points") or "")
                line[kind] = [(float(x) * across, float(y) * down) for x, y in pairs]
        if line.get("Coords") and line.get("Baseline"):
            found.append(line)
    return found
