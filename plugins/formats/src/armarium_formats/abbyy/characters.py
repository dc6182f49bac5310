"""A FineReader line as its characters: words with boxes and confidences, other readings, what each character says."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from armarium_formats.abbyy.values import box_of, language_of
from armarium_formats.markup.blanks import styles_on
from armarium_formats.markup.fragments import attributes_in, local_name
from armarium_formats.markup.noting import Notes
from armarium_formats.numbers import parse_unsigned
from armarium_formats.page_model import PageSegment, PageText
from armarium_formats.shapes import corners, surround

if TYPE_CHECKING:
    from lxml import etree

_TRUE: Final = frozenset({"true", "1"})
_OF_WORDS: Final = (
    "wordFromDictionary",
    "wordNormal",
    "wordNumeric",
    "wordIdentifier",
    "wordPenalty",
    "meanStrokeWidth",
)
_STYLES: Final = {
    "bold": "bold", "italic": "italic", "underline": "underline", "strikeout": "strikethrough",
    "superscript": "superscript", "subscript": "subscript", "smallcaps": "smallcaps",
}  # fmt: skip
"""What a formatting says of its characters, and the words of `rend` for it."""
MAX_VARIANTS: Final = 20


@dataclass(slots=True)
class _Word:
    """The characters of a word while they come in."""

    text: str = ""
    boxes: list[tuple[float, float, float, float]] = field(default_factory=list)
    stated: list[str] = field(default_factory=list)
    confidences: list[int] = field(default_factory=list)
    suspicious: list[int] = field(default_factory=list)
    variants: list[Any] = field(default_factory=list)
    readings: list[str] = field(default_factory=list)
    formats: list[dict[str, str]] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)


class Characters:
    """Collects the formatting elements of one line, in order."""

    def __init__(self, notes: Notes, line: PageSegment) -> None:
        self.notes = notes
        self.line = line
        self.words: list[_Word] = []
        self.text: list[str] = []
        self.open = False
        self.readings: list[str] = []
        self.languages: list[str] = []
        self.styles: list[tuple[int, int, str]] = []

    def formatting(self, element: etree._Element) -> None:
        """Add one formatting element: characters with their boxes, or bare text."""
        attributes = attributes_in(element)
        if attributes.get("lang"):
            self.languages.append(attributes["lang"])
        bare = attributes.get("base64encoded") in _TRUE
        start = sum(map(len, self.text))
        self._contents(element, attributes, bare)
        if rend := " ".join(word for key, word in _STYLES.items() if attributes.get(key) in _TRUE):
            self.styles.append((start, sum(map(len, self.text)), rend))

    def _contents(self, element: etree._Element, formatting: dict[str, str], bare: bool) -> None:
        parts = [child for child in element if isinstance(child.tag, str)]
        if not parts:
            text = element.text or ""
            self.text.append(_decode_text(text) if bare else text)
            return
        for child in parts:
            name = local_name(str(child.tag))
            if name == "charParams":
                self._character(child, formatting, bare)
            elif name == "wordRecVariants":
                self.readings = [_variant(element) for element in child.iter("{*}variantText")][:MAX_VARIANTS]
            else:
                self.notes.kept[f"element formatting/{name}"] += 1

    def _character(self, element: etree._Element, formatting: dict[str, str], bare: bool) -> None:
        char = _char(element)
        char = _decode_text(char) if bare else char
        self.text.append(char)
        if char.isspace():
            self.open = False
            return
        if (
            (element.get("wordStart") in _TRUE or element.get("wordFirst") in _TRUE)  # 6 to 10; 11
            and self.open
            and any(letter.isalnum() for letter in self.words[-1].text)
        ):
            self.open = False
        if not self.open:
            self.words.append(_Word(readings=self.readings))
            self.readings = []
            self.open = True
            word = self.words[-1]
            word.facts = {key: str(element.get(key)) for key in _OF_WORDS if element.get(key) is not None}
        word = self.words[-1]
        if not word.formats or word.formats[-1] != formatting:
            word.formats.append(formatting)
        at = len(word.text)
        word.text += char
        box = box_of(element)
        if box is not None:
            word.boxes.append(box)
        confidence = parse_unsigned(element.get("charConfidence"))
        if confidence is not None and confidence <= 100:
            word.confidences.append(confidence)
        word.stated.append(
            ",".join(str(element.get(key, "")) for key in ("l", "t", "r", "b", "charConfidence"))
        )
        if element.get("suspicious") in _TRUE:
            word.suspicious.append(at)
        others = [
            [_char(variant), variant.get("charConfidence")] for variant in element.iter("{*}charRecVariant")
        ][:MAX_VARIANTS]
        if others:
            word.variants.append([at, others])

    def finish(self) -> None:
        """Set the line's text, language and words."""
        text = " ".join("".join(self.text).split())
        if text:
            self.line.texts.append(PageText(text, marks=styles_on("".join(self.text), text, self.styles)))
        if len(set(self.languages)) == 1:
            self.line.language = language_of(self.languages[0])
        self.line.children.extend(self._segment(word) for word in self.words)

    def _segment(self, word: _Word) -> PageSegment:
        confidence = sum(word.confidences) / len(word.confidences) / 100 if word.confidences else None
        segment = PageSegment("", "word")
        segment.texts = [PageText(word.text, None if confidence is None else round(confidence, 4))]
        others = [reading for reading in dict.fromkeys(word.readings) if reading and reading != word.text]
        segment.texts += [PageText(reading) for reading in others]
        self.notes.kept["alternative readings"] += len(others)
        if word.boxes:
            segment.points = corners(surround(word.boxes))
        extras: dict[str, Any] = {"characters": " ".join(word.stated)}
        self.notes.kept["characters with boxes and confidences"] += len(word.stated)
        if word.suspicious:
            extras["suspicious"] = word.suspicious
            self.notes.kept["suspicious characters"] += len(word.suspicious)
        if word.variants:
            extras["character_variants"] = word.variants
            self.notes.kept["other readings of characters"] += len(word.variants)
        if word.facts:
            extras["word"] = word.facts
        languages = {formatting["lang"] for formatting in word.formats if formatting.get("lang")}
        if len(languages) == 1:
            segment.language = language_of(languages.pop())
        if any(word.formats):
            extras["formatting"] = word.formats
            self.notes.kept["formatting of words"] += 1
        segment.extras = {"abbyy": extras}
        return segment


def _char(element: etree._Element) -> str:
    """Return a character: its own text without that of its variants; white space alone becomes a space."""
    text = (element.text or "") + "".join(child.tail or "" for child in element)
    return text.strip("\t\r\n ") or " "


def _variant(element: etree._Element) -> str:
    letters = [_char(child) for child in element.iter("{*}charParams")]
    return ("".join(letters) if letters else element.text or "").strip()


def _decode_text(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return text
