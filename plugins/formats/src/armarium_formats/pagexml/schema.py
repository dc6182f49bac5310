"""The RELAX NG of what we write, made from `profile`, and the check that every export passes before it is given out."""

from __future__ import annotations

import re
import threading
from collections import Counter
from functools import cache, lru_cache
from typing import TYPE_CHECKING, cast

from armarium_formats.pagexml.profile import NAMESPACE, Element, elements, words

if TYPE_CHECKING:
    from lxml import etree

_RNG = "http://relaxng.org/ns/structure/1.0"
_XSD = "http://www.w3.org/2001/XMLSchema-datatypes"

_DATA = {
    "string": "<text/>",
    "id": '<data type="NCName"/>',
    "ref": '<data type="NCName"/>',
    "int": '<data type="int"/>',
    "integer": '<data type="integer"/>',
    "natural": '<data type="int"><param name="minInclusive">0</param></data>',
    "float": '<data type="float"/>',
    "boolean": '<data type="boolean"/>',
    "dateTime": '<data type="dateTime"/>',
    "conf": '<data type="float"><param name="minInclusive">0</param><param name="maxInclusive">1</param></data>',
    "points": "<text/>",
}
"""Points are text to RELAX NG and checked by `_POINTS`, which is ten times as fast as the validator's own automaton."""

_POINTS = re.compile(r"(?:[0-9]+,[0-9]+ )+[0-9]+,[0-9]+")


_one_at_a_time = threading.Lock()
"""The validator keeps its messages on itself: another thread's must not be taken for one's own."""


@cache
def relax_ng() -> str:
    """The schema as RELAX NG, XML syntax."""
    types = "".join(
        f'<define name="t-{name}"><choice>'
        + "".join(f'<value type="string">{_text(word)}</value>' for word in sorted(values))
        + "</choice></define>"
        for name, values in words().items()
    )
    body = "".join(_define(element) for element in elements().values())
    return (
        f'<grammar xmlns="{_RNG}" datatypeLibrary="{_XSD}" ns="{NAMESPACE}">'
        f'<start><ref name="PcGts"/></start>{types}{body}</grammar>'
    )


@cache
def _validator() -> etree.RelaxNG:
    from lxml import etree

    return etree.RelaxNG(etree.fromstring(relax_ng()))


def problems_of(root: etree._Element, *, most: int = 20) -> list[str]:
    """What keeps a document from being valid PAGE 2019-07-15, in words, at most *most* of them."""
    found: list[str] = []
    with _one_at_a_time:
        validator = _validator()
        if not validator.validate(root):
            found += [f"line {entry.line}: {entry.message}" for entry in validator.error_log][:most]
    for points in _strings(root, "//@points"):
        if not _POINTS.fullmatch(points):
            found.append(f"points {points[:40]!r} are not two or more x,y pairs of whole numbers")
    ids = _strings(root, "//@id | /*/@pcGtsId")
    counts = Counter(ids)
    if len(counts) != len(ids):
        found += [f"the id {one} stands {count} times" for one, count in counts.items() if count > 1]
    found += [f"regionRef {ref} names nothing" for ref in _strings(root, "//@regionRef") if ref not in counts]
    return found[:most]


def _strings(root: etree._Element, path: str) -> list[str]:
    return cast("list[str]", root.xpath(path))


_BOOLEAN = frozenset({"true", "false", "1", "0"})
_INT = re.compile(r"\s*[+-]?[0-9]{1,9}\s*")
_FLOAT = re.compile(r"\s*(?:[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|-?INF|NaN)\s*")
_NCNAME = re.compile(r"[^\W\d][\w.\-\u00b7]*")
_DATE_TIME = re.compile(
    r"-?[0-9]{4,}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?"
    r"(Z|[+-](0[0-9]|1[0-3]):[0-5][0-9])?"
)


def is_ncname(value: str) -> bool:
    """Whether *value* may be an id: a letter or underscore first, then letters, digits, `.`, `-`, `_`."""
    if _NCNAME.fullmatch(value) is None:
        return False
    return value.isascii() or _is_letter_by_letter(value)


@lru_cache(maxsize=20_000)
def _is_letter_by_letter(value: str) -> bool:
    """Which letters beyond ASCII an id takes is for the validator to say: it follows an older Unicode than we do."""
    from lxml import etree

    element = etree.Element("id")
    element.text = value
    return bool(_ids().validate(element))


@cache
def _ids() -> etree.RelaxNG:
    from lxml import etree

    return etree.RelaxNG(
        etree.fromstring(
            f'<element name="id" xmlns="{_RNG}" datatypeLibrary="{_XSD}"><data type="NCName"/></element>'
        )
    )


def fits(kind: str, value: str) -> bool:
    """Whether *value* is of the profile's type *kind*; never says yes where the schema says no."""
    match kind:
        case "string":
            return True
        case "boolean":
            return value in _BOOLEAN
        case "int" | "integer":
            return _INT.fullmatch(value) is not None
        case "natural":
            return _INT.fullmatch(value) is not None and int(value) >= 0
        case "float":
            return _FLOAT.fullmatch(value) is not None
        case "conf":
            return _FLOAT.fullmatch(value) is not None and 0 <= float(value) <= 1
        case "dateTime":
            return _DATE_TIME.fullmatch(value) is not None and _real_day(value)
        case "points":
            return _POINTS.fullmatch(value) is not None
        case "id" | "ref":
            return is_ncname(value)
        case _:
            return value in words()[kind]


def _real_day(value: str) -> bool:
    from datetime import date

    try:
        date.fromisoformat(value[:10])
    except ValueError:
        return False
    return True


def _define(element: Element) -> str:
    content = "".join(_pattern(token) for token in element.content)
    attributes = "".join(
        _attribute(name, kind, name in element.required) for name, kind in element.attributes.items()
    )
    return (
        f'<define name="{element.name}"><element name="{element.name}">{attributes}'
        f"{content or '<empty/>'}</element></define>"
    )


def _attribute(name: str, kind: str, required: bool) -> str:
    body = f'<attribute name="{name}" ns="">{_type(kind)}</attribute>'
    return body if required else f"<optional>{body}</optional>"


def _type(kind: str) -> str:
    return _DATA.get(kind) or f'<ref name="t-{kind}"/>'


_WRAP = {"?": "optional", "*": "zeroOrMore", "+": "oneOrMore"}


def _pattern(token: str) -> str:
    if token.startswith("="):
        return _type(token[1:])
    many = _WRAP.get(token[-1])
    bare = token[:-1] if many else token
    names = bare.strip("()").split("|")
    body = "".join(f'<ref name="{name}"/>' for name in names)
    if len(names) > 1:
        body = f"<choice>{body}</choice>"
    return f"<{many}>{body}</{many}>" if many else body


def _text(word: str) -> str:
    return word.replace("&", "&amp;").replace("<", "&lt;")
