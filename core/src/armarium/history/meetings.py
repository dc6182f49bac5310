"""Former merges between two copies of a project, either way, and what both sides agree on since: column by column.

A column that the source had changed when it was merged is decided: both sides agree on what the source had. Where the target
kept something else, it offers that the other way if it has changed or taken anything there since both agreed before; a column that
it left alone it does not offer, and so nothing that was left out is taken back from who made it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from sqlalchemy import Table

from armarium.history.net_differences import (
    Key,
    Side,
    TouchedRow,
    Values,
    had_at,
    is_equal,
    live_rows,
    steps_touched,
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
        self.steps_touched = cache(steps_touched)

    def never_came(self, table: Table, key: Key) -> bool:
        """Return whether the source made a row that the target did not have whenever both met."""
        steps = {step for m in self.meetings for step in (m.steps[1], m.steps[1] - (m.into == "target"))}
        return self.steps_touched(self.source, table).get(key) is not None and not any(
            had_at(self.target.raw, table, key, step) for step in steps
        )


class Agreement:
    """What both sides agree on of those rows of a table that the source *touched* since the copies parted."""

    def __init__(self, table: Table, touched: Mapping[Key, TouchedRow], parting: Parting) -> None:
        self._table, self._touched, self._parting = table, touched, parting
        self.theirs = live_rows(parting.source.raw, table, touched)
        self.ours = live_rows(parting.target.raw, table, touched)
        self._later = cache(lambda side, step: touched_since(side.raw, table, step))

    def find_base(self, key: Key, part: str) -> tuple[Values | None, int, int]:
        """Return what both sides last agreed on of a row of *part*, the step of the source with which it was merged last, and the
        one by which the source took it.
        """
        base = back = self._touched[key].before
        sent_at, taken_at = self._parting.source.since, 0
        for meeting in self._parting.meetings:
            if part not in meeting.parts:
                continue
            at_source, at_target = meeting.steps
            if meeting.into == "target":
                sent_at = at_source
                sent = self._row_at("source", key, at_source)
                base, back = self._agree(key, base, back, sent, "target", at_target)
            else:
                taken_at = at_source
                sent = self._row_at("target", key, at_target)
                back, base = self._agree(key, back, base, sent, "source", at_source)
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
        self, key: Key, base: Values | None, back: Values | None, sent: Values | None, into: Which, step: int
    ) -> tuple[Values | None, Values | None]:
        """Return what both agree on of a row after a merge of *sent* in *step* of the side *into*: toward that side, of which *base*
        was agreed on, and the other way, of which *back* was.
        """
        if is_equal(self._table, sent, base):
            return sent, back
        before, after = (self._row_at(into, key, at) for at in (step - 1, step))
        if is_equal(self._table, back, before) and is_equal(self._table, back, after):
            return sent, back
        if sent is None or base is None or back is None or before is None or after is None:
            return sent, sent
        return sent, tuple(
            new if new != old and not (one == other == own) else own
            for new, old, own, one, other in zip(sent, base, back, before, after, strict=True)
        )
