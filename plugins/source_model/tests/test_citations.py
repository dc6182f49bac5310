"""Where a citation leads, compared with a model: cited segments are split, merged, withdrawn and restored at random.

The model replays the events forwards and does not use the notes; `follow` reads the notes backwards.
"""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
from source_model_fixtures import Desk, anchor

from armarium.api import Conflict, Invalid, NotFound
from armarium_source_model import notes
from armarium_source_model.actions import joins, segments
from armarium_source_model.queries.forwarding import follow
from armarium_source_model.queries.locations import resolve_location
from armarium_source_model.schemas.joins import LocationRequest


@dataclass(eq=False)
class Event:
    """Something that happened to segments; an undo takes it out of effect, a redo puts it back."""

    what: str
    one: str
    others: tuple[str, ...] = ()
    in_effect: bool = True


@dataclass
class Ledger:
    """The events of a pass in order; it derives which cited ids each segment contains now."""

    events: list[Event] = field(default_factory=list)

    def add(self, what: str, one: str, *others: str) -> Event:
        event = Event(what, one, others)
        self.events.append(event)
        return event

    def holders(self) -> dict[str, set[str]]:
        """Return each live segment with the cited ids of which it contains something."""
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
        return {item: held[item] for item in live}

    def _standing(self) -> list[Event]:
        """Return the events in effect, except merges and deletions that were later revoked by bringing the segment
        back.
        """
        void: set[int] = set()
        gone: dict[str, int] = {}
        standing = [event for event in self.events if event.in_effect]
        for at, event in enumerate(standing):
            if event.what in ("absorb", "withdraw"):
                gone[event.one] = at
            elif event.what == "bring back":
                void.add(gone.pop(event.one))
        return [event for at, event in enumerate(standing) if at not in void]


class CitedPass:
    """A pass whose segments are changed in the engine and in the ledger alike."""

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
        result = self.desk.run(
            "segment.create", document_id=self.page, pass_id=self.pass_id, kind="line", anchor=anchor(n)
        )["id"]
        self.cited.append(result)
        self._did(self.ledger.add("draw", result))
        return str(result)

    def merge(self, keep: str, other: str) -> None:
        self.desk.run("segment.merge", segment_ids=[keep, other], keep_id=keep)
        self._did(self.ledger.add("absorb", other, keep))

    def split(self, one: str, n: int = 0, *, whole_stays: bool = False) -> str:
        y = anchor(n)["rect"][1]
        parts = [{"anchor": {"rect": [x, y, 0.3, 0.04]}} for x in (0.1, 0.5)]
        if whole_stays:
            parts[0]["anchor"] = anchor(n)
        result = self.desk.run(
            "segment.split", segment_id=one, expected_version=self._state(one)[0], parts=parts
        )
        (part,) = result["segment_ids"][1:]
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
        """Record the undo of *event*: what was created has existed and is gone; anything else did not happen."""
        if event.what == "draw":
            return [self.ledger.add("withdraw", event.one)]
        if event.what == "cut":
            # A part without a row leads to the segment it was cut from.
            return [self.ledger.add("absorb", part, event.one) for part in event.others]
        event.in_effect = False
        return []

    def redo(self, undo: str | None = None) -> None:
        undo = undo or next(reversed(self.undone))
        step = self.desk.undo(undo)
        undone = self.undone.pop(undo)
        for event, taken_back in undone:
            if event.what not in ("draw", "cut"):
                # A part returns as it was; a segment merged again brings everything it contains by now.
                self.ledger.events.remove(event)
                self.ledger.events.append(event)
            event.in_effect = True
            for one in taken_back:
                one.in_effect = False
        self.steps[step] = [event for event, _ in undone]

    def leads_to(self, cited: str) -> set[str]:
        """Return the live segments to which *cited* leads according to the engine."""
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
def cited_pass(desk: Desk) -> CitedPass:
    return CitedPass(desk)


def test_a_citation_that_ends_without_its_step_is_refused(cited_pass: CitedPass) -> None:
    desk = cited_pass.desk
    with desk.library.db.read() as conn, pytest.raises(Invalid) as refused:
        resolve_location(
            conn, desk.engine, desk.library, LocationRequest(segmentId=f"{cited_pass.cited[0]}@")
        )
    assert refused.value.code == "bad_citation"


def test_what_was_absorbed_after_a_cut_was_never_in_the_part_cut_off(cited_pass: CitedPass) -> None:
    """B was split before A was merged into it: when B is deleted nothing of A is left, not even in B's second half."""
    a, b, *_ = cited_pass.cited
    part = cited_pass.split(b)
    cited_pass.merge(b, a)
    cited_pass.delete(b)
    assert cited_pass.leads_to(a) == set()
    assert cited_pass.leads_to(b) == {part}
    cited_pass.check()


def test_the_trail_of_a_citation_leaves_out_what_happened_to_others_before(cited_pass: CitedPass) -> None:
    a, b, *_ = cited_pass.cited
    cited_pass.split(b)
    cited_pass.merge(b, a)
    with cited_pass.desk.library.db.read() as conn:
        assert [note["kind"] for note in follow(conn, a)[0]] == ["merged"]
        assert [note["kind"] for note in follow(conn, b)[0]] == ["split"]


