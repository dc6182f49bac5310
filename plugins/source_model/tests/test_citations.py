"""Where a citation leads, against a model of its own: sets of cited ids that are cut, absorbed, withdrawn and brought back.

The model replays what was done forwards and knows nothing of notes; `follow` reads the notes backwards.
"""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
from source_model_desk import Desk, anchor

from armarium.api import Conflict, Invalid, NotFound
from armarium_source_model.actions import forward, joins, segments
from armarium_source_model.queries.forwarding import follow
from armarium_source_model.queries.locations import resolve_location
from armarium_source_model.schemas.joins import LocationRequest


@dataclass(eq=False)
class Event:
    """One thing that happened to segments; an undo takes it out of effect, a redo brings it back into effect."""

    what: str
    one: str
    others: tuple[str, ...] = ()
    in_effect: bool = True


@dataclass
class Ledger:
    """All that happened on a pass, in order, and which cited ids each segment holds in the end."""

    events: list[Event] = field(default_factory=list)

    def add(self, what: str, one: str, *others: str) -> Event:
        event = Event(what, one, others)
        self.events.append(event)
        return event

    def holders(self) -> dict[str, set[str]]:
        """Live segment -> the cited ids of which it holds something."""
        held: dict[str, set[str]] = {}
        live: set[str] = set()
        for event in self._standing():
            if event.what == "draw":
                held[event.one] = {event.one}
                live.add(event.one)
            elif event.what == "cut":
                for part in event.others:
                    held[part] = held[event.one] | {part}
                    live.add(part)
            elif event.what == "absorb":
                (keeper,) = event.others
                held[keeper] |= held[event.one]
                live.discard(event.one)
            elif event.what == "withdraw":
                live.discard(event.one)
            else:
                live.add(event.one)
        return {one: held[one] for one in live}

    def _standing(self) -> list[Event]:
        """The events in effect, without the absorptions and withdrawals that a bringing back has made void."""
        void: set[int] = set()
        gone: dict[str, int] = {}
        standing = [event for event in self.events if event.in_effect]
        for at, event in enumerate(standing):
            if event.what in ("absorb", "withdraw"):
                gone[event.one] = at
            elif event.what == "bring back":
                void.add(gone.pop(event.one))
        return [event for at, event in enumerate(standing) if at not in void]


