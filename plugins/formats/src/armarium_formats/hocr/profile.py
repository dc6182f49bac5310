"""Our profile of hOCR 1.2 in XHTML, `profile.rng`, with what RELAX NG cannot say; every export is validated against it."""

from __future__ import annotations

import re
from functools import cache, cached_property
from pathlib import Path

from armarium_formats.markup.schema import Grammar, PointsRule

NAMESPACE = "http://www.w3.org/1999/xhtml"
VERSION = "1.2"
_PROPERTY = r"""[a-z_]+(?: (?:"[^"]*"|[^;"]+))?"""
_TITLE = re.compile(rf"""{_PROPERTY}(?:; {_PROPERTY})*""")
_BOXED = re.compile(r"""(?:.*; )?bbox [0-9]+ [0-9]+ [0-9]+ [0-9]+(?:; .*)?""", re.DOTALL)


class _Hocr(Grammar):
    @cached_property
    def relax_ng(self) -> bytes:
        """Return the profile as RELAX NG, XML syntax."""
        return Path(__file__).with_name("profile.rng").read_bytes()


@cache
def schema() -> Grammar:
    """Return the profile, read on first use."""
    return _Hocr(
        NAMESPACE,
        points=[
            PointsRule("//t:body//@title", _TITLE, "properties separated by semicolons"),
            PointsRule("//t:span[@class='ocrx_word']/@title", _BOXED, "a word's properties with its bbox"),
        ],
        ids="//@id",
        pointers=[],
    )
