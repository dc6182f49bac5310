"""The PAGE XML driver: what the entry point `pagexml` names."""

from __future__ import annotations

from typing import ClassVar

from armarium_formats.driver import Format, ReadContext
from armarium_formats.marks import FACTS, SAID
from armarium_formats.page_model import PageModel
from armarium_formats.pagexml import reader, writer
from armarium_formats.pagexml.profile import schema
from armarium_formats.pagexml.vocabulary import VERSIONS


class PageXml(Format):
    """PAGE XML: reads 2009 to 2024, writes 2019-07-15, every export checked against our schema of it."""

    name = "pagexml"
    label = "PAGE XML"
    extensions: ClassVar[tuple[str, ...]] = (".xml",)
    file_ending = ".page.xml"
    reads = True
    writes = True
    places_words = True
    validated = True
    versions: ClassVar[tuple[str, ...]] = VERSIONS
    aliases: ClassVar[tuple[str, ...]] = ("page", "page-xml", "page_xml")
    carries = frozenset({FACTS, SAID})
    sniff = staticmethod(reader.sniff)
    write = staticmethod(writer.write)

    def read(self, data: bytes, context: ReadContext) -> list[PageModel]:
        return [reader.read(data, context.filename)]

    def validate(self, content: str) -> list[str]:
        return schema().problems_in(content)
