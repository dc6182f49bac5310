"""Pages whose lines people drew: pictures with ALTO or PAGE files, as baselines and outlines in pixels of the picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Points = NDArray[np.float64]
PICTURES = {".jpg", ".jpeg", ".png", ".tif", ".tiff"}
BASE = 0.78
"""Where the baseline of a line runs that has a box only, as a share of its height."""


@dataclass
class DrawnLine:
    """A baseline, from the start of the writing to its end, and how far the line reaches above and below it."""

    baseline: Points
    above: float
    below: float


@dataclass
class DrawnPage:
    """A picture and its lines; layout files without a picture have None."""

    source: str
    picture: Path | None
    width: float
    height: float
    lines: list[DrawnLine]


def drawn_pages(data: Path) -> Iterator[DrawnPage]:
    """Every page of the shared data that has a picture and lines."""
    folders = [*sorted((data / "page-pairs").iterdir()), *sorted((data / "alto-pairs").iterdir())]
    for folder in [*folders, data / "series-wills", data / "onehand-peraire"]:
        layouts = sorted(folder.rglob("*.xml"))
        pictures = sorted(path for path in folder.iterdir() if path.suffix.lower() in PICTURES)
        for picture in pictures:
            fitting = [layout for layout in layouts if layout.name.startswith(picture.stem)] or (
                layouts if len(pictures) == 1 else []
            )
            best = [layout for layout in fitting if "ocr" not in layout.name.lower()] or fitting
            if best and (page := read_layout(best[-1], folder.name, picture)) is not None:
                yield page


def read_layout(path: Path, source: str, picture: Path | None = None) -> DrawnPage | None:
    """The lines of one ALTO or PAGE file in pixels of its picture; None where it has none."""
    root = ElementTree.parse(path).getroot()
    page = next((node for node in root.iter() if _name(node) == "Page"), None)
    if page is None:
        return None
    size = [
        float(page.get(key) or page.get(key.upper()) or page.get(f"image{key}") or 0)
        for key in ("Width", "Height")
    ]
    lines = [line for node in root.iter() if _name(node) == "TextLine" and (line := _line(node)) is not None]
    if picture is not None:
        with Image.open(picture) as image:
            across, down = image.size
        unit = next((node.text for node in root.iter() if _name(node) == "MeasurementUnit"), "pixel")
        if unit != "pixel" and size[0]:
            scale = across / size[0]
            lines = [
                DrawnLine(line.baseline * scale, line.above * scale, line.below * scale) for line in lines
            ]
        size = [across, down]
    return DrawnPage(source, picture, size[0], size[1], lines) if lines and all(size) else None


def _name(node: Any) -> str:
    return str(node.tag).rpartition("}")[2]


def _points(text: str | None) -> Points:
    numbers = [float(number) for number in (text or "").replace(",", " ").split()]
    return np.array(numbers[: len(numbers) // 2 * 2]).reshape(-1, 2)


def _line(node: Any) -> DrawnLine | None:
    """A line with its baseline and reach; from its box where it has no baseline."""
    outline, base = np.empty((0, 2)), _points(node.get("BASELINE"))
    for child in node.iter():
        if _name(child) == "Polygon" and not len(outline):
            outline = _points(child.get("POINTS"))
        elif _name(child) == "Coords" and not len(outline):
            outline = _points(child.get("points"))
        elif _name(child) == "Baseline":
            base = _points(child.get("points"))
    if not len(outline) and node.get("HPOS"):
        x, y, w, h = (float(node.get(key)) for key in ("HPOS", "VPOS", "WIDTH", "HEIGHT"))
        outline = np.array([[x, y], [x + w, y], [x + w, y + h], [x, y + h]])
    if len(outline) < 3:
        return None
    (x0, y0), (x1, y1) = outline.min(0), outline.max(0)
    if len(base) < 2:
        base = np.array([[x0, y0 + BASE * (y1 - y0)], [x1, y0 + BASE * (y1 - y0)]])
    span = base[-1] - base[0]
    if abs(span[0]) >= abs(span[1]) and span[0] < 0:
        base, span = base[::-1], -span
    length = float(np.hypot(*span))
    if length < 4:
        return None
    up = np.array([span[1], -span[0]]) / length
    reach = (outline - base[0]) @ up
    middle = (base - base[0]) @ up
    above = float(np.percentile(reach, 85) - np.median(middle))
    below = float(np.median(middle) - np.percentile(reach, 15))
    return DrawnLine(base, max(above, 3.0), max(below, 0.25 * max(above, 3.0)))
