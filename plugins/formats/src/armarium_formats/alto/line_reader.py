"""Reads a TextLine: its strings, spaces and hyphens as one text, and as words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armarium.api import Sign
from armarium_formats.alto.marking import marks_of_words, take_marks
from armarium_formats.alto.own import drop_maker
from armarium_formats.alto.reader_state import Reading
from armarium_formats.alto.shapes import BOX, read_baseline, read_shape
from armarium_formats.alto.strings import touch
from armarium_formats.glyphs import places_of_glyphs
from armarium_formats.numbers import parse_number, parse_share
from armarium_formats.page_model import PageSegment, PageText, TextMark, keep_for

if TYPE_CHECKING:
    from lxml import etree

OF_THE_TEXT = ("CC",)
"""Attributes of a String that are about its very letters: gone when those are corrected."""


def read_line(element: etree._Element, reading: Reading) -> PageSegment:
    """Read a line: its outline, baseline and text, with a word for each String that is one."""
    attributes = reading.attributes(element)
    drop_maker(attributes)
    segment = PageSegment(reading.identity(attributes.pop("ID", None), "line"), "line")
    strings: list[etree._Element] = []
    spaces: list[etree._Element | None] = []
    hyphen: etree._Element | None = None
    shape: etree._Element | None = None
    elements: list[str] = []
    for child in element:
        name = reading.name_of(child)
        if name == "String":
            if hyphen is not None:
                reading.note("A String follows the HYP of its line")
            strings.append(child)
            spaces.append(None)
        elif name == "SP":
            if not strings:
                reading.note("A line begins with SP")
            elif spaces[-1] is not None:
                reading.note("Two SP follow one another")
            else:
                spaces[-1] = child
        elif name == "HYP":
            if hyphen is not None:
                reading.note("A line has two HYP")
            hyphen = child
        elif name == "Shape":
            shape = child
        else:
            elements.append(reading.scale.keep(child))
            reading.kept[f"element TextLine/{name}"] += 1
    segment.points, extras = read_shape("TextLine", shape, attributes, reading.scale, reading)
    baseline = attributes.pop("BASELINE", None)
    if baseline is not None:
        segment.baseline = read_baseline(baseline, segment.points, reading.scale, reading)
    segment.kind_raw = reading.interpret(segment, attributes)
    if len(strings) == 1 and hyphen is None and _is_the_line(strings[0], segment, reading):
        _take_whole(strings[0], segment, reading)
        if spaces[0] is not None:
            reading.note("A line ends with SP")
    elif strings:
        _take_words(strings, spaces, hyphen, segment, reading)
    elif hyphen is not None:
        reading.note("A line has a HYP and no String")
        if hyphen.get("CONTENT"):
            segment.texts = [PageText(hyphen.get("CONTENT") or "")]
    reading.attach("TextLine", segment, extras, attributes, elements)
    return segment


def _is_the_line(element: etree._Element, line: PageSegment, reading: Reading) -> bool:
    """Return whether a line's only String is its whole text and not a word: no id, no box of its own."""
    if element.get("ID") is not None:
        return False
    content = element.get("CONTENT") or ""
    if reading.words_without_ids and " " not in content.strip():
        return False
    left = element.get("HPOS")
    if left is None or not line.points:
        return True
    parent = element.getparent()
    return parent is not None and all(
        parse_number(element.get(key)) == parse_number(parent.get(key)) for key in BOX
    )


def _take_whole(element: etree._Element, line: PageSegment, reading: Reading) -> None:
    attributes = reading.attributes(element)
    for key in BOX:
        attributes.pop(key, None)
    marks = take_marks(attributes, len(element.get("CONTENT") or ""), reading)
    line.texts = _texts(element, attributes, reading)
    if marks and line.texts:
        line.texts[0].marks = marks
    if attributes:
        reading.count_attributes("String", attributes)
        line.texts = line.texts or [PageText("")]
        keep_for("alto", line.texts[0], "string", attributes)


def _take_words(
    strings: list[etree._Element],
    spaces: list[etree._Element | None],
    hyphen: etree._Element | None,
    line: PageSegment,
    reading: Reading,
) -> None:
    marked: list[list[TextMark]] = []
    words = [_word(element, reading, marked) for element in strings]
    parted = len(strings) < 2 or any(space is not None for space in spaces[:-1])
    if not parted and reading.says_blanks and touch(words):
        parted = True
    elif not parted:
        reading.note("A line's Strings have no SP between them; they were read as words with blanks between")
    line.children = words
    pieces: list[str] = []
    starts: list[int] = []
    last = len(words) - 1
    for index, element in enumerate(strings):
        starts.append(sum(map(len, pieces)))
        pieces.append(element.get("CONTENT") or "")
        if index < last and (spaces[index] is not None or not parted):
            pieces.append(" ")
    extras: dict[str, Any] = {}
    measures = [_space(space, words, index, reading) for index, space in enumerate(spaces)]
    if parted and any(measures):
        extras["spaces"] = measures
    if hyphen is not None:
        attributes = _keep_measures(reading.attributes(hyphen), reading)
        mark = attributes.setdefault("CONTENT", "-")
        if mark and pieces[-1].endswith(mark) and strings[-1].get("SUBS_TYPE") == "HypPart1":
            reading.note("The hyphen of a line is in its last String and in a HYP; it was read once")
        else:
            pieces.append(mark)
            extras["hyphen"] = attributes
    text = "".join(pieces)
    if text:
        line.texts = [PageText(text, marks=marks_of_words(list(zip(starts, marked, strict=True))))]
        if extras:
            line.texts[0].extras = {"alto": extras}


