"""Blocks of a TEI text: the regions of lines where no zone names one, and what a block says about its
zone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from armarium_formats.numbers import parse_unsigned
from armarium_formats.page_model import PageSegment, keep_for
from armarium_formats.tei.keeping import attributes, name_of
from armarium_formats.tei.surfaces import stated_id
from armarium_formats.tei.vocabulary import (
    FEET,
    FURNITURE_WORDS,
    MARGINS,
    REGIONS,
    XML,
    is_marginal,
    language_of,
    type_and_subtype,
    type_in_text,
)

if TYPE_CHECKING:
    from lxml import etree

    from armarium_formats.tei.collecting import Collecting
    from armarium_formats.tei.surfaces import Page, Zone

_WRITTEN_BACK = frozenset({"p", "ab", "note", "fw"})
POINTERS = ("facs", "corresp", "xml:id", "xml:lang", "xml:space")


class Block:
    """An element of the text that is a region, or stands for the zone it points at."""

    def __init__(self, element: etree._Element, zone: Zone | None, above: Block | None) -> None:
        self.element = element
        self.name = name_of(element)
        self.zone = zone
        self.above = above
        self.regions: dict[int, PageSegment] = {}
        self.counted = False

    def zone_of(self, page: Page) -> Zone | None:
        """Return the zone of this block or the nearest around it on *page*."""
        if self.zone is not None and self.zone.page is page:
            return self.zone
        return self.above.zone_of(page) if self.above is not None else None

    def place_for(self, walk: Collecting, page: Page) -> PageSegment | None:
        """Return the region for a line without a zone; made if the text has a block and no zone."""
        if self.zone is not None and self.zone.page is page:
            return self.zone.segment
        if self.name not in REGIONS:
            return self.above.place_for(walk, page) if self.above is not None else None
        segment = self.regions.get(id(page))
        if segment is None:
            identity = stated_id(self.element) if not self.regions else None
            segment = PageSegment(page.identity(identity, self.name), "region")
            if not self.regions:
                segment.points = walk.drawn_at(self.element, page)
            self.regions[id(page)] = segment
            self.tell(segment, walk)
            walk.mention(segment)
            around = self._region_around(walk, page)
            (around.children if around is not None else page.model.segments).append(segment)
        return segment

    def leave(self, walk: Collecting) -> None:
        """At its end, drop and count a block that became no region, because its lines have zones that are in
        none.
        """
        if self.zone is not None or self.regions or self.counted:
            return
        others = attributes(self.element, POINTERS)
        if self.name != "ab" or others:
            walk.left[self.name] += 1
        if others:
            walk.left[f"attributes of {self.name}"] += len(others)

    def _region_around(self, walk: Collecting, page: Page) -> PageSegment | None:
        above = self.above
        if above is None:
            return None
        if self.name == "cell" and above.name == "table":
            return above.place_for(walk, page)
        zone = above.zone_of(page)
        return zone.segment if zone is not None else None

    def tell(self, segment: PageSegment, walk: Collecting) -> None:
        """Apply what the element says about its region: kind, furniture, language, cell, extras."""
        element, name = self.element, self.name
        if segment.kind_raw is None:
            segment.kind_raw = self._kind()
        subtype = (element.get("subtype") or "") if name in ("ab", "p", "note") else ""
        if name == "fw" or subtype.startswith("furniture"):
            segment.is_furniture = True
        if subtype.endswith("text"):
            keep_for("tei", segment, "says_its_lines", True)
        if segment.language is None and segment.script is None:
            segment.language, segment.script = language_of(self._language())
        if name == "cell":
            segment.cell = walk.cells.get(element, {"row": 0, "column": 0, "row_span": 1, "column_span": 1})
        others = attributes(element, POINTERS)
        if subtype in ("furniture", "text", "furniture-text"):
            others.pop("subtype", None)
        if name in ("table", "cell"):
            for key in ("rows", "cols", "n"):
                others.pop(key, None)
        block: dict[str, str] = {}
        if name in _WRITTEN_BACK:
            if name == "p" or (name == "note" and not is_marginal(segment.kind_raw)):
                block["name"] = name
            block |= {f"@{key}": value for key, value in others.items() if not self._is_said(key, segment)}
        elif not self.counted:
            self.counted = True
            if name not in ("table", "cell"):
                walk.left[name] += 1
            if others:
                walk.left[f"attributes of {name}"] += len(others)
        if block:
            keep_for("tei", segment, "block", block)

    def _language(self) -> str | None:
        """Return the language the element states, else that of a division around it; the text's is the
        page's.
        """
        above = self.above.element if self.above is not None else None
        for element in (self.element, *self.element.iterancestors()):
            if element is above or name_of(element) == "text":
                return None
            if tag := element.get(f"{XML}lang"):
                return tag
        return None

    def _is_said(self, key: str, segment: PageSegment) -> bool:
        """Return whether an attribute only says what the writer writes anyway: the kind, the place of a
        marginal note.
        """
        value = self.element.get(key) or ""
        if key == "type":
            return value in (
                type_in_text(segment.kind_raw, furniture=self.name == "fw"),
                type_and_subtype(segment.kind_raw)[0],
            )
        return key == "place" and value == "margin" and is_marginal(segment.kind_raw)

    def _kind(self) -> str | None:
        element, name = self.element, self.name
        if name == "fw":
            word = (element.get("type") or "").strip()
            return FURNITURE_WORDS.get(word.casefold(), word or None)
        if name == "note":
            place = element.get("place") or ""
            if MARGINS.search(place):
                return "marginalia"
            if FEET.search(place):
                return "footnote"
            return "endnote" if place.startswith("end") else "note"
        if name in ("ab", "cb"):
            return None
        return REGIONS.get(name) if name != "cell" or self.zone is None else None


def cells_of(table: etree._Element) -> dict[etree._Element, dict[str, int]]:
    """Return row and column of a table's cells: by @n of our profile, else by counting rows, cells and
    spans.
    """
    cells: dict[etree._Element, dict[str, int]] = {}
    for number, row in enumerate(table.iterchildren("{*}row")):
        column = 0
        for cell in row.iterchildren("{*}cell"):
            spans = _count(cell.get("rows")), _count(cell.get("cols"))
            numbers = parse_unsigned(row.get("n")), parse_unsigned(cell.get("n"))
            place = (number, column) if numbers[0] is None or numbers[1] is None else (numbers[0], numbers[1])
            cells[cell] = {"row": place[0], "column": place[1], "row_span": spans[0], "column_span": spans[1]}
            column += spans[1]
    return cells


def _count(value: str | None) -> int:
    return max(1, parse_unsigned(value) or 1) if value is None or len(value) < 5 else 1
