"""What other families add to searching, through their plugin's `extras`: scopes of the query language, and kinds of hits.

A family that keeps persons, say, puts `Scope("people", find)` into `extras["search_scopes"]` and
`Kind("entities", find, "entity")` into `extras["search_kinds"]`. Both are asked with the caller's connection, which shows
what the caller may see and nothing else.
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
    """A word before a colon that asks for documents by something else than their text (`people:`, `dates:`)."""

    name: str
    documents: Callable[[Connection, str], Iterable[str]]
    """The ids of the documents that the text after the colon finds; called with the text as it was written."""


@dataclass(frozen=True)
class Hit:
    """One thing that a query finds beside pages: an entity, a claim, an interpretation.

    answer: what is answered of it in `<kind>_hits` where the answer has such a list.
    document_ids: the documents it rests on, which become results where the text did not find them.
    """

    id: str
    document_ids: tuple[str, ...] = ()
    text: str = ""
    answer: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Fields that go into the metadata of a result that this hit alone brought (`framework_id`, say)."""


@dataclass(frozen=True)
class Kind:
    """A word of `include`: what is looked through beside the text of pages."""

    name: str
    """entities, claims or interpretations, or a word of the family's own."""
    find: Callable[[Connection, tuple[str, ...], int], Iterable[Hit]]
    """At most so many hits, the best first, for the folded words of a query (`fold_text`, `words_of`); all of them must fit."""
    matched_via: str
    """What a result that it brought says of that: entity, claim, interpretation."""


def scopes_of(engine: Engine) -> dict[str, list[Scope]]:
    """The scopes that families add, by name; several may find under the same name."""
    found: dict[str, list[Scope]] = {}
    for _, one in engine.plugins.contributions(SCOPES):
        found.setdefault(one.name, []).append(one)
    return found


def kinds_of(engine: Engine) -> dict[str, Kind]:
    """The kinds of hits that families add, by the word of `include`."""
    return {one.name: one for _, one in engine.plugins.contributions(KINDS)}