def _space(
    space: etree._Element | None, words: list[PageSegment], index: int, reading: Reading
) -> dict[str, str] | None:
    """Return what an SP states beyond its neighbours; an empty one after the last word records its
    existence.
    """
    if space is None:
        return None
    attributes = _keep_measures(reading.attributes(space), reading)
    if index == len(words) - 1:
        return attributes
    return attributes if attributes != derived_space(words[index], words[index + 1]) else None


def derived_space(before: PageSegment, after: PageSegment) -> dict[str, str]:
    """Return the space between two words according to their boxes; empty if there is no room for one."""
    if not before.points or not after.points:
        return {}
    left = round(max(x for x, _ in before.points))
    right = round(min(x for x, _ in after.points))
    if right < left:  # written from right to left
        left, right = round(max(x for x, _ in after.points)), round(min(x for x, _ in before.points))
    if right < left:
        return {}
    top = round(min(y for _, y in before.points))
    return {"WIDTH": str(right - left), "VPOS": str(top), "HPOS": str(left)}


def _keep_measures(attributes: dict[str, str], reading: Reading) -> dict[str, str]:
    scale = reading.scale
    return {
        key: value if scale.is_plain and value.isdigit() else scale.attribute(key, _whole_number(value))
        for key, value in attributes.items()
    }


def _whole_number(value: str) -> str:
    return value[:-2] if value.endswith(".0") else value


def _word(element: etree._Element, reading: Reading, marked: list[list[TextMark]]) -> PageSegment:
    """Read a String that is a word; what it says of its characters is added to *marked*."""
    attributes = reading.attributes(element)
    marked.append(take_marks(attributes, len(element.get("CONTENT") or ""), reading))
    segment = PageSegment(reading.identity(attributes.pop("ID", None), "word"), "word")
    shape: etree._Element | None = None
    if len(element):
        shape = next((child for child in element if reading.name_of(child) == "Shape"), None)
    segment.points, extras = read_shape("String", shape, attributes, reading.scale, reading)
    segment.texts = _texts(element, attributes, reading)
    if attributes:
        segment.kind_raw = reading.interpret(segment, attributes)
    reading.attach("String", segment, extras, attributes, [])
    return segment


def _texts(element: etree._Element, attributes: dict[str, str], reading: Reading) -> list[PageText]:
    """Return the text of a String with its confidence and extras, then its alternatives."""
    content = attributes.pop("CONTENT", None)
    if content is None and (
        content := "".join([glyph.get("CONTENT") or "" for glyph in element.iter("{*}Glyph")])
    ):
        reading.note("A String has no CONTENT; that of its Glyphs was used")
        element.set("CONTENT", content)
    elif not content and element.get("CONTENT") is None:
        reading.note("A String has no CONTENT")
    first = PageText(content or "")
    extras: dict[str, Any] = {}
    confidence = attributes.get("WC")
    if confidence is not None:
        first.confidence = parse_share(confidence)
        if first.confidence is not None:
            del attributes["WC"]
        else:
            reading.note(f"A String states the confidence {confidence}, outside 0 to 1")
    for key in OF_THE_TEXT:
        if key in attributes:
            extras.setdefault("attributes", {})[key] = attributes.pop(key)
            reading.kept[f"attribute String/@{key}"] += 1
    texts = [first]
    glyphs: list[Sign] = []
    for child in element:
        name = reading.name_of(child)
        if name == "ALTERNATIVE":
            purpose = child.get("PURPOSE")
            texts.append(
                PageText(
                    "".join(map(str, child.itertext())),
                    extras={"alto": {"purpose": purpose}} if purpose else None,
                )
            )
            reading.kept["alternative readings (ALTERNATIVE)"] += 1
        elif name != "Shape":
            extras.setdefault("elements", []).append(reading.scale.keep(child))
            reading.kept[f"element String/{name}"] += 1
            if name == "Glyph":
                glyphs.append(_glyph(child, reading))
    if glyphs:
        first.places = places_of_glyphs(first.text, glyphs)
    if extras:
        first.extras = {"alto": extras}
    return texts if content or extras or len(texts) > 1 or first.confidence is not None else []


def _glyph(element: etree._Element, reading: Reading) -> Sign:
    """Return the characters of a Glyph, its outline, its probability and its variants."""
    attributes: dict[str, str] = dict(element.attrib)  # type: ignore[arg-type]
    shape = next((child for child in element if reading.name_of(child) == "Shape"), None)
    points, _ = read_shape("Glyph", shape, attributes, reading.scale, reading)
    others = [
        (child.get("CONTENT") or "", parse_share(child.get("VC")))
        for child in element
        if reading.name_of(child) == "Variant" and child.get("CONTENT")
    ]
    return Sign(element.get("CONTENT") or "", points, parse_share(element.get("GC")), others)
