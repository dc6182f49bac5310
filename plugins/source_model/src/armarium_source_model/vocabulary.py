"""The link vocabulary: every type with its labels from both ends, aliases, and known authorities of URIs;
pure.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class LinkType(NamedTuple):
    """One type; `label` reads from the first end, `inverse_label` from the second."""

    key: str
    label: str
    inverse_label: str

    @property
    def is_directed(self) -> bool:
        """Return whether the two ends have different roles."""
        return self.label != self.inverse_label


_DIRECTED = {
    "supports": "supported by", "contradicts": "contradicted by", "refines": "refined by",
    "duplicate_of": "has duplicate", "corroborates": "corroborated by", "derives_from": "source of",
    "cites": "cited by", "follows": "followed by", "caused_by": "cause of", "glosses": "glossed by",
    "comments_on": "commented on by", "answers": "answered by", "quotes": "quoted by",
    "expands": "expanded by", "reorders": "reordered by", "marks": "marked by", "captions": "captioned by",
    "labels": "labelled by", "continues": "continued by", "translates": "translated by", "names": "named by",
    "interprets": "interpreted by", "controls": "controlled by", "next_logical": "previous",
}  # fmt: skip
_SAME_BOTH_WAYS = ("same_as", "related_to", "free")

LINK_TYPES: dict[str, LinkType] = {
    key: LinkType(key, key.replace("_", " "), inverse) for key, inverse in _DIRECTED.items()
} | {key: LinkType(key, key.replace("_", " "), key.replace("_", " ")) for key in _SAME_BOTH_WAYS}

ALIASES = {"references": "cites", "derived_from": "derives_from"}
"""Display names that are the same link as another key."""


def link_type(name: str) -> LinkType | None:
    """Return the type that a key or an alias names, or None."""
    return LINK_TYPES.get(ALIASES.get(name, name))


_AUTHORITIES = (
    ("geonames", re.compile(r"https?://(?:www\.|sws\.)?geonames\.org/(\d+)")),
    ("wikidata", re.compile(r"https?://(?:www\.)?wikidata\.org/(?:wiki|entity)/(Q\d+)")),
    ("viaf", re.compile(r"https?://(?:www\.)?viaf\.org/viaf/(\d+)")),
    ("gnd", re.compile(r"https?://d-nb\.info/gnd/([0-9X-]+)")),
    ("getty-tgn", re.compile(r"https?://vocab\.getty\.edu/(?:page/)?tgn/(\d+)")),
    ("pleiades", re.compile(r"https?://pleiades\.stoa\.org/places/(\d+)")),
)


def authority_of(uri: str) -> tuple[str, str] | None:
    """Return (authority, its id) of *uri* if it is a known one, else None."""
    for authority, pattern in _AUTHORITIES:
        match = pattern.match(uri)
        if match:
            return authority, match.group(1)
    return None
