"""What elements of a TEI line say of its characters beyond editorial facts: names, dates, abbreviations, styles."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from armarium_formats.marks import identifier_of
from armarium_formats.markup.fragments import attributes_of, local_name, text_of
from armarium_formats.page_model import TextMark
from armarium_formats.tei.keeping import attributes, name_of
from armarium_source_model.api import ABBREVIATION

if TYPE_CHECKING:
    from lxml import etree

MARKUP = "markup"
"""The kind of a mark that is none of those below; `name` is its element."""
_KINDS = {
    "persName": "person", "placeName": "place", "geogName": "place", "settlement": "place", "region": "place",
    "country": "place", "orgName": "organization", "date": "date", "hi": "style",
}  # fmt: skip
_TYPES = {
    "person": "person",
    "pers": "person",
    "place": "place",
    "org": "organization",
    "organization": "organization",
}
_ELEMENTS = {
    "person": "persName",
    "place": "placeName",
    "organization": "orgName",
    "date": "date",
    "style": "hi",
}
_OF = {"person": {"ref", "key"}, "place": {"ref", "key"}, "organization": {"ref", "key"}, "style": {"rend"}}
_OF["date"] = {"when", "from", "to", "notBefore", "notAfter", "calendar", "period"}
_INSTEAD = (("expan", "expansion"), ("corr", "corr"), ("reg", "reg"))
_OPEN = re.compile(r"<([^\s/>]+)")
_BLANKS = re.compile(r"\s+")


def said_by(element: etree._Element, start: int, end: int, written: str) -> TextMark:
    """Return the mark of an element that is not an editorial fact."""
    name = name_of(element)
    properties = attributes(element)
    kind = _KINDS.get(name) or (_TYPES.get(properties.get("type", "")) if name in ("name", "rs") else None)
    if written.endswith((f"</{local_name(name)}>", "/>")):
        properties["text"] = _BLANKS.sub(" ", "".join(element.itertext())).strip()  # type: ignore[arg-type]
    if name in ("choice", "expan"):
        for child, key in _INSTEAD:
            edited = element if name == child else next(element.iter(f"{{*}}{child}"), None)
            if edited is not None and (words := _text_of_editor(edited)):
                properties[key] = words
        if "expansion" in properties:
            kind = ABBREVIATION
    return TextMark(
        kind or MARKUP, start, end, properties if kind else properties | {"name": name}, {"tei": written}
    )


def _text_of_editor(element: etree._Element) -> str:
    """Return the text of an expansion as an editor reads it: without the signs that stand for it."""
    words = [
        text
        for part in element.iter()
        if isinstance(part.tag, str)
        for text, inside in ((part.text, part), (part.tail if part is not element else "", part.getparent()))
        if text and not any(name_of(above) in ("am", "abbr") for above in _walk_up(inside, element))
    ]
    return _BLANKS.sub(" ", "".join(words)).strip()


def _walk_up(element: etree._Element | None, last: etree._Element) -> list[etree._Element]:
    elements = []
    while element is not None:
        elements.append(element)
        element = None if element is last else element.getparent()
    return elements


def write_said(mark: TextMark, inside: str, lose: Callable[..., None]) -> str:
    """Return *inside*, the characters of a mark, in the element that says it."""
    written = mark.source.get("tei")
    if written is not None:
        tag = _OPEN.match(written)
        assert tag is not None
        return written if is_whole(mark) else f"{written}{inside}</{tag.group(1)}>"
    properties = {
        key: value for key, value in mark.stated.items() if key not in ("text", "name", "continued")
    }
    if mark.kind == ABBREVIATION:
        full = properties.pop("expansion", "")
        _leave(properties, (), lose)
        return (
            f"<choice><abbr>{inside}</abbr><expan>{text_of(full)}</expan></choice>"
            if full
            else f"<abbr>{inside}</abbr>"
        )
    if mark.kind not in _ELEMENTS:
        _leave(properties, (), lose)
        return f"<seg{attributes_of({'type': _word(mark.stated.get('name') or mark.kind)})}>{inside}</seg>"
    if not properties.get("ref") and (address := identifier_of(properties)):
        properties["ref"] = address
    own = {key: value for key, value in properties.items() if key in _OF[mark.kind] and value}
    _leave(properties, own, lose)
    return f"<{_ELEMENTS[mark.kind]}{attributes_of(own)}>{inside}</{_ELEMENTS[mark.kind]}>"


def is_whole(mark: TextMark) -> bool:
    """Return whether a mark is written with its characters, as it was read."""
    written = mark.source.get("tei", "")
    return written.startswith("<") and (written.endswith("/>") or written.count("<") > 1)


_REPEATED = frozenset({"year", "month", "day", "wikiData", "wikidata"})
"""Details of the tags of Transkribus that are in `when` and `ref`."""


def _leave(properties: Mapping[str, str], own: object, lose: Callable[..., None]) -> None:
    lost = [key for key in properties if key not in own and not (key in _REPEATED and own)]  # type: ignore[operator]
    if lost:
        lose("details of names, dates and other marks", "TEI has no attribute for them", len(lost))


def _word(name: str) -> str:
    return re.sub(r"[^\w.-]", "_", name) or "mark"
