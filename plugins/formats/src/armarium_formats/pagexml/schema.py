"""The RELAX NG of the PAGE XML that we write, and the check that every export passes before it is given out."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from armarium_formats.markup.schema import Schema
from armarium_formats.pagexml.profile import NAMESPACE, elements, words

if TYPE_CHECKING:
    from lxml import etree


@cache
def schema() -> Schema:
    """The schema of PAGE 2019-07-15, made when it is first asked for."""
    return Schema(
        NAMESPACE,
        "PcGts",
        elements(),
        words(),
        points="points",
        ids="//@id | /*/@pcGtsId",
        references=("regionRef",),
        points_rule=re.compile(r"(?:[0-9]+,[0-9]+ )+[0-9]+,[0-9]+"),
        points_words="two or more x,y pairs of whole numbers",
    )


def problems_of(root: etree._Element, *, most: int = 20) -> list[str]:
    """What keeps a document from being valid PAGE 2019-07-15, in words, at most *most* of them."""
    return schema().problems_of(root, most=most)


def is_valid(fragment: str) -> bool:
    """Whether a fragment is, as it stands, valid PAGE 2019-07-15 for an element of its name."""
    return schema().is_valid(fragment)


def fits(kind: str, value: str) -> bool:
    """Whether *value* is of the profile's type *kind*; never says yes where the schema says no."""
    return schema().fits(kind, value)
