"""What other families add to searching, through their plugin's `extras`: scopes of the query language, and
kinds of hits.

A family of persons, for instance, puts `Scope("people", find)` into `extras["search_scopes"]` and
`Kind("entities", find, "entity")` into `extras["search_kinds"]`. Both are called with the caller's
connection, which shows only what the caller may see.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection

from armarium.api import Engine

SCOPES = "search_scopes"
KINDS = "search_kinds"


@dataclass(frozen=True)
class Scope:
    """A word before a colon that selects documents by something other than their text (`people:`, `dates:`)."""

    name: str
    documents: Callable[[Connection, str], Iterable[str]]
    """Return the ids of the documents found by the text after the colon, which is passed as it was written."""


@dataclass(frozen=True)
class Hit:
    """Something a query finds besides pages: an entity, a claim, an interpretation.

    answer: what `<kind>_hits` contains for it, if the answer has such a list. document_ids: the documents it
    rests on, which become results if the text did not find them.
    """

    id: str
    document_ids: tuple[str, ...] = ()
    text: str = ""
    answer: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Fields for the metadata of a result that only this hit produced (`framework_id`, for instance)."""


@dataclass(frozen=True)
class Kind:
    """A word of `include`: what is searched besides the text of pages."""

    name: str
    """entities, claims or interpretations, or a word of the family's own."""
    find: Callable[[Connection, tuple[str, ...], int], Iterable[Hit]]
    """Return at most that many hits, the best first, for the folded words of a query (`fold_text`,
    `words_of`); all words must match.
    """
    matched_via: str
    """How a result that it produced is labelled: entity, claim, interpretation."""


def scopes_of(engine: Engine) -> dict[str, list[Scope]]:
    """Return the scopes that families add, by name; several may search under the same name."""
    found: dict[str, list[Scope]] = {}
    for _, one in engine.plugins.contributions(SCOPES):
        found.setdefault(one.name, []).append(one)
    return found


def kinds_of(engine: Engine) -> dict[str, Kind]:
    """Return the kinds of hits that families add, by their word of `include`."""
    return {one.name: one for _, one in engine.plugins.contributions(KINDS)}
