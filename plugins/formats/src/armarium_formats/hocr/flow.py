"""Reads the text of an hOCR line through its elements: words, characters, alternatives, misplaced
elements.
"""

from __future__ import annotations

import math
import re
from collections import deque
from typing import TYPE_CHECKING, Final, Protocol

from armarium.api import Sign, is_unspaced
from armarium_formats.glyphs import places_of_glyphs
from armarium_formats.hocr.titles import ESTIMATED, box_of, class_of, numbers, properties
from armarium_formats.markup.blanks import styles_on
from armarium_formats.markup.fragments import local_name
from armarium_formats.markup.noting import Notes
from armarium_formats.page_model import PageSegment, PageText, kept_by
from armarium_formats.shapes import Box, corners
from armarium_source_model.api import LetterPlaces

if TYPE_CHECKING:
    from lxml import etree

WORDS: Final = frozenset({"ocrx_word", "ocr_word"})
CHARACTERS: Final = frozenset({"ocrx_cinfo", "ocr_cinfo"})
GLYPHS: Final = frozenset({"ocr_glyph", "ocr_glyphs", "ocr_dropcap", "ocr_math", "ocr_chem"})
_STYLES: Final = {
    "strong": "bold", "b": "bold", "em": "italic", "i": "italic", "u": "underline", "s": "strikethrough",
    "sup": "superscript", "sub": "subscript", "small": "small", "big": "large",
}  # fmt: skip
_HIDDEN: Final = frozenset({"script", "style"})
_SPACE = re.compile("[ \t\r\n\f]+")
MAX_ALTERNATIVES: Final = 20


def flat(text: str) -> str:
    """Collapse white space as a browser does; other spaces and soft hyphens stay."""
    return _SPACE.sub(" ", text).strip(" ")


class Reader(Protocol):
    """What the flow needs from its reader."""

    notes: Notes

    def segment(self, element: etree._Element, name: str) -> PageSegment: ...

    def keep(self, segment: PageSegment, key: str, value: object) -> None: ...

    def state_confidence(self, segment: PageSegment) -> None: ...


class _Run:
    """The growing text of one segment, with the places where there is a choice."""

    def __init__(self, segment: PageSegment) -> None:
        self.segment = segment
        self.pieces: list[str] = []
        self.choices: list[tuple[int, str, float | None]] = []
        self.characters: list[str] = []
        self.styles: list[tuple[int, int, str]] = []
        self.confidence: float | None = None

    def finish(self, reader: Reader) -> None:
        text = flat("".join(self.pieces))
        segment = self.segment
        if text or self.choices:
            marks = styles_on("".join(self.pieces), text, self.styles) if self.styles else ()
            places = self._places(text) if self.characters or segment.extras else None
            segment.texts.append(PageText(text, self.confidence, marks=marks, places=places))
            for at, other, confidence in self.choices[:MAX_ALTERNATIVES]:
                variant = [*self.pieces[:at], other, *self.pieces[at + 1 :]]
                segment.texts.append(PageText(flat("".join(variant)), confidence))
                reader.notes.kept["alternative readings"] += 1
        if self.characters:
            reader.keep(segment, "characters", self.characters)
            reader.notes.kept["characters with boxes or confidences (ocrx_cinfo)"] += len(self.characters)
        reader.state_confidence(segment)

    def _places(self, text: str) -> LetterPlaces | None:
        """Return where the characters stand, as stated of each, or of all of them in the title of their segment."""
        of_segment = kept_by("hocr", self.segment).get("title") or {}
        signs: list[Sign] = []
        if self.characters:
            for character in self.characters:
                letters, _, title = character.partition("\t")
                of_character = properties(title)
                box = box_of(of_character.get("bbox") or of_character.get("x_bboxes"))
                sure = numbers(of_character.get("x_conf") or of_character.get("x_wconf") or "")
                signs.append(_sign(letters, box, sure[0] if sure else None))
        elif boxes := numbers(of_segment.get("x_bboxes", "")):
            letters = text if len(boxes) == 4 * len(text) else "".join(text.split())
            sure = numbers(of_segment.get("x_confs", "")) or []
            if len(boxes) != 4 * len(letters):
                return None
            chances = sure if len(sure) == len(letters) else [None] * len(letters)
            for at, (letter, chance) in enumerate(zip(letters, chances, strict=True)):
                left, top, right, bottom = boxes[4 * at : 4 * at + 4]
                signs.append(_sign(letter, (left, top, right, bottom), chance))
        return places_of_glyphs(text, [sign for sign in signs if not sign.text.isspace()])


def _sign(letters: str, box: Box | None, hundredths: float | None) -> Sign:
    sure = hundredths / 100 if hundredths is not None and 0 <= hundredths <= 100 else None
    return Sign(letters, corners(box) if box else [], sure)


