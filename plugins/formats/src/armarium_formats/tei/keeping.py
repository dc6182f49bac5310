"""Stores parts of a TEI file for export: elements as XML, attributes by name, and counts what is dropped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from armarium_formats.markup.fragments import attribute_of, local_name, text_of
from armarium_formats.tei.vocabulary import NAMESPACE, XML

if TYPE_CHECKING:
    from collections.abc import Container

    from lxml import etree

IDS = re.compile(r'(<[^<>]*?\sxml:)(id)="([^"]*)"')
"""The ids inside a kept fragment."""


def name_of(element: etree._Element) -> str:
    """Return an element's name; one of another vocabulary keeps its namespace."""
    tag = str(element.tag)
    if not tag.startswith("{"):
        return tag
    return tag.rpartition("}")[2] if tag.startswith(f"{{{NAMESPACE}}}") else tag


def attributes(element: etree._Element, without: Container[str] = ()) -> dict[str, str]:
    """Return an element's attributes by name, xml: ones with prefix, without those of other vocabularies."""
    by_name: dict[str, str] = {}
    for key, value in element.attrib.items():
        name = str(key)
        if name.startswith(XML):
            name = f"xml:{local_name(name)}"
        if not name.startswith("{") and name not in without:
            by_name[name] = str(value)
    return by_name


def start_tag(element: etree._Element, *, again: bool = False) -> str:
    """Return the start tag of an element; *again* if it continues after a line break, without its id."""
    tag = str(element.tag)
    space = ""
    if tag.startswith("{"):
        uri, _, tag = tag[1:].partition("}")
        space = "" if uri == NAMESPACE else f' xmlns="{attribute_of(uri)}"'
    head = tag + space
    for number, (key, value) in enumerate(element.attrib.items()):
        name = str(key)
        if name.startswith(XML):
            name = f"xml:{local_name(name)}"
            if again and name == "xml:id":
                continue
        elif name.startswith("{"):
            uri, _, local = name[1:].partition("}")
            head += f' xmlns:n{number}="{attribute_of(uri)}"'
            name = f"n{number}:{local}"
        head += f' {name}="{attribute_of(str(value))}"'
    return f"<{head}>"


def keep(element: etree._Element) -> str:
    """Return an element and its contents as XML in the TEI namespace, with every space."""
    head = start_tag(element)
    tag = local_name(str(element.tag))
    inside = [text_of(element.text or "")]
    for child in element:
        if isinstance(child.tag, str):
            inside += [keep(child), text_of(child.tail or "")]
    body = "".join(inside)
    return f"{head}{body}</{tag}>" if body else f"{head[:-1]}/>"
