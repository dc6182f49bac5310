"""The extension points of documents: what it asks of other families. Without an answer, there is nothing of the kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Connection, Table

from armarium.api import hookspec

if TYPE_CHECKING:
    from armarium.api import ActionContext, Library


@dataclass(frozen=True)
class Vocabulary:
    """A table of vocabulary that rows name by key: matched by key in the other project, or created there."""

    table: str
    key: str
    used_by: tuple[tuple[str, str], ...]
    """(table, column) of the rows that name a word."""
    parent: str | None = None
    """The column that names the word this one inherits from; it comes along."""


class Tie(NamedTuple):
    """References of one kind, which a move of documents cuts in the project they leave."""

    kind: str
    find: Callable[[Connection, Sequence[str]], list[tuple[str, str, str]]]
    """Returns (id, name, why) of each that a move of these documents cuts. Reads only."""
    cut: Table | Callable[[ActionContext, list[str], Sequence[str]], object]
    """The table whose rows with these ids go, or what cuts the ids and is told the documents too; inside the step that sends
    the documents to the Trash."""


class Limits(NamedTuple):
    """What holds for documents from others in the project they leave, and would not hold for their copies by itself."""

    find: Callable[[Connection, Sequence[str], Sequence[str]], Mapping[str, Mapping[str, Any]]]
    """Called with the source's connection, the items and all documents that are copied; returns what holds by the document to
    state it on. Reads only."""
    state: Callable[[ActionContext, str, Mapping[str, Any]], None]
    """States what was found on the copy, by its id, inside the step that makes it live; undo takes it back."""


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
    ties: tuple[Tie, ...] = ()
    """In this order they are listed, and cut."""
    limits: Limits | None = None
    expected: Callable[[Connection, Mapping[str, list[dict[str, Any]]]], list[dict[str, Any]]] | None = None
    """Called for a plan with the target's connection and the rows of the companions, as they are in the source; returns
    what `arrived` would propose. Reads only."""
    arrived: Callable[[ActionContext, Mapping[str, list[str]]], list[dict[str, Any]]] | None = None
    """Called inside the step that makes the copies live, with the new ids by table (companions only); proposes what
    they may be the same as, and answers these proposals (EntityMatchCandidate). Undo withdraws them."""


@dataclass(frozen=True, slots=True)
class Work:
    """One piece of work on one document."""

    document_id: str
    kind: str
    job_id: str | None
    thread_id: str | None
    model: str | None
    provider: str | None
    outcome: str
    reason: str | None
    at: str
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class ModelsAsked:
    """Which model was asked, where it was one, and what all calls cost, where all are priced."""

    provider: str | None
    model: str | None
    cost_usd: float | None


class Writing(NamedTuple):
    """The language and direction of a page."""

    direction: str = "ltr"
    """ltr, rtl, ttb or btt."""
    columns_rightwards: bool = False
    """Whether vertical lines follow each other from left to right, as in Mongolian; others go from right to left."""


@hookspec
def armarium_documents_carriers() -> Sequence[Carrier]:
    """State what transfers to another project must know of the family's tables beyond their foreign keys.

    Called once, when an engine is assembled. All answers count.
    """


@hookspec
def armarium_documents_work(conn: Connection, document_ids: Sequence[str]) -> Iterable[Work]:
    """Yield each piece of work on these documents that is not a job of its own, for their run history.

    Called in the thread of a read, with its connection, which shows what the caller may see. All answers count.
    """


@hookspec
def armarium_documents_models_asked(
    conn: Connection, document_ids: Sequence[str]
) -> Mapping[tuple[str, str], ModelsAsked]:
    """Return which models were asked about these documents, by the job or run that asked and the document.

    Called in the thread of a read, with its connection. Of two answers for one pair, that of the plugin loaded last wins.
    """


@hookspec
def armarium_documents_writing(
    library: Library, conn: Connection, document_id: str, boxes: Sequence[dict[str, Any]]
) -> Writing | None:
    """Return the direction in which a page is written: as stated for it, else derived from its boxes.

    Called within the step that joins the words of an artifact's boxes, with its connection; must not write. The first
    answer wins; without one a page is written from left to right.
    """


@hookspec
def armarium_documents_earlier_segments(conn: Connection, segment_id: str) -> Sequence[str]:
    """Return the segments that a segment has absorbed: annotations of them are annotations of it.

    Called in the thread of a read, with its connection. All answers count.
    """


@hookspec
def armarium_documents_entity_count(conn: Connection, document_id: str) -> int:
    """Return how many entities a document names.

    Called in the thread of a read, with its connection. The answers are added up.
    """


@hookspec
def armarium_documents_resting(
    conn: Connection, document_ids: Sequence[str]
) -> Mapping[str, tuple[Table, list[str]]]:
    """Return what goes with documents that are removed for good: rows that rest on nothing else, with their table, by the
    word they are counted under (statements, entities).

    Called for the plan, in the thread of a read, and within the step that empties the Trash. All answers count.
    """
