"""Untrusted HTML: tag soup and XHTML alike, under the same limits as XML; nothing is fetched, no entity is expanded."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html.entities import html5
from typing import TYPE_CHECKING, Final

from armarium.errors import Invalid
from armarium.guard.documents import MAX_XML_BYTES, MAX_XML_MARKS, TooManyMarks, parse_xml

if TYPE_CHECKING:
    from lxml import etree

MAX_ATTRIBUTES: Final = 500
XHTML: Final = "http://www.w3.org/1999/xhtml"

_DECLARATION = re.compile(r"\s*<\?xml\b[^<>]{0,1000}\?>")
_DOCTYPE = re.compile(r"<!DOCTYPE\b[^\[<>]{0,10000}([\[<>]|\Z)", re.IGNORECASE)
_NAMED = re.compile(r"&([A-Za-z][A-Za-z0-9]{1,31});")
_OF_XML = frozenset({"amp", "lt", "gt", "quot", "apos"})
_HEAD = 65_536


def parse_html(text: str, *, name: str = "this file", max_bytes: int = MAX_XML_BYTES) -> etree._Element:
    """Return the root element of an HTML or XHTML document; raises Invalid. Elements of XHTML keep their namespace.

    Well-formed XHTML is read as XML, all else as a browser reads it: unclosed, misnested and unknown tags are repaired.
    Refused: a DOCTYPE that contains declarations, more than `max_bytes`, more than 900,000 tags and attributes,
    elements nested more than 256 deep, one text longer than 10 MB. Comments, processing instructions and NUL characters
    are left out. The encoding is the caller's task: it has the bytes and what they declare.
    """
    from lxml import etree

    if not text.strip("\ufeff\0 \t\r\n"):
        raise Invalid(f"{name} is empty; an HTML document was expected.", code="not_html")
    if len(text) > max_bytes:
        raise Invalid(
            f"{name} is an HTML document of {len(text) / 1e6:.0f} MB; at most {max_bytes / 1e6:.0f} MB are read. "
            "Split it into one file a page.",
            code="html_too_large",
        )
    if text.count("<") + text.count("=") > MAX_XML_MARKS:
        raise TooManyMarks(name, "html_too_large")
    text = text.lstrip("\ufeff").replace("\0", "")
    if declared := _DECLARATION.match(text):
        text = text[declared.end() :]
    if doctype := _DOCTYPE.search(text, 0, _HEAD):
        if doctype.group(1) != ">":
            raise Invalid(
                f"{name} begins with a DOCTYPE that declares things of its own, which could name entities or other "
                "files; none is read here. Save it again with a plain DOCTYPE.",
                code="html_doctype",
            )
        text = text[: doctype.start()] + text[doctype.end() :]
    if XHTML in text[:_HEAD]:
        try:
            return parse_xml(_NAMED.sub(_character, text).encode("utf-8", "replace"), name=name)
        except Invalid:
            pass  # tag soup that claims to be XHTML, as most of it does
    data = text.encode("utf-8", "replace")
    parser = etree.HTMLParser(
        encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True, huge_tree=False
    )
    try:
        etree.fromstring(data, etree.HTMLParser(encoding="utf-8", target=_Watch(name)))
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError, LookupError, AssertionError) as fault:
        raise Invalid(f"{name} cannot be read as HTML: {fault}.", code="html_malformed") from None
    for entry in parser.error_log:
        if entry.type_name == "ERR_RESOURCE_LIMIT" or "XML_PARSE_HUGE" in entry.message:
            raise Invalid(
                f"{name} nests its elements more than 256 deep or holds one text of more than 10 MB; no page does. "
                "Tags that are never closed may be the cause.",
                code="html_too_large",
            )
    if root is None:
        raise Invalid(f"{name} holds no HTML element.", code="not_html")
    return root


class _Watch:
    """Checks every tag before a tree is built: the time for a tag grows with the square of its attributes."""

    def __init__(self, name: str) -> None:
        self.name = name

    def start(self, tag: str | bytes, attributes: Mapping[str | bytes, str | bytes]) -> None:
        if len(attributes) > MAX_ATTRIBUTES:
            raise Invalid(
                f"{self.name} holds a tag of {len(attributes):,} attributes; at most {MAX_ATTRIBUTES} are read.",
                code="html_too_large",
            )

    def end(self, tag: str | bytes) -> None:
        return None

    def data(self, text: str | bytes) -> None:
        return None

    def comment(self, text: str | bytes) -> None:
        return None

    def close(self) -> None:
        return None


def _character(match: re.Match[str]) -> str:
    """Replace a named character reference of HTML; the five of XML stay, an unknown name stays and is then refused as
    XML.
    """
    word = match.group(1)
    return match.group() if word in _OF_XML else html5.get(word + ";", match.group())
