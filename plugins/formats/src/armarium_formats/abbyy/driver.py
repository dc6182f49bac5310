"""The FineReader XML driver: what the entry point `abbyy` names."""

from __future__ import annotations

import re
from typing import ClassVar

from armarium_formats.abbyy import reader
from armarium_formats.decoding import decode
from armarium_formats.driver import Format, ReadContext
from armarium_formats.page_model import PageModel

_ROOT = re.compile(r"<(?:[\w.-]{1,40}:)?document\b([^<>]{0,4000})>")
_SCHEMA = re.compile(r"abbyy\.com/FineReader_xml/", re.IGNORECASE)
_PRODUCER = re.compile(r"""\bproducer\s*=\s*["'][^"']*(?:FineReader|ABBYY)""", re.IGNORECASE)


class Abbyy(Format):
    """FineReader XML of the schemas 6 to 10, as FineReader Engine, Recognition Server and the Internet Archive have it."""

    name = "abbyy"
    label = "ABBYY FineReader XML"
    extensions: ClassVar[tuple[str, ...]] = (".xml",)
    reads = True
    versions: ClassVar[tuple[str, ...]] = ("6", "8", "9", "10")
    aliases: ClassVar[tuple[str, ...]] = ("finereader", "abbyy-xml", "finereader-xml")

    def sniff(self, data: bytes) -> float:
        """1 for a root `document` in a FineReader namespace, 0.8 for one that names ABBYY as its producer."""
        root = _ROOT.search(decode(data[:65_536]).text)
        if root is None:
            return 0.0
        if _SCHEMA.search(root.group(1)):
            return 1.0
        return 0.8 if _PRODUCER.search(root.group(1)) else 0.0

    def read(self, data: bytes, context: ReadContext) -> list[PageModel]:
        return reader.read(data, context.filename)
