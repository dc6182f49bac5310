"""The ALTO driver: what the entry point `alto` names."""

from __future__ import annotations

from typing import ClassVar

from armarium_formats.driver import Format, ReadContext, WriteContext, WrittenPage
from armarium_formats.marks import SAID
from armarium_formats.page_model import PageModel


class Alto(Format):
    """ALTO: reads 1 to 4.4 in every unit, writes 4.4 in pixels, every export checked against our schema of it."""

    name = "alto"
    label = "ALTO"
    extensions: ClassVar[tuple[str, ...]] = (".xml", ".alto")
    file_ending = ".alto.xml"
    reads = True
    writes = True
    validated = True
    versions: ClassVar[tuple[str, ...]] = (
        "1.0", "1.1", "1.2", "1.3", "1.4", "2.0", "2.1", "3.0", "3.1", "4.0", "4.1", "4.2", "4.3", "4.4",
    )  # fmt: skip
    aliases: ClassVar[tuple[str, ...]] = ("alto-xml", "alto_xml", "altoxml")
    carries = frozenset({SAID})

    def sniff(self, data: bytes) -> float:
        from armarium_formats.alto.reader import sniff

        return sniff(data)

    def read(self, data: bytes, context: ReadContext) -> list[PageModel]:
        from armarium_formats.alto.reader import read

        return read(data, context)

    def write(self, page: PageModel, context: WriteContext) -> WrittenPage:
        from armarium_formats.alto.writer import write

        return write(page, context)

    def validate(self, content: str) -> list[str]:
        from armarium.api import Invalid, parse_xml
        from armarium_formats.alto.schema import schema

        try:
            root = parse_xml(content.encode(), name="The export")
        except Invalid as refusal:
            return [refusal.detail]
        return schema().problems_of(root)