class Story:
    """A pass on which things happen, each in the engine and in the ledger."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.page = desk.page()
        self.pass_id = desk.new_pass(self.page)
        self.cited = desk.lines(self.page, self.pass_id, 4)
        self.ledger = Ledger()
        for one in self.cited:
            self.ledger.add("draw", one)
        self.steps: dict[str, list[Event]] = {}
        """Steps that may be undone, with what each did."""
        self.undone: dict[str, list[tuple[Event, list[Event]]]] = {}
        """Undos that may be undone: what their steps did, each with what its undo did."""

    def _did(self, *events: Event) -> None:
        self.steps[self.desk.audit_id] = list(events)

    def _state(self, one: str) -> tuple[int, bool]:
        with self.desk.library.db.read() as conn:
            row = conn.exec_driver_sql(
                "SELECT version, deleted_at IS NOT NULL FROM segment WHERE id = ?", (one,)
            ).one_or_none()
        return (1, False) if row is None else (row[0], bool(row[1]))

    def draw(self, n: int = 0) -> str:
        made = self.desk.run(
            "segment.create", document_id=self.page, pass_id=self.pass_id, kind="line", anchor=anchor(n)
        )["id"]
        self.cited.append(made)
        self._did(self.ledger.add("draw", made))
        return str(made)

    def merge(self, keep: str, other: str) -> None:
        self.desk.run("segment.merge", segment_ids=[keep, other], keep_id=keep)
        self._did(self.ledger.add("absorb", other, keep))

    def split(self, one: str, n: int = 0, *, whole_stays: bool = False) -> str:
        y = anchor(n)["rect"][1]
        parts = [{"anchor": {"rect": [x, y, 0.3, 0.04]}} for x in (0.1, 0.5)]
        if whole_stays:
            parts[0]["anchor"] = anchor(n)
        made = self.desk.run(
            "segment.split", segment_id=one, expected_version=self._state(one)[0], parts=parts
        )
        (part,) = made["segment_ids"][1:]
        self.cited.append(part)
        self._did(self.ledger.add("cut", one, part))
        return str(part)

    def delete(self, one: str) -> None:
        self.desk.run("segment.delete", segment_ids=[one], expected_versions=[self._state(one)[0]])
        self._did(self.ledger.add("withdraw", one))

    def undelete(self, one: str) -> None:
        self.desk.run("segment.undelete", segment_ids=[one])
        self._did(self.ledger.add("bring back", one))

    def write_back(self, one: str, version: int = 1) -> None:
        newest, withdrawn = self._state(one)
        self.desk.run(
            "segment.restore_version",
            segment_id=one,
            expected_version=newest,
            version=1 + (version - 1) % newest,
        )
        self._did(*([self.ledger.add("bring back", one)] if withdrawn else []))

    def undo(self, step: str | None = None) -> str:
        step = step or next(reversed(self.steps))
        taken_back = self.desk.undo(step)
        self.undone[taken_back] = [(event, self._take_back(event)) for event in self.steps.pop(step)]
        return taken_back

    def _take_back(self, event: Event) -> list[Event]:
        """What the undo of *event* is in the ledger: what was made has been and is gone, the rest never happened."""
        if event.what == "draw":
            return [self.ledger.add("withdraw", event.one)]
        if event.what == "cut":
            # A part that is no row any more leads to the whole it was taken from.
            return [self.ledger.add("absorb", part, event.one) for part in event.others]
        event.in_effect = False
        return []

    def redo(self, undo: str | None = None) -> None:
        undo = undo or next(reversed(self.undone))
        step = self.desk.undo(undo)
        undone = self.undone.pop(undo)
        for event, taken_back in undone:
            if event.what not in ("draw", "cut"):
                # What was cut off comes back as it was; what is absorbed again is so with all it holds by now.
                self.ledger.events.remove(event)
                self.ledger.events.append(event)
            event.in_effect = True
            for one in taken_back:
                one.in_effect = False
        self.steps[step] = [event for event, _ in undone]

    def leads_to(self, cited: str) -> set[str]:
        """The live segments that *cited* leads to, as the engine answers."""
        with self.desk.library.db.read() as conn:
            return set(follow(conn, cited)[1])

    def check(self) -> None:
        holders = self.ledger.holders()
        for cited in self.cited:
            expected = {one for one, ids in holders.items() if cited in ids}
            assert self.leads_to(cited) == expected, cited
            if any(event.in_effect and cited in (event.one, *event.others) for event in self.ledger.events):
                self._check_location(cited, expected)

    def _check_location(self, cited: str, expected: set[str]) -> None:
        with self.desk.library.db.read() as conn:
            place = resolve_location(
                conn, self.desk.engine, self.desk.library, LocationRequest(segmentId=cited)
            )
        assert set(place["liveSegmentIds"]) == expected
        assert place["segmentDeleted"] is (not expected)
        if cited in expected:
            assert place["resolvedSegmentId"] == cited


@pytest.fixture
def story(desk: Desk) -> Story:
    return Story(desk)


def test_what_was_absorbed_after_a_cut_was_never_in_the_part_cut_off(story: Story) -> None:
    """A merged into B, which had been split before: when B goes, nothing is left of A, least of all B's second half."""
    a, b, *_ = story.cited
    part = story.split(b)
    story.merge(b, a)
    story.delete(b)
    assert story.leads_to(a) == set()
    assert story.leads_to(b) == {part}
    story.check()


def test_the_trail_of_a_citation_leaves_out_what_happened_to_others_before(story: Story) -> None:
    a, b, *_ = story.cited
    story.split(b)
    story.merge(b, a)
    with story.desk.library.db.read() as conn:
        assert [note["kind"] for note in follow(conn, a)[0]] == ["merged"]
        assert [note["kind"] for note in follow(conn, b)[0]] == ["split"]


