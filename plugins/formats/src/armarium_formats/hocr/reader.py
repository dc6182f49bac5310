"""Reads hOCR into regions, lines and words; deviations are noted, and what the model cannot hold is
stored.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final

from armarium.api import Invalid, parse_html
from armarium_formats.decoding import declared_encoding, decode
from armarium_formats.driver import ReadContext
from armarium_formats.hocr.flow import CHARACTERS, GLYPHS, WORDS, Flow, flat
from armarium_formats.hocr.titles import (
    AS_OF,
    BASELINE,
    DIRECTION,
    FURNITURE,
    KIND,
    LONGEST_TITLE,
    OF_TEXT,
    SCRIPT,
    UNPLACED,
    baseline_of,
    box_of,
    class_of,
    is_near,
    numbers,
    path_of,
    polygon_of,
    properties,
    semicolons,
    shapes_of,
)
from armarium_formats.markup.fragments import local_name
from armarium_formats.markup.languages import language_and_script
from armarium_formats.markup.noting import Ids, Notes
from armarium_formats.numbers import parse_unsigned
from armarium_formats.page_model import PageModel, PageSegment, PageText, SegmentKind, keep_for
from armarium_formats.points import require_countable
from armarium_formats.shapes import corners

if TYPE_CHECKING:
    from lxml import etree

LINES: Final = frozenset({"ocr_line", "ocrx_line"})
FLOATS: Final = frozenset({"ocr_header", "ocr_footer", "ocr_caption", "ocr_textfloat", "ocr_pageno"})
"""Regions by the standard, and what tesseract calls a line of a heading, a caption or a pull-out."""
BLOCKS: Final = frozenset({"ocr_carea", "ocrx_block", "ocr_column"})
INLINE: Final = CHARACTERS | GLYPHS
RUNNING: Final = frozenset({"ocr_header", "ocr_footer", "ocr_pageno"})
_CONFIDENCES: Final = ("x_wconf", "x_conf", "x_confs")
_HIDDEN: Final = frozenset({"script", "style", "head", "title", "template"})
_XML_LANG: Final = "{http://www.w3.org/XML/1998/namespace}lang"
_DIRECTIONS: Final = {direction: direction for direction in ("ltr", "rtl", "ttb", "btt")}


def read(data: bytes, context: ReadContext) -> list[PageModel]:
    """Return the pages of an hOCR file; Invalid with the reason."""
    decoded = decode(data, declared_encoding(data))
    root = parse_html(decoded.text, name=context.filename)
    reading = _Reading(context)
    if decoded.note:
        reading.of_file.append(decoded.note)
    pages = reading.pages_of(root)
    if not pages and (inner := _find_framed(root)):
        reading.of_file.append("The hOCR is text inside another element of the HTML; it was read from there")
        pages = reading.pages_of(parse_html(inner, name=context.filename))
    for template in root.iter("{*}template") if not pages else ():
        if len(template) and (pages := reading.pages_of(template)):
            pages[0].notes.insert(0, "The hOCR is in a template of the HTML; it was read from there.")
            break
    if not pages:
        raise Invalid(
            f"{context.filename} is HTML without any element of class ocr_page or ocr_line, so it is not "
            "hOCR.",
            code="not_hocr",
        )
    return pages


def _find_framed(root: etree._Element) -> str | None:
    """Find hOCR inside an element whose content a browser does not parse, as in demonstrations."""
    for element in root.iter("{*}iframe", "{*}noscript", "{*}textarea", "{*}template", "{*}script"):
        if element.text and "ocr_page" in element.text:
            return str(element.text)
    return None


class _Place:
    """Where segments go during the walk: a list, its class, and the place above."""

    def __init__(self, into: list[PageSegment], name: str, above: _Place | None) -> None:
        self.into = into
        self.name = name
        self.above = above

    def find_outside(self, *names: str) -> _Place:
        """Return the nearest place outside elements of these classes; unclosed tags nest what are
        siblings.
        """
        place: _Place = self
        outside = self
        while place.above is not None:
            if place.name in names:
                outside = place.above
            place = place.above
        return outside


class _Reading:
    """One file while it is being read."""

    def __init__(self, context: ReadContext) -> None:
        self.context = context
        self.notes = Notes()
        self.of_file: list[str] = []
        self.pages: list[PageModel] = []
        self.ids = Ids()
        self.confidences: list[tuple[PageText, float]] = []
        self.confidence_of: dict[int, float] = {}
        self.loose: list[str] = []
        self.place = _Place([], "", None)

    def pages_of(self, root: etree._Element) -> list[PageModel]:
        """Return the pages; lines outside of any go on the previous page, or on one of their own."""
        meta = {
            str(element.get("name")): str(element.get("content"))
            for element in root.iter("{*}meta")
            if element.get("name") and element.get("content") and element.get("name") not in (OF_TEXT, AS_OF)
        }
        require_countable(self.context.filename, lambda: shapes_of(root))
        self._walk(root)
        self._close_page()
        self._settle_confidences()
        for page in self.pages:
            page.notes = [f"{note}." for note in self.of_file] + page.notes
            if meta:
                page.extras.setdefault("hocr", {})["meta"] = meta
                page.kept |= {f"meta {name}": 1 for name in meta}
        return self.pages

    # -------------------------------------------------------------------------------------------- pages

    def _open_page(self, element: etree._Element | None) -> None:
        self._close_page()
        page = PageModel(0, 0)
        title = self._properties(element) if element is not None else {}
        box = box_of(title.pop("bbox", None))
        size = self.context.page_size
        if box is not None and (box[:2] == (0, 0) or size is None):
            page.width, page.height = max(0, round(box[2])), max(0, round(box[3]))
        elif box is not None and size is not None:
            self.notes.note("A page's box begins inside its image; the image's size was used")
            page.width, page.height = size
        elif element is not None:
            self.notes.note("An ocr_page states no bbox, so its size is that of the image")
        image = title.pop("image", None) or title.pop("x_source", None) or title.pop("file", "")
        page.image = image.strip().strip("\"'")
        page.script, own_direction = title.pop(SCRIPT, None), title.pop(DIRECTION, "")
        if title:
            page.extras["hocr"] = {"page": title}
            for key in title:
                self.notes.kept[f"property ocr_page/{key}"] += 1
        if element is not None:
            if language := element.get("lang") or element.get(_XML_LANG):
                page.language, script = language_and_script(str(language))
                page.script = script or page.script
            page.direction = _DIRECTIONS.get(own_direction or str(element.get("dir") or ""))
        self.pages.append(page)
        self.place = _Place(page.segments, "ocr_page", None)

    def _close_page(self) -> None:
        text = flat(" ".join(self.loose))
        self.loose = []
        if not self.pages:
            return
        page = self.pages[-1]
        if text and page.segments:
            page.extras.setdefault("hocr", {})["loose_text"] = text
            self.notes.kept["text outside of lines"] += 1
        elif text:
            page.segments.append(
                PageSegment(self.ids.make("text"), "region", "ocr_page", texts=[PageText(text)])
            )
            self.notes.note("A page's text is in no line; it became a region of its own")
        page.kept = dict(self.notes.kept)
        page.notes = self.notes.sentences()
        self.notes = Notes()

    def _page(self) -> None:
        """Make sure there is a page before anything is placed on it."""
        if not self.pages:
            self._open_page(None)
            self.notes.note("Lines are outside of any ocr_page; they were put on a page of their own")

    # --------------------------------------------------------------------------------------------- walk

    def _walk(self, element: etree._Element) -> None:
        """Walk the children of an element. What an unclosed tag left inside a line comes after it: depth
        stays bounded.
        """
        waiting: deque[etree._Element] = deque(element)
        strays: set[etree._Element] = set()
        while waiting:
            child = waiting.popleft()
            tail = None if child in strays else child.tail
            name = class_of(child) if isinstance(child.tag, str) else None
            if not isinstance(child.tag, str) or local_name(child.tag) in _HIDDEN:
                pass
            elif name == "ocr_page":
                self._open_page(child)
                self._leave(child.text)
                self._walk(child)
            elif name is None or name in INLINE or (name == "ocr_document" and not self.pages):
                self._leave(child.text)
                self._walk(child)
            elif name in LINES or (name in FLOATS and self._is_line(child)):
                elements = self._line(child, name)
                strays.update(elements)
                waiting.extendleft(reversed(elements))
            elif name in WORDS:
                self._page()
                self.place.into.extend(Flow(self, PageSegment("", "line")).read_lone_word(child, name))
            else:
                self._region(child, name)
            self._leave(tail)

    def _leave(self, text: str | None) -> None:
        if self.pages and text and not text.isspace():
            self.loose.append(text)

    def _is_line(self, element: etree._Element) -> bool:
        """Return whether a header, caption or float is a line: it contains words or text, but no line or
        paragraph.
        """
        for part in element.iter():
            if part is not element and isinstance(part.tag, str):
                name = class_of(part)
                if name in LINES or name == "ocr_par" or name in BLOCKS or name in FLOATS:
                    return False
        return bool(flat("".join(element.itertext())))  # type: ignore[arg-type]

    def _region(self, element: etree._Element, name: str) -> None:
        self._page()
        page, above = self.pages[-1], self.place
        outer = above.find_outside("ocr_par") if name == "ocr_par" or name in BLOCKS else above
        if outer is not above:
            self.notes.note(
                f"An {name} is inside an ocr_par, as with an unclosed tag; it was read as following it"
            )
        segment = self._segment(element, "region", name)
        segment.is_furniture = segment.is_furniture or name in RUNNING
        outer.into.append(segment)
        before, self.loose = self.loose, []
        self.place = _Place(segment.children, name, outer)
        self._leave(element.text)
        self._walk(element)
        if self.pages[-1] is not page:
            return  # a page was opened in it, by an unclosed tag: what follows is on that one
        self.place = above
        own = flat(" ".join(self.loose))
        if own and not segment.children:
            segment.texts.append(PageText(own))
            self.loose = []
        self.loose = before + self.loose

    def _line(self, element: etree._Element, name: str) -> list[etree._Element]:
        """Add a line, and the elements inside it that do not belong to it."""
        self._page()
        line = self._segment(element, "line", name)
        line.is_furniture = line.is_furniture or name == "ocr_pageno"
        self.place.into.append(line)
        flow = Flow(self, line)
        flow.run(element)
        for _ in flow.strays:
            self.notes.note(
                "A line or region is inside a line, as with an unclosed tag; it was read as following it"
            )
        return flow.strays

    # ----------------------------------------------------------------------------------------- segments

    def _properties(self, element: etree._Element) -> dict[str, str]:
        title = str(element.get("title") or "")
        if len(title) > LONGEST_TITLE:
            self.notes.note(f"A title of more than {LONGEST_TITLE:,} characters was left out")
            return {}
        if "," in title and (mended := semicolons(title)) != title:
            self.notes.note("The properties of a title are separated by a comma instead of a semicolon")
            title = mended
        return properties(title)

    def segment(self, element: etree._Element, name: str) -> PageSegment:
        """Return a word of a line as a segment."""
        return self._segment(element, "word", name)

    def _segment(self, element: etree._Element, kind: SegmentKind, name: str) -> PageSegment:
        title = self._properties(element)
        segment = PageSegment(self._identity(element.get("id"), kind), kind, name)
        title.pop(UNPLACED, None)
        if own := title.pop(KIND, ""):
            segment.kind_raw = own.strip('"')
        segment.script, own_direction = title.pop(SCRIPT, None), title.pop(DIRECTION, "")
        segment.is_furniture = title.pop(FURNITURE, "") == "1"
        bbox = title.pop("bbox", None)
        box = box_of(bbox)
        if bbox and box is None:
            self.notes.note(f"The bbox of an {name} is not four numbers")
            title["bbox"] = bbox
        points = polygon_of(title.get("poly"))
        if points:
            del title["poly"]
            segment.points = points
        elif box is not None:
            segment.points = corners(box)
        if (place := parse_unsigned(title.get("order"))) is not None:
            segment.position = place
            del title["order"]
        if (path := path_of(title.get(BASELINE))) is not None:
            segment.baseline = path
            del title[BASELINE]
            title.pop("baseline", None)
        if baseline := title.get("baseline"):
            turned = numbers(title.get("textangle", "0")) not in ([0], [360])
            path = None if turned else baseline_of(baseline, box)
            if path is not None and box is not None and not is_near(path, box):
                path = None
            if path is not None:
                segment.baseline = path
                del title["baseline"]
            else:
                self.notes.note(
                    "The baseline of a rotated line is kept as stated"
                    if turned
                    else f"The baseline of an {name} is not valid, or is far outside of it, and is kept as stated"
                )
        language = element.get("lang") or element.get(_XML_LANG)
        if language:
            segment.language, script = language_and_script(str(language))
            segment.script = script or segment.script
            if segment.language is None or "_" in language:
                title["lang"] = str(language)
        if direction := own_direction or element.get("dir"):
            segment.direction = _DIRECTIONS.get(str(direction))
        if title:
            self._confidence(segment, title)
        if title:
            self.keep(segment, "title", title)
            for key in title:
                self.notes.kept[f"property {name}/{key}"] += 1
        return segment

    def _confidence(self, segment: PageSegment, title: dict[str, str]) -> None:
        """Take the confidence of the text from a title; those of single characters are kept there too."""
        for key in _CONFIDENCES:
            if key in title:
                values = numbers(title[key])
                if values:
                    self.confidence_of[id(segment)] = sum(values) / len(values)
                    if len(values) == 1:
                        del title[key]
                return

    def keep(self, segment: PageSegment, key: str, value: Any) -> None:
        """Store something that the model has no field for."""
        keep_for("hocr", segment, key, value)

    def state_confidence(self, segment: PageSegment) -> None:
        """Record the confidence of the text; its scale is known only at the end."""
        confidence = self.confidence_of.pop(id(segment), None)
        if confidence is not None and segment.texts:
            self.confidences.append((segment.texts[0], confidence))

    def _settle_confidences(self) -> None:
        """Scale confidences: hundredths by the standard; if none exceeds 1, they are fractions."""
        values = [value for _, value in self.confidences]
        whole = bool(values) and max(values) <= 1 and any(value != int(value) for value in values)
        if whole:
            self.of_file.append("Confidences are given from 0 to 1, not from 0 to 100")
        outside = 0
        for text, value in self.confidences:
            if 0 <= value <= (1 if whole else 100):
                text.confidence = round(value if whole else value / 100, 4)
            else:
                outside += 1
        if outside:
            self.of_file.append(f"{outside} confidences of the file are outside 0 to 100")

    def _identity(self, identity: str | None, kind: str) -> str:
        """Return the id; a missing or duplicate one is made unique, the latter noted."""
        if identity and self.ids.claim(identity):
            return identity
        if identity:
            self.notes.note(f"The id {identity[:80]} occurs twice")
        return self.ids.make(identity or kind)
