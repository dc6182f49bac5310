"""The hOCR driver, which the entry point `hocr` names, and our profile of hOCR 1.2 in XHTML (`profile.rng`), with what RELAX NG
cannot say; every export is validated against it.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import ClassVar

from armarium_formats.decoding import decode
from armarium_formats.driver import Format
from armarium_formats.hocr import reader, writer
from armarium_formats.markup.schema import Grammar, PointsRule

NAMESPACE = "http://www.w3.org/1999/xhtml"
VERSION = "1.2"
_PROPERTY = r"""[a-z_]+(?: (?:"[^"]*"|[^;"]+))?"""
_TITLE = re.compile(rf"""{_PROPERTY}(?:; {_PROPERTY})*""")
_BOXED = re.compile(r"""(?:.*; )?bbox [0-9]+ [0-9]+ [0-9]+ [0-9]+(?:; .*)?""", re.DOTALL)


@cache
def schema() -> Grammar:
    """Return the profile, read on first use."""
    return Grammar(
        NAMESPACE,
        Path(__file__).with_name("profile.rng"),
        points=[
            PointsRule("//t:body//@title", _TITLE, "properties separated by semicolons"),
            PointsRule("//t:span[@class='ocrx_word']/@title", _BOXED, "a word's properties with its bbox"),
        ],
        ids="//@id",
        pointers=[],
    )


_PAGE = re.compile(
    r"""<[^<>]{0,2000}?\bclass\s*=\s*(?:"[^"<>]{0,200}?|'[^'<>]{0,200}?|)\bocr_page\b""", re.IGNORECASE
)
_PART = re.compile(
    r"""<[^<>]{0,2000}?\bclass\s*=\s*(?:"[^"<>]{0,200}?|'[^'<>]{0,200}?|)\bocrx?_(?:line|word|carea|block|par)\b""",
    re.IGNORECASE,
)
_META = re.compile(r"""<meta\b[^<>]{0,200}?\bname\s*=\s*["']?ocr-(?:system|capabilities)\b""", re.IGNORECASE)
_HEAD = 262_144


class Hocr(Format):
    """hOCR as tesseract, ocropy, kraken, gcv2hocr, the Internet Archive and converters of FineReader XML write it; writes 1.2,
    every export checked against our schema of it.
    """

    name = "hocr"
    label = "hOCR"
    extensions: ClassVar[tuple[str, ...]] = (".hocr", ".html", ".htm", ".xhtml")
    file_ending = ".hocr"
    reads = True
    writes = True
    validated = True
    versions: ClassVar[tuple[str, ...]] = ("1.0", "1.1", "1.2")
    aliases: ClassVar[tuple[str, ...]] = ("html", "xhtml")
    read = staticmethod(reader.read)
    write = staticmethod(writer.write)

    def sniff(self, data: bytes) -> float:
        """Return 1 for an element of class ocr_page, 0.9 for another hOCR class, 0.7 for its meta elements
        alone.
        """
        text = decode(data[:_HEAD]).text
        for pattern, sure in ((_PAGE, 1.0), (_PART, 0.9), (_META, 0.7)):
            if pattern.search(text):
                return sure
        return 0.0

    def validate(self, content: str) -> list[str]:
        return schema().problems_in(content)
