"""The extension points of search: scopes of the query language, and kinds of hits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection

from armarium.api import hookspec


@dataclass(frozen=True)
class Scope:
    """A word before a colon that selects documents by something other than their text (`people:`, `dates:`)."""

    name: str
    documents: Callable[[Connection, str], Iterable[str]]
    """Return the ids of the documents found by the text after the colon, which is passed as it was written."""
    example: str = ""
    """What may stand after the colon, for a model that writes queries."""


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


@hookspec
def armarium_search_scopes() -> Sequence[Scope]:
    """State the scopes that the family adds to the query language, such as `Scope("people", find)`.

    Called once, when an engine is assembled; what it states is called in the thread of a search with the caller's
    connection, which shows only what the caller may see. Several may search under the same name.
    """


@hookspec
def armarium_search_kinds() -> Sequence[Kind]:
    """State the kinds of hits that the family adds, such as `Kind("entities", find, "entity")`.

    Called once, when an engine is assembled; what it states is called in the thread of a search with the caller's
    connection. Of two kinds of one name, that of the plugin loaded last wins.
    """
