"""What other families say of their rows that hang on segments: how spans move along with a correction, and what becomes
of rows when segments are merged or split. Pure but for what the families themselves write.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from armarium.api import ActionContext

Why = tuple[str, str]
"""The id of what could not be placed, and why."""


class ReadingChange(NamedTuple):
    """One reading that counts now in the place of another."""

    document_id: str
    segment_id: str
    old_id: str
    new_id: str
    old_text: str
    new_text: str


class SpanMover(Protocol):
    """How another family's spans move along: put one into the plugin's `extras["span_movers"]`."""

    def move(self, ctx: ActionContext, corrected: ReadingChange) -> list[Why]:
        """Move inside the running step what `span_in_new_text` finds; what it does not find stays, and is answered with why."""
        ...


class SegmentFollower(Protocol):
    """How another family's rows go with segments: put one into the plugin's `extras["segment_followers"]`.

    Called inside the step that merges or splits, after the texts were joined or dealt out; an undo takes back what was
    written with the rest of the step.
    """

    def follow_merge(self, ctx: ActionContext, absorbed_ids: Sequence[str], keep_id: str) -> None:
        """*absorbed_ids*, in reading order, are no more and lead to *keep_id* from now on."""
        ...

    def split(self, ctx: ActionContext, segment_id: str, part_ids: Sequence[str]) -> None:
        """*segment_id* was cut into *part_ids*, of which the first is itself."""
        ...


def span_in_new_text(start: int, end: int, old: str, new: str) -> tuple[int, int] | str:
    """Where the characters *start* to *end* of *old* stand in *new*, or why that cannot be said."""
    words = old[start:end]
    if not words or end > len(old):
        return "Its characters lie outside the earlier reading."
    at = new.find(words)
    if at < 0:
        return "Its characters do not occur in the new reading."
    if new.find(words, at + 1) >= 0:
        return "Its characters occur more than once in the new reading."
    return at, at + len(words)
