"""The extension points of the source model: what it, and the families that stand on it, ask of other families."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypedDict, runtime_checkable

from sqlalchemy import Connection

from armarium.api import hookspec

if TYPE_CHECKING:
    from armarium.api import ActionContext, Library

Why = tuple[str, str]
"""The id of what could not be placed, and why."""


class ReadingChange(NamedTuple):
    """A reading that counts instead of another."""

    document_id: str
    segment_id: str
    old_id: str
    new_id: str
    old_text: str
    new_text: str


class DeclaredSign(TypedDict):
    """A sign that a family declares, with the segments that show it; the first is its picture."""

    id: str
    name: str
    segment_ids: list[str]


class StaleRow(NamedTuple):
    """A row whose source text has changed, and what to do about it.

    confirm: its source still exists, so that somebody may confirm it. review: its source is gone. redo: it
    was made from the text as a whole, and must be made again.
    """

    kind: str
    id: str
    document_id: str
    segment_id: str | None
    text: str | None
    """The words that it rests on, or what it says; None where it is too long to be told."""
    todo: Literal["confirm", "review", "redo"]
    why: str


@runtime_checkable
class RestsOnText(Protocol):
    """A family's rows that depend on text."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The words that its rows are called by."""
        ...

    def stale(self, conn: Connection, library: Library, document_ids: Sequence[str]) -> list[StaleRow]:
        """Return the rows of these pages whose text has changed."""
        ...

    def confirm(self, ctx: ActionContext, kind: str, identity: str) -> bool:
        """Set a row's fingerprint to the current text, within the running step; False for no such row, or one
        that cannot be confirmed, as none can unless the family says otherwise. Raises Conflict if its source is gone.
        """
        return False


@runtime_checkable
class LinkEnd(Protocol):
    """A family's things as ends of links."""

    kind: str
    """claim, canvas_item or entity."""

    def check(self, conn: Connection, identity: str) -> None:
        """Raise NotFound for an unknown id; Conflict naming the live one if it was merged into another."""
        ...


@runtime_checkable
class Locator(Protocol):
    """Locates a family's things."""

    field: str
    """annotationId or claimId."""

    def locate(self, conn: Connection, identity: str) -> dict[str, Any] | None:
        """Return `{documentId, segmentId?, anchor?, charStart?, charEnd?}` of a thing, or None."""
        ...


@runtime_checkable
class SegmentCarrier(Protocol):
    """Copies a family's rows across a match."""

    kind: str
    """claim_evidence, or another word."""

    def carry(
        self, ctx: ActionContext, from_segment_id: str, to_segment_id: str
    ) -> tuple[list[tuple[str, str]], list[tuple[str | None, str]]]:
        """Copy within the running step; returns (original id, copy id) of each copy, (original id, why) of
        the rest.
        """
        ...


@hookspec
def armarium_source_model_confirmed(conn: Connection, reading_ids: Sequence[str]) -> Collection[str]:
    """Return which of these readings a person confirmed.

    Called wherever it is said who stands behind a line, in the thread of the read, export or job. All answers count.
    """


@hookspec
def armarium_source_model_move_spans(ctx: ActionContext, corrected: ReadingChange) -> list[Why]:
    """Move the family's spans to a new reading where `span_in_new_text` finds them; return the others with the reason.

    Called within the step of the correction. An exception refuses the step. All answers count.
    """


@hookspec
def armarium_source_model_copy_reading(ctx: ActionContext, copied: ReadingChange) -> None:
    """Copy what the family keeps of a reading that was carried across a match, word for word.

    Called within that step, after the copy is written. An exception refuses the step.
    """


@hookspec
def armarium_source_model_merged(ctx: ActionContext, absorbed_ids: Sequence[str], keep_id: str) -> None:
    """Move the family's rows: *absorbed_ids*, in reading order, were merged into *keep_id*.

    Called within that step, after the texts were joined; its undo also undoes what is written here.
    """


@hookspec
def armarium_source_model_split(ctx: ActionContext, segment_id: str, part_ids: Sequence[str]) -> None:
    """Move the family's rows: *segment_id* was split into *part_ids*, of which the first is itself.

    Called within that step, after the texts were distributed; its undo also undoes what is written here.
    """


@hookspec
def armarium_source_model_carriers() -> Sequence[SegmentCarrier]:
    """State what of the family is copied across a match of two segments.

    Called once, when an engine is assembled. Of two carriers of one kind, that of the plugin loaded last wins.
    """


@hookspec
def armarium_source_model_link_ends() -> Sequence[LinkEnd]:
    """State which of the family's things can be linked.

    Called once, when an engine is assembled. Of two ends of one kind, that of the plugin loaded first wins.
    """


@hookspec
def armarium_source_model_same_ends(conn: Connection, end_id: str) -> tuple[str, list[str]] | None:
    """Return the live thing that one was merged into, itself if it was not, and all that were merged into that; None for
    an id that is not the family's.

    Called in the thread of a read, with its connection. The first answer wins.
    """


@hookspec
def armarium_source_model_entities_by_uri(conn: Connection, uri: str | None) -> Sequence[str]:
    """Return the live entities that an authority file identifies by *uri*; None: by any.

    Called in the thread of a read, with its connection. All answers count.
    """


@hookspec
def armarium_source_model_locators() -> Sequence[Locator]:
    """State how the family's things are found on a page.

    Called once, when an engine is assembled. The first locator of a field that finds the thing wins.
    """


@hookspec
def armarium_source_model_rests_on_text() -> Sequence[RestsOnText]:
    """State which of the family's rows depend on text, so that a correction can show what it put in doubt.

    Called once, when an engine is assembled. All answers count.
    """


@hookspec
def armarium_source_model_declared_signs(conn: Connection) -> Sequence[DeclaredSign]:
    """Return the signs that the family declares; jobs that find or identify signs recognise them by these.

    Called in the thread of a job, with a connection that shows everything: the job leaves out what its person may not see.
    """
