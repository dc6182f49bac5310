"""TEI of several pages in one file: a teiCorpus whose ids do not clash."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from armarium.api import parse_xml

if TYPE_CHECKING:
    from lxml import etree

TEI = "http://www.tei-c.org/ns/1.0"
_ID = "{http://www.w3.org/XML/1998/namespace}id"
_NAMESPACES: Any = {None: TEI}
_POINTER = re.compile(r"(^|\s)#(\S+)")


def tei_corpus(title: str, contents: Sequence[str]) -> str:
    """Return one file made of the TEI files *contents*, each with unique ids."""
    from lxml import etree

    corpus = etree.Element(f"{{{TEI}}}teiCorpus", nsmap=_NAMESPACES)
    corpus.append(corpus_header(title, f"{len(contents)} pages of one document."))
    for number, content in enumerate(contents, 1):
        corpus.append(corpus_page(content, number))
    return str(etree.tostring(corpus, encoding="UTF-8", xml_declaration=True).decode())


def corpus_header(title: str, source: str) -> etree._Element:
    """Return the header of a corpus; *source* says in a sentence of what it is."""
    from lxml import etree

    header = etree.Element(f"{{{TEI}}}teiHeader", nsmap=_NAMESPACES)
    described = etree.SubElement(header, f"{{{TEI}}}fileDesc")
    for within, tag, text in (
        ("titleStmt", "title", title), ("publicationStmt", "p", "Written by Armarium."), ("sourceDesc", "p", source),
    ):  # fmt: skip
        inner = etree.SubElement(etree.SubElement(described, f"{{{TEI}}}{within}"), f"{{{TEI}}}{tag}")
        inner.text = "".join(
            letter if letter >= " " else " " for letter in text if letter not in "\ufffe\uffff"
        )
    return header


def corpus_page(content: str, number: int) -> etree._Element:
    """Return the TEI of a page, its ids made its own by its *number* in the corpus."""
    page = parse_xml(content.encode(), name="a page")
    ids = {element.get(_ID) for element in page.iter() if element.get(_ID)}
    _make_own(page, ids, number)
    return page


def _make_own(page: etree._Element, ids: set[str | None], number: int) -> None:
    """Prefix every id of *page*, and every reference to one, with the page's number."""
    for element in page.iter():
        if not isinstance(element.tag, str):
            continue
        for name, value in element.attrib.items():
            if name == _ID:
                element.set(str(name), f"p{number}.{value!s}")
            elif "#" in value:
                moved = _POINTER.sub(lambda match: _replace_link(match, ids, number), str(value))
                element.set(str(name), moved)


def _replace_link(match: re.Match[str], ids: set[str | None], number: int) -> str:
    return f"{match[1]}#p{number}.{match[2]}" if match[2] in ids else match[0]
