"""The TEI driver: what the entry point `tei` names."""

from __future__ import annotations

import re
from typing import ClassVar

from armarium_formats.driver import Format, ReadContext, WriteContext, WrittenPage
from armarium_formats.marks import KINDS
from armarium_formats.page_model import PageModel


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
        from armarium_formats.tei.reader import sniff

        return sniff(data)

    def read(self, data: bytes, context: ReadContext) -> list[PageModel]:
        from armarium_formats.tei.reader import read

        return read(data, context)

    def write(self, page: PageModel, context: WriteContext) -> WrittenPage:
        from armarium_formats.tei.facts import drop_taken
        from armarium_formats.tei.writer import write

        drop_taken(page)
        return write(page, context)

    def validate(self, content: str) -> list[str]:
        from armarium.api import Invalid, parse_xml
        from armarium_formats.tei.profile import problems_of

        try:
            # Spaces between zones mean nothing, but 20,000 zones with them take the validator far longer.
            root = parse_xml(re.sub(r">\s+<(/?zone)", r"><\1", content).encode(), name="The export")
        except Invalid as refusal:
            return [refusal.detail]
        return problems_of(root)
