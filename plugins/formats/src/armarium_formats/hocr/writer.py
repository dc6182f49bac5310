"""Writes hOCR 1.2 from a page model: regions, lines and words in reading order, every word with its box."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from itertools import chain

from armarium.api import Sign
from armarium_formats.driver import WriteContext, WrittenPage
from armarium_formats.glyphs import glyphs_of
from armarium_formats.hocr.flow import WORDS, flat
from armarium_formats.hocr.reader import FLOATS, LINES, RUNNING
from armarium_formats.hocr.titles import (
    AS_OF,
    BASELINE,
    DIRECTION,
    ESTIMATED,
    FURNITURE,
    KIND,
    OF_TEXT,
    SCRIPT,
    UNPLACED,
)
from armarium_formats.kinds import split_kind
from armarium_formats.markup.fragments import attribute_of, attributes_of, illegal_characters, text_of
from armarium_formats.markup.identities import Identities
from armarium_formats.markup.noting import FileWriting
from armarium_formats.page_model import PageModel, PageSegment, PageText, Point, kept_by
from armarium_formats.placed_words import WordOfLine, words_of_line
from armarium_formats.shapes import bounds, corners, line_height
from armarium_source_model.api import words_of_sum

_CLASS = re.compile(r"ocrx?_[a-z_]+")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*")
_OF_PAGE = {
    "ImageRegion": "ocr_image",
    "GraphicRegion": "ocr_image",
    "LineDrawingRegion": "ocr_linedrawing",
    "SeparatorRegion": "ocr_separator",
    "TableRegion": "ocr_table",
}
"""Elements of PAGE as classes of hOCR; every other region is a content area (`ocr_math` is of characters within a line)."""
_NO_IDS = re.compile("(?!)()()()")
ORDER = "order"
_OWN = "hOCR has no place for them; they are in a property of ours"


def write(page: PageModel, context: WriteContext) -> WrittenPage:
    """Return *page* as hOCR 1.2 with its losses."""
    return _Writing(page, context).write()


class _Writing(FileWriting):
    """One file while it is written."""

    def __init__(self, page: PageModel, context: WriteContext) -> None:
        super().__init__(page, context)
        self.ids = Identities((segment.id for segment in page.walk()), _NO_IDS)
        self.line_height = cache(lambda: line_height(page, (page.width, page.height)))
        self.classes: set[str] = {"ocr_page"}

    def write(self) -> WrittenPage:
        page = self.page
        extras = page.extras.get("hocr") or {}
        for name in page.extras:
            if name != "hocr" and page.extras[name]:
                self.lose(f"what a {name} file says of the page", "hOCR has no place for it")
        if self.ids.changed:
            self.lose("ids", "XML requires unique ids that begin with a letter", self.ids.changed)
        title = {"image": _in_quotes(page.image)} if page.image else {}
        if page.width and page.height:
            title["bbox"] = f"0 0 {page.width} {page.height}"
        title |= {"ppageno": "0"} | (extras.get("page") or {})
        self._count_order()
        inside = "".join(self._segment(segment, "\n   ") for segment in self._in_order(page.segments))
        if loose := extras.get("loose_text"):
            self.lose(
                "text outside of lines", "only lines and regions have text in what is written", bool(loose)
            )
        facts = self._facts(page, title)
        attributes = {"class": "ocr_page", "id": self.ids.make("page_1"), "title": _title(title), **facts}
        body = f"<div{attributes_of(attributes)}>{inside}\n  </div>"
        return self.written(
            '<?xml version="1.0" encoding="UTF-8"?>\n<html xmlns="http://www.w3.org/1999/xhtml">\n <head>\n'
            f"  <title>{text_of(page.image)}</title>\n{self._meta(extras.get('meta') or {})} </head>\n"
            f" <body>\n  {body}\n </body>\n</html>\n"
        )

    def _meta(self, meta: dict[str, str]) -> str:
        contents = {"ocr-system": self.context.creator, **meta}
        # Stated by the file before it: what is in this one is known better.
        contents["ocr-capabilities"] = " ".join(sorted(self.classes))
        if summary := words_of_sum(self.page.makers()):
            contents[OF_TEXT] = summary
        if self.context.citation:
            contents[AS_OF] = self.context.citation
        return "".join(
            f'  <meta name="{attribute_of(name)}" content="{attribute_of(content)}"/>\n'
            for name, content in sorted(contents.items())
        )

    def _count_order(self) -> None:
        groups = sum(1 for node in self.page.order.walk() if node.items) - 1 if self.page.order else 0
        self.lose("groups of the reading order", "hOCR has a sequence only", max(0, groups))

    def _in_order(self, segments: list[PageSegment]) -> list[PageSegment]:
        """Return siblings as they are read: what the order of the page names, else as stated or as they stand."""
        return PageSegment("", "region", children=segments).in_order(self.page.order)

    # ---------------------------------------------------------------------------------------- segments

    def _segment(self, segment: PageSegment, indent: str) -> str:
        if segment.kind == "word":  # in no line: put into one of its own
            self.lose("words outside of lines", "each was put into a line of its own")
            holder = PageSegment(f"line-of-{segment.id}", "line", points=segment.points, children=[segment])
            return self._line(holder, indent)
        return self._line(segment, indent) if segment.kind == "line" else self._region(segment, indent)

    def _region(self, region: PageSegment, indent: str) -> str:
        name = self._class_of(region)
        inside = "".join(self._segment(child, indent + " ") for child in self._in_order(region.children))
        self.lose("blanks in texts", "HTML takes several for one", region.text != flat(region.text))
        if region.text and not region.children:
            inside = self._text(region.text)
            self._lose_texts(region, 1)
        else:
            self._lose_texts(region, 0)
        if region.baseline:
            self.lose("baselines of regions", "hOCR has baselines on lines only")
        if region.cell is not None:
            self.lose("cells of tables", "hOCR has no place for rows and columns")
        head = self._head(region, name, {} if name == region.kind_raw else self._kind(region))
        return f"{indent}<div{head}>{inside}{indent if region.children else ''}</div>"

    def _class_of(self, region: PageSegment) -> str:
        raw = region.kind_raw or ""
        if _CLASS.fullmatch(raw) and raw not in LINES | WORDS | {"ocr_page"}:
            # A float that has text and no lines would be read as a line.
            return raw if raw not in FLOATS or region.children else "ocr_carea"
        return _OF_PAGE.get(split_kind(raw)[0], "ocr_carea")

    def _kind(self, segment: PageSegment) -> dict[str, str]:
        return {KIND: _in_quotes(segment.kind_raw)} if segment.kind_raw else {}

    def _lose_texts(self, segment: PageSegment, texts_written: int) -> None:
        lost = len(segment.texts) - texts_written
        if lost > 0:
            first = (
                "texts of regions and alternative readings" if not texts_written else "alternative readings"
            )
            self.lose(first, "hOCR has one text for each, and alternatives in words only", lost)

    def _line(self, line: PageSegment, indent: str) -> str:
        words, _ = words_of_line(line, self.page, self.line_height)
        self.lose("blanks in texts", "HTML takes several for one", line.text != flat(line.text))
        self._lose_texts(line, 1 if line.texts else 0)
        more = self._kind(line) if line.kind_raw != "ocr_line" else {}
        if line.baseline:
            more |= _baseline(line)
        if line.texts:
            more |= self._confidence(line.texts[0].confidence)
        head = self._head(line, "ocr_line", more)
        of_own = {id(word.segment) for word in words if word.segment is not None}
        astray = [child for child in line.children if id(child) not in of_own]
        self.lose(
            "words of lines",
            "they do not add up to the text of their line, which counts; its words have their share of it",
            len(astray),
        )
        self.lose(
            "places of words",
            "nothing says where they stand; each has its share of the line, and the property x_estimated",
            sum(word.is_estimate for word in words),
        )
        if not words:
            return f"{indent}<span{head}>{self._text(line.text)}</span>"
        return f"{indent}<span{head}>{self._between(line.text, words)}</span>"

    def _between(self, text: str, words: list[WordOfLine]) -> str:
        """Return the words of a line with what stands between them in its text."""
        parts: list[str] = []
        at = 0
        for number, word in enumerate(words):
            if text:
                start = text.find(word.text, at)
                parts.append(self._text(text[at:start]) if start > at else "")
                at = max(at, start) + len(word.text)
            elif number:
                parts.append(" ")
            parts.append(self._word(word))
        return "".join(parts)

    def _word(self, word: WordOfLine) -> str:
        title = {"bbox": _pixels(word.box)}
        title |= self._confidence(word.confidence)
        if word.is_estimate:
            title[ESTIMATED] = "1"
        segment = word.segment
        inside = self._text(word.text)
        if segment is None:
            self.classes.add("ocrx_word")
            return f'<span class="ocrx_word" title="{attribute_of(_title(title))}">{inside}</span>'
        if len(segment.texts) > 1 and segment.text == word.text:
            options = [PageText(word.text), *segment.texts[1:]]
            tags = ["ins", *["del"] * (len(options) - 1)]
            inside = "".join(
                self._alternative(option, tag) for option, tag in zip(options, tags, strict=True)
            )
            inside = f'<span class="alternatives">{inside}</span>'
        elif "x_bboxes" not in (kept_by("hocr", segment).get("title") or {}):
            glyphs = list(glyphs_of(segment.texts[0])) if segment.texts else []
            if (
                glyphs
                and "".join(glyph.text for glyph in glyphs) == segment.text
                and word.text.startswith(segment.text)
            ):
                inside = "".join(map(self._character, glyphs)) + self._text(word.text[len(segment.text) :])
        kind = {} if segment.kind_raw in WORDS else self._kind(segment)
        return f"<span{self._head(segment, 'ocrx_word', {**title, **kind})}>{inside}</span>"

    def _character(self, glyph: Sign) -> str:
        self.classes.add("ocrx_cinfo")
        title = {"bbox": _pixels(bounds(glyph.corners))}
        if glyph.probability is not None:
            title["x_conf"] = f"{100 * glyph.probability:.2f}".rstrip("0").rstrip(".")
        return (
            f'<span class="ocrx_cinfo" title="{attribute_of(_title(title))}">{self._text(glyph.text)}</span>'
        )

    def _alternative(self, text: PageText, tag: str) -> str:
        title = _title(self._confidence(text.confidence)) if text.confidence is not None else ""
        attributes = {"class": "alt", **({"title": title} if title else {})}
        return f"<{tag}{attributes_of(attributes)}>{self._text(text.text)}</{tag}>"

    def _confidence(self, confidence: float | None) -> dict[str, str]:
        if confidence is None:
            return {}
        hundredths = round(100 * confidence)
        self.lose(
            "decimal places of confidences", "hOCR has hundredths", abs(hundredths - 100 * confidence) > 1e-6
        )
        return {"x_wconf": str(hundredths)}

    def _text(self, text: str) -> str:
        self.lose("control characters", "no XML document can contain them", illegal_characters(text))
        return text_of(text)

    # ------------------------------------------------------------------------------------------- titles

    def _head(self, segment: PageSegment, name: str, more: dict[str, str]) -> str:
        """Return the attributes of an element: its class, id, place and what its file stated."""
        self.classes.add(name)
        title: dict[str, str] = {}
        if segment.points:
            title["bbox"] = _pixels(bounds(segment.points))
            if not _is_box(segment.points):
                title["poly"] = _pixels(chain.from_iterable(segment.points))
            self.lose(
                "decimal places of coordinates",
                "hOCR has whole pixels",
                any(
                    value != round(value) for point in (*segment.points, *segment.baseline) for value in point
                ),
            )
        if segment.position is not None:
            title[ORDER] = str(max(0, segment.position))
        extras = kept_by("hocr", segment)
        source = {key: str(value) for key, value in (extras.get("title") or {}).items() if key != "lang"}
        title = {
            **title,
            **more,
            **{key: value for key, value in source.items() if key not in title and key not in more},
        }
        placed = segment.kind == "word" and segment.text and segment.texts[0].places is not None
        if (characters := extras.get("characters")) and (not placed or len(segment.texts) > 1):
            self.lose("boxes of characters", "they are not those of a word as it is written", len(characters))
        if "x_bboxes" in source and segment.texts and segment.texts[0].places is None:
            self.lose("boxes of characters", "they are not those of a word as it is written")
            del title["x_bboxes"]
        for driver in segment.extras or {}:
            if driver != "hocr" and (segment.extras or {})[driver]:
                self.lose(f"what a {driver} file says of its parts", "hOCR has no place for it")
        if segment.confidence is not None:
            self.lose("confidences of shapes", "hOCR has confidences of texts only")
        if segment.is_furniture and name not in RUNNING:
            title[FURNITURE] = "1"
        facts = self._facts(segment, title)
        attributes = {"class": name, "title": _title(title), **facts}
        if segment.id in self.ids.of_segment:
            attributes["id"] = self.ids.of_segment[segment.id]
        return attributes_of(attributes)

    def _facts(self, part: PageModel | PageSegment, title: dict[str, str]) -> dict[str, str]:
        """Return the attributes of language and direction; what HTML has no place for goes into the title as our own."""
        attributes: dict[str, str] = {}
        if part.language and _LANGUAGE.fullmatch(part.language):
            attributes["lang"] = part.language
        elif part.language:
            self.lose("languages", "they are no BCP 47 tags")
        if part.script:
            self.lose("scripts", _OWN)
            title[SCRIPT] = part.script
        if part.direction in ("ltr", "rtl"):
            attributes["dir"] = part.direction
        elif part.direction:
            self.lose("directions", _OWN)
            title[DIRECTION] = part.direction
        return attributes


def _title(properties: dict[str, str]) -> str:
    # A title needs something: an element without a place of its own states that it has none.
    return "; ".join(f"{name} {value}".strip() for name, value in properties.items()) or f"{UNPLACED} 1"


def _in_quotes(value: str | None) -> str:
    return '"' + (value or "").replace('"', "'") + '"'


def _pixels(values: Iterable[float]) -> str:
    """Return coordinates as whole pixels of the page."""
    return " ".join(str(max(0, round(value))) for value in values)


def _is_box(points: list[Point]) -> bool:
    return len(points) == 4 and set(points) == set(corners(bounds(points)))


def _baseline(line: PageSegment) -> dict[str, str]:
    """Return a baseline as the standard has it, a slope and an offset from the corner of the box, and its points."""
    properties = {BASELINE: _pixels(chain.from_iterable(line.baseline))}
    if line.points and len(line.baseline) > 1:
        (x, y), (end_x, end_y) = line.baseline[0], line.baseline[-1]
        left, _, _, bottom = bounds(line.points)
        if end_x != x:
            slope = (end_y - y) / (end_x - x)
            properties = {"baseline": f"{slope:.4f} {y + (left - x) * slope - bottom:.1f}"} | properties
    return properties
