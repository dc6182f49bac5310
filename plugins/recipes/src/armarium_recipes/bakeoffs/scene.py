"""A drawing of boxes, lines, dots and words that can be written as PNG or as SVG with the same result."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from html import escape
from typing import Literal

from armarium.api import PictureFont

INK, FAINT, PAPER = (34, 34, 34), (190, 190, 190), (255, 255, 255)
SCALE = 2
"""Pixels of the PNG per unit of the drawing."""

Colour = tuple[int, int, int]
Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True)
class Box:
    """A filled box."""

    x: float
    y: float
    width: float
    height: float
    colour: Colour


@dataclass(frozen=True)
class Stroke:
    """A straight line."""

    x0: float
    y0: float
    x1: float
    y1: float
    colour: Colour = INK
    width: float = 1.0


@dataclass(frozen=True)
class Dot:
    """A filled circle."""

    x: float
    y: float
    radius: float
    colour: Colour


@dataclass(frozen=True)
class Words:
    """A line of words; *anchor* says which part of it is at x, and y is its baseline."""

    x: float
    y: float
    text: str
    size: float = 13.0
    anchor: Anchor = "start"
    colour: Colour = INK


@dataclass
class Scene:
    """A drawing; its PNG has SCALE pixels per unit."""

    width: float
    height: float
    title: str
    things: list[Box | Stroke | Dot | Words] = field(default_factory=list)

    def add(self, *things: Box | Stroke | Dot | Words) -> None:
        """Draw on top of what is already there."""
        self.things += things

    def as_svg(self) -> str:
        """Return an SVG element to be placed in a page."""
        shapes = "".join(map(_svg, self.things))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:g} {self.height:g}" role="img" '
            f'aria-label="{escape(self.title)}" font-family="system-ui,sans-serif">{shapes}</svg>'
        )

    def as_png(self) -> bytes:
        """Return the bytes of a PNG."""
        from PIL import Image, ImageDraw

        picture = Image.new("RGB", (round(self.width * SCALE), round(self.height * SCALE)), PAPER)
        pen = ImageDraw.Draw(picture)
        fonts: dict[float, PictureFont] = {}
        for item in self.things:
            if isinstance(item, Box):
                corners = (item.x, item.y, item.x + max(item.width, 0.5), item.y + max(item.height, 0.5))
                pen.rectangle([value * SCALE for value in corners], fill=item.colour)
            elif isinstance(item, Stroke):
                ends = [value * SCALE for value in (item.x0, item.y0, item.x1, item.y1)]
                pen.line(ends, fill=item.colour, width=max(1, round(item.width * SCALE)))
            elif isinstance(item, Dot):
                x, y, radius = item.x, item.y, item.radius
                around = (x - radius, y - radius, x + radius, y + radius)
                pen.ellipse([value * SCALE for value in around], fill=item.colour)
            else:
                font = fonts.setdefault(item.size, PictureFont(item.size * SCALE))
                share = {"start": 0.0, "middle": 0.5, "end": 1.0}[item.anchor]
                left_edge = item.x * SCALE - share * font.width(item.text)
                font.write(picture, (left_edge, item.y * SCALE), item.text, item.colour)
        file = io.BytesIO()
        picture.save(file, "PNG", optimize=True)
        return file.getvalue()


def _svg(item: Box | Stroke | Dot | Words) -> str:
    colour = "#{:02x}{:02x}{:02x}".format(*item.colour)
    if isinstance(item, Box):
        return (
            f'<rect x="{item.x:.1f}" y="{item.y:.1f}" width="{max(item.width, 0.5):.1f}" height="{item.height:.1f}" '
            f'fill="{colour}"/>'
        )
    if isinstance(item, Stroke):
        return (
            f'<line x1="{item.x0:.1f}" y1="{item.y0:.1f}" x2="{item.x1:.1f}" y2="{item.y1:.1f}" stroke="{colour}" '
            f'stroke-width="{item.width:g}"/>'
        )
    if isinstance(item, Dot):
        return f'<circle cx="{item.x:.1f}" cy="{item.y:.1f}" r="{item.radius:g}" fill="{colour}"/>'
    return (
        f'<text x="{item.x:.1f}" y="{item.y:.1f}" font-size="{item.size:g}" text-anchor="{item.anchor}" '
        f'fill="{colour}">{escape(item.text)}</text>'
    )
