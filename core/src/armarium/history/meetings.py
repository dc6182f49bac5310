"""Former merges between two copies of a project, either way, and what both sides agree on since: column by column.

A column that the source had changed when it was merged is decided: both sides agree on what the source had. Where the target
kept something else, it offers that the other way if it has changed or taken anything there since both agreed before; a column that
it left alone it does not offer, and so nothing that was left out is taken back from who made it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import Literal

from sqlalchemy import Table

from armarium.history.net_differences import (
    Key,
    Side,
    Values,
    had_at,
    is_equal,
    live_rows,
    made_since,
    touched_since,
)

Which = Literal["source", "target"]


@dataclass(frozen=True, slots=True)
class Meeting:
    """A merge: into which side, the step of either after it, and what was merged, as whoever merges names it."""

    into: Which
    steps: tuple[int, int]
    """The step of the source and that of the target, as the sides are called now."""
    parts: Collection[str]


class Parting:
    """Two sides since the steps at which the copies parted, and where they met since, the earliest first."""

    def __init__(self, source: Side, target: Side, meetings: Collection[Meeting] = ()) -> None:
        self.source, self.target, self.meetings = source, target, meetings
        self._made = cache(made_since)

    def never_came(self, table: Table, key: Key) -> bool:
        """Return whether the source made a row that the target did not have whenever both met."""
        steps = {step for m in self.meetings for step in (m.steps[1], m.steps[1] - (m.into == "target"))}
        return key in self._made(self.source, table) and not any(
            had_at(self.target.raw, table, key, step) for step in steps
        )


class Agreement:
    """What both sides agree on of the rows *keys* of a table."""

    def __init__(self, table: Table, keys: Collection[Key], parting: Parting) -> None:
        self._table, self._parting = table, parting
        self.theirs = live_rows(parting.source.raw, table, keys)
        self.ours = live_rows(parting.target.raw, table, keys)
        self._later = cache(lambda side, step: touched_since(side.raw, table, step))

    def find_base(self, key: Key, part: str) -> tuple[Values | None, int, int]:
        """Return what both sides last agreed on of a row of *part*, the step of the source with which it was merged last, and the
        one by which the source took it.
        """
        base = back = self._row_at("source", key, self._parting.source.since)
        sent_at, taken_at = self._parting.source.since, 0
        for meeting in self._parting.meetings:
            if part not in meeting.parts:
                continue
            at_source, at_target = meeting.steps
            if meeting.into == "target":
                sent_at = at_source
                sent = self._row_at("source", key, at_source)
                kept = [self._row_at("target", key, step) for step in (at_target - 1, at_target)]
                base, back = self._agree(base, back, sent, kept)
            else:
                taken_at = at_source
                sent = self._row_at("target", key, at_target)
                kept = [self._row_at("source", key, step) for step in (at_source - 1, at_source)]
                back, base = self._agree(back, base, sent, kept)
        return base, sent_at, taken_at

    def find_version(self, key: Key) -> Values | None:
        """Return a row as the source had it when both met, if it ever had."""
        versions = (self._row_at("source", key, meeting.steps[0]) for meeting in self._parting.meetings)
        return next((row for row in versions if row is not None), None)

    def _row_at(self, which: Which, key: Key, step: int) -> Values | None:
        """Return a row as it was after a step of one side."""
        side = self._parting.source if which == "source" else self._parting.target
        later = self._later(side, step).get(key)
        return (
            later.before if later is not None else (self.theirs if which == "source" else self.ours).get(key)
        )

    def _agree(
        self, base: Values | None, back: Values | None, sent: Values | None, kept: list[Values | None]
    ) -> tuple[Values | None, Values | None]:
        """Return what both agree on after a merge of *sent*: toward the side it was merged into, of which *base* was agreed on and
        which was *kept* before and after it, and the other way, of which *back* was.
        """
        if is_equal(self._table, sent, base) or all(is_equal(self._table, back, row) for row in kept):
            return sent, back
        before, after = kept
        if sent is None or base is None or back is None or before is None or after is None:
            return sent, sent
        return sent, tuple(
            new if new != old and not (one == other == own) else own
            for new, old, own, one, other in zip(sent, base, back, before, after, strict=True)
        )
