"""Untrusted XML: no DOCTYPE, no entity, no network, bounded bytes, tags, depth and text length."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from armarium.errors import Invalid

if TYPE_CHECKING:
    from lxml import etree

MAX_XML_BYTES: Final = 64 * 1024 * 1024
MAX_XML_MARKS: Final = 900_000
"""Tags and attributes of one document: a tree takes 100 to 220 bytes of memory for each. The densest page file known to
us has 65,000.
"""


_PROLOG = re.compile(rb"\s*(?:<\?.*?\?>\s*|<!--.*?-->\s*)*", re.DOTALL)
_WIDE = {
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
    b"<\x00\x00\x00": "utf-32-le",
    b"\x00\x00\x00<": "utf-32-be",
    b"<\x00": "utf-16-le",
    b"\x00<": "utf-16-be",
}


class TooManyMarks(Invalid):
    """422: a document has more tags and attributes than any page."""

    def __init__(self, name: str, code: str) -> None:
        super().__init__(
            f"{name} holds more than {MAX_XML_MARKS:,} tags and attributes; that is not a page. Split it.",
            code=code,
        )


def parse_xml(data: bytes, *, name: str = "this file", max_bytes: int = MAX_XML_BYTES) -> etree._Element:
    """Return the root element of an XML document; raises Invalid.

    Refused: any DOCTYPE (so no entity of any kind), more than `max_bytes`, more than 900,000 tags and attributes,
    elements nested more than 256 deep, one text longer than 10 MB, and what is not well formed. Nothing is fetched.
    Comments and processing instructions are left out of the tree. An `xml:id` that occurs twice or begins with a digit
    is left to the caller: such a file is well formed.
    """
    from lxml import etree

    if not data.strip():
        raise Invalid(f"{name} is empty; an XML document was expected.", code="not_xml")
    if len(data) > max_bytes:
        raise Invalid(
            f"{name} is an XML document of {len(data) / 1e6:.0f} MB; at most {max_bytes / 1e6:.0f} MB are read. "
            "Split it into one file a page.",
            code="xml_too_large",
        )
    if data.count(b"<") + data.count(b"=") > MAX_XML_MARKS:
        raise TooManyMarks(name, "xml_too_large")
    if _has_doctype(data):
        raise _doctype_refused(name)
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        attribute_defaults=False,
        huge_tree=False,
        collect_ids=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as fault:
        raise Invalid(_xml_fault(name, str(fault)), code="xml_malformed") from None
    except (ValueError, LookupError, AssertionError) as fault:
        raise Invalid(f"{name} cannot be read as XML: {fault}.", code="xml_malformed") from None
    if root is None:
        raise Invalid(f"{name} holds no XML element.", code="not_xml")
    # A declared UTF-7 or EBCDIC hides the word from the scan above; the parser then finds it.
    if root.getroottree().docinfo.internalDTD is not None:
        raise _doctype_refused(name)
    return root


def _has_doctype(data: bytes) -> bool:
    """Return whether a document type declaration precedes the root element, in any Unicode encoding."""
    for mark, encoding in _WIDE.items():
        if data.startswith(mark):
            data = data.decode(encoding, errors="replace").lstrip("\ufeff").encode("utf-8", errors="replace")
            break
    data = data.removeprefix(b"\xef\xbb\xbf")
    prolog = _PROLOG.match(data)
    at = prolog.end() if prolog else 0
    return data[at : at + 9].upper() == b"<!DOCTYPE"


_doctype_refused = Invalid.saying(
    "xml_doctype",
    "{name} begins with a DOCTYPE, which could name entities or other files; none is read here. Save it "
    "again without the DOCTYPE.",
)


def _xml_fault(name: str, fault: str) -> str:
    """Return the parser's message as a sentence, without its advice to lift the limits."""
    if "depth" in fault:
        return f"{name} nests its elements more than 256 deep; no page does."
    if "XML_PARSE_HUGE" in fault or "huge" in fault.lower():
        return f"{name} holds one text or name of more than 10 MB; no page does."
    fault = re.sub(r"\s*\(<string>, line \d+\)$", "", fault)
    return f"{name} is not well-formed XML: {fault}. It may be cut short or saved in another encoding than it says."
