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
    described = etree.SubElement(etree.SubElement(corpus, f"{{{TEI}}}teiHeader"), f"{{{TEI}}}fileDesc")
    stated = etree.SubElement(described, f"{{{TEI}}}titleStmt")
    etree.SubElement(stated, f"{{{TEI}}}title").text = "".join(
        one if one >= " " else " " for one in title if one not in "\ufffe\uffff"
    )
    published = etree.SubElement(described, f"{{{TEI}}}publicationStmt")
    etree.SubElement(published, f"{{{TEI}}}p").text = "Written by Armarium."
    source = etree.SubElement(described, f"{{{TEI}}}sourceDesc")
    etree.SubElement(source, f"{{{TEI}}}p").text = f"{len(contents)} pages of one document."
    for number, content in enumerate(contents, 1):
        page = parse_xml(content.encode(), name="a page")
        known = {element.get(_ID) for element in page.iter() if element.get(_ID)}
        _make_own(page, known, number)
        corpus.append(page)
    return str(etree.tostring(corpus, encoding="UTF-8", xml_declaration=True).decode())


def _make_own(page: etree._Element, known: set[str | None], number: int) -> None:
    """Prefix every id of *page*, and every reference to one, with the page's number."""
    for element in page.iter():
        if not isinstance(element.tag, str):
            continue
        for name, value in element.attrib.items():
            if name == _ID:
                element.set(str(name), f"p{number}.{value!s}")
            elif "#" in value:
                moved = _POINTER.sub(lambda found: _replace_link(found, known, number), str(value))
                element.set(str(name), moved)


def _replace_link(found: re.Match[str], known: set[str | None], number: int) -> str:
    return f"{found[1]}#p{number}.{found[2]}" if found[2] in known else found[0]
