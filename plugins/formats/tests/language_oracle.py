"""Random pages with random statements of language, script and direction, and an oracle in plain Python for
what holds for each part.

It uses nothing of the engine: resolution, texts and the order of two adjacent boxes are computed
independently.
"""

from __future__ import annotations

import random
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

KEYS = ("language", "script", "direction")
VALUES = {
    "language": ("la", "ar", "he", "und"),
    "script": ("Latn", "Hebr", "Mong", "Arab", "Zyyy"),
    "direction": ("ltr", "rtl", "ttb", "btt", "alternating"),
}
UNKNOWN = {"und", "Zyyy"}
TEXTS = ("", "123", "pax", "שלום", "سلام", "ᠮᠣᠩ")
GEOMETRIC = ("ltr", "rtl", "ttb", "btt")
SIZE = (1000, 800)


@dataclass
class Part:
    """A region, line or word, or the page itself; its parts are side by side, from left to right."""

    id: str
    kind: str
    box: tuple[int, int, int, int]
    parent: Part | None = None
    parts: list[Part] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)
    text: str = ""

    def walk(self) -> Iterator[Part]:
        yield self
        for part in self.parts:
            yield from part.walk()


@dataclass
class StatedPage:
    """A page and what is stated above it, nearest first, as (rung, facts)."""

    page: Part
    above: list[tuple[str, dict[str, str]]]

    def segments(self) -> list[Part]:
        return [part for part in self.page.walk() if part is not self.page]

    # ---------------------------------------------------------------------------------- what is stated

    def find_stated(self, key: str, part: Part) -> tuple[str, str, Part | None] | None:
        """Return the stated value, its rung, and the segment that states it."""
        at: Part | None = part
        while at is not None and at is not self.page:
            if key in at.facts:
                return at.facts[key], "segment", at
            at = at.parent
        for rung, facts in self.above:
            if key in facts:
                return facts[key], rung, None
        return None

    def find_known(self, key: str, part: Part) -> str | None:
        found = self.find_stated(key, part)
        return None if found is None or found[0] in UNKNOWN else found[0]

    # -------------------------------------------------------------------------------------- the default

    def script(self, part: Part) -> str | None:
        if self.find_stated("script", part) is not None:
            return self.find_known("script", part)
        return next(
            (found_letters for outward in outwards(part) if (found_letters := letters(outward))), None
        )

    def direction(self, part: Part) -> tuple[str, bool]:
        """Return the direction of a part, and whether anything determines it."""
        found = self.find_stated("direction", part)
        return (found[0], True) if found is not None else self.default(part)

    def default(self, part: Part) -> tuple[str, bool]:
        script = self.find_stated("script", part)
        strong = self.strong()
        for outward in outwards(part):
            if outward.id in strong:
                return strong[outward.id], True
            if script is not None and script[0] not in UNKNOWN and script[2] is outward:
                break
        if script is None or script[0] in UNKNOWN:
            return "ltr", False
        return {"Hebr": "rtl", "Arab": "rtl", "Mong": "ttb"}.get(script[0], "ltr"), True

    def strong(self) -> dict[str, str]:
        """Return by part the direction of its first strongly directional letter, in the order given by
        statements alone.
        """
        found: dict[str, str] = {}
        for part in self.order(self._stated_alone):
            for letter in part.text:
                kind = unicodedata.bidirectional(letter)
                if kind in ("L", "R", "AL"):
                    for outward in outwards(part):
                        found.setdefault(outward.id, "ltr" if kind == "L" else "rtl")
                    break
        return found

    # ---------------------------------------------------------------------------------------- the order

    def sequence(self) -> list[Part]:
        return self.order(self._whole)

    def order(self, direction: Callable[[Part], str | None]) -> list[Part]:
        found: list[Part] = []

        def take(part: Part) -> None:
            if part is not self.page:
                found.append(part)
            pair = part.parts
            if len(pair) == 2 and self._right_first(part, direction(part)):
                pair = pair[::-1]
            for one in pair:
                take(one)

        take(self.page)
        return found

    def _right_first(self, part: Part, direction: str | None) -> bool:
        if direction is None:
            counts = Counter(
                one.facts["direction"] for one in part.parts if one.facts.get("direction") in GEOMETRIC
            )
            direction = counts.most_common(1)[0][0] if counts else "ltr"
        if direction in ("ltr", "rtl"):
            return direction == "rtl"
        script = self.script(part)
        if script is None:
            scripts = Counter(one.facts["script"] for one in part.parts if "script" in one.facts)
            script = scripts.most_common(1)[0][0] if scripts else None
        return script != "Mong"

    def _stated_alone(self, part: Part) -> str | None:
        found = self.find_stated("direction", part)
        return found[0] if found is not None and found[0] in GEOMETRIC else None

    def _whole(self, part: Part) -> str | None:
        stated = self._stated_alone(part)
        if stated is not None:
            return stated
        found, told = self.default(part)
        return found if told else None


def outwards(part: Part) -> Iterator[Part]:
    at: Part | None = part
    while at is not None:
        yield at
        at = at.parent


def letters(part: Part) -> str | None:
    """Return the script of most letters in a part's own text, else in all texts within it."""
    text = part.text or "".join(segment.text for segment in part.walk())
    counts = Counter(unicodedata.name(letter).split()[0] for letter in text if letter.isalpha())
    names = {"LATIN": "Latn", "HEBREW": "Hebr", "ARABIC": "Arab", "MONGOLIAN": "Mong"}
    return names[counts.most_common(1)[0][0]] if counts else None


def make(chance: random.Random, ancestors: int) -> StatedPage:
    """Generate a page of two regions side by side, each with two regions or two lines, some of the lines with
    two words.
    """
    width, height = SIZE
    page = Part("page", "page", (0, 0, width, height))
    density = chance.choice((0.0, 0.1, 0.3))
    scripts = chance.choice((TEXTS, TEXTS[:3], TEXTS[:4], TEXTS[:2]))

    def facts() -> dict[str, str]:
        return {key: chance.choice(VALUES[key]) for key in KEYS if chance.random() < density}

    def fill(part: Part, kind: str) -> None:
        left, top, wide, high = part.box
        gap = wide // 10
        half = (wide - 3 * gap) // 2
        for number in range(2):
            box = (left + gap + number * (half + gap), top + 4, half, 30 if kind != "region" else high - 8)
            first_part = Part(f"{part.id}_{number}" if part is not page else f"r{number}", kind, box, part)
            first_part.facts = facts()
            part.parts.append(first_part)
            if kind == "region":
                fill(first_part, "region" if part is page and chance.random() < 0.5 else "line")
            elif kind == "line":
                first_part.text = chance.choice(scripts)
                if not first_part.text and chance.random() < 0.7:
                    fill(first_part, "word")
            else:
                first_part.text = chance.choice(scripts)

    fill(page, "region")
    above = [("document", facts()) for _ in range(2 + ancestors)] + [("project", facts())]
    return StatedPage(page, above)
