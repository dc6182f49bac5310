"""The RELAX NG schema of the PAGE XML that we write; every export is validated against it."""

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
    """Return the schema of PAGE 2019-07-15, built on first use."""
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
    """Return what makes a document invalid PAGE 2019-07-15, in words, at most *most* faults."""
    return schema().problems_of(root, most=most)


def is_valid(fragment: str) -> bool:
    """Return whether a fragment is valid PAGE 2019-07-15 as an element of its name."""
    return schema().is_valid(fragment)


def fits(kind: str, value: str) -> bool:
    """Return whether *value* is of the profile's type *kind*; never true if the schema says no."""
    return schema().fits(kind, value)