def test_what_was_absorbed_before_a_cut_is_in_both_parts(story: Story) -> None:
    a, b, *_ = story.cited
    story.merge(b, a)
    part = story.split(b)
    assert story.leads_to(a) == {b, part}
    story.check()


def test_a_bringing_back_that_is_undone_leaves_the_merge_as_old_as_it_was(story: Story) -> None:
    """The undo states the merge anew, yet the keeper was cut after the merge itself: the part belongs to A still."""
    a, b, *_ = story.cited
    story.merge(b, a)
    part = story.split(b)
    for _ in range(2):
        story.undelete(a)
        assert story.leads_to(a) == {a}
        back = story.undo()
        assert story.leads_to(a) == {b, part}
        story.redo(back)
        assert story.leads_to(a) == {a}
        story.undo()
        assert story.leads_to(a) == {b, part}
        story.check()


def test_a_merge_done_again_after_a_cut_is_a_new_merge(story: Story) -> None:
    a, b, *_ = story.cited
    story.merge(b, a)
    story.undelete(a)
    story.split(b)
    story.merge(b, a)
    assert story.leads_to(a) == {b}
    story.check()


def test_a_cut_that_is_undone_and_done_again_is_as_old_as_it_was(story: Story) -> None:
    """Nothing of the cut segment's row changes here, so that the merge does not hinder the undo."""
    whole = story.draw()
    small = story.draw()
    part = story.split(whole, whole_stays=True)
    cut = story.desk.audit_id
    story.desk.run(
        "segment.update", segment_id=small, expected_version=1, anchor={"rect": [0.2, 0.11, 0.1, 0.01]}
    )
    story.merge(whole, small)
    story.redo(story.undo(cut))
    assert story.leads_to(small) == {whole}
    assert story.leads_to(whole) == {whole, part}
    story.check()


def test_a_merge_that_tells_nobody_is_noticed(story: Story, monkeypatch: Any) -> None:
    monkeypatch.setattr(joins, "add_notes", lambda *args, **more: None)
    story.merge(*story.cited[:2])
    with pytest.raises(AssertionError):
        story.check()


def test_a_version_that_comes_back_and_tells_nobody_is_noticed(story: Story, monkeypatch: Any) -> None:
    keep, other, *_ = story.cited
    story.merge(keep, other)
    story.check()
    monkeypatch.setattr(segments, "add_notes", lambda *args, **more: None)
    story.write_back(other)
    with pytest.raises(AssertionError):
        story.check()


def test_a_note_that_outlives_an_undo_is_noticed(story: Story, monkeypatch: Any) -> None:
    monkeypatch.setattr(forward, "add_notes", lambda *args, **more: None)
    story.merge(*story.cited[:2])
    story.check()
    story.undo()
    with pytest.raises(AssertionError):
        story.check()


OPERATIONS = (
    "draw", "merge", "merge", "split", "split", "delete", "undelete", "write_back", "undo", "undo", "redo",
)  # fmt: skip


def happen(story: Story, chance: random.Random) -> None:
    """One thing by chance; what does not fit is refused in words and changes nothing."""
    what = chance.choice(OPERATIONS)
    one, other = chance.choice(story.cited), chance.choice(story.cited)
    arguments: dict[str, tuple[Any, ...]] = {
        "draw": (chance.randrange(10),),
        "merge": (one, other),
        "split": (one, chance.randrange(10)),
        "write_back": (one, chance.randrange(1, 9)),
        "undo": (chance.choice(list(story.steps)[-4:] or [""]),),
        "redo": (chance.choice(list(story.undone)[-4:] or [""]),),
    }
    if arguments.get(what) == ("",):
        return
    with suppress(Conflict, Invalid, NotFound):
        getattr(story, what)(*arguments.get(what, (one,)))


@pytest.mark.parametrize("seed", range(40))
def test_citations_lead_where_the_ink_went_whatever_is_done_and_undone(desk: Desk, seed: int) -> None:
    chance = random.Random(seed)
    story = Story(desk)
    for _ in range(30):
        happen(story, chance)
        story.check()
    assert len(story.ledger.events) > 8
