"""Our profile of TEI P5, `profile.rng`, with what RELAX NG cannot say; every export is validated against it.

`docs/tei-profile.md` describes it.
"""

from __future__ import annotations

import re
from functools import cache, cached_property
from pathlib import Path

from armarium_formats.markup.schema import Grammar, Pointers, PointsRule
from armarium_formats.tei.vocabulary import NAMESPACE

_POINT = r"-?[0-9]+(?:\.[0-9]+)?,-?[0-9]+(?:\.[0-9]+)?"
_OUTLINE = re.compile(rf"{_POINT}(?: {_POINT}){{2,}}")
_PATH = re.compile(rf"{_POINT}(?: {_POINT})+")
_POINTING = " or ".join(f"self::t:{name}" for name in ("pb", "lb", "ab", "p", "fw", "cell"))


class _Tei(Grammar):
    @cached_property
    def relax_ng(self) -> bytes:
        """Return the profile as RELAX NG, XML syntax."""
        return Path(__file__).with_name("profile.rng").read_bytes()


@cache
def schema() -> Grammar:
    """Return the profile, read on first use."""
    return _Tei(
        NAMESPACE,
        points=[
            PointsRule("//t:facsimile//t:zone/@points", _OUTLINE, "three or more x,y pairs of numbers"),
            PointsRule("//t:facsimile//t:path/@points", _PATH, "two or more x,y pairs of numbers"),
        ],
        ids="//@xml:id",
        pointers=[Pointers(f"//t:body//*[{_POINTING}]/@facs", "facs")],
    )
