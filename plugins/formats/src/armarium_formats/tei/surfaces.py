"""Reads the surfaces and zones of a TEI file: pages with their size in pixels, and positions on them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from armarium_formats.markup.noting import Ids, Notes
from armarium_formats.page_model import PageModel, PageSegment, Point, keep_for
from armarium_formats.points import parse_points
from armarium_formats.tei.keeping import attributes, keep, name_of
from armarium_formats.tei.shapes import COORDINATES, box_of, outline_of, probability
from armarium_formats.tei.vocabulary import (
    KEPT_IN_ZONES,
    LINE_TYPES,
    REGION_TYPES,
    WORD_TYPES,
    XML,
    decode_kind,
    direction_of,
    image_of,
    language_of,
)

if TYPE_CHECKING:
    from lxml import etree

_PIXELS = re.compile(r"\s*+([0-9]++(?:\.[0-9]++)?)\s*+(?:px)?\s*+")
_MODELLED = frozenset({*COORDINATES, "xml:id", "xml:lang", "type", "subtype", "cert"})
LEAST_PIXELS = 1000
"""A surface that counts in units of its own (centimetres, fractions) is scaled so that its longer side has as many."""

MOST_PIXELS = 1_000_000
DEEPEST = 100
"""Zones in zones; deeper ones stand beside the last that fits."""


@dataclass(slots=True, eq=False)
class Zone:
    """A place on a page: its segment, the enclosing zone, and its kind if the file states it."""

    segment: PageSegment
    page: Page
    parent: Zone | None
    element: etree._Element
    kind: str | None = None
    lines: list[etree._Element] = field(default_factory=list)
    has_text: bool = False
    depth: int = 0
    height: int = 0
    """How many zones deep it holds others."""
    implied: str | None = None
    """What its content makes likely while nothing says what it is: a zone with a path is a line."""
    is_hung: bool = False
    """Whether its segment stands in the tree already, below a line that has no zone."""


@dataclass(slots=True, eq=False)
class Page:
    """One page while the file is read: the growing model and the mapping of its coordinates to pixels."""

    model: PageModel
    name: str
    element: etree._Element | None = None
    zones: list[Zone] = field(default_factory=list)
    ids: Ids = field(default_factory=lambda: Ids(by_word=True))
    left: float = 0
    top: float = 0
    across: float = 1
    down: float = 1
    extras: dict[str, Any] = field(default_factory=dict)
    notes: Notes = field(default_factory=Notes)

    def identity(self, identity: str | None, word: str) -> str:
        """Return an id of the page: the stated one, else a new one; a duplicate gets a number."""
        if identity:
            if self.ids.claim(identity):
                return identity
            self.notes.note(f"The id {identity[:60]} occurs more than once; further ones got a number")
        return self.ids.make(identity or word)

    def place(self, x: float, y: float) -> Point:
        """Return a point of the surface in pixels; one beyond the range of a float becomes 1e30."""
        x, y = max(-1e30, min(1e30, x)), max(-1e30, min(1e30, y))
        return _number((x - self.left) * self.across), _number((y - self.top) * self.down)


def _number(value: float) -> float:
    value = round(value, 2)
    return int(value) if value == int(value) else value


def _only_child_of(surface: etree._Element) -> str | None:
    """Return the id of a facsimile that contains only this surface: some programs point at that."""
    above = surface.getparent()
    if above is None or name_of(above) != "facsimile":
        return None
    return stated_id(above) if sum(1 for element in above if name_of(element) == "surface") == 1 else None


def stated_id(element: etree._Element) -> str | None:
    """Return the xml:id of an element, or the id of older files."""
    return element.get(f"{XML}id") or element.get("id")


class Surfaces:
    """The pages made from surfaces, and every zone and surface by its id."""

    def __init__(self, root: etree._Element, page_size: tuple[int, int] | None, notes: Notes) -> None:
        self.page_size = page_size
        self.notes = notes
        self.pages: list[Page] = []
        self.places: dict[str, Zone | Page] = {}
        for element in root.iter("{*}surface", "{*}graphic"):
            if name_of(element) == "graphic":
                self._bare_graphic(element)
            elif not any(name_of(above) in ("surface", "zone") for above in element.iterancestors()):
                self._surface(element)

    def _bare_graphic(self, element: etree._Element) -> None:
        """Read a picture directly in a facsimile as a page about which nothing else is known."""
        above = element.getparent()
        if above is None or name_of(above) != "facsimile" or not element.get("url"):
            return
        own = stated_id(element)
        page = Page(PageModel(0, 0), own or f"picture {len(self.pages) + 1}", element)
        self.pages.append(page)
        if own:
            self.places.setdefault(own, page)
        page.model.image = image_of(str(element.get("url")))
        self._size(element, element, page)
        if others := attributes(element, ("url", "width", "height")):
            page.extras["graphic"] = others

    def _surface(self, element: etree._Element) -> None:
        own = stated_id(element)
        page = Page(PageModel(0, 0), own or f"surface {len(self.pages) + 1}", element)
        self.pages.append(page)
        if own:
            self.places.setdefault(own, page)
            page.ids.claim(own)
        if (above := _only_child_of(element)) and above not in self.places:
            self.places[above] = page
        graphic = self._graphic(element, page)
        self._size(element, graphic, page)
        model = page.model
        model.language, model.script = language_of(element.get(f"{XML}lang"))
        model.direction = direction_of(element.get("style"))
        others = attributes(element, _MODELLED - {"type", "subtype"})
        if model.direction:
            others.pop("style", None)
        if others:
            page.extras["surface"] = others
        if own:
            page.extras["id"] = own
        page.extras["elements"] = self._children(element, page, None, graphic)
        loose = (element.text or "").strip() or any((child.tail or "").strip() for child in element)
        if loose:
            page.notes.note("A surface has text of its own outside its zones; it was left out")

    def _graphic(self, surface: etree._Element, page: Page) -> etree._Element | None:
        """Return the picture of the whole surface: its own, else that of a zone that covers it."""
        graphics = [child for child in surface if name_of(child) in ("graphic", "media") and child.get("url")]
        if not graphics:
            for zone in surface:
                inside = [child for child in zone if name_of(child) == "graphic" and child.get("url")]
                if inside and box_of(zone) is not None and box_of(zone) == box_of(surface):
                    page.model.image = image_of(str(inside[0].get("url")))
                    return None
            if (facs := (surface.get("facs") or "").strip()) and not facs.startswith("#"):
                page.model.image = image_of(facs.split()[0])
            return None
        chosen = graphics[0]
        page.model.image = image_of(str(chosen.get("url")))
        others = attributes(chosen, ("url", "width", "height"))
        if others:
            page.extras["graphic"] = others
        return chosen

    def _size(self, surface: etree._Element, graphic: etree._Element | None, page: Page) -> None:
        """Return the page's pixels: the picture's, else the surface's own box, scaled if in other units."""
        pixels = None
        if graphic is not None:
            matches = [_PIXELS.fullmatch(graphic.get(key) or "") for key in ("width", "height")]
            if matches[0] and matches[1]:
                size = [round(float(match.group(1))) for match in matches if match]
                pixels = (size[0], size[1]) if min(size) > 0 and max(size) <= MOST_PIXELS else None
            elif graphic.get("width") or graphic.get("height"):
                page.notes.note("A graphic states its size in other units than pixels")
        box = box_of(surface)
        if box is not None and (box[2] - box[0] <= 0 or box[3] - box[1] <= 0):
            page.notes.note("A surface has the size 0 or less; its coordinates were read as pixels")
            box = None
        if box is None:
            if pixels is None and COORDINATES[0] in surface.attrib:
                page.notes.note("A surface states coordinates that are not numbers")
            page.model.width, page.model.height = pixels or (0, 0)
            return
        wide, high = box[2] - box[0], box[3] - box[1]
        if pixels is None:
            pixels = self._scale_page(wide, high, page)
        page.left, page.top = box[0], box[1]
        page.across, page.down = pixels[0] / wide, pixels[1] / high
        page.model.width, page.model.height = pixels

    def _scale_page(self, wide: float, high: float, page: Page) -> tuple[int, int]:
        whole = wide == int(wide) and high == int(high)
        if whole and max(wide, high) <= MOST_PIXELS and (max(wide, high) >= 100 or self.page_size is None):
            return int(wide), int(high)
        if self.page_size is not None:
            size = self.page_size
        else:
            factor = LEAST_PIXELS / max(wide, high)
            size = max(1, round(wide * factor)), max(1, round(high * factor))
        page.notes.note(
            f"The surface has units of its own ({wide:g} x {high:g}); they became {size[0]} x {size[1]} "
            "pixels"
        )
        return size

    # -------------------------------------------------------------------------------------------- zones

    def _children(
        self, element: etree._Element, page: Page, parent: Zone | None, modelled: etree._Element | None = None
    ) -> list[str]:
        """Read zones, lines and nested surfaces in an element; the rest, but for text, is stored as XML."""
        fragments: list[str] = []
        for child in element:
            name = name_of(child)
            if name in ("zone", "surface"):
                self._zone(child, page, parent)
            elif name == "line":
                self._line(child, page, parent)
            elif name == "binaryObject":
                page.notes.note("A picture inside the file itself was left out")
            elif name == "note" and child.get("type") == "id":
                continue
            elif child is not modelled and name in KEPT_IN_ZONES:
                fragments.append(keep(child))
                page.notes.kept[f"element {name_of(element)}/{name}"] += 1
            elif child is not modelled and parent is not None:
                parent.has_text = True
        return fragments

    def _zone(self, element: etree._Element, page: Page, parent: Zone | None) -> Zone:
        note = next(
            (child for child in element if name_of(child) == "note" and child.get("type") == "id"), None
        )
        original = (note.text if note is not None else None) or stated_id(element)
        identity = page.identity(original, "line" if name_of(element) == "line" else "zone")
        segment = PageSegment(identity, "region")
        if parent is not None and parent.depth >= DEEPEST:
            page.notes.note(f"Zones are nested more than {DEEPEST} deep; further ones were put side by side")
            parent = parent.parent
        zone = Zone(segment, page, parent, element, depth=parent.depth + 1 if parent is not None else 0)
        up, steps = parent, 1
        while up is not None and up.height < steps:
            up.height = steps
            up, steps = up.parent, steps + 1
        page.zones.append(zone)
        if own := stated_id(element):
            if own in self.places:
                self.notes.note(f"The id {own[:60]} occurs more than once; pointers refer to the first")
            self.places.setdefault(own, zone)
        self._facts(element, zone)
        extras: dict[str, Any] = {}
        path = self._baseline(element, segment, page, extras)
        if name_of(element) == "surface":
            page.notes.note("A surface inside another was read as a zone of it")
            zone.kind = "region"
        zone.has_text = name_of(element) == "zone" and (
            bool((element.text or "").strip()) or any((child.tail or "").strip() for child in element)
        )
        children = self._children(element, page, zone, path) if name_of(element) != "line" else []
        if children:
            extras["elements"] = children
        others = attributes(element, _MODELLED)
        if element.get("subtype") == "none":
            others["subtype"] = "none"
        if segment.direction:
            others.pop("style", None)
        if others:
            extras["zone"] = others
            page.notes.count_attributes("zone", others)
        self._shape(element, zone, extras)
        if extras:
            segment.extras = {"tei": extras}
        self._settle(zone, path is not None)
        return zone

    def _facts(self, element: etree._Element, zone: Zone) -> None:
        segment = zone.segment
        segment.language, segment.script = language_of(element.get(f"{XML}lang"))
        segment.direction = direction_of(element.get("style"))
        cert = (element.get("cert") or "").strip()
        if cert:
            segment.confidence = probability(cert, zone.page.notes)
        word = (element.get("type") or "").strip()
        rendition = (element.get("rendition") or element.get("rend") or "").strip().lstrip("#")
        for hint in (word, rendition):
            if hint.casefold() in LINE_TYPES:
                zone.kind = zone.kind or "line"
            elif hint.casefold() in WORD_TYPES:
                zone.kind = zone.kind or "word"
        subtype = (element.get("subtype") or "").strip()
        if subtype == "none":
            subtype = ""
        if word.casefold() in LINE_TYPES | WORD_TYPES | REGION_TYPES and not subtype:
            segment.kind_raw = word if word.casefold() not in ("region", "line", "word") else None
        elif subtype and rendition and not word:
            # Transkribus: the element of PAGE in @rendition, its type in @subtype.
            kind = decode_kind(subtype)
            segment.kind_raw = f"{rendition}:{kind}" if rendition in ("TextRegion", "GraphicRegion") else kind
        elif word or subtype:
            segment.kind_raw = f"{decode_kind(word)}:{decode_kind(subtype)}" if subtype else decode_kind(word)

    def _baseline(
        self, element: etree._Element, segment: PageSegment, page: Page, extras: dict[str, Any]
    ) -> etree._Element | None:
        paths = [child for child in element if name_of(child) == "path"]
        chosen = next((path for path in paths if path.get("type") == "baseline"), paths[0] if paths else None)
        if chosen is None:
            return None
        points = parse_points(chosen.get("points") or "")
        if not points:
            page.notes.note("The points of a path are not x,y pairs")
            return None
        segment.baseline = [page.place(x, y) for x, y in points]
        others = attributes(chosen, ("points", "type"))
        if others:
            extras["path"] = others
        return chosen

    def _shape(self, element: etree._Element, zone: Zone, extras: dict[str, Any]) -> None:
        page = zone.page
        points = outline_of(element, page.notes)
        placed = [page.place(x, y) for x, y in points]
        pictured = any(name_of(child) in ("graphic", "media", "binaryObject") for child in element)
        width, height = page.model.width, page.model.height
        if (
            pictured
            and width
            and any(not (-2 <= x <= width + 2 and -2 <= y <= height + 2) for x, y in placed)
        ):
            extras["beyond"] = " ".join(f"{x},{y}" for x, y in placed)
            page.notes.note(
                "A zone with a picture of its own extends beyond its surface; its outline is kept but not "
                "placed"
            )
            return
        zone.segment.points = placed

    def _settle(self, zone: Zone, has_path: bool) -> None:
        """Read a zone around one line as that line if it has a baseline or is in a region."""
        if has_path:
            zone.implied = "line"
        likely = zone.kind or zone.implied
        bare = [line for line in zone.lines if box_of(line) is None and not line.get("points")]
        alone = len(bare) == 1 and len(zone.lines) == 1
        if alone and (likely == "line" or (likely is None and zone.parent is not None)):
            zone.kind = "line"
            self._join(zone, bare[0])
            return
        for line in zone.lines:
            self._own_line(line, zone.page, zone)
        if zone.lines and zone.kind is None:
            zone.kind = "region"
        zone.lines = []

    def _line(self, element: etree._Element, page: Page, parent: Zone | None) -> None:
        if parent is None:
            self._own_line(element, page, None)
        else:
            parent.lines.append(element)

    def _join(self, zone: Zone, line: etree._Element) -> None:
        if own := stated_id(line):
            self.places.setdefault(own, zone)
        of_line = attributes(line, ())
        if of_line:
            keep_for("tei", zone.segment, "lb", of_line)
            zone.page.ids.claim(of_line.get("xml:id"))

    def _own_line(self, element: etree._Element, page: Page, parent: Zone | None) -> None:
        zone = self._zone(element, page, parent)
        zone.kind = "line"
        zone.lines = [element]
