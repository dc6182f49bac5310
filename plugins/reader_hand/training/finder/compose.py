"""Composes pages of real lines, whose baselines and heights are therefore known, on paper that is made up.

A page is written flat, then bent, turned and photographed: `Composer.window` gives a window of it and its lines.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from training.finder.bank import HEIGHT, Bank
from training.finder.bending import DrawnLine, bend
from training.finder.paper import draw_furniture, paper_of, photograph

Float = NDArray[np.float32]
CORE = 0.45
"""The x-height of a drawn line, as a share of how far it reaches above its baseline."""


class Composer:
    """Draws pages at random."""

    def __init__(self, bank: Bank, seed: int) -> None:
        self.bank = bank
        self.chance = np.random.default_rng(seed)

    def window(self, size: int) -> tuple[NDArray[np.uint8], list[DrawnLine], bool]:
        """A window of *size* pixels of a composed or a drawn page, its lines in pixels of the window, and whether these are
        all: people often leave some out."""
        chance = self.chance
        if self.bank.pictures and chance.random() < 0.1:
            at = int(chance.integers(len(self.bank.pictures)))
            page = self.bank.pictures[at].astype(np.float32)
            lines = [
                DrawnLine(np.array(base), above, below, CORE * above)
                for base, above, below in self.bank.pages[at]["lines"]
            ]
            return *bend(
                self.chance, page, lines, size, float(chance.uniform(0.55, 1.2))
            ), chance.random() < 0.15
        page, lines = self._page()
        return *bend(self.chance, page, lines, size, float(chance.uniform(0.8, 1.2))), True

    def _page(self) -> tuple[Float, list[DrawnLine]]:
        """A flat page."""
        chance = self.chance
        long = int(chance.integers(1050, 1400))
        shape = (long, int(long * chance.uniform(0.62, 0.85)))
        if chance.random() < 0.25:
            shape = (shape[1], shape[0])
        ink = np.ones(shape, np.float32)
        self.hand = self._hand()
        self.strength = (
            float(chance.uniform(0.25, 1.0)) if chance.random() < 0.4 else float(chance.uniform(0.7, 1.0))
        )
        self.stroke = float(np.exp(chance.normal(0, 0.2)))
        self.unsteady = (
            float(abs(chance.normal(0, 0.35))) if chance.random() < 0.6 else float(abs(chance.normal(0, 1.2)))
        )
        lines: list[DrawnLine] = []
        kind = chance.random()
        if kind < 0.25 and self.bank.layouts:
            self._as_drawn(ink, lines)
        elif kind < 0.36:
            self._table(ink, lines)
        else:
            self._columns(ink, lines)
        behind = np.ones(shape, np.float32)
        if chance.random() < 0.3:
            ghost = cv2.GaussianBlur(ink[:, ::-1], (0, 0), float(chance.uniform(1, 2.5)))
            shift = int(chance.integers(-20, 20))
            behind = 1 - float(chance.uniform(0.05, 0.4)) * (1 - np.roll(ghost, shift, 0))
        draw_furniture(ink, lines, chance)
        return photograph(paper_of(shape, self.bank, chance) * ink * behind, self.bank, chance), lines

    def _hand(self) -> list[int]:
        return self.bank.hands[
            min(int(np.searchsorted(self.bank.likely, self.chance.random())), len(self.bank.hands) - 1)
        ]

    def _columns(self, ink: Float, lines: list[DrawnLine]) -> None:
        """One to four columns, with marginalia, headings and page numbers."""
        chance = self.chance
        down, across = ink.shape
        count = int(
            chance.choice(
                [1, 2, 3, 4], p=[0.5, 0.34, 0.08, 0.08] if across < down else [0.3, 0.35, 0.1, 0.25]
            )
        )
        pitch = float(
            np.exp(chance.uniform(np.log(18), np.log(50 if count > 2 else 75 if count == 1 else 60)))
        )
        margin = [float(chance.uniform(0.02, 0.2)) for _ in range(4)]
        left, right = margin[0] * across, (1 - margin[1]) * across
        top, bottom = margin[2] * down, (1 - margin[3]) * down
        gutter = float(chance.uniform(0.45, 3.0)) * pitch
        width = (right - left - gutter * (count - 1)) / count
        if width < 2 * pitch:
            return
        style = chance.random()
        for column in range(count):
            x = left + column * (width + gutter)
            until = bottom if chance.random() < 0.75 else float(chance.uniform(top + 2 * pitch, bottom))
            self._text(
                ink, lines, x, top, width, until, pitch, verses=style < 0.18, ragged=0.18 <= style < 0.5
            )
        if chance.random() < 0.4:
            for _ in range(int(chance.integers(1, 4))):
                small = pitch * float(chance.uniform(0.5, 0.9))
                wide = min(left, across - right) * 0.85 if chance.random() < 0.8 else across * 0.15
                if wide > 2.5 * small:
                    x = 0.05 * left if chance.random() < 0.5 else right + 0.1 * (across - right)
                    y = float(chance.uniform(top, bottom - small))
                    self._text(
                        ink, lines, x, y, wide, min(bottom, y + small * int(chance.integers(1, 8))), small
                    )
        for y, share in ((top * 0.55, 0.5), (bottom + (down - bottom) * 0.5, 0.4)):
            if chance.random() < share and 0.6 * pitch < min(top, down - bottom):
                long = float(np.exp(chance.uniform(np.log(pitch), np.log(max(width, pitch * 2)))))
                x = float(chance.uniform(left, max(left + 1, right - long)))
                self._write(ink, lines, x, y, long, pitch * float(chance.uniform(0.6, 1.6)))
        if chance.random() < 0.08:
            self._upright(ink, lines, pitch)

    def _text(
        self, ink: Float, lines: list[DrawnLine], x: float, top: float, width: float, bottom: float, pitch: float,
        *, verses: bool = False, ragged: bool = False,
    ) -> None:  # fmt: skip
        """Lines one under the other."""
        chance = self.chance
        height = pitch * float(chance.uniform(0.85, 1.7))
        indent = pitch * float(chance.uniform(0.6, 2.2))
        slope = float(chance.normal(0, 0.004 * self.unsteady))
        apart = float(chance.uniform(0.3, 1.6)) * pitch
        y, narrowed, left = top + height, 0, 0.0
        while y < bottom:
            here, long = x, width
            drawn = chance.random()
            if narrowed > 0:
                here, long, narrowed = x + left, width - left, narrowed - 1
            elif drawn < 0.03 and width > 8 * pitch and y + pitch < bottom:
                narrowed = int(chance.integers(1, 4))
                left = self._initial(ink, x, y - height * 0.7, (narrowed + 0.8) * pitch)
                here, long, narrowed = x + left, width - left, narrowed
            elif drawn < 0.07:
                here, long = x + indent, width - indent
            end = chance.random()
            if end < 0.06:
                long *= float(chance.uniform(0.12, 0.9))
            elif ragged or verses:
                long *= float(chance.uniform(0.7, 1.0))
            if end > 0.985:
                y += pitch * float(chance.uniform(0.5, 3))
                continue
            here += float(chance.normal(0, 0.06 * pitch * (1 + self.unsteady)))
            size = height * float(np.exp(chance.normal(0, 0.04)))
            tilt = slope + float(chance.normal(0, 0.004 * self.unsteady))
            if long > 0.8 * pitch:
                self._write(ink, lines, here, y, long, size, tilt, apart=apart if verses else 0)
                if chance.random() < 0.015 and long > 4 * pitch:
                    between = float(chance.uniform(0.2, 0.6))
                    self._write(ink, lines, here + long * between, y - 0.5 * pitch, long * 0.25, size * 0.55)
            y += pitch * float(np.exp(chance.normal(0, 0.03 * (1 + self.unsteady))))

    def _table(self, ink: Float, lines: list[DrawnLine]) -> None:
        """Rows of cells, often ruled."""
        chance = self.chance
        down, across = ink.shape
        pitch = float(np.exp(chance.uniform(np.log(19), np.log(52))))
        edges = np.cumsum(
            np.r_[
                chance.uniform(0.02, 0.1), chance.dirichlet(np.full(int(chance.integers(3, 9)), 2.0)) * 0.88
            ]
        )
        ruled, full, level = chance.random() < 0.75, chance.uniform(0.45, 1), chance.random() < 0.5
        top, bottom = down * chance.uniform(0.04, 0.2), down * chance.uniform(0.6, 0.98)
        shade = float(chance.uniform(0.3, 0.9))
        gap = float(chance.uniform(0.15, 0.6)) * pitch
        y = top + pitch
        while y < bottom:
            for left, right in zip(edges[:-1] * across, edges[1:] * across, strict=True):
                room = right - left - 2 * gap
                if room > pitch * 0.6 and chance.random() < full:
                    long = (
                        room
                        if chance.random() < 0.35
                        else max(pitch * 0.6, room * float(chance.uniform(0.2, 1)))
                    )
                    x = left + gap + (room - long) * (0 if chance.random() < 0.7 else 1)
                    self._write(
                        ink,
                        lines,
                        x,
                        y + float(chance.normal(0, 0.05 * pitch)),
                        long,
                        pitch * float(chance.uniform(0.85, 1.25)),
                    )
            if ruled and level:
                cv2.line(
                    ink,
                    (round(edges[0] * across), round(y + 0.25 * pitch)),
                    (round(edges[-1] * across), round(y + 0.25 * pitch)),
                    shade,
                    1,
                )
            y += pitch * (1.1 if ruled else 1)
        if ruled:
            for edge in edges:
                cv2.line(
                    ink,
                    (round(edge * across), round(top)),
                    (round(edge * across), round(bottom)),
                    shade,
                    int(chance.integers(1, 3)),
                )

    def _as_drawn(self, ink: Float, lines: list[DrawnLine]) -> None:
        """Lines where a layout of a real page has them."""
        layout = self.bank.layouts[int(self.chance.integers(len(self.bank.layouts)))]
        scale = min(ink.shape[1] / layout["size"][0], ink.shape[0] / layout["size"][1])
        mirrored = self.chance.random() < 0.4
        grown = float(self.chance.uniform(0.9, 1.15))
        for base, above, below in layout["lines"]:
            points = np.array(base) * scale
            if mirrored:
                points = points[::-1] * [-1, 1] + [layout["size"][0] * scale, 0]
            across = points[-1] - points[0]
            if across[0] > 2 * abs(across[1]):
                height = min((above + below) * scale * grown, 140)
                self._write(
                    ink,
                    lines,
                    points[0][0],
                    points[0][1],
                    float(across[0]),
                    height,
                    float(across[1] / across[0]),
                )

    def _initial(self, ink: Float, x: float, y: float, size: float) -> float:
        """A large initial, which is no line; returns the room that it takes."""
        strip = self.bank.strips[int(self.chance.choice(self.hand))]
        wide = min(strip.shape[1], int(HEIGHT * self.chance.uniform(0.6, 1.0)))
        letter = cv2.resize(strip[:, :wide], (max(2, round(size * wide / HEIGHT)), max(2, round(size))))
        if self.chance.random() < 0.4:
            letter = (255 - (255 - letter) // 2).astype(np.uint8)
        _multiply(ink, letter.astype(np.float32) / 255, x, y)
        return letter.shape[1] * 1.05 + 2

    def _upright(self, ink: Float, lines: list[DrawnLine], pitch: float) -> None:
        """A line up or down the margin."""
        flat = np.ones((int(3 * pitch), ink.shape[0]), np.float32)
        drawn: list[DrawnLine] = []
        self._write(
            flat,
            drawn,
            ink.shape[0] * 0.2,
            1.8 * pitch,
            ink.shape[0] * float(self.chance.uniform(0.2, 0.6)),
            pitch,
        )
        x = 2 if self.chance.random() < 0.5 else ink.shape[1] - flat.shape[0] - 2
        if x < 0 or ink[:, x : x + flat.shape[0]].mean() < 0.998:
            return
        rising = self.chance.random() < 0.6
        turned = np.rot90(flat, 1 if rising else -1)
        ink[:, x : x + flat.shape[0]] *= turned
        for line in drawn:
            along, across = line.baseline[:, 0], line.baseline[:, 1]
            line.baseline = (
                np.stack([x + across, ink.shape[0] - 1 - along], 1)
                if rising
                else np.stack([x + flat.shape[0] - 1 - across, along], 1)
            )
            lines.append(line)

    def _write(
        self, ink: Float, lines: list[DrawnLine], x: float, y: float, long: float, height: float,
        slope: float = 0.0, *, apart: float = 0.0,
    ) -> None:  # fmt: skip
        """Write one line of *long* pixels whose baseline starts at (x, y)."""
        if height < 6 or long < 5:
            return
        chance = self.chance
        scale = height / HEIGHT
        room, core, reach, first = long, [], [], True
        while room > max(3.0, 0.3 * height) or first:
            at = int(chance.choice(self.hand))
            strip = self.bank.strips[at]
            wide = strip.shape[1] * scale
            stretch = room / wide if 0.8 < room / wide < 1.2 else 1.0
            target = max(3, round(min(wide * stretch, room)))
            piece = strip[:, : max(3, min(strip.shape[1], round(target / scale / stretch)))]
            small = (
                cv2.resize(piece, (target, max(4, round(height))), interpolation=cv2.INTER_AREA).astype(
                    np.float32
                )
                / 255
            )
            if first and apart:
                cut = _first_gap(small, height)
                if cut:
                    space = min(round(apart), round(room) - target) if target + apart > room else round(apart)
                    small = np.hstack(
                        [small[:, :cut], np.ones((small.shape[0], max(0, space)), np.float32), small[:, cut:]]
                    )
            # Hands of one page sit on one baseline, whatever their crops were.
            drop = round(self.bank.bases[at] * scale)
            core.append((self.bank.bases[at] - self.bank.tops[at]) * scale)
            reach.append(drop)
            _multiply_sloped(ink, self._ink(small), x + long - room, y + slope * (long - room) - drop, slope)
            room -= small.shape[1] + (0.25 * height if room - small.shape[1] > 0.5 * height else 0)
            first = False
        end = min(long, long - max(room, 0))
        base = np.array([[x, y], [x + end / 2, y + slope * end / 2], [x + end, y + slope * end]])
        above = float(np.median(reach))
        lines.append(DrawnLine(base, max(above, 3.0), max(height - above, 2.0), float(np.median(core))))

    def _ink(self, strip: Float) -> Float:
        if self.stroke != 1:
            strip = strip ** np.float32(self.stroke)
        dark = np.float32(self.strength) * (1 - strip)
        # However faint, a reader sees it.
        return 1 - np.minimum(1, dark * max(1.0, 0.16 / max(0.02, float(np.percentile(dark, 96)))))


def _first_gap(strip: Float, height: float) -> int:
    """The column after the first letter; 0 where the letters are joined."""
    light = strip.min(0) > 0.75
    inked = np.flatnonzero(~light)
    if not len(inked):
        return 0
    gaps = np.flatnonzero(light[inked[0] :])
    return int(inked[0] + gaps[0] + 1) if len(gaps) and gaps[0] < 1.2 * height else 0


def _multiply(ink: Float, strip: Float, x: float, y: float) -> None:
    left, top = round(x), round(y)
    a, b = max(0, -top), max(0, -left)
    target = ink[max(0, top) : max(0, top + strip.shape[0]), max(0, left) : max(0, left + strip.shape[1])]
    target *= strip[a : a + target.shape[0], b : b + target.shape[1]]


def _multiply_sloped(ink: Float, strip: Float, x: float, y: float, slope: float) -> None:
    """Write a strip whose columns climb or fall; *y* is where its first column starts."""
    fall = slope * strip.shape[1]
    if abs(fall) < 0.7:
        _multiply(ink, strip, x, y)
        return
    taller = strip.shape[0] + int(abs(fall)) + 2
    start = max(0.0, -fall)
    matrix = np.array([[1, 0, 0], [slope, 1, start]], np.float32)
    sheared = cv2.warpAffine(strip, matrix, (strip.shape[1], taller), flags=cv2.INTER_LINEAR, borderValue=1.0)
    _multiply(ink, sheared, x, y - start)
