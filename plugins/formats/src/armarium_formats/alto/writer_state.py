"""What the parts of the ALTO writer share: ids, references, places, what has no place, and the losses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from armarium_formats.alto.own import clean_extras
from armarium_formats.alto.profile import schema
from armarium_formats.alto.reader_state import DIRECTIONS
from armarium_formats.alto.shapes import BOX, corners
from armarium_formats.alto.tags import Tagging, language_in
from armarium_formats.driver import WriteContext
from armarium_formats.markup.fragments import attribute_of, name_of
from armarium_formats.markup.identities import Identities
from armarium_formats.markup.noting import FileWriting
from armarium_formats.page_model import PageModel, PageSegment, Point, order_siblings
from armarium_source_model.api import LineMaker

IDS = re.compile(r'(<[^<>]*?\s)(ID)="([^"]*)"')
"""The ids in a fragment of ALTO."""

_LAWFUL = re.compile("[0-9 ]*")
"""What points of whole numbers on the page come to."""


class Writing(FileWriting):
    """One file while it is written."""

    def __init__(self, page: PageModel, context: WriteContext) -> None:
        super().__init__(page, context)
        self.kept: dict[str, Any] = page.extras.get("alto") or {}
        self.ids = Identities((segment.id for segment in page.walk()), IDS)
        self.renamed: dict[str, str] = {}
        self.own_segments: dict[str, Any] = {}
        self.own_page: dict[str, Any] = {}
        self.own_groups: dict[str, Any] = {}
        self.after: dict[str, str] = {}
        self.tagging = Tagging(self.kept.get("tags") or [], self.ids, self.renamed)
        self.tagged: set[str] = set()
        """Segments whose language a tag says that they point at, as kraken has it."""
        self.steps: dict[LineMaker, str] = {}
        """The ids of the processing steps that say how texts of lines came about."""
        self.linked = False
        self.out: list[str] = []

    def _begin(self, segment: PageSegment, entry: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
        """What ALTO kept of a segment and its attributes; what others kept and what ALTO has no place for goes into *entry*."""
        extras = segment.extras or {}
        alto: dict[str, Any] = extras.get("alto") or {}
        identity = self.ids.of_segment[segment.id]
        if identity != segment.id:
            entry["id"] = segment.id
        if segment.position is not None:
            entry["position"] = segment.position
        if segment.confidence is not None:
            why = "ALTO states confidence on strings only; it is in a tag of Armarium's"
            self._set_aside(entry, "confidence", segment.confidence, f"confidence of a {segment.kind}", why)
        if segment.cell is not None:
            why = "ALTO has no rows and columns; they are in a tag of Armarium's"
            self._set_aside(entry, "cell", segment.cell, "cells of tables", why)
        if segment.script:
            why = "ALTO has no place for it; it is in a tag of Armarium's"
            self._set_aside(entry, "script", segment.script, f"script of a {segment.kind}", why)
        if extras and (others := clean_extras(extras)):
            why = "ALTO has no place for it; it is in a tag that only Armarium reads back"
            self._set_aside(entry, "extras", others, "what other formats keep", why)
        for fragment in alto.get("elements") or ():
            self._leave(entry, "elements", fragment)
        source = dict(alto.get("attributes") or {})
        if language := alto.get("language_by_tag"):
            self._language_by_tag(segment, language, source)
        return alto, source

    def _language_by_tag(self, segment: PageSegment, language: str, source: dict[str, str]) -> None:
        """A tag of its language stays while it says what is so; one that was overtaken is pointed at no more."""
        tags = self.tagging.tags
        refs = source.get("TAGREFS", "")
        if language == segment.language and language_in(refs, tags) == language:
            self.tagged.add(segment.id)
            return
        others = [ref for ref in refs.split() if ref not in tags or not tags[ref].names_a_language]
        source.pop("TAGREFS", None)
        if others:
            source["TAGREFS"] = " ".join(others)

    def _facts(
        self, segment: PageSegment, element: str, attributes: dict[str, str], entry: dict[str, Any]
    ) -> None:
        """Language and direction where ALTO has a place for them."""
        allowed = schema().elements[element].attributes
        why = "ALTO has no place for it, or does not allow its value"
        if (language := segment.language) and segment.id not in self.tagged:
            if "LANG" in allowed and schema().fits("tag", language):
                attributes["LANG"] = language
            else:
                self._set_aside(entry, "language", language, f"language of a {segment.kind}", why)
        if direction := segment.direction:
            if "BASEDIRECTION" in allowed and direction in DIRECTIONS:
                attributes["BASEDIRECTION"] = direction
            else:
                self._set_aside(entry, "direction", direction, f"direction of a {segment.kind}", why)

    def _outline(
        self, segment: PageSegment, extras: dict[str, Any], attributes: dict[str, str], *, always: bool
    ) -> str:
        """The box goes into the attributes; a shape that is more than a box is answered, or any when *always*."""
        if not segment.points:
            return ""
        points, points_text = self.places(segment.points)
        xs, ys = zip(*points, strict=True)
        left, top = min(xs), min(ys)
        around = (left, top, max(xs) - left, max(ys) - top)
        is_same = extras.get("of") == list(around)
        box = extras["box"] if is_same and extras.get("box") else around
        attributes.update(zip(BOX, map(str, map(round, box)), strict=True))
        if is_same and extras.get("shape") and schema().is_valid(extras["shape"]):
            return str(extras["shape"])
        if not always and list(points) == corners(around) and box is around:
            return ""
        return f'<Shape><Polygon POINTS="{points_text}"/></Shape>'

    def places(self, points: Sequence[Point]) -> tuple[Sequence[Point], str]:
        """Points in whole pixels of the page, and how they are written: blanks only, as eScriptorium and kraken do."""
        points_text = " ".join([f"{x} {y}" for x, y in points])
        if _LAWFUL.fullmatch(points_text):
            return points, points_text
        pixels = [(round(x), round(y)) for x, y in points]
        if any(
            x != filed_x or y != filed_y for (x, y), (filed_x, filed_y) in zip(points, pixels, strict=True)
        ):
            self.lose("decimals of coordinates", "coordinates are written in whole pixels")
        if min(map(min, pixels)) < 0:
            self.lose(
                "coordinates left of or above the page",
                "no program reads negative coordinates; they became 0",
            )
            pixels = [(max(0, x), max(0, y)) for x, y in pixels]
        return pixels, " ".join([f"{x} {y}" for x, y in pixels])

    def _write_other_attributes(
        self, element: str, source: dict[str, str], attributes: dict[str, str], entry: dict[str, Any]
    ) -> None:
        """Attributes that were kept: where ALTO 4.4 has them as they are, else in our tag."""
        if not source:
            return
        allowed = schema().elements[element].attributes
        for key, value in source.items():
            kind = allowed.get(key)
            if key in attributes:
                continue
            if kind in ("refs", "ref"):
                resolved, lost = self._resolve_references(value)
                if resolved and (kind == "refs" or not lost):
                    attributes[key] = " ".join(resolved)
                if lost:
                    self._leave(entry, "attributes", " ".join(lost), key)
            elif kind is not None and kind != "id" and schema().fits(kind, value):
                attributes[key] = value
                self.linked = self.linked or key.startswith("xlink:")
            else:
                self._leave(entry, "attributes", value, key)

    def _resolve_references(self, value: str) -> tuple[list[str], list[str]]:
        """References as they are written now, and those that point at nothing."""
        resolved: list[str] = []
        lost: list[str] = []
        for reference in value.split():
            identity = self.renamed.get(reference) or self.ids.of_segment.get(reference)
            (resolved if identity else lost).append(identity or reference)
        return resolved, lost

    def _refs_only(self, attributes: dict[str, str]) -> str:
        resolved, lost = self._resolve_references(attributes.get("STYLEREFS", ""))
        if lost:
            self._leave(self.own_page, "attributes", " ".join(lost), "layout/STYLEREFS")
        return f' STYLEREFS="{attribute_of(" ".join(resolved))}"' if resolved else ""

    def _set_aside(self, entry: dict[str, Any], key: str, value: Any, what: str, why: str) -> None:
        """Something of the page that ALTO has no place for: into our tag."""
        entry[key] = value
        self.lose(what, why)

    def _leave(self, entry: dict[str, Any], where: str, value: str, key: str = "") -> None:
        """Something of ALTO that 4.4 has no place for: into our tag."""
        leftover = entry.setdefault("alto", {})
        why = "ALTO 4.4 does not allow it as it is; it is in a tag that only Armarium reads back"
        if where == "elements":
            if value not in leftover.setdefault("elements", []):
                leftover["elements"].append(value)
                self.lose(f"element {name_of(value)}", why)
        else:
            leftover.setdefault("attributes", {})[key] = value
            self.lose(f"attribute {key}", why)

    def _take(self, wish: str) -> str:
        identity = self.ids.take(wish)
        self.renamed[wish] = identity
        return identity


def is_moved(segments: list[PageSegment]) -> bool:
    """Whether brothers are written in another sequence than they stand in: by the positions they state."""
    return any(
        ordered is not segment for ordered, segment in zip(order_siblings(segments), segments, strict=True)
    )
