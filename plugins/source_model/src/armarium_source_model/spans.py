"""Hooks for other families' rows that belong to segments: moving spans with a correction, following merges
and splits. Pure but for what the families themselves write.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from armarium.api import ActionContext

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


class SpanMover(Protocol):
    """Moves another family's spans to a new reading: put one into the plugin's `extras["span_movers"]`."""

    def move(self, ctx: ActionContext, corrected: ReadingChange) -> list[Why]:
        """Move what `span_in_new_text` finds, within the running step; return the others with the reason."""
        ...


class ReadingCopier(Protocol):
    """Copies what another family keeps of a reading: put one into the plugin's `extras["reading_copiers"]`."""

    def copy_along(self, ctx: ActionContext, copied: ReadingChange) -> None:
        """A reading was carried across a match, word for word, and its copy is written; copy what is said of it within the
        running step.
        """
        ...


class SegmentFollower(Protocol):
    """Moves another family's rows with segments: put one into the plugin's `extras["segment_followers"]`.

    Called inside the step that merges or splits, after the texts were joined or distributed; undoing the step
    also undoes what was written here.
    """

    def follow_merge(self, ctx: ActionContext, absorbed_ids: Sequence[str], keep_id: str) -> None:
        """*absorbed_ids*, in reading order, were merged into *keep_id*."""
        ...

    def split(self, ctx: ActionContext, segment_id: str, part_ids: Sequence[str]) -> None:
        """*segment_id* was split into *part_ids*, of which the first is itself."""
        ...


def span_in_new_text(start: int, end: int, old: str, new: str) -> tuple[int, int] | str:
    """Return where the characters *start* to *end* of *old* are in *new*, or why that is unknown."""
    words = old[start:end]
    if not words or end > len(old):
        return "Its characters are outside the earlier reading."
    at = new.find(words)
    if at < 0:
        return "Its characters do not occur in the new reading."
    if new.find(words, at + 1) >= 0:
        return "Its characters occur more than once in the new reading."
    return at, at + len(words)
