"""The ALTO driver: what the entry point `alto` names."""

from __future__ import annotations

from typing import ClassVar

from armarium_formats.alto import reader, writer
from armarium_formats.alto.profile import schema
from armarium_formats.driver import Format
from armarium_formats.marks import SAID


class Alto(Format):
    """ALTO: reads 1 to 4.4 in every unit, writes 4.4 in pixels, every export checked against our schema of it."""

    name = "alto"
    label = "ALTO"
    extensions: ClassVar[tuple[str, ...]] = (".xml", ".alto")
    file_ending = ".alto.xml"
    reads = True
    writes = True
    places_words = True
    validated = True
    versions: ClassVar[tuple[str, ...]] = (
        "1.0", "1.1", "1.2", "1.3", "1.4", "2.0", "2.1", "3.0", "3.1", "4.0", "4.1", "4.2", "4.3", "4.4",
    )  # fmt: skip
    aliases: ClassVar[tuple[str, ...]] = ("alto-xml", "alto_xml", "altoxml")
    carries = frozenset({SAID})

    sniff = staticmethod(reader.sniff)
    read = staticmethod(reader.read)
    write = staticmethod(writer.write)

    def validate(self, content: str) -> list[str]:
        return schema().problems_in(content)
