"""Reads hands, signs and editorial facts from a TEI file: elements of a line as marks of its characters, and
declarations of the header. The reverse: `armarium_formats.tei.marking`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from armarium.api import ServiceError, parse_xml
from armarium_formats.marks import SIGN, TAKEN
from armarium_formats.markup.blanks import collapse_blanks
from armarium_formats.numbers import parse_number, parse_share
from armarium_formats.page_model import PageHand, PageModel, PageSign, TextMark, kept_by
from armarium_formats.tei.keeping import attributes, keep, name_of, start_tag
from armarium_formats.tei.marking import COUNTING, REASONS
from armarium_formats.tei.naming import MARKUP, said_by
from armarium_formats.tei.vocabulary import EDITED, NAMESPACE, ORIGINAL, UNSEEN, XML
from armarium_source_model.api import DIVIDED

if TYPE_CHECKING:
    from lxml import etree

KINDS = {
    "unclear": "unclear",
    "gap": "lost",
    "supplied": "supplied",
    "surplus": "superfluous",
    "del": "deleted",
    "add": "added",
}
"""Each element with the kind of fact it is read as; a `supplied` for what was lost is a restored one."""
_MARKED = re.compile(r"<(?:unclear|gap|supplied|surplus|del|add|g|handShift)[\s/>]")
_TAG = re.compile(r"<(/?)[^<>]*?(/?)>")
DEEPEST = 50
"""How deep elements of a line may be nested: deeper ones are one mark of all of it."""
_SHIFT = re.compile(r"<handShift\b[^<>]*(?:/>|></handShift>)")
_BLANKS = re.compile(r"[ \t\r\n]+")
_STATED = ("scribe", "date", "place", "style", "notes")
LONGEST = 500
"""Characters of a name or a reason that are taken over."""


class Marks(NamedTuple):
    """The marks of a line's characters; `is_all` if its markup says nothing else than facts and signs; elements
    that are neither.
    """

    marks: list[TextMark]
    is_all: bool
    unplaced: int


def marks_in(fragment: str, plain: str) -> Marks:
    """Return what the markup of a line says about the characters of its text *plain*."""
    if "<" not in fragment:
        return Marks([], False, 0)
    whole = TextMark(MARKUP, 0, len(plain), {"name": "markup"}, {"tei": fragment})
    if _depth(fragment) > DEEPEST:
        return Marks([whole] if plain else [], False, len(_MARKED.findall(fragment)))
    try:
        root = parse_xml(f'<ab xmlns="{NAMESPACE}">{fragment}</ab>'.encode(), name="A line")
    except ServiceError:
        return Marks([], False, 1 if _MARKED.search(fragment) else 0)
    walk = _Walk()
    walk.content(root)
    text, places = collapse_blanks("".join(walk.raw))
    if text != plain:
        return Marks([whole] if plain else [], False, walk.unplaced + walk.facts)
    marks = []
    for element, first, last, written in walk.elements:
        start, end = places[first], places[last]
        mark = walk.mark_of(element, start, end) if written is None else said_by(element, start, end, written)
        if mark is not None:
            marks.append(mark)
    return Marks(marks, walk.is_all, walk.unplaced)


def _depth(fragment: str) -> int:
    depth = deepest = 0
    for is_end, is_empty in _TAG.findall(fragment):
        depth += -1 if is_end else not is_empty
        deepest = max(deepest, depth)
    return deepest


class _Walk:
    """The elements of one line, with the characters that count."""

    def __init__(self) -> None:
        self.raw: list[str] = []
        self.length = 0
        self.elements: list[tuple[etree._Element, int, int, str | None]] = []
        """Elements with their characters, outer ones first; for one that is not a fact or sign how it is written: its
        start tag, or all of it if it holds characters that do not count."""
        self.is_all = True
        self.unplaced = 0
        self.facts = 0
        self.whole = 0

    def say(self, text: str | None) -> None:
        if text:
            self.raw.append(text)
            self.length += len(text)

    def content(self, element: etree._Element) -> None:
        self.say(element.text)
        for child in element:
            if isinstance(child.tag, str):
                self.element(child)
            self.say(child.tail)

    def element(self, element: etree._Element) -> None:
        name = name_of(element)
        if name == "handShift":
            self.is_all &= not set(attributes(element, ("new",)))
        elif name == "del" and element.get("type") != COUNTING:
            # Its characters are not in the text, so no fact can refer to them.
            self.unplaced += 1
            self._as_whole(element, ())
        elif name in KINDS or name == "g":
            self.facts += 1
            self._inside(element, None)
        elif name in ("choice", "app", "subst") or (name == "expan" and _is_twofold(element)):
            children = [child for child in element if isinstance(child.tag, str)]
            counting = [child for child in children if name_of(child) in (*ORIGINAL, "lem")]
            counting += [child for child in children if name_of(child) not in EDITED] or children
            self._as_whole(element, [element] if name in ("subst", "expan") else counting[:1])
        elif name == "space":
            self._as_whole(element, ())
            self.say(" ")
        elif name in UNSEEN or name in ("orphan", "rdg") or (name == "ex" and self.whole):
            self._as_whole(element, ())
        elif name == "w" and element.get("facs"):
            # A word with a place of its own, which is written where it is.
            self.is_all = False
            self.content(element)
        else:
            self.is_all = False
            self._inside(element, start_tag(element))

    def _inside(self, element: etree._Element, written: str | None) -> None:
        """Take an element with its contents; inside one that is written as a whole only facts and signs."""
        at, first = len(self.elements), self.length
        self.content(element)
        if written is None or not self.whole:
            self.elements.insert(at, (element, first, self.length, written))

    def _as_whole(self, element: etree._Element, counting: Iterable[etree._Element]) -> None:
        """Take an element that holds characters which do not count; those of *counting* do."""
        self.is_all = False
        at, first = len(self.elements), self.length
        self.whole += 1
        for part in counting:
            self.content(part)
        self.whole -= 1
        if not self.whole:
            self.elements.insert(at, (element, first, self.length, keep(element)))

    def mark_of(self, element: etree._Element, start: int, end: int) -> TextMark | None:
        name = name_of(element)
        unread = attributes(element)
        if name == "g":
            key = unread.pop("ref", "").rpartition("#")[2]
            self.is_all &= not unread and bool(key)
            return TextMark(SIGN, start, end, {"sign": key}) if key else None
        kind = KINDS[name]
        if kind != "lost" and start == end:
            self.is_all = False
            self.unplaced += 1
            return None
        if kind == "deleted":
            unread.pop("type", None)
        properties: dict[str, str] = {}
        kind, reason = _reason(kind, unread.pop("reason", ""))
        if parse_share(unread.get("cert")) is not None:
            properties["certainty"] = unread.pop("cert")
        amount = parse_number(unread.get("quantity", ""))
        if amount is not None and 0 < amount <= 1_000_000 and 0 < len(unread.get("unit", "")) <= 80:
            properties |= {"quantity": unread.pop("quantity"), "unit": unread.pop("unit")}
        for key, text in (
            ("reason", reason),
            ("extent", unread.pop("extent", "")),
            ("place", unread.pop("place", "")),
        ):
            if text := _BLANKS.sub(" ", text).strip()[:LONGEST]:
                properties[key] = text
        self.is_all &= not unread
        if kind == "lost":
            end = start
        return TextMark(kind, start, end, properties)


def _is_twofold(expan: etree._Element) -> bool:
    """Return whether an expansion has the abbreviated form beside it, so that its characters do not all count."""
    inside = {name_of(element) for element in expan.iter() if isinstance(element.tag, str)}
    return "ex" in inside and not inside.isdisjoint(("abbr", "am"))


def _reason(kind: str, reason: str) -> tuple[str, str]:
    """Return kind and reason of a fact: the first word of a supplied text's reason says whether it was lost
    or left out.
    """
    if kind != "supplied":
        return kind, reason
    for of, word in REASONS.items():
        if reason == word or reason.startswith(f"{word} "):
            return of, reason[len(word) :].strip()
    return kind, reason


# ------------------------------------------------------------------------------------------- declarations


def declare(root: etree._Element, models: Iterable[PageModel]) -> None:
    """Give each page the hands and signs its lines refer to; undeclared references are removed, with a
    note.
    """
    hands = {key: element for element in root.iter("{*}handNote") if (key := element.get(f"{XML}id"))}
    chars = {
        key: element
        for name in ("char", "glyph")
        for element in root.iter(f"{{*}}{name}")
        if (key := element.get(f"{XML}id"))
    }
    for model in models:
        missing: dict[str, int] = {}
        for segment in model.walk():
            if segment.hand is not None and segment.hand not in hands:
                missing[segment.hand] = missing.get(segment.hand, 0) + 1
                segment.hand = None
            elif segment.hand is not None and segment.hand not in model.hands:
                model.hands[segment.hand] = _hand(hands[segment.hand])
            for text in segment.texts:
                if not text.marks:
                    continue
                marks = []
                for mark in text.marks:
                    key = mark.stated.get("sign", "")
                    if mark.kind == SIGN and key not in chars:
                        missing[key] = missing.get(key, 0) + 1
                        continue
                    if mark.kind == SIGN and key not in model.signs:
                        model.signs[key] = _sign(chars[key], key)
                    marks.append(mark)
                text.marks = marks
        if missing:
            listed = ", ".join(list(missing)[:10])
            model.notes.append(f"The file refers to hands or signs that it does not declare: {listed}.")


def _words(element: Any) -> str:
    return _BLANKS.sub(" ", "".join(element.itertext())).strip()


def _hand(note: etree._Element) -> PageHand:
    """Read a handNote: its first paragraph is the label, others say what their first word names (our export's
    form).
    """
    properties = {"scribe": note.get("scribe") or "", "style": note.get("script") or ""}
    parts = [
        paragraph for element in note if isinstance(element.tag, str) and (paragraph := _words(element))
    ] or [_words(note)]
    label, rest = parts[0], []
    for part in parts[1:]:
        what, colon, value = part.partition(": ")
        if colon and what in _STATED:
            properties[what] = value
        else:
            rest.append(part)
    if rest:
        properties["notes"] = "\n".join(filter(None, (properties.get("notes"), *rest)))
    if len(label) > LONGEST:
        properties["notes"] = "\n".join(filter(None, (label, properties.get("notes"))))
    shortened = {key: text if key == "notes" else text[:LONGEST] for key, text in properties.items() if text}
    return PageHand((label or note.get(f"{XML}id") or "A hand")[:LONGEST], shortened)


def _sign(char: etree._Element, key: str) -> PageSign:
    """A char or glyph of a charDecl: its name, its character, its numbers in lists."""
    name, references, character = "", list[tuple[str, str]](), None
    for child in char:
        if not isinstance(child.tag, str):
            continue
        match name_of(child):
            case "charName" | "glyphName":
                name = name or _words(child)
            case "localProp" | "unicodeProp" if (child.get("name") or "").casefold() == "name":
                name = child.get("value") or name
            case "localProp" if child.get("name") == "reference":
                authority, _, number = (child.get("value") or "").strip().rpartition(" ")
                if authority and number:
                    references.append((authority[:LONGEST], number[:LONGEST]))
            case "mapping" if len(letter := _words(child)) == 1 and child.get("type") in (
                None,
                "Unicode",
                "PUA",
            ):
                character = letter
    return PageSign((name or key)[:LONGEST], character, references)


# ---------------------------------------------------------------------------------------------- going back


def drop_taken(page: PageModel) -> None:
    """Let the project's facts about a page replace the markup that they were read from.

    Markup that says more stays; its changes of hands go, because they are written for their lines.
    """
    extras = page.extras.get("tei") or {}
    if extras.get("marks") != TAKEN:
        return
    header = str(extras.get("header") or "")
    for segment in page.walk():
        own = kept_by("tei", segment)
        if "markup" in own and _says_no_more(own["markup"], "", header):
            del own["markup"]
        for text in segment.texts[:1]:
            markup = kept_by("tei", text).get("xml")
            if not markup or text.extras is None:
                continue
            if _says_no_more(markup, text.text, header):
                text.extras = {key: value for key, value in text.extras.items() if key != "tei"} or None
            else:
                text.extras = {**text.extras, "tei": {**text.extras["tei"], "xml": _SHIFT.sub("", markup)}}


def _says_no_more(markup: str, plain: str, header: str) -> bool:
    expressed = marks_in(markup, plain)
    return expressed.is_all and all(
        f'xml:id="{mark.stated["sign"]}"' in header for mark in expressed.marks if mark.kind == SIGN
    )


def beyond_markup(marks: Sequence[TextMark], markup: str, plain: str) -> list[TextMark]:
    """Return those of *marks* that the stored markup of a line does not already express (signs by position
    only).
    """
    places = {_place_of(mark) for mark in marks_in(markup, plain).marks}
    return [mark for mark in marks if _place_of(mark) not in places and mark.kind != DIVIDED]


def _place_of(mark: TextMark) -> tuple[str, int | None, int | None]:
    return mark.kind, mark.start, mark.end
