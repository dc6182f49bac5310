"""The TEI driver: what the entry point `tei` names."""

from __future__ import annotations

import re
from typing import ClassVar

from armarium_formats.driver import Format, ReadContext, WriteContext, WrittenPage
from armarium_formats.marks import KINDS
from armarium_formats.page_model import PageModel
from armarium_formats.tei import reader, writer
from armarium_formats.tei.facts import drop_taken
from armarium_formats.tei.profile import schema


class Tei(Format):
    """TEI P5: reads facsimiles, source documents and texts with milestones; writes our profile, every export checked."""

    name = "tei"
    label = "TEI"
    extensions: ClassVar[tuple[str, ...]] = (".xml", ".tei")
    file_ending = ".tei.xml"
    reads = True
    writes = True
    validated = True
    versions: ClassVar[tuple[str, ...]] = ("P5",)
    aliases: ClassVar[tuple[str, ...]] = ("tei-p5", "tei-xml", "tei_xml", "p5")
    carries = frozenset(KINDS)

    def sniff(self, data: bytes) -> float:
        return reader.sniff(data)

    def read(self, data: bytes, context: ReadContext) -> list[PageModel]:
        return reader.read(data, context)

    def write(self, page: PageModel, context: WriteContext) -> WrittenPage:
        drop_taken(page)
        return writer.write(page, context)

    def validate(self, content: str) -> list[str]:
        # Spaces between zones mean nothing, but 20,000 zones with them take the validator far longer.
        return schema().problems_in(re.sub(r">\s+<(/?zone)", r"><\1", content))
