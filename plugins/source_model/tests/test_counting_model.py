"""Which reading counts, compared with a model: what happened to the readings of a line, replayed in plain Python.

The model ranks every live reading by the wording of the rule and takes the highest; it shares no code with `counting`.
"""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest
from source_model_fixtures import AGENT, PERSON, RUN, Desk

from armarium.api import Conflict, Invalid
from armarium_source_model.queries.passes import reading_rule
from armarium_source_model.queries.readings import (
    counting_of_document,
    counting_of_pass,
    counting_of_segment,
    counting_of_segments,
    readings_of,
)
from armarium_source_model.queries.text import page_text
from armarium_testing.samples import sample


@dataclass
class ReadingEvent:
    """Something that happened to the readings of the line."""

    what: str
    reading: str | None
    maker: str = ""
    corrects: str | None = None
    in_effect: bool = True


@dataclass
class ExpectedCounting:
    """What should count according to the model."""

    reading: str | None
    basis: str
    disputed: bool


def expected_counting(events: list[ReadingEvent], rule: str) -> ExpectedCounting:
    """Return what counts after *deeds*, derived from the wording of the rule."""
    standing = [event for event in events if event.in_effect]
    readings = {event.reading for event in standing if event.what == "retract"}
    live = [event for event in standing if event.what == "read" and event.reading not in readings]
    chosen = None
    for event in standing:
        if event.what in ("choose", "release"):
            chosen = event.reading
    retired = {event.corrects for event in live if event.maker == "human"}
    ranked = []
    for at, event in enumerate(live):
        by_person = event.maker == "human" and event.reading not in retired
        rank = 4 if event.reading == chosen else 3 if by_person and event.corrects else 2 if by_person else 1
        if rank > 1 or event.maker != "human":
            ranked.append((rank, at, event))
    if not ranked:
        return ExpectedCounting(None, "none", False)
    rank, _, first = max(ranked, key=lambda one: one[:2])
    basis = ("newest-machine-unchosen", "newest-human", "correction", "chosen")[rank - 1]
    current = sum(event.maker == "human" and event.reading not in retired for event in live)
    return ExpectedCounting(first.reading, basis, rule == "strict" and rank < 4 and current > 1)


class Line:
    """A line that persons, an agent, a run and an import read."""

    def __init__(self, desk: Desk, rule: str) -> None:
        self.desk = desk
        self.rule = rule
        desk.run("library.set", reading_rule=rule)
        self.page = desk.page()
        self.pass_id = desk.new_pass(self.page)
        (self.line,) = desk.lines(self.page, self.pass_id, 1)
        self.events: list[ReadingEvent] = []
        self.steps: dict[str, list[ReadingEvent]] = {}
        self.undone: dict[str, list[ReadingEvent]] = {}
        self.words = 0

    def _did(self, audit_id: str, *events: ReadingEvent) -> None:
        self.events += events
        self.steps[audit_id] = list(events)

    def correct(self, who: Any = PERSON) -> str:
        before = expected_counting(self.events, self.rule)
        self.words += 1
        desk = self.desk.as_(who)
        made = desk.correct(self.line, f"word {self.words}")
        # A person who corrects the chosen reading decides anew what counts, so the choice ends.
        released = [ReadingEvent("release", None)] if before.basis == "chosen" and who is PERSON else []
        self._did(desk.audit_id, *released, ReadingEvent("read", made, who.provenance_kind, before.reading))
        if who is PERSON:
            assert self._counting() == made, "a person's correction does not count"
        return made

    def read(self, who: Any) -> str:
        """Add a reader's reading, which corrects no other."""
        self.words += 1
        desk = self.desk.as_(who)
        result = desk.run(
            "reading.take",
            document_id=self.page,
            pass_id=self.pass_id,
            provider="reader",
            readings=[{"segment_id": self.line, "text": f"word {self.words}"}],
        )
        (representation_id,) = result["representation_ids"]
        maker = "workflow" if who is PERSON else who.provenance_kind
        self._did(desk.audit_id, ReadingEvent("read", representation_id, maker))
        return str(representation_id)

    def choose(self, reading: str | None) -> None:
        self.desk.run("reading.choose", segment_id=self.line, representation_id=reading)
        self._did(self.desk.audit_id, ReadingEvent("choose" if reading else "release", reading))

    def retract(self, reading: str) -> None:
        self.desk.run("reading.retract", representation_id=reading)
        self._did(self.desk.audit_id, ReadingEvent("retract", reading))

    def undo(self, step: str | None = None) -> None:
        step = step or next(reversed(self.steps))
        taken_back = self.desk.undo(step)
        self.undone[taken_back] = self.steps.pop(step)
        for event in self.undone[taken_back]:
            event.in_effect = False

    def redo(self, undo: str) -> None:
        step = self.desk.undo(undo)
        self.steps[step] = self.undone.pop(undo)
        for event in self.steps[step]:
            event.in_effect = True

    def _counting(self) -> str | None:
        with self.desk.library.db.read() as conn:
            rule = reading_rule(conn)
            return counting_of_segment(conn, self.line, "transcription", rule).representation_id

    def check(self) -> None:
        told = expected_counting(self.events, self.rule)
        with self.desk.library.db.read() as conn:
            rule = reading_rule(conn)
            assert rule == self.rule
            readings = readings_of(conn, self.line, rule=rule)
            counting = readings["counting"].get("transcription", {"representation_id": None})
            assert counting["representation_id"] == told.reading
            live = [item for item in readings["items"] if not item["retracted"]]
            assert [item["id"] for item in live if item["counting"]] == [told.reading] * bool(live)
            if live:
                assert (counting["basis"], counting["disputed"]) == (told.basis, told.disputed)
                assert counting["labelled_machine"] is (told.basis == "newest-machine-unchosen")
            words = next((item["content"] for item in live if item["id"] == told.reading), "")
            assert page_text(conn, self.page, pass_id=self.pass_id, rule=rule).text == words
            ways = (
                counting_of_pass(conn, self.pass_id, rule=rule),
                counting_of_document(conn, self.page, rule=rule),
                counting_of_segments(conn, [self.line], rule=rule),
            )
            for way in ways:
                assert (way[self.line].representation_id if live else None) == told.reading
                assert not live or way[self.line].basis == told.basis


