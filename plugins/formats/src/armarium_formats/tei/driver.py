"""The TEI driver, which the entry point `tei` names, and our profile of TEI P5 (`profile.rng`), with what RELAX NG cannot say;
every export is validated against it. `docs/tei-profile.md` describes it.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import ClassVar

from armarium_formats.driver import Format, WriteContext, WrittenPage
from armarium_formats.marks import KINDS
from armarium_formats.markup.schema import Grammar, Pointers, PointsRule
from armarium_formats.page_model import PageModel
from armarium_formats.tei import reader, writer
from armarium_formats.tei.facts import drop_taken
from armarium_formats.tei.vocabulary import NAMESPACE

_POINT = r"-?[0-9]+(?:\.[0-9]+)?,-?[0-9]+(?:\.[0-9]+)?"
_OUTLINE = re.compile(rf"{_POINT}(?: {_POINT}){{2,}}")
_PATH = re.compile(rf"{_POINT}(?: {_POINT})+")
_POINTING = " or ".join(f"self::t:{name}" for name in ("pb", "lb", "ab", "p", "fw", "cell"))


@cache
def schema() -> Grammar:
    """Return the profile, read on first use."""
    return Grammar(
        NAMESPACE,
        Path(__file__).with_name("profile.rng"),
        points=[
            PointsRule("//t:facsimile//t:zone/@points", _OUTLINE, "three or more x,y pairs of numbers"),
            PointsRule("//t:facsimile//t:path/@points", _PATH, "two or more x,y pairs of numbers"),
        ],
        ids="//@xml:id",
        pointers=[Pointers(f"//t:body//*[{_POINTING}]/@facs", "facs")],
    )


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

    sniff = staticmethod(reader.sniff)
    read = staticmethod(reader.read)

    def write(self, page: PageModel, context: WriteContext) -> WrittenPage:
        drop_taken(page)
        return writer.write(page, context)

    def validate(self, content: str) -> list[str]:
        # Spaces between zones mean nothing, but 20,000 zones with them take the validator far longer.
        return schema().problems_in(re.sub(r">\s+<(/?zone)", r"><\1", content))
