"""Collects the lines of a TEI text: begun at a break, filled across markup, attached to their page when they
end.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from armarium_formats.markup.fragments import local_name, text_of
from armarium_formats.page_model import PageModel, PageSegment, PageText, Point, TextMark, keep_for, kept_by
from armarium_formats.tei.blocks import Block
from armarium_formats.tei.facts import marks_in
from armarium_formats.tei.keeping import name_of, start_tag
from armarium_formats.tei.lines import Line, OpenElement, Word, join_pieces, preserve_blanks
from armarium_formats.tei.shapes import drawn_in
from armarium_formats.tei.surfaces import DEEPEST, Page, Surfaces, Zone, stated_id
from armarium_formats.tei.vocabulary import LINE_POINTERS, WORD_POINTERS, XML, image_of, language_of
from armarium_source_model.api import DIVIDED

if TYPE_CHECKING:
    from lxml import etree

UNPLACED = (
    "Editorial elements contain characters that the text leaves out, or are where the text is assembled "
    "differently: they are kept as markup and do not become editorial facts"
)
POINTING = ("facs", "corresp")
_LATER_PART = re.compile(r"(?:\s|<[^>]*>)*?<w\b[^>]*\bpart=\"[MF]\"")
"""What a line begins with if its first word began on the line before, where words are marked."""


def _goes_on(line: Line) -> bool:
    """Return whether the file says that the first word of a line began on the line before."""
    value = line.attributes.get("break")
    if value in ("yes", "no"):
        return value == "no"
    return line.is_in_word or _LATER_PART.match("".join(line.markup)) is not None


class Collecting:
    """The position of the walk in a text, and the lines it has begun and ended."""

    def __init__(self, surfaces: Surfaces) -> None:
        self.surfaces = surfaces
        self.notes = surfaces.notes
        self.ranks: dict[int, int] = {}
        self.counted = 0
        self.walked = 0
        self.left: Counter[str] = Counter()
        self.cells: dict[etree._Element, dict[str, int]] = {}
        self.filled: set[int] = set()
        self.further: dict[int, tuple[PageSegment, list[str]]] = {}
        self.breaks: dict[etree._Element, Page] = {}
        self.page: Page | None = None
        self.first: Page | None = None
        self.block: Block | None = None
        self.line: Line | None = None
        self.open: list[OpenElement] = []
        self.mode = "both"
        self.preserve = False
        self.in_source = False
        self.hand: str | None = None

    def characters(self, text: str | None) -> None:
        if not text:
            return
        if self.line is None and not text.strip(" \t\r\n"):
            return
        line = self.line_here()
        piece = preserve_blanks(text) if self.preserve else text
        if self.mode in ("both", "plain"):
            line.plain.append(piece)
        if self.mode in ("both", "edited"):
            line.edited.append(piece)
        line.markup.append(text_of(text))

    def line_here(self) -> Line:
        """Return the line that is being collected; one is begun where there is none."""
        if self.line is None:
            self.begin(None)
        assert self.line is not None
        return self.line

    def open_element(self, element: etree._Element) -> OpenElement:
        opened = OpenElement(element, local_name(str(element.tag)))
        if self.line is None and not len(element) and not (element.text or "").strip():
            self.begin(None)
        if self.line is not None:
            self.line.markup.append(start_tag(element))
            self.line.is_marked = True
            opened.line = self.line
        self.open.append(opened)
        return opened

    def close_element(self, opened: OpenElement) -> None:
        self.open.pop()
        if self.line is not None:
            self.line.markup.append(f"</{opened.tag}>")
            self.line.elements += opened.line is self.line

    # ------------------------------------------------------------------------------------------ lines

    def target(self) -> Page:
        if self.page is None:
            if self.first is None:
                self.first = Page(PageModel(0, 0), "the whole text")
                self.surfaces.pages.append(self.first)
            self.page = self.first
        return self.page

    def begin(self, zone: Zone | None) -> None:
        if zone is not None:
            self.page = zone.page
        line = self.line = Line(self.target(), zone, self.next())
        line.hand = self.hand
        if zone is not None:
            self.ranks.setdefault(id(zone.segment), line.rank)
        for opened in self.open:
            line.markup.append(start_tag(opened.element, again=opened.is_written))
            line.is_in_word |= opened.tag == "w"
            line.is_marked = True
            opened.line = opened.line or line

    def shift_hand(self, element: etree._Element) -> None:
        """From a handShift on, lines are of another hand; within a line it applies to the next."""
        self.hand = (element.get("new") or "").rpartition("#")[2] or None
        line = self.line
        if line is None or line.detached:
            return
        if "".join(line.plain).strip():
            self.notes.note("A hand changes within a line; the line is attributed to the hand that began it")
        else:
            line.hand = self.hand

    def line_of(self, element: etree._Element, zone: Zone) -> None:
        """Begin a line for an element that is itself a line, or let the line already begun take its zone."""
        line = self.line
        if line is not None and line.detached:
            return
        if line is not None and line.zone is None and not "".join(line.plain).strip():
            self.page = line.page = zone.page
            line.zone = zone
            self.ranks.setdefault(id(zone.segment), line.rank)
        elif line is None or line.zone is not zone:
            self.finish()
            self.begin(zone)
        assert self.line is not None
        self.line.language = element.get(f"{XML}lang")

    def pause(self) -> None:
        """End the line before a block, unless a line break has just begun it."""
        line = self.line
        if line is None or line.detached or self.open or "".join(line.plain).strip() or line.words:
            self.finish()

    def finish(self) -> None:
        line, self.line = self.line, None
        if line is None:
            return
        if line.detached:
            self.line = line
            return
        line.markup += [f"</{opened.tag}>" for opened in reversed(self.open)]
        texts = line.texts()
        if texts and texts[0].text.strip() and _goes_on(line):
            first = texts[0].text.split(maxsplit=1)[0]
            divided = TextMark(DIVIDED, 0, len(first), {"goes_on": "true"}, {"tei": ""})
            texts[0].marks = [*texts[0].marks, divided]
        page = line.page
        assert page is not None
        bare = line.zone is None and not (line.identity or line.attributes or line.drawn)
        if bare and not texts and not line.words:
            if any(piece.strip() and not piece.startswith("<") for piece in line.markup):
                self.left["text that does not count on a line of its own"] += 1
            elif line.is_broken:
                self.left["lb without text"] += 1
                if line.elements:
                    self.left["markup on a line without text"] += line.elements
            return
        if line.zone is not None:
            segment = line.zone.segment
            segment.kind = "line"
        else:
            segment = PageSegment(page.identity(line.identity, "line"), "line")
            if len(line.drawn) > 2:
                segment.points = line.drawn
            else:
                segment.baseline = line.drawn
            self.ranks[id(segment)] = line.rank
        segment.hand = segment.hand or line.hand
        if line.unplaced:
            page.notes.note(UNPLACED)
        self.put(segment, line.zone, page)
        self.fill(segment, texts, page)
        if line.language and not segment.language:
            segment.language, segment.script = language_of(line.language)
        if line.attributes.get("type") == "furniture":
            segment.is_furniture = True
            line.attributes.pop("type")
        if line.elements and not join_pieces(line.plain) and line.words:
            self.left["markup on a line without text"] += line.elements
        elif line.elements and not join_pieces(line.plain):
            if lost := [mark for mark in marks_in(line.to_markup(), "").marks if mark.kind == "lost"]:
                segment.texts = segment.texts or [PageText("", marks=lost)]
            page.notes.kept["markup on lines without text"] += 1
            keep_for("tei", segment, "markup", line.to_markup())
        if line.attributes:
            keep_for("tei", segment, "lb", {**line.attributes, **kept_by("tei", segment).get("lb", {})})
            page.notes.count_attributes("lb", line.attributes)
        for word in line.words:
            self.settle_word(word, segment, line.zone)

    def fill(self, segment: PageSegment, texts: list[PageText], page: Page) -> None:
        """Give a line its texts; one that has a text from its zone keeps it, and the other is an
        alternative.
        """
        if texts and texts[0].extras:
            page.notes.kept["markup in texts"] += 1
        if not segment.texts:
            segment.texts = texts
        elif texts and id(segment) in self.filled:
            page.notes.note("A zone is the place of more than one line of text; they were joined")
            self.further.setdefault(id(segment), (segment, []))[1].append(texts[0].text)
        elif texts and texts[0].text == segment.text:
            segment.texts = texts
        elif texts:
            page.notes.kept["alternative readings (text beside the source document)"] += 1
            segment.texts += texts
        if not self.in_source and texts:
            self.filled.add(id(segment))

    def put(self, segment: PageSegment, zone: Zone | None, page: Page) -> None:
        """Attach a line: to its zone's parent, else to the region of the text around it."""
        if zone is not None:
            self.hang(zone, self.block.zone_of(page) if self.block is not None else None)
            return
        around = self.block.place_for(self, page) if self.block is not None else None
        (around.children if around is not None else page.model.segments).append(segment)

    def hang(self, zone: Zone, around: Zone | None) -> None:
        """Move a zone directly on the surface into the one that contains its text."""
        if around is None or zone.parent is not None or zone.page is not around.page:
            return
        above = [around]
        while above[-1] is not zone and above[-1].parent is not None:
            above.append(above[-1].parent)
        if above[-1] is zone:
            return
        if len(above) + zone.height >= DEEPEST:
            self.notes.note(
                f"Zones are nested more than {DEEPEST} deep; further ones were put on the surface"
            )
            return
        zone.parent = around
        for steps, up in enumerate(above, zone.height + 1):
            up.height = max(up.height, steps)

    def mention(self, segment: PageSegment) -> None:
        self.ranks.setdefault(id(segment), self.next())

    def next(self) -> int:
        self.counted += 1
        return self.counted

    def settle_word(self, word: Word, line: PageSegment | None, zone: Zone | None) -> None:
        segment = word.zone.segment
        if segment.texts:
            self.notes.note("A zone is the place of more than one word; the first counts")
            return
        segment.texts, segment.is_furniture = word.texts, word.is_furniture
        for text in segment.texts:
            text.extras = None
        if zone is not None:
            self.hang(word.zone, zone)
        elif line is not None and word.zone.parent is None and not word.zone.is_hung:
            word.zone.is_hung = True
            line.children.append(segment)

    def know_breaks(self, text: etree._Element) -> None:
        """Find the page of every pb: the surface it points at, the one at its position, or a page of its
        own.
        """
        elements = list(text.iter("{*}pb"))
        pages = [page for page in self.surfaces.pages if page.element is not None]
        targets = [self.find_target(element) for element in elements]
        in_sequence = bool(elements) and len(elements) == len(pages) and not any(targets)
        if in_sequence:
            self.notes.note("No pb points to a surface; they were matched in sequence")
        for number, (element, target) in enumerate(zip(elements, targets, strict=True)):
            if in_sequence:
                target = pages[number]
            if isinstance(target, Zone):
                target = target.page
            picture = (element.get("facs") or "").strip().split(" ")[0]
            if target is None:
                name = element.get("n") or stated_id(element) or f"page {len(self.surfaces.pages) + 1}"
                target = Page(PageModel(0, 0), name.strip())
                if picture.startswith("#"):
                    target.notes.note(f"A pb points to {picture}, which does not exist")
                else:
                    target.model.image = image_of(picture)
                self.surfaces.pages.append(target)
            elif not target.model.image and "#" not in picture:
                target.model.image = image_of(picture)
            self.breaks[element] = target
            if element.get("n") and target.name.startswith("surface "):
                target.name = str(element.get("n"))
        if elements:
            self.first = self.breaks[elements[0]]
        elif self.surfaces.pages and not self.walked:
            self.first = self.surfaces.pages[0]

    def drawn_at(self, element: etree._Element, page: Page) -> list[Point]:
        """Return the shape that an element without a zone states in @facs, in pixels; an invalid one is
        noted.
        """
        pointer = (element.get("facs") or "").strip()
        points = drawn_in(pointer)
        if pointer and not points:
            page.notes.note(
                f"The facs of a {name_of(element)} is neither a zone of the file nor points, and is left out"
            )
        return [page.place(x, y) for x, y in points]

    def know_kinds(self, text: etree._Element) -> None:
        """Determine the kinds of zones by what points at them: lb at lines, w at words, blocks at regions."""
        kinds: dict[int, tuple[int, Zone, str]] = {}
        for element in text.iter():
            zone = self.find_target(element)
            if not isinstance(zone, Zone):
                continue
            name = name_of(element)
            if name == "lb":
                rank, kind = 0, "line"
            elif name in ("w", "pc", "c"):
                rank, kind = 1, "word"
            elif name in LINE_POINTERS:
                rank, kind = 2, "line"
            elif name in WORD_POINTERS:
                rank, kind = 3, "word"
            else:
                rank, kind = 4, "region"
            if rank < kinds.get(id(zone), (9, zone, ""))[0]:
                kinds[id(zone)] = rank, zone, kind
        for rank, zone, kind in kinds.values():
            if zone.kind is None or rank < 2:
                zone.kind = kind

    def find_target(self, element: etree._Element) -> Zone | Page | None:
        """Return the zone or surface that an element points at, or that it starts with."""
        for key in POINTING:
            for pointer in (element.get(key) or "").split():
                place = self.surfaces.places.get(pointer.rpartition("#")[2]) if "#" in pointer else None
                if place is not None:
                    return place
        return None
