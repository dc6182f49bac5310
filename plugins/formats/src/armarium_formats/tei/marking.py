"""Writes hands, signs, editorial facts and other marks to a TEI file: handNote and handShift, charDecl and g, unclear,
gap, supplied, surplus, del and add, and what `naming` has (docs/tei-profile.md).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from armarium_formats.driver import MarkWords
from armarium_formats.marks import SIGN
from armarium_formats.markup.fragments import attributes_of, text_of
from armarium_formats.markup.identities import Identities
from armarium_formats.page_model import PageModel, PageSegment, PageText, TextMark
from armarium_formats.tei.naming import is_whole, write_said
from armarium_source_model.api import DIVIDED

Lose = Callable[..., None]

ELEMENTS = {
    "unclear": "unclear", "lost": "gap", "restored": "supplied", "supplied": "supplied",
    "superfluous": "surplus", "deleted": "del", "added": "add",
}  # fmt: skip
"""Each kind of editorial fact with the element it is written as."""
REASONED = {"unclear", "gap", "supplied", "surplus"}
"""The elements that TEI lets say a reason."""
REASONS = {"restored": "lost", "supplied": "omitted"}
"""What a supplied text is said to be supplied for, where nothing else is stated."""
COUNTING = "counting"
"""The type of a `del` whose characters are in the text: elsewhere what was deleted is left out of it."""
_BLANKS = re.compile(r"\s+")


MADE = re.compile(r'<respStmt xml:id="made-[^"<>]*+"><resp>[^<>]*+</resp><name>[^<>]*+</name></respStmt>')
"""A statement of an export on who stands behind texts; stated anew by the next one."""
STATED = re.compile(r'<editorialDecl n="stated-[^"<>]*+"><p>[^<>]*+</p></editorialDecl>')
"""What an export says that families state of the text; stated anew by the next one."""
MAKER = "made-"
"""What the ids of these begin with."""


class Declarations:
    """The hands, signs and makers of one file: declared in its header, referenced from its text."""

    def __init__(self, page: PageModel, ids: Identities, kept: str) -> None:
        self.page = page
        self.hand: str | None = None
        self.declared = {key for key in (*page.hands, *page.signs) if f'xml:id="{key}"' in kept}
        for key in (*page.hands, *page.signs):
            if key not in self.declared:
                ids.take(key)
        self.makers = Counter(page.makers())
        self.maker_ids = {
            maker: ids.take(f"{MAKER}{number}")
            for number, (maker, _) in enumerate(self.makers.most_common(), 1)
        }

    def header(self, header: str) -> str:
        """Return the header (ours, or that of the file that was read) with the declarations inserted."""
        if any(key not in self.declared for key in self.page.signs):
            chars = "".join(
                f'<char xml:id="{key}"><localProp name="name"{attributes_of({"value": sign.name})}/>'
                + "".join(
                    f"<localProp{attributes_of({'name': 'reference', 'value': f'{authority} {number}'})}/>"
                    for authority, number in sign.references
                )
                + (f'<mapping type="Unicode">{text_of(sign.character)}</mapping>' if sign.character else "")
                + "</char>"
                for key, sign in self.page.signs.items()
                if key not in self.declared
            )
            header = _put(
                header,
                ("</charDecl>", chars),
                *_in_encoding(f"<charDecl>{chars}</charDecl>"),
            )
        if any(key not in self.declared for key in self.page.hands):
            notes = "".join(
                f'<handNote xml:id="{key}"><p>{text_of(hand.label)}</p>'
                + "".join(f"<p>{text_of(f'{what}: {value}')}</p>" for what, value in hand.stated.items())
                + "</handNote>"
                for key, hand in self.page.hands.items()
                if key not in self.declared
            )
            header = _put(
                header,
                ("</handNotes>", notes),
                ("</profileDesc>", f"<handNotes>{notes}</handNotes>"),
                ("<revisionDesc", f"<profileDesc><handNotes>{notes}</handNotes></profileDesc>\n    "),
                ("</teiHeader>", f"<profileDesc><handNotes>{notes}</handNotes></profileDesc>"),
            )
        if self.makers:
            total = self.makers.total()
            makers = "".join(
                f'<respStmt xml:id="{self.maker_ids[maker]}"><resp>{lines} of {total} lines '
                f"{text_of(maker.words)}</resp><name>{text_of(maker.name or maker.by)}</name></respStmt>"
                for maker, lines in self.makers.most_common()
            )
            header = _put(header, ("</titleStmt>", makers))
        if self.page.statements:
            declarations = "".join(
                f'<editorialDecl n="stated-{number}"><p>'
                f"{text_of(f'{statement.about}: {statement.sentence}')}</p></editorialDecl>"
                for number, statement in enumerate(self.page.statements, 1)
            )
            header = _put(header, *_in_encoding(declarations))
        return header

    def responsible(self, segment: PageSegment) -> dict[str, str]:
        """Return the attribute of a line that refers to who stands behind its text."""
        maker = segment.texts[0].maker if segment.texts else None
        return {"resp": f"#{self.maker_ids[maker]}"} if maker is not None else {}

    def shift(self, segment: PageSegment) -> str:
        """Return what marks a change of hand at the beginning of a line."""
        if segment.hand == self.hand:
            return ""
        self.hand = segment.hand
        return "<handShift/>" if self.hand is None else f'<handShift new="#{self.hand}"/>'


def _put(header: str, *places: tuple[str, str]) -> str:
    """Insert into *header* before the first of *places* that it has."""
    for before, what in places:
        if before in header:
            return header.replace(before, what + before, 1)
    return header


def _in_encoding(what: str) -> list[tuple[str, str]]:
    """Return the places for a part of the encodingDesc, which is made where there is none."""
    after = ("<profileDesc", "<revisionDesc", "</teiHeader>")
    return [("</encodingDesc>", what), *((place, f"<encodingDesc>{what}</encodingDesc>") for place in after)]


class Word(NamedTuple):
    """Characters of a text that are written as an element of their own."""

    start: int
    end: int
    xml: str


_IN_A_WORD = "they begin or end in a word that has a place of its own"


def mark_up(text: PageText, lose: Lose, words: Sequence[Word] = ()) -> str:
    """Return a text as XML, *words* as their elements, with its marks as elements around them; overlapping ones
    cannot nest and are counted.
    """
    spans = []
    for mark in text.marks:
        start, end = mark.span_in(text.text)
        if mark.kind == DIVIDED:
            if "tei" not in mark.source:
                lose(_words_of_mark(mark, text.text), "TEI says it of the line, by its hyphen")
        elif any(
            word.start < start < word.end
            or word.start < end < word.end
            or (is_whole(mark) and start < word.end and end > word.start)
            for word in words
        ):
            lose(_words_of_mark(mark, text.text), _IN_A_WORD)
        else:
            spans.append((start, end, mark))
    spans.sort(key=lambda span: (span[0], -span[1]))
    return _Rendering(text.text, words, lose).render(0, len(text.text), spans)


def _words_of_mark(mark: TextMark, text: str) -> MarkWords:
    start, end = mark.span_in(text)
    return MarkWords(mark.kind, text[start:end] or mark.stated.get("text", ""))


class _Rendering(NamedTuple):
    """A text while it becomes XML."""

    text: str
    words: Sequence[Word]
    lose: Lose

    def render(self, start: int, end: int, spans: Sequence[tuple[int, int, TextMark]]) -> str:
        out: list[str] = []
        at = start
        waiting = list(spans)
        while waiting:
            first, last, mark = waiting.pop(0)
            inner = [span for span in waiting if span[1] <= last and (span[0] < last or first == last)]
            crossing = [span for span in waiting if span[0] < last < span[1]]
            for other in crossing:
                self.lose(_words_of_mark(other[2], self.text), "they overlap others, and elements nest")
            waiting = [span for span in waiting if span not in inner and span not in crossing]
            out.append(self._characters(at, first))
            if is_whole(mark):
                for other in inner:
                    if ELEMENTS.get(other[2].kind, "g") not in mark.source["tei"]:
                        self.lose(
                            _words_of_mark(other[2], self.text),
                            "an element that is written as it was read has no place for them",
                        )
                out.append(mark.source["tei"])
            else:
                out.append(_element(mark, self.render(first, last, inner), self.lose))
            at = last
        out.append(self._characters(at, end))
        return "".join(out)

    def _characters(self, start: int, end: int) -> str:
        out: list[str] = []
        for word in self.words:
            if start <= word.start and word.end <= end and (word.start < word.end):
                out += [text_of(self.text[start : word.start]), word.xml]
                start = word.end
        return "".join([*out, text_of(self.text[start:end])])


def _element(mark: TextMark, inside: str, lose: Lose) -> str:
    properties = mark.stated
    if mark.kind == SIGN:
        return f"<g{attributes_of({'ref': '#' + properties['sign']})}>{inside}</g>"
    if mark.kind not in ELEMENTS:
        return write_said(mark, inside, lose)
    name = ELEMENTS[mark.kind]
    attributes = {"type": COUNTING} if name == "del" else {}
    reason = properties.get("reason")
    usual = REASONS.get(mark.kind)
    if usual is not None and (
        not reason or mark.kind == "restored" or reason.split(" ")[0] in REASONS.values()
    ):
        reason = f"{usual} {reason or ''}".strip()
    if reason and name in REASONED:
        attributes["reason"] = _BLANKS.sub(" ", reason).strip()
    elif reason:
        lose("reasons of editorial facts", f"TEI has none on the element {name}")
    if properties.get("certainty"):
        attributes["cert"] = properties["certainty"]
    if properties.get("extent"):
        attributes["extent"] = properties["extent"]
    if properties.get("quantity"):
        attributes |= {"quantity": properties["quantity"], "unit": _BLANKS.sub("_", properties["unit"])}
    if properties.get("place"):
        if name == "add":
            attributes["place"] = _BLANKS.sub("_", properties["place"])
        else:
            lose("places of editorial facts", f"TEI has none on the element {name}")
    if properties.get("source"):
        lose("sources of editorial facts", "TEI points at sources, and these are words")
    if name == "gap":
        if inside:
            lose("characters of what is lost", "a gap contains none; they are written after it")
        return f"<gap{attributes_of(attributes)}/>{inside}"
    return f"<{name}{attributes_of(attributes)}>{inside}</{name}>"
