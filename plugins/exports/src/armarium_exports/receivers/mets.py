"""METS files: for a workspace of OCR-D, and for a volume as viewers of digital libraries open it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from armarium.api import now

if TYPE_CHECKING:
    from lxml import etree

METS = "http://www.loc.gov/METS/"
XLINK = "http://www.w3.org/1999/xlink"
MODS = "http://www.loc.gov/mods/v3"
PAGE_TYPE = "application/vnd.prima.page+xml"
ALTO_TYPE = "application/alto+xml"


@dataclass(frozen=True)
class MetsPage:
    """A page of a METS file: its number from 1, its label, and its files as (group, path from the METS file, type)."""

    number: int
    label: str
    files: tuple[tuple[str, str, str], ...]


def mets_of(title: str, identifier: str, pages: list[MetsPage], *, viewer: bool) -> bytes:
    """Return the METS file; *viewer*: with a logical structure and MODS, and links between the structures."""
    from lxml import etree

    root = etree.Element(_m("mets"), nsmap={"mets": METS, "xlink": XLINK, "mods": MODS})
    head = etree.SubElement(root, _m("metsHdr"), CREATEDATE=now()[:19])
    agent = etree.SubElement(head, _m("agent"), TYPE="OTHER", OTHERTYPE="SOFTWARE", ROLE="CREATOR")
    etree.SubElement(agent, _m("name")).text = "Armarium"
    _write_description(root, title, identifier)
    etree.SubElement(root, _m("amdSec"), ID="AMD")
    _files(root, pages, viewer=viewer)
    if viewer:
        logical = etree.SubElement(root, _m("structMap"), TYPE="LOGICAL")
        etree.SubElement(
            logical,
            _m("div"),
            ID="LOG_0000",
            TYPE="manuscript",
            DMDID="DMDLOG_0001",
            LABEL=_drop_unsound(title),
            ADMID="AMD",
        )
    physical = etree.SubElement(root, _m("structMap"), TYPE="PHYSICAL")
    sequence = etree.SubElement(physical, _m("div"), ID="PHYS_0000", TYPE="physSequence")
    for page in pages:
        place: dict[str, Any] = {"ID": f"PHYS_{page.number:04}", "TYPE": "page", "ORDER": str(page.number)}
        div = etree.SubElement(sequence, _m("div"), **place, ORDERLABEL=_drop_unsound(page.label))
        for group, _, _ in page.files:
            etree.SubElement(div, _m("fptr"), FILEID=file_id(group, page.number))
    if viewer:
        links = etree.SubElement(root, _m("structLink"))
        for target in ("PHYS_0000", *(f"PHYS_{page.number:04}" for page in pages)):
            link = etree.SubElement(links, _m("smLink"))
            link.set(f"{{{XLINK}}}from", "LOG_0000")
            link.set(f"{{{XLINK}}}to", target)
    document: bytes = etree.tostring(root, encoding="UTF-8", xml_declaration=True, pretty_print=True)
    return document


def file_id(group: str, number: int) -> str:
    """Return the id of a page's file in a group."""
    return f"{group}_{number:04}"


def _write_description(root: etree._Element, title: str, identifier: str) -> None:
    from lxml import etree

    section = etree.SubElement(root, _m("dmdSec"), ID="DMDLOG_0001")
    data = etree.SubElement(etree.SubElement(section, _m("mdWrap"), MDTYPE="MODS"), _m("xmlData"))
    mods = etree.SubElement(data, f"{{{MODS}}}mods")
    info = etree.SubElement(mods, f"{{{MODS}}}titleInfo")
    etree.SubElement(info, f"{{{MODS}}}title").text = _drop_unsound(title)
    identifier_element = etree.SubElement(mods, f"{{{MODS}}}identifier", type="local")
    identifier_element.text = identifier


def _files(root: etree._Element, pages: list[MetsPage], *, viewer: bool) -> None:
    from lxml import etree

    section = etree.SubElement(root, _m("fileSec"))
    groups = list(dict.fromkeys(group for page in pages for group, _, _ in page.files))
    for name in groups:
        group = etree.SubElement(section, _m("fileGrp"), USE=name)
        for page in pages:
            for use, path, kind in page.files:
                if use != name:
                    continue
                file = etree.SubElement(group, _m("file"), ID=file_id(use, page.number), MIMETYPE=kind)
                place: dict[str, Any] = (
                    {"LOCTYPE": "URL"} if viewer else {"LOCTYPE": "OTHER", "OTHERLOCTYPE": "FILE"}
                )
                location = etree.SubElement(file, _m("FLocat"), **place)
                location.set(f"{{{XLINK}}}href", path)


def _m(name: str) -> str:
    return f"{{{METS}}}{name}"


def _drop_unsound(text: str) -> str:
    return "".join(letter if letter >= " " and letter not in "\ufffe\uffff" and not "\ud800" <= letter <= "\udfff" else " " for letter in text)  # fmt: skip