class Flow:
    """Reads one line; `strays` are lines and regions that an unclosed tag left inside it."""

    def __init__(self, reader: Reader, line: PageSegment) -> None:
        self.reader = reader
        self.line = _Run(line)
        self.word: _Run | None = None
        self.words = 0
        self.ended = 0
        self.spaced = False
        self.strays: list[etree._Element] = []
        self.nested: list[tuple[etree._Element, str]] = []

    def run(self, element: etree._Element) -> None:
        """Read the line: words become its children, its text is its content."""
        self._read_inside(element, _of_characters(element))
        if self.words > 1 and not self.spaced and not any(map(is_unspaced, "".join(self.line.pieces))):
            self.reader.notes.note(
                "The words of a line have no spaces between them; one was put between each"
            )
            words = [word.text for word in self.line.segment.children if word.text]
            self.line.pieces, self.line.choices = [" ".join(words)], []
        self.line.finish(self.reader)

    def read_lone_word(self, element: etree._Element, name: str) -> list[PageSegment]:
        """Read a word outside of lines, and the words that an unclosed tag left inside it."""
        self._word(element, name)
        return self.line.segment.children

    def _add(self, text: str | None, *, of_characters: bool = False) -> None:
        """Append running text; white space between elements of single characters is only formatting."""
        if not text or (of_characters and text.isspace()):
            return
        self.line.pieces.append(text)
        if self.word is not None:
            self.word.pieces.append(text)

    def _read_inside(self, element: etree._Element, of_characters: bool) -> None:
        self._add(element.text, of_characters=of_characters)
        for child in element:
            if isinstance(child.tag, str):
                self._part(child)
            tail = child.tail
            if tail:
                self._add(tail, of_characters=of_characters)

    def _part(self, element: etree._Element) -> None:
        tag, name = local_name(str(element.tag)), class_of(element)
        if name in WORDS and ESTIMATED in properties(str(element.get("title") or "")):
            self._read_inside(element, False)
        elif name in WORDS:
            self._word(element, str(name))
        elif name in CHARACTERS:
            self._character(element)
        elif name is not None and name not in GLYPHS:
            self.strays.append(element)
        elif "alternatives" in str(element.get("class") or "").split():
            self._alternatives(element)
        elif tag == "br":
            self.spaced = True
            self._add(" ")
        elif tag not in _HIDDEN:
            if name is not None:
                self.reader.notes.kept[f"element {name}"] += 1
            start = sum(map(len, self.line.pieces))
            self._read_inside(element, _of_characters(element))
            if name is None and (rend := _STYLES.get(tag)):
                self.reader.notes.kept[f"element {tag}"] += 1
                self.line.styles.append((start, sum(map(len, self.line.pieces)), rend))

    def _word(self, element: etree._Element, name: str) -> None:
        """Read a word. One inside it, left there by an unclosed tag, is placed after it, so that depth stays
        bounded.
        """
        if self.word is not None:
            self.nested.append((element, name))
            return
        if self.words and any(char.isspace() for char in "".join(self.line.pieces[self.ended :])):
            self.spaced = True
        waiting = deque([(element, name)])
        while waiting:
            element, name = waiting.popleft()
            self.words += 1
            self.nested = []
            self.word = _Run(self.reader.segment(element, name))
            self.line.segment.children.append(self.word.segment)
            self._read_inside(element, _of_characters(element))
            self.word.finish(self.reader)
            self.ended = len(self.line.pieces)
            if self.line.pieces and self.line.pieces[-1][-1:].isspace():
                self.ended -= 1  # a blank inside the word's own end parts it from the next as well
            self.word = None
            if self.nested:
                self.reader.notes.note(
                    "A word is inside a word, as with an unclosed tag; it was read as following it"
                )
                self.spaced = True
                waiting.extendleft(reversed(self.nested))

    def _character(self, element: etree._Element) -> None:
        text = "".join(element.itertext())  # type: ignore[arg-type]
        text = text.strip("\t\r\n\f") if text.strip() else text[:1]
        (self.word or self.line).characters.append(f"{text}\t{element.get('title') or ''}")
        self._add(text)

    def _alternatives(self, element: etree._Element) -> None:
        """Read alternatives: inserted text counts, deleted ones are other readings; `nlp` is a negative
        logarithm.
        """
        options = [child for child in element if isinstance(child.tag, str) and _text(child)]
        if not options:
            self._read_inside(element, False)
            return
        chosen = next((option for option in options if local_name(str(option.tag)) == "ins"), options[0])
        run = self.word or self.line
        self._add(_text(chosen))
        at = len(run.pieces) - 1
        for option in options:
            if option is chosen:
                if self.word is not None:
                    run.confidence = _probability(option)
            else:
                run.choices.append((at, _text(option), _probability(option)))


def _of_characters(element: etree._Element) -> bool:
    return len(element) > 0 and class_of(element[0]) in CHARACTERS


def _text(element: etree._Element) -> str:
    return flat("".join(element.itertext()))  # type: ignore[arg-type]


def _probability(element: etree._Element) -> float | None:
    title = properties(str(element.get("title") or ""))
    values = numbers(title.get("nlp", "")) or []
    if len(values) == 1 and values[0] >= 0:
        return round(math.exp(-values[0]), 4)
    values = numbers(title.get("x_wconf", title.get("x_conf", ""))) or []
    return values[0] / 100 if len(values) == 1 and 0 <= values[0] <= 100 else None
