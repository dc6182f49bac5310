"""What ALTO says of the characters of Strings: styles, named entities, divided words and abbreviations."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from armarium_formats.driver import MarkWords
from armarium_formats.page_model import PageText, TextMark

if TYPE_CHECKING:
    from armarium_formats.alto.reader_state import Reading
    from armarium_formats.alto.writer_state import Writing

_FONT_STYLE = re.compile(
    r'\bID="([^"]*)"[^>]*?\bFONTSTYLE="([^"]*)"|\bFONTSTYLE="([^"]*)"[^>]*?\bID="([^"]*)"'
)
_KINDS = {"person": "person", "per": "person", "persname": "person", "place": "place", "location": "place"}
_KINDS |= {
    "loc": "place",
    "placename": "place",
    "organization": "organization",
    "organisation": "organization",
}
_KINDS |= {"org": "organization", "orgname": "organization", "date": "date"}
NAMED = ("person", "place", "organization", "date")
"""The kinds of marks that ALTO writes as named entities."""
WHY = "ALTO marks whole Strings by tags; they are in a tag that only Armarium reads back"


def take_marks(attributes: dict[str, str], length: int, reading: Reading) -> list[TextMark]:
    """Take out of the attributes of a String of *length* characters what they say of these."""
    if not length:
        return []
    marks = []
    for key in ("STYLEREFS", "TAGREFS", "SUBS_TYPE"):
        if key in attributes:
            reading.kept[f"attribute String/@{key}"] += 1
    if styles := attributes.pop("STYLEREFS", None):
        rend = [reading.font_styles[style] for style in styles.split() if style in reading.font_styles]
        marks.append(_mark("style", length, {"rend": " ".join(rend)} if rend else {}, STYLEREFS=styles))
    refs = []
    for ref in attributes.pop("TAGREFS", "").split():
        tag = reading.tags.get(ref)
        if tag is None or tag.names_a_kind or tag.names_a_language:
            refs.append(ref)
            continue
        word = tag.attributes.get("TYPE", "") or tag.element
        kind = _KINDS.get(word.casefold()) if tag.element == "NamedEntityTag" else None
        properties = {"label": tag.label} | ({"ref": uri} if (uri := tag.attributes.get("URI")) else {})
        marks.append(
            _mark(kind or "tag", length, properties if kind else properties | {"name": word}, TAGREFS=ref)
        )
    if refs:
        attributes["TAGREFS"] = " ".join(refs)
    subs = {key: attributes.pop(key) for key in ("SUBS_TYPE", "SUBS_CONTENT") if key in attributes}
    whole = subs.get("SUBS_CONTENT", "")
    if subs.get("SUBS_TYPE") == "Abbreviation":
        marks.append(_mark("abbreviation", length, {"expansion": whole} if whole else {}, **subs))
    elif subs:
        goes_on = {"goes_on": "true"} if subs.get("SUBS_TYPE") == "HypPart2" else {}
        marks.append(_mark("divided", length, {"whole": whole} | goes_on, **subs))
    return marks


def _mark(kind: str, length: int, properties: Mapping[str, str], **attributes: str) -> TextMark:
    return TextMark(kind, 0, length, properties, {"alto": orjson.dumps(attributes).decode()})


def marks_of_words(words: Sequence[tuple[int, Sequence[TextMark]]]) -> list[TextMark]:
    """Return the marks of Strings, each with where it begins in its line; a tag of neighbours is one mark."""
    text_marks: list[TextMark] = []
    last: dict[str, int] = {}
    for start, marks in words:
        open_marks: dict[str, int] = {}
        for mark in marks:
            moved = TextMark(mark.kind, start, start + (mark.end or 0), mark.stated, mark.source)
            open_mark = last.get(mark.source["alto"]) if mark.kind in NAMED else None
            if open_mark is None:
                text_marks.append(moved)
                open_mark = len(text_marks) - 1
            else:
                text_marks[open_mark] = TextMark(
                    mark.kind, text_marks[open_mark].start, moved.end, mark.stated, mark.source
                )
            open_marks[mark.source["alto"]] = open_mark
        last = open_marks
    return text_marks


def attributes_by_word(
    text: PageText, words: Sequence[tuple[int, int]], writing: Writing
) -> list[dict[str, str]]:
    """Return for each of *words*, which are Strings, the attributes that say the marks of a text; what no Strings
    are exactly is a loss.
    """
    by_word: list[dict[str, str]] = [{} for _ in words]
    for mark in text.marks:
        start, end = mark.span_in(text.text)
        inside = [number for number, word in enumerate(words) if word[0] < end and start < word[1]]
        attributes = _attributes(mark, text.text[start:end], writing)
        if not inside or not attributes or words[inside[0]][0] != start or words[inside[-1]][1] != end:
            words_of_it = text.text[start:end] or mark.stated.get("text", "")
            writing.lose(MarkWords(mark.kind, words_of_it), WHY)
            continue
        for number in inside:
            add_attributes(by_word[number], attributes)
    return by_word


def add_attributes(own: dict[str, str], more: Mapping[str, str]) -> None:
    """Add attributes to those of an element: references to its own, others instead of them."""
    for key, value in more.items():
        own[key] = f"{own[key]} {value}" if key.endswith("REFS") and key in own else value


def _attributes(mark: TextMark, words: str, writing: Writing) -> dict[str, str]:
    if source := mark.source.get("alto"):
        attributes: dict[str, str] = orjson.loads(source)
        refs = [ref for key in ("TAGREFS", "STYLEREFS") for ref in attributes.get(key, "").split()]
        if all(ref in writing.tagging.tags or ref in writing.renamed for ref in refs):
            return attributes
    if mark.kind == "abbreviation" and mark.stated.get("expansion"):
        return {"SUBS_TYPE": "Abbreviation", "SUBS_CONTENT": mark.stated["expansion"]}
    return (
        {"TAGREFS": writing.tagging.entity(mark.kind, words, mark.stated.get("ref"))}
        if mark.kind in NAMED
        else {}
    )


def font_styles(fragments: Sequence[str]) -> dict[str, str]:
    """Return how each text style of a file looks, by its id: bold, italic and the like."""
    styles = {}
    for fragment in fragments:
        for first, style, other, identity in _FONT_STYLE.findall(fragment):
            styles[first or identity] = (
                (style or other).replace("italics", "italic").replace("underlined", "underline")
            )
    return styles


def as_kept(text: PageText) -> list[list[Any]]:
    """Return the marks of a text that no attribute of ALTO says in full."""
    return [
        [mark.kind, *mark.span_in(text.text), dict(mark.stated), dict(mark.source)]
        for mark in text.marks
        if "alto" not in mark.source
    ]


def from_kept(value: Any, length: int) -> list[TextMark]:
    """Return marks out of a tag of ours, each validated."""
    marks = []
    for entry in value if isinstance(value, list) else ():
        if not isinstance(entry, list) or len(entry) != 5:
            continue
        kind, start, end, properties, source = entry
        places = all(isinstance(place, int) and not isinstance(place, bool) for place in (start, end))
        words = [properties, source] if isinstance(properties, dict) and isinstance(source, dict) else []
        lawful = words and all(
            isinstance(text, str) for text in (kind, *properties.values(), *source.values())
        )
        if places and lawful and 0 <= start <= end <= length:
            marks.append(TextMark(kind, start, end, properties, source))
    return marks
