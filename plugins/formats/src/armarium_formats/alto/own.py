"""Stores what ALTO 4.4 has no place for in a tag of ours: JSON inside an XmlData, keyed by ids.

ALTO lets a tag contain any XML. Other programs see an unused tag; this reader restores its contents. A
foreign file may contain anything there, so everything is validated first.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from armarium_formats.markup.fragments import local_name, text_of

if TYPE_CHECKING:
    from lxml import etree

TYPE = "armarium:kept"
EXPORT = "armarium_export"
"""The id of the processing step that every export of ours states."""
MADE = "armarium_made_"
"""What the ids of the steps that say who stands behind a line's text begin with."""
STATED = "armarium_stated_"
"""What the ids of the steps begin with by which a family states something of the text."""
OUR_STEPS = (EXPORT, MADE, STATED)
"""What the ids of our processing steps begin with; each export states them anew."""

NAMESPACE = "urn:armarium:kept"
_MAX = 8 * 1024 * 1024
_SHAPES: dict[str, dict[str, type]] = {
    "alto": {"attributes": dict, "elements": list},
    "pagexml": {"attributes": dict, "elements": list, "metadata": object},
    "tei": {
        **dict.fromkeys(("root", "pb", "surface", "graphic", "zone", "path", "block", "lb"), dict),
        **dict.fromkeys(("elements", "beside"), list),
    },
}
"""What the extras of our drivers are: `object` is the same again; what is not named is a string."""


def drop_maker(attributes: dict[str, str]) -> None:
    """Remove from a line's attributes what an export of ours said of who made its text."""
    references = attributes.get("PROCESSINGREFS", "").split()
    others = [reference for reference in references if not reference.startswith(MADE)]
    if len(others) < len(references):
        attributes.pop("CS", None)
        attributes["PROCESSINGREFS"] = " ".join(others)
        if not others:
            del attributes["PROCESSINGREFS"]


def write_tag(identity: str, own: dict[str, Any]) -> str:
    """Return the tag that carries *own*."""
    text = json.dumps(own, ensure_ascii=False, separators=(",", ":"))
    return (
        f'<OtherTag ID="{identity}" TYPE="{TYPE}" LABEL="kept" DESCRIPTION="what ALTO has no place for">'
        f'<XmlData><kept xmlns="{NAMESPACE}">{text_of(text)}</kept></XmlData></OtherTag>'
    )


def read_tag(tag: etree._Element) -> dict[str, Any] | None:
    """Return the contents of a tag of ours: page, segments and groups, each validated; None if it is
    invalid.
    """
    for holder in tag.iter():
        if isinstance(holder.tag, str) and local_name(holder.tag) == "kept":
            text = holder.text or ""
            if len(text) > _MAX:
                return None
            try:
                content = json.loads(text)
            except (ValueError, RecursionError):
                return None
            return _check_stated(content) if isinstance(content, dict) else None
    return None


def _check_stated(content: dict[str, Any]) -> dict[str, Any]:
    page = content.get("page")
    return {
        "page": _page(page) if isinstance(page, dict) else {},
        "segments": {
            key: _segment(value)
            for key, value in _items(content.get("segments"))
            if isinstance(key, str) and isinstance(value, dict)
        },
        "groups": {
            key: extras for key, value in _items(content.get("groups")) if (extras := clean_extras(value))
        },
    }


def _items(value: Any) -> list[tuple[str, Any]]:
    return list(value.items()) if isinstance(value, dict) else []


def _page(value: dict[str, Any], checks: Mapping[str, Callable[[Any], bool]] | None = None) -> dict[str, Any]:
    """Return what is stated of a page or, with its *checks*, of a segment: each value that is of its kind."""
    fields = {key: value[key] for key, fits in (checks or _PAGE).items() if fits(value.get(key))}
    if extras := clean_extras(value.get("extras")):
        fields["extras"] = extras
    if leftover := clean_extra(value.get("alto")):
        fields["alto"] = leftover
    if isinstance(value.get("sequence"), list):
        fields["sequence"] = [identity for identity in value["sequence"] if isinstance(identity, str)]
    return fields


def _segment(value: dict[str, Any]) -> dict[str, Any]:
    fields = _page(value, _SEGMENT)
    if isinstance(value.get("inherited"), list):
        fields["inherited"] = [name for name in value["inherited"] if name in ("language", "direction")]
    marks = value.get("marks")
    if isinstance(marks, dict) and _is_whole(marks.get("of")):
        fields["marks"] = {"of": marks["of"], "all": marks.get("all")}
    texts = value.get("texts")
    if isinstance(texts, dict) and (_is_whole(texts.get("of")) or texts.get("of") is None):
        checked = [text for entry in texts.get("all") or () if (text := _text(entry)) is not None]
        fields["texts"] = {"of": texts.get("of"), "all": checked}
    return fields


def _text(value: Any) -> list[Any] | None:
    """Return a text as [text or null for the one the strings make, confidence, kind, extras]."""
    if not isinstance(value, list) or len(value) != 4:
        return None
    text, sure, kind, extras = value
    if not (text is None or isinstance(text, str)) or not isinstance(kind, str):
        return None
    return [text, sure if _is_ratio(sure) else None, kind, clean_extras(extras) or None]


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -(2**53) < value < 2**53


def _is_ratio(value: Any) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and math.isfinite(value)
        and 0 <= value <= 1
    )


def _is_cell(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and set(value) == {"row", "column", "row_span", "column_span"}
        and all(map(_is_whole, value.values()))
    )


_PAGE: Mapping[str, Callable[[Any], bool]] = dict.fromkeys(("language", "script", "direction"), _is_text)
_SEGMENT: Mapping[str, Callable[[Any], bool]] = {
    **_PAGE,
    "kind_raw": _is_text,
    "wrapper": lambda value: isinstance(value, bool),
    "furniture": lambda value: isinstance(value, bool),
    "id": lambda value: _is_text(value) and bool(value),
    "position": _is_whole,
    "confidence": _is_ratio,
    "cell": _is_cell,
}


def clean_extras(value: Any) -> dict[str, Any]:
    """Return extras by driver, keeping only what each driver understands."""
    return {
        key: extras
        for key, content in _items(value)
        if key != "alto" and (extras := clean_extra(content, key))
    }


def clean_extra(value: Any, driver: str = "alto") -> dict[str, Any]:
    """Return one driver's extras, each key in the type that its driver reads (default: a string).

    For other drivers, strings, lists of strings and strings by name are accepted.
    """
    shapes = _SHAPES.get(driver)
    extras: dict[str, Any] = {}
    for key, content in _items(value):
        shape = type(content) if shapes is None else shapes.get(key, str)
        cleaned: Any = None
        if shape is str:
            cleaned = content if isinstance(content, str) else None
        elif shape is list and isinstance(content, list):
            cleaned = [text for text in content if isinstance(text, str)]
        elif shape is dict:
            cleaned = {name: text for name, text in _items(content) if isinstance(text, str)} or None
        elif shape is object:
            cleaned = clean_extra(content, driver) or None
        if cleaned is not None:
            extras[key] = cleaned
    return extras
