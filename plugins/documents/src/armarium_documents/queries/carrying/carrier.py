"""What a family declares about its tables beyond their foreign keys, for transfers to handle them
correctly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection

from armarium.api import ActionContext


@dataclass(frozen=True)
class Vocabulary:
    """A table of vocabulary that rows name by key: matched by key in the other project, or created there."""

    table: str
    key: str
    used_by: tuple[tuple[str, str], ...]
    """(table, column) of the rows that name a word."""
    parent: str | None = None
    """The column that names the word this one inherits from; it comes along."""


@dataclass(frozen=True)
class Carrier:
    """One family's declarations for transfers (`armarium_documents_carriers`). Every field is optional.

    Rows that name their document (`tracked(document=…)`), or that cannot exist without a row that does, are
    carried without any of this.
    """

    kinds: Mapping[str, str] = field(default_factory=dict)
    """Table to the word its rows are counted under; page_records for a table that no carrier names."""
    vocabulary: tuple[Vocabulary, ...] = ()
    companions: tuple[str, ...] = ()
    """Tables without a document whose rows come along with the rows that cannot be without them (an entity with its
    mentions)."""
    named: tuple[str, ...] = ()
    """Those of the companions that come along with every row that names them, also with one that could be without."""
    parts: tuple[str, ...] = ()
    """Tables whose rows are parts of companions (the evidence of a statement): those of a carried companion that stay,
    with a page that stays, are reported as cut."""
    cuts: Callable[[Connection, Sequence[str]], list[dict[str, Any]]] | None = None
    """What a move of these documents cuts in the project they leave: `{kind, id, name, why}` each. Reads only."""
    cut: Callable[[ActionContext, Sequence[str]], None] | None = None
    """Cuts it, inside the step that sends the documents to the Trash."""
    expected: Callable[[Connection, Mapping[str, list[dict[str, Any]]]], list[dict[str, Any]]] | None = None
    """Called for a plan with the target's connection and the rows of the companions, as they are in the source; returns
    what `arrived` would propose. Reads only."""
    arrived: Callable[[ActionContext, Mapping[str, list[str]]], list[dict[str, Any]]] | None = None
    """Called inside the step that makes the copies live, with the new ids by table (companions only); proposes what
    they may be the same as, and answers these proposals (EntityMatchCandidate). Undo withdraws them."""