@pytest.mark.parametrize("rule", ["strict", "relaxed"])
def test_a_correction_of_a_chosen_reading_counts_beside_an_older_correction(desk: Desk, rule: str) -> None:
    """m1 and m2 are read and m2 is corrected; then a person chooses m1 and corrects it: this last correction is the
    text.
    """
    line = Line(desk, rule)
    first = line.read(RUN)
    line.read(RUN)
    line.correct()
    line.choose(first)
    line.check()
    made = line.correct()
    line.check()
    with desk.library.db.read() as conn:
        counting = readings_of(conn, line.line, rule=rule)["counting"]["transcription"]
    assert counting == {
        "representation_id": made,
        "basis": "correction",
        "labelled_machine": False,
        "disputed": rule == "strict",
    }


def test_a_choice_settles_what_is_disputed(desk: Desk) -> None:
    line = Line(desk, "strict")
    first = line.read(RUN)
    line.read(RUN)
    rival = line.correct()
    line.choose(first)
    line.correct()
    line.choose(rival)
    line.check()
    line.choose(None)
    line.check()
    line.undo()
    line.check()


OPERATIONS = (
    "correct",
    "correct",
    "machine",
    "read",
    "choose",
    "choose",
    "release",
    "retract",
    "undo",
    "undo",
    "redo",
)


def do_at_random(line: Line, chance: random.Random) -> None:
    """Do something at random; what is impossible is refused and changes nothing."""
    what = chance.choice(OPERATIONS)
    there = [event.reading for event in line.events if event.what == "read" and event.in_effect]
    reading = chance.choice(there) if there else None
    with suppress(Conflict, Invalid):
        if what == "correct":
            line.correct()
        elif what == "machine":
            line.correct(chance.choice((AGENT, RUN)))
        elif what == "read":
            line.read(chance.choice((PERSON, AGENT, RUN)))
        elif what == "choose" and reading:
            line.choose(reading)
        elif what == "release":
            line.choose(None)
        elif what == "retract" and reading:
            line.retract(reading)
        elif what == "undo" and line.steps:
            line.undo(chance.choice(list(line.steps)[-4:]))
        elif what == "redo" and line.undone:
            line.redo(chance.choice(list(line.undone)[-4:]))


@pytest.mark.parametrize("seed", sample(range(16), 6))
@pytest.mark.parametrize("rule", ["strict", "relaxed"])
def test_the_counting_reading_follows_the_rule(desk: Desk, rule: str, seed: int) -> None:
    chance = random.Random(seed)
    line = Line(desk, rule)
    for _ in range(30):
        do_at_random(line, chance)
        line.check()
    assert line.words > 3


@pytest.mark.parametrize("rule", ["strict", "relaxed"])
def test_merging_lines_with_rival_readings_keeps_the_words_of_both(desk: Desk, rule: str) -> None:
    desk.run("library.set", reading_rule=rule)
    page = desk.page()
    pass_id = desk.new_pass(page)
    lines = desk.lines(page, pass_id, 2)
    for n, line in enumerate(lines):
        machine = [
            desk.as_(RUN).run(
                "reading.take",
                document_id=page,
                pass_id=pass_id,
                provider="reader",
                readings=[{"segment_id": line, "text": text}],
            )["representation_ids"][0]
            for text in ("one", "two")
        ]
        desk.correct(line, f"first {n}")
        desk.run("reading.choose", segment_id=line, representation_id=machine[0])
        desk.correct(line, f"second {n}")
    desk.run("segment.merge", segment_ids=lines, keep_id=lines[0])
    with desk.library.db.read() as conn:
        assert page_text(conn, page, pass_id=pass_id, rule=reading_rule(conn)).text == "second 0\nsecond 1"


def test_a_keeper_with_an_empty_reading_takes_the_words_of_the_merged_line(desk: Desk) -> None:
    page = desk.page()
    reading = desk.machine_lines(page, ["", "Dear Sir"])
    lines = reading["segment_ids"]
    desk.run("segment.merge", segment_ids=lines, keep_id=lines[0])
    with desk.library.db.read() as conn:
        assert page_text(conn, page, pass_id=reading["pass_id"]).text == "Dear Sir"


def test_a_machine_cannot_merge_away_what_a_person_has_read(desk: Desk) -> None:
    """The machine's joined text would not count beside the persons' readings, so half of the words would vanish from
    the page.
    """
    page = desk.page()
    pass_id = desk.new_pass(page)
    lines = desk.lines(page, pass_id, 2)
    for n, line in enumerate(lines):
        desk.correct(line, f"line {n}")
    with pytest.raises(Conflict, match="Let a person merge them"):
        desk.as_(AGENT).run("segment.merge", segment_ids=lines, keep_id=lines[0])
    with desk.library.db.read() as conn:
        assert page_text(conn, page, pass_id=pass_id).text == "line 0\nline 1"
