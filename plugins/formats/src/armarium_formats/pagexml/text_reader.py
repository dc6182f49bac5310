"""Reads the texts of a PAGE file: TextEquiv with index, confidence and alternatives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armarium_formats.markup.fragments import local_name
from armarium_formats.numbers import parse_share, parse_unsigned
from armarium_formats.page_model import PageSegment, PageText, kept_by
from armarium_formats.pagexml.keeping import Keeper, keep

if TYPE_CHECKING:
    from lxml import etree


def read_text(element: etree._Element, ns: str, keeper: Keeper) -> PageText:
    """Read one TextEquiv: its Unicode, else its PlainText; a confidence from 0 to 1; the rest in extras."""
    text: str | None = None
    extras: dict[str, Any] = {}
    for child in element:
        if child.tag == ns + "Unicode":
            text = (child.text or "") if not len(child) else "".join(child.itertext())  # type: ignore[arg-type]
        elif child.tag == ns + "PlainText":
            if child.text:
                extras["plain"] = child.text
        else:
            extras.setdefault("elements", []).append(keep(child))
            keeper.kept[f"element TextEquiv/{local_name(str(child.tag))}"] += 1
    if text and text[0] == "\n" and _is_indented(text, element):
        keeper.note(
            "A text is indented as the elements of the file are; the line breaks and blanks around it were left out"
        )
        text = text.strip()
    if not text:
        text = extras.pop("plain", "")
        if text:
            keeper.note("A text is stated only as PlainText")
        elif element.text and (text := element.text.strip()):
            keeper.note("A text is in the TextEquiv itself, not in its Unicode")
    elif extras.get("plain") == text:
        del extras["plain"]
    elif "plain" in extras:
        keeper.kept["element TextEquiv/PlainText"] += 1
    page_text = PageText(text)
    attributes: dict[str, str] = dict(element.attrib)  # type: ignore[arg-type]
    if attributes:
        confidence = attributes.get("conf")
        if confidence is not None:
            page_text.confidence = parse_share(confidence)
            if page_text.confidence is not None:
                del attributes["conf"]
            else:
                keeper.note(f"A TextEquiv states the confidence {confidence}, outside 0 to 1")
        if attributes:
            extras["attributes"] = attributes
            keeper.count_attributes("TextEquiv", attributes, but=("index",))
    if extras:
        page_text.extras = {"pagexml": extras}
    return page_text


def _is_indented(text: str, element: etree._Element) -> bool:
    """Return whether the line breaks and spaces around a text come from indenting the XML."""
    indent = str(element.text or "")
    return indent.startswith("\n") and text.startswith(indent) and not text.isspace()


def rank_of(attributes: Any) -> tuple[bool, int]:
    """Return by what the texts of one thing are sorted, from their attributes."""
    index = parse_unsigned(attributes.get("index"))
    return index is None, index or 0


def sort_texts(segment: PageSegment, keeper: Keeper) -> None:
    """Sort texts: the lowest index counts; those without an index follow, else in document order."""

    segment.texts.sort(key=lambda text: rank_of(kept_by("pagexml", text).get("attributes") or {}))
    keeper.kept["alternative readings (further TextEquiv)"] += len(segment.texts) - 1