def test_what_was_absorbed_before_a_cut_is_in_both_parts(cited_pass: CitedPass) -> None:
    a, b, *_ = cited_pass.cited
    cited_pass.merge(b, a)
    part = cited_pass.split(b)
    assert cited_pass.leads_to(a) == {b, part}
    cited_pass.check()


def test_a_bringing_back_that_is_undone_leaves_the_merge_as_old_as_it_was(cited_pass: CitedPass) -> None:
    """The undo writes the note of the merge anew, but the keeper was split after the original merge: its part contains
    A too.
    """
    a, b, *_ = cited_pass.cited
    cited_pass.merge(b, a)
    part = cited_pass.split(b)
    for _ in range(2):
        cited_pass.undelete(a)
        assert cited_pass.leads_to(a) == {a}
        back = cited_pass.undo()
        assert cited_pass.leads_to(a) == {b, part}
        cited_pass.redo(back)
        assert cited_pass.leads_to(a) == {a}
        cited_pass.undo()
        assert cited_pass.leads_to(a) == {b, part}
        cited_pass.check()


def test_a_merge_done_again_after_a_cut_is_a_new_merge(cited_pass: CitedPass) -> None:
    a, b, *_ = cited_pass.cited
    cited_pass.merge(b, a)
    cited_pass.undelete(a)
    cited_pass.split(b)
    cited_pass.merge(b, a)
    assert cited_pass.leads_to(a) == {b}
    cited_pass.check()


def test_a_cut_that_is_undone_and_done_again_is_as_old_as_it_was(cited_pass: CitedPass) -> None:
    """The whole's own row does not change here, so the later merge does not prevent the undo."""
    whole = cited_pass.draw()
    small = cited_pass.draw()
    part = cited_pass.split(whole, whole_stays=True)
    cut = cited_pass.desk.audit_id
    cited_pass.desk.run(
        "segment.update", segment_id=small, expected_version=1, anchor={"rect": [0.2, 0.11, 0.1, 0.01]}
    )
    cited_pass.merge(whole, small)
    cited_pass.redo(cited_pass.undo(cut))
    assert cited_pass.leads_to(small) == {whole}
    assert cited_pass.leads_to(whole) == {whole, part}
    cited_pass.check()


def test_a_merge_without_a_note_is_detected(cited_pass: CitedPass, monkeypatch: Any) -> None:
    monkeypatch.setattr(joins, "add_notes", lambda *args, **more: None)
    cited_pass.merge(*cited_pass.cited[:2])
    with pytest.raises(AssertionError):
        cited_pass.check()


def test_a_restored_version_without_a_note_is_detected(cited_pass: CitedPass, monkeypatch: Any) -> None:
    keep, other, *_ = cited_pass.cited
    cited_pass.merge(keep, other)
    cited_pass.check()
    monkeypatch.setattr(segments, "add_notes", lambda *args, **more: None)
    cited_pass.write_back(other)
    with pytest.raises(AssertionError):
        cited_pass.check()


def test_a_note_that_outlives_an_undo_is_detected(cited_pass: CitedPass, monkeypatch: Any) -> None:
    monkeypatch.setattr(notes, "add_notes", lambda *args, **more: None)
    cited_pass.merge(*cited_pass.cited[:2])
    cited_pass.check()
    cited_pass.undo()
    with pytest.raises(AssertionError):
        cited_pass.check()


OPERATIONS = (
    "draw", "merge", "merge", "split", "split", "delete", "undelete", "write_back", "undo", "undo", "redo",
)  # fmt: skip


def do_at_random(cited_pass: CitedPass, chance: random.Random) -> None:
    """Do something at random; what is impossible is refused and changes nothing."""
    what = chance.choice(OPERATIONS)
    one, other = chance.choice(cited_pass.cited), chance.choice(cited_pass.cited)
    arguments: dict[str, tuple[Any, ...]] = {
        "draw": (chance.randrange(10),),
        "merge": (one, other),
        "split": (one, chance.randrange(10)),
        "write_back": (one, chance.randrange(1, 9)),
        "undo": (chance.choice(list(cited_pass.steps)[-4:] or [""]),),
        "redo": (chance.choice(list(cited_pass.undone)[-4:] or [""]),),
    }
    if arguments.get(what) == ("",):
        return
    with suppress(Conflict, Invalid, NotFound):
        getattr(cited_pass, what)(*arguments.get(what, (one,)))


@pytest.mark.parametrize("seed", range(40))
def test_citations_lead_to_the_same_ink_whatever_is_done_and_undone(desk: Desk, seed: int) -> None:
    chance = random.Random(seed)
    cited_pass = CitedPass(desk)
    for _ in range(30):
        do_at_random(cited_pass, chance)
        cited_pass.check()
    assert len(cited_pass.ledger.events) > 8
