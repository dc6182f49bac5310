"""Fonts of a Word file: words with letters that a machine may lack are set in our fonts, which the file embeds."""

from __future__ import annotations

import copy
import re
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

from armarium.api import BundledFont, carried_font, fonts_for, is_unusual

_FONT = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/font"
_FONT_TABLE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/fontTable"
_HIDDEN = "application/vnd.openxmlformats-officedocument.obfuscatedFont"
_KEYED = 32
"""How many bytes at the beginning of a font its key obfuscates (ECMA-376, part 4, font embedding)."""
_CLASSES = ("w:ascii", "w:hAnsi", "w:eastAsia", "w:cs")
"""The kinds of letters for which a run may name a font each."""


def set_fonts(document: Any) -> None:
    """Set the words of *document* that need it in our fonts, and embed these, of large ones a subset."""
    used: UsedFonts = {}
    part_runs(document.element.body, used)
    carry_fonts(document, used)


UsedFonts = dict[str, tuple[BundledFont, set[str]]]
"""The fonts that words are set in, by family, each with its letters."""


def part_runs(content: Any, used: UsedFonts) -> None:
    """Set the words in an element that need it in our fonts, which are added to *used*."""
    for run in list(content.iter(qualify("w:r"))):
        if any(is_unusual(letter) for text in run.iter(qualify("w:t")) for letter in text.text or ""):
            _part_run(run, used)


def carry_fonts(document: Any, used: UsedFonts) -> None:
    """Embed the fonts *used*, of large ones a subset."""
    if used:
        _carry(document, {font: carried_font(font, letters, named=True) for font, letters in used.values()})


def _part_run(run: Any, used: UsedFonts) -> None:
    """Replace *run* by one run for each stretch of a single font."""
    properties = run.find(qualify("w:rPr"))
    for child in list(run):
        if child is properties:
            continue
        pieces = _stretches(child.text or "") if child.tag == qualify("w:t") else [(None, None)]
        for words, font in pieces:
            new_run = new_element("w:r")
            if properties is not None:
                new_run.append(copy.deepcopy(properties))
            if words is None:
                new_run.append(child)
            else:
                text = new_element("w:t")
                text.text = words
                text.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")
                new_run.append(text)
            if font is not None and words is not None:
                used.setdefault(font.family, (font, set()))[1].update(words)
                _name_font(new_run, font.family)
            run.addprevious(new_run)
    run.getparent().remove(run)


def _stretches(text: str) -> Iterator[tuple[str | None, BundledFont | None]]:
    """Return the words of a text with the font of each; None: the file's own."""
    plain = ""
    for piece in re.findall(r"\s+|\S+", text):
        unusual = [letter for letter in piece if is_unusual(letter)]
        fonts = fonts_for(unusual) if unusual else ()
        if not fonts:
            plain += piece
            continue
        if plain:
            yield plain, None
        plain = ""
        yield piece, fonts[0]
    if plain:
        yield plain, None


def _name_font(run: Any, family: str) -> None:
    properties = run.get_or_add_rPr()
    font_names = properties.get_or_add_rFonts()
    for attribute in _CLASSES:
        font_names.set(qualify(attribute), family)


def _carry(document: Any, fonts: Mapping[BundledFont, bytes]) -> None:
    """Embed font files in the package, and list them in its font table and settings."""
    from docx.opc.packuri import PackURI
    from docx.opc.part import Part
    from docx.oxml import parse_xml

    part = document.part.part_related_by(_FONT_TABLE)
    table = parse_xml(part.blob)
    for number, (font, data) in enumerate(fonts.items(), 1):
        key = uuid.uuid5(uuid.NAMESPACE_URL, f"{font.name}/{len(data)}")
        place = PackURI(f"/word/fonts/font{number}.odttf")
        related = part.relate_to(Part(place, _HIDDEN, _hide(data, key), document.part.package), _FONT)
        entry = new_element("w:font")
        entry.set(qualify("w:name"), font.family)
        for tag, value in (("w:charset", "00"), ("w:family", "auto"), ("w:pitch", "variable")):
            child = new_element(tag)
            child.set(qualify("w:val"), value)
            entry.append(child)
        carried = new_element("w:embedRegular")
        carried.set(qualify("r:id"), related)
        carried.set(qualify("w:fontKey"), f"{{{str(key).upper()}}}")
        entry.append(carried)
        table.append(entry)
    from lxml import etree

    part._blob = etree.tostring(table, xml_declaration=True, encoding="UTF-8", standalone=True)
    settings = document.settings.element
    settings.find(qualify("w:zoom")).addnext(new_element("w:embedTrueTypeFonts"))


def _hide(data: bytes, key: uuid.UUID) -> bytes:
    """Return a font file as Word embeds it: its beginning XORed with the key, last byte first."""
    turned = key.bytes[::-1]
    head = bytes(byte ^ turned[place % len(turned)] for place, byte in enumerate(data[:_KEYED]))
    return head + data[_KEYED:]


def new_element(tag: str) -> Any:
    """Return a new element, named as `w:p`."""
    from docx.oxml import OxmlElement

    return OxmlElement(tag)


def qualify(tag: str) -> str:
    """Return the name of an element with its namespace."""
    from docx.oxml.ns import qn

    return str(qn(tag))
