"""Parts of an XML file that the page model has no field for: stored as XML without namespace, and
restored.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml import etree

_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_SPECIAL = re.compile('[&<>"\x00-\x1f\ud800-\udfff\ufffe\uffff]')
_ATTRIBUTE_ESCAPES = {'"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
_NAME = re.compile(r"<([^\s/>]+)")


def local_name(tag: str) -> str:
    """Return an element's or attribute's name without its namespace."""
    return tag.rpartition("}")[2]


def namespace_of(element: etree._Element) -> str:
    """Return the namespace of an element; empty if it has none."""
    tag = str(element.tag)
    return tag[1:].partition("}")[0] if tag.startswith("{") else ""


def attributes_in(element: etree._Element) -> dict[str, str]:
    """Return an element's attributes, without their namespaces."""
    return {local_name(str(key)): str(value) for key, value in element.attrib.items()}


def text_of(value: str) -> str:
    """Return character data as XML, without characters that XML cannot contain."""
    if not _SPECIAL.search(value):
        return value
    if _ILLEGAL.search(value):
        value = _ILLEGAL.sub("", value)
    return escape(value, quote=False).replace("\r", "&#13;")


def attribute_of(value: str) -> str:
    """Return an attribute's value as XML, preserving line breaks."""
    if not _SPECIAL.search(value):
        return value
    if _ILLEGAL.search(value):
        value = _ILLEGAL.sub("", value)
    value = escape(value, quote=False)
    for sign, written in _ATTRIBUTE_ESCAPES.items():
        value = value.replace(sign, written)
    return value


def lawful(value: str) -> str:
    """Return a text without the characters that no XML document can contain."""
    return _ILLEGAL.sub("", value) if _ILLEGAL.search(value) else value


def illegal_characters(value: str) -> int:
    """Return how many characters of *value* no XML document can contain."""
    return len(_ILLEGAL.findall(value))


def attributes_of(values: dict[str, str]) -> str:
    """Return attributes as in a start tag, each after a space."""
    if not _SPECIAL.search("".join(values.values())):
        return "".join([f' {key}="{value}"' for key, value in values.items()])
    return "".join([f' {key}="{attribute_of(value)}"' for key, value in values.items()])


def element(name: str, attributes: dict[str, str], inside: str = "") -> str:
    """Return an element with its attributes around XML."""
    head = f"<{name}{attributes_of(attributes)}"
    return f"{head}>{inside}</{name}>" if inside else f"{head}/>"


Change = Callable[["etree._Element", dict[str, str]], bool]
"""May change the attributes of an element that is kept; true when its children are said by them."""


def keep(node: etree._Element, change: Change | None = None) -> str:
    """Return an element and its contents as XML without namespace."""
    attributes = attributes_in(node)
    without = change(node, attributes) if change is not None else False
    inside = (
        ""
        if without
        else "".join(
            keep(child, change) + text_of((child.tail or "") if (child.tail or "").strip() else "")
            for child in node
            if isinstance(child.tag, str)
        )
    )
    text = node.text or ""
    if text.strip() or (text and not len(node)):
        inside = text_of(text) + inside
    return element(local_name(str(node.tag)), attributes, inside)


def name_of(fragment: str) -> str:
    """Return the name of a fragment's root element."""
    match = _NAME.match(fragment)
    return match.group(1) if match else ""


def settle_ids(pattern: re.Pattern[str], fragment: str, ids: dict[str, str], refs: dict[str, str]) -> str:
    """Replace the ids and references in a fragment.

    *pattern* captures in three groups what precedes an attribute, its name (`id` in any case, else a
    reference), its value.
    """

    def change(match: re.Match[str]) -> str:
        head, key, value = match.groups()
        return f'{head}{key}="{(ids if key.lower() == "id" else refs).get(value, value)}"'

    return pattern.sub(change, fragment)
