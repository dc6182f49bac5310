"""Walks a TEI text: page, line and column breaks, blocks, furniture and notes, across any markup."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from armarium_formats.markup.fragments import local_name
from armarium_formats.tei.blocks import POINTERS, Block, cells_of
from armarium_formats.tei.collecting import POINTING, Collecting
from armarium_formats.tei.keeping import attributes, name_of, start_tag
from armarium_formats.tei.lines import Line, Word
from armarium_formats.tei.marking import COUNTING, MAKER
from armarium_formats.tei.shapes import probability
from armarium_formats.tei.surfaces import Page, Zone
from armarium_formats.tei.vocabulary import (
    BREAKS,
    EDITED,
    INLINE,
    ORIGINAL,
    READING_KINDS,
    REGIONS,
    UNSEEN,
    XML,
)

if TYPE_CHECKING:
    from lxml import etree


class Walk(Collecting):
    """One file's texts while they are read; lines and regions go to the pages of `surfaces`."""

    # -------------------------------------------------------------------------------------- entrances

    def sources(self) -> None:
        """Walk the texts inside the zones (a source document)."""
        self.in_source = True
        for page in self.surfaces.pages:
            for zone in list(page.zones):
                if not zone.lines and not zone.has_text:
                    continue
                self.page, self.block = page, None
                if zone.kind == "line":
                    for element in zone.lines or [zone.element]:
                        self.begin(zone)
                        self._content(element)
                        self.finish()
                else:
                    self.block = Block(zone.element, zone, None)
                    self._content(zone.element)
                    self.finish()
        self.in_source = False
        self.page = self.block = None

    def text(self, element: etree._Element) -> None:
        """Walk a whole `text`."""
        self.page = self.block = self.first = None
        self.know_breaks(element)
        self.know_kinds(element)
        self.walked += 1
        self._content(element)
        self.finish()

    # ------------------------------------------------------------------------------------------- walk

    def _content(self, element: etree._Element) -> None:
        before = self.preserve
        space = element.get(f"{XML}space")
        self.preserve = before if space is None else space == "preserve"
        self.characters(element.text)
        for child in element:
            if isinstance(child.tag, str):
                self._element(child)
            self.characters(child.tail)
        self.preserve = before

    def _element(self, element: etree._Element) -> None:
        name = name_of(element)
        match name:
            case "pb":
                self._page_break(element)
            case "lb":
                self._line_break(element)
            case "cb" | "gb" | "milestone":
                self._column(element, name)
            case "choice":
                self._choice(element)
            case "app":
                self._apparatus(element)
            case "note" | "fw":
                self._walk_aside(element, name)
            case "seg" if element.get("type") in ("reading", "words"):
                self._own_seg(element)
            case "zone" if self.in_source and next(element.iterancestors("{*}line"), None) is not None:
                # A part of a line that is written elsewhere has no zone of its own.
                self._inline(element, name)
            case _ if name in UNSEEN:
                self.left[name] += name not in ("surface", "zone", "line", "path", "teiHeader")
            case _:
                self._walk_other(element, name)

    def _walk_other(self, element: etree._Element, name: str) -> None:
        place = self.find_target(element)
        if isinstance(place, Page):
            self.turn_to(place)
            place = None
        if (place is not None and place.kind == "region") or name in REGIONS:
            self._region(element, place)
        elif name == "l" and place is None and _is_written_across(element):
            # Verses divided by line breaks: where a verse begins, the line continues.
            self.left["l"] += 1
            if others := attributes(element, POINTERS):
                self.left["attributes of l"] += len(others)
            if self.line is not None:
                self.characters(" ")
            self._content(element)
        elif name in BREAKS or self._is_container(element, name):
            if name not in ("text", "body", "l", "row", "item"):
                self.left[name] += 1
            if name not in ("text", "body", "row") and (others := attributes(element, POINTERS)):
                self.left[f"attributes of {name}"] += len(others)
            self._walk_apart(element, place)
        elif place is not None and place.kind == "word" and element.find(".//{*}lb") is None:
            self._word(element, place)
        else:
            if place is not None and place.kind == "line":
                self.line_of(element, place)
            self._inline(element, name)

    def _is_container(self, element: etree._Element, name: str) -> bool:
        """Return whether an unknown element contains blocks, not words: no text between its children."""
        if name in INLINE or not len(element) or (element.text or "").strip():
            return False
        if any(name_of(child) in REGIONS or name_of(child) in BREAKS for child in element):
            return True
        return self.line is None and not any((child.tail or "").strip() for child in element)

    def _walk_apart(self, element: etree._Element, place: Zone | None) -> None:
        self.pause()
        if place is not None and place.kind == "line":
            self.line_of(element, place)
        self._content(element)
        self.finish()

    def _inline(self, element: etree._Element, name: str) -> None:
        mode = self.mode
        if name == "handShift":
            self.shift_hand(element)
        is_gone = name == "del" and element.get("type") != COUNTING
        if is_gone or name in ("orphan", "rdg") or (name == "ex" and _is_twofold(element)):
            self.mode = "edited" if name == "ex" and mode != "none" else "none"
        elif name == "am" and mode == "both" and _has_expansion(element):
            self.mode = "plain"
        opened = self.open_element(element)
        if name == "gap":
            self.left["text of gap"] += 1
        if name == "space":
            self.characters(" ") if self.line is not None else None
        else:
            self._content(element)
        self.close_element(opened)
        self.mode = mode

    # ------------------------------------------------------------------------------------- milestones

    def _page_break(self, element: etree._Element) -> None:
        if self.line is not None and self.line.detached:
            return
        page = self.breaks.get(element)
        if page is None:
            return
        self.finish()
        self.turn_to(page)
        others = attributes(element, POINTING if self.find_target(element) is not None else ("facs",))
        if others:
            page.extras.setdefault("pb", others)

    def turn_to(self, page: Page) -> None:
        if page is not self.page:
            self.finish()
            self.page = page

    def _line_break(self, element: etree._Element) -> None:
        if self.mode == "edited" or (self.line is not None and self.line.detached):
            return
        self.finish()
        zone = self.find_target(element)
        if isinstance(zone, Page):
            self.turn_to(zone)
            zone = None
        self.begin(zone if zone is None or zone.kind == "line" else None)
        line = self.line
        assert line is not None
        line.is_broken = True
        line.attributes = attributes(element, POINTING if zone is not None else ("facs",))
        if line.attributes.get("resp", "").startswith(f"#{MAKER}"):
            del line.attributes["resp"]
        if line.zone is None:
            line.identity = line.attributes.pop("xml:id", None)
        if zone is None:
            line.drawn = self.drawn_at(element, self.target())

    def _column(self, element: etree._Element, name: str) -> None:
        if self.line is not None and self.line.detached:
            return
        self.finish()
        zone = self.find_target(element)
        if isinstance(zone, Page):
            self.turn_to(zone)
        elif zone is not None:
            self.block = Block(element, zone, self.block)
            self.mention(zone.segment)
        self.left[name] += 1

    # ------------------------------------------------------------------------------------- words, parts

    def _aside_line(self, element: etree._Element) -> Line:
        """Return the content of an element, collected separately from the line."""
        saved = self.line, self.open, self.mode
        self.line, self.open, self.mode = Line(detached=True), [], "both"
        aside = self.line
        self._take_certainty(element, aside)
        self._content(element)
        self.line, self.open, self.mode = saved
        return aside

    def _word(self, element: etree._Element, zone: Zone) -> None:
        line = self.line_here()
        part = self._aside_line(element)
        part.is_stated = part.is_stated or part.confidence is not None
        zone.segment.kind = "word"
        self.mention(zone.segment)
        for mode, pieces in (("plain", part.plain), ("edited", part.edited)):
            if self.mode in ("both", mode):
                (line.plain if mode == "plain" else line.edited).extend(pieces)
        line.markup += [start_tag(element), *part.markup, f"</{local_name(str(element.tag))}>"]
        line.is_marked = line.is_marked or part.is_marked
        line.elements += part.elements
        furniture = element.get("type") == "furniture"
        line.words.append(Word(zone, part.texts(), furniture))

    def _own_seg(self, element: etree._Element) -> None:
        """Read the `seg` of our profile: a line's text with its confidence, or only words."""
        if element.get("type") == "words":
            aside = self._aside_line(element)
            if self.line is not None:
                self.line.words += aside.words
            else:
                for word in aside.words:
                    self.settle_word(word, None, None)
            return
        self._counting_text(element, element.get("subtype"))

    def _counting_text(self, element: etree._Element, kind: str | None) -> None:
        """Read what our profile says is the text of a line that counts, with its kind and confidence."""
        line = self.line_here()
        line.is_stated = True
        line.kind = self._kind_of(kind) or line.kind
        self._take_certainty(element, line)
        self._content(element)

    def _take_certainty(self, element: etree._Element, line: Line) -> None:
        if cert := element.get("cert"):
            line.confidence = probability(cert, self.notes)

    def _marked_content(self, element: etree._Element) -> None:
        opened = self.open_element(element)
        self._content(element)
        self.close_element(opened)

    def _kind_of(self, word: str | None) -> str | None:
        """Return a kind of reading; None for an unknown one, which is noted."""
        if not word or word in READING_KINDS:
            return word
        self.notes.note(f"{word[:40]} is not a kind of reading here; the text is read as a transcription")
        return None

    def _apparatus(self, element: etree._Element) -> None:
        """Read an `app`: ours contains a line's readings; of others the lemma or the first reading counts."""
        own = element.get("type") == "readings"
        opened = self.open_element(element) if not own else None
        line = self.line_here()
        parts = [child for child in element if name_of(child) in ("lem", "rdg", "rdgGrp")]
        counting = next((part for part in parts if name_of(part) == "lem"), parts[0] if parts else None)
        for part in parts:
            if not own:
                mode = self.mode
                self.mode = mode if part is counting else "none"
                self._marked_content(part)
                self.mode = mode
            elif part is counting:
                self._counting_text(part, part.get("type"))
            elif part.get("type") == "words":
                line.words += self._aside_line(part).words
            else:
                aside = self._aside_line(part)
                aside.is_stated = True
                text = aside.texts()[0]
                text.kind = self._kind_of(part.get("type")) or text.kind
                line.readings.append(text)
        if opened is not None:
            self.close_element(opened)

    def _choice(self, element: etree._Element) -> None:
        """Read a choice: the form on the page counts; the editor's form goes into the edited text."""
        children = [child for child in element if isinstance(child.tag, str)]
        named = [(child, name_of(child)) for child in children]
        original = next((child for child, name in named if name in ORIGINAL), None)
        edited = next((child for child, name in named if name in EDITED), None)
        if original is None:
            original = next((child for child in children if child is not edited), None)
        opened = self.open_element(element)
        mode = self.mode
        for child in children:
            child_mode = "plain" if child is original else "edited" if child is edited else "none"
            if (child is original and edited is None) or (child is edited and original is None):
                child_mode = "both"
            self.mode = child_mode if mode == "both" or child_mode in (mode, "none") else "none"
            if child_mode == "both":
                self.mode = mode
            self._marked_content(child)
        self.mode = mode
        self.close_element(opened)

    # ----------------------------------------------------------------------------------------- blocks

    def _region(self, element: etree._Element, place: Zone | None) -> None:
        self.pause()
        zone = place if place is not None and place.kind == "region" else None
        if name_of(element) == "table":
            self.cells.update(cells_of(element))
        saved = self.block, self.open, self.mode
        self.block, self.open, self.mode = Block(element, zone, saved[0]), [], "both"
        if zone is not None:
            self.turn_to(zone.page)
            self.mention(zone.segment)
            self.block.tell(zone.segment, self)
            above = saved[0].zone_of(zone.page) if saved[0] is not None else None
            self.hang(zone, above)
        elif place is not None and place.kind == "line":
            self.line_of(element, place)
        self._content(element)
        self.finish()
        self.block.leave(self)
        self.block, self.open, self.mode = saved

    def _walk_aside(self, element: etree._Element, name: str) -> None:
        """Read a note or furniture as a region of its own; the interrupted line continues after it."""
        if name == "note" and element.get("type") == "text" and self.block is not None and self.block.zone:
            self._region_text(element)
            return
        if self.line is not None and self.line.detached:
            return
        saved = self.line, self.page
        place = self.find_target(element)
        if isinstance(place, Page):
            self.page, place = place, None
        self.line = None
        self._region(element, place)
        if saved[0] is not None:
            self.line, self.page = saved

    def _region_text(self, element: etree._Element) -> None:
        """Read a region's own text, beside its lines."""
        aside = self._aside_line(element)
        aside.is_stated = True
        assert self.block is not None
        assert self.block.zone is not None
        self.block.zone.segment.texts = aside.texts()


def _is_written_across(verse: etree._Element) -> bool:
    """Return whether the poem around a verse marks the beginnings of its lines by line breaks."""
    poem = verse
    for above in verse.iterancestors("{*}lg"):
        poem = above
    return next(poem.iter("{*}lb"), None) is not None


def _is_twofold(ex: etree._Element) -> bool:
    """Return whether the abbreviated form is beside the expansion (`expan` with `abbr` or `am` in it)."""
    return _expands(ex, ("abbr", "am"))


def _has_expansion(am: etree._Element) -> bool:
    return _expands(am, ("ex",))


def _expands(element: etree._Element, names: tuple[str, ...]) -> bool:
    """Return whether one of *names* is in the `expan` around an element (first few hundred children)."""
    above = next((up for up in element.iterancestors() if name_of(up) in ("expan", "choice")), None)
    if above is None or name_of(above) != "expan":
        return False
    return any(name_of(element) in names for element in islice(above.iter(), 300))
