"""Random histories of every action of this family: undo is exact, and its refusals are predicted."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from source_model_fixtures import PERSON, Desk

from armarium.api import Engine, raw_of
from armarium_documents.plugin import armarium_plugin as documents_plugin
from armarium_source_model.plugin import armarium_plugin
from armarium_testing.histories import Histories, Move, World

Params = dict[str, Any]
Chosen = tuple[str, Params] | None


class Moves:
    """Random moves on two pages with two passes each; half of them are refused, as they should be."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.pages = [desk.page(f"Page {n}") for n in range(2)]
        self.passes = [desk.new_pass(page, name) for page in self.pages for name in ("One", "Two")]
        for page, pass_id in zip((p for p in self.pages for _ in range(2)), self.passes, strict=True):
            for segment_id in desk.lines(page, pass_id, 3):
                desk.correct(segment_id, "Dear Sir")

    def all(self) -> list[Move]:
        """Return every move, those that insert rows twice."""
        often = [
            self.draw,
            self.change,
            self.change,
            self.merge,
            self.split,
            self.write,
            self.write_several,
            self.place,
        ]
        return [
            *often, self.several, self.withdraw, self.bring_back, self.restore_version, self.machine_lines,
            self.machine_readings, self.choose, self.retract, self.new_kind, self.new_pass, self.pass_away,
            self.pass_back, self.pass_chosen, self.ground_truth, self.match, self.match, self.match_decided,
            self.match_decided, self.carry,
            self.order, self.fill, self.order_away, self.order_back, self.renumber, self.entry_out, self.link, self.link_away,
            self.link_back, self.state, self.clear,
        ]  # fmt: skip

    def _one(self, chance: random.Random, query: str) -> Any:
        with self.desk.library.db.read() as conn:
            raw = raw_of(conn)
            rows = raw.execute(query).fetchall()
        return chance.choice(rows) if rows else None

    def _segment(self, chance: random.Random) -> Any:
        return self._one(chance, "SELECT id, version, document_id, pass_id FROM segment ORDER BY id")

    def _anchor(self, chance: random.Random) -> Params:
        return {"rect": [chance.randrange(8) / 10, chance.randrange(9) / 10, 0.15, 0.05]}

    def draw(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(chance, "SELECT id, document_id FROM segment_pass ORDER BY id")
        parent = self._segment(chance)
        inside = parent and parent[3] == found[0] and chance.random() < 0.5
        given = {"document_id": found[1], "pass_id": found[0], "anchor": self._anchor(chance)}
        return "segment.create", {
            **given,
            "kind": chance.choice(("region", "line", "word")),
            "parent_segment_id": parent[0] if inside else None,
        }

    def several(self, chance: random.Random, world: World) -> Chosen:
        chosen = self.draw(chance, world)
        return chosen and ("segment.create_many", {"segments": [chosen[1]] * chance.randrange(1, 4)})

    def change(self, chance: random.Random, _: World) -> Chosen:
        segment, parent = self._segment(chance), self._segment(chance)
        what: list[Params] = [
            {"anchor": self._anchor(chance)},
            {"baseline": chance.choice(([[0.1, 0.2], [0.3, 0.2]], None))},
            {"kind_raw": chance.choice(("a", "b", None))},
            {"direction": "rtl", "language": "fa"},
            {"cell": {"row": chance.randrange(3), "column": 0}},
            {"is_furniture": chance.random() < 0.5},
            {"parent_segment_id": parent[0] if parent else None},
        ]
        return segment and (
            "segment.update",
            {"segment_id": segment[0], "expected_version": segment[1], **chance.choice(what)},
        )

    def withdraw(self, chance: random.Random, _: World) -> Chosen:
        segment = self._segment(chance)
        return segment and (
            "segment.delete",
            {"segment_ids": [segment[0]], "expected_versions": [segment[1]]},
        )

    def bring_back(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(chance, "SELECT id FROM segment WHERE deleted_at IS NOT NULL ORDER BY id")
        return found and ("segment.undelete", {"segment_ids": [found[0]]})

    def restore_version(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(chance, "SELECT id, version FROM segment WHERE version > 1 ORDER BY id")
        return found and (
            "segment.restore_version",
            {
                "segment_id": found[0],
                "expected_version": found[1],
                "version": chance.randrange(1, found[1] + 1),
            },
        )

    def merge(self, chance: random.Random, _: World) -> Chosen:
        segment = self._segment(chance)
        rows = segment and self._one(
            chance,
            f"SELECT a.id, b.id FROM segment a JOIN segment b USING (pass_id) WHERE a.pass_id = '{segment[3]}' "
            "AND a.deleted_at IS NULL AND b.deleted_at IS NULL AND a.id <> b.id ORDER BY a.id, b.id",
        )
        return rows and ("segment.merge", {"segment_ids": list(rows), "keep_id": rows[0]})

    def split(self, chance: random.Random, _: World) -> Chosen:
        segment = self._segment(chance)
        parts = [{"anchor": self._anchor(chance), "text": chance.choice(("x", None))} for _ in range(2)]
        return segment and (
            "segment.split",
            {"segment_id": segment[0], "expected_version": segment[1], "parts": parts},
        )

    def machine_lines(self, chance: random.Random, _: World) -> Chosen:
        lines = [{"key": "l", "rect": self._anchor(chance)["rect"], "text": "seen"}]
        return "segment.take_lines", {
            "document_id": chance.choice(self.pages),
            "name": "Found",
            "provider": "reader",
            "lines": lines,
        }

    def machine_readings(self, chance: random.Random, _: World) -> Chosen:
        segment = self._segment(chance)
        return segment and (
            "reading.take",
            {
                "document_id": segment[2],
                "pass_id": segment[3],
                "provider": "reader",
                "readings": [{"segment_id": segment[0], "text": f"read {chance.randrange(9)}"}],
            },
        )

    def write(self, chance: random.Random, _: World) -> Chosen:
        segment = self._segment(chance)
        text = f"text {chance.randrange(9)}"
        return segment and ("representation.create", {"segment_id": segment[0], "text": text})

    def write_several(self, chance: random.Random, _: World) -> Chosen:
        """Write readings to lines of any page and pass in any state; sometimes to one line twice, which refuses all."""
        found = [row for row in (self._segment(chance) for _ in range(chance.randrange(1, 4))) if row]
        corrections: list[Params] = [
            {"segment_id": row[0], "text": f"text {chance.randrange(9)}"} for row in found
        ]
        if corrections and chance.random() < 0.25:
            counted = self._one(chance, "SELECT segment_id, id FROM content_representation ORDER BY id")
            corrections[0] |= {"segment_id": counted[0], "expected_counting_id": counted[1]}
        kind = chance.choice(("transcription", "transcription", "translation"))
        return ("representation.create_many", {"kind": kind, "corrections": corrections}) if found else None

    def choose(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(chance, "SELECT segment_id, id FROM content_representation ORDER BY id")
        return found and (
            "reading.choose",
            {"segment_id": found[0], "representation_id": chance.choice((found[1], found[1], None))},
        )

    def retract(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(chance, "SELECT id FROM content_representation ORDER BY id")
        return found and ("reading.retract", {"representation_id": found[0]})

    def new_kind(self, chance: random.Random, _: World) -> Chosen:
        return "reading_kind.create", {"key": f"kind_{chance.randrange(4)}", "label": "A kind"}

    def new_pass(self, chance: random.Random, _: World) -> Chosen:
        return "segment.pass_create", {"document_id": chance.choice(self.pages), "name": "More"}

    def _pass(self, chance: random.Random) -> str:
        return str(self._one(chance, "SELECT id FROM segment_pass ORDER BY id")[0])

    def pass_away(self, chance: random.Random, _: World) -> Chosen:
        return "segment.pass_delete", {"pass_id": self._pass(chance)}

    def pass_back(self, chance: random.Random, _: World) -> Chosen:
        return "segment.pass_restore", {"pass_id": self._pass(chance)}

    def pass_chosen(self, chance: random.Random, _: World) -> Chosen:
        return "segment.pass_choose", {"pass_id": self._pass(chance), "working": chance.random() < 0.7}

    def ground_truth(self, chance: random.Random, _: World) -> Chosen:
        return "segment.pass_ground_truth", {
            "pass_id": self._pass(chance),
            "ground_truth": chance.random() < 0.6,
        }

    def match(self, chance: random.Random, _: World) -> Chosen:
        rows = self._one(
            chance,
            "SELECT a.id, b.id FROM segment a JOIN segment b USING (document_id) WHERE a.pass_id < b.pass_id "
            "AND a.deleted_at IS NULL AND b.deleted_at IS NULL ORDER BY a.id, b.id",
        )
        return rows and ("segment.match_propose", {"from_segment_id": rows[0], "to_segment_id": rows[1]})

    def match_decided(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(chance, "SELECT id FROM segment_match ORDER BY state = 'proposed', id")
        verb = chance.choice(("accept", "reject", "withdraw"))
        return found and (f"segment.match_{verb}", {"match_id": found[0]})

    def carry(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(chance, "SELECT id FROM segment_match WHERE state = 'accepted' ORDER BY id")
        return found and ("segment.carry", {"match_id": found[0]})

    def order(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(chance, "SELECT id, document_id FROM segment_pass ORDER BY id")
        kind = chance.choice(("as-written", "imposed", "flow"))
        given = {"document_id": found[1], "pass_id": found[0], "name": "So", "kind": kind}
        return "reading_order.create", {**given, "seed_from_pass": chance.random() < 0.5}

    def place(self, chance: random.Random, _: World) -> Chosen:
        order = self._one(chance, "SELECT id, pass_id FROM reading_order ORDER BY id")
        segment = self._segment(chance)
        if not order or not segment:
            return None
        entry = self._one(
            chance, f"SELECT id FROM reading_order_entry WHERE order_id = '{order[0]}' ORDER BY id"
        )
        given = {"order_id": order[0], "segment_id": segment[0]}
        if entry and chance.random() < 0.5:
            given[chance.choice(("after_entry_id", "parent_entry_id"))] = entry[0]
        return "reading_order.place", given

    def fill(self, chance: random.Random, _: World) -> Chosen:
        fitting = (
            "SELECT o.id, s.id FROM reading_order o JOIN segment s ON s.pass_id = o.pass_id WHERE o.deleted_at IS NULL "
            "AND s.deleted_at IS NULL AND NOT EXISTS (SELECT 1 FROM reading_order_entry e WHERE e.order_id = o.id "
            "AND e.segment_id = s.id) ORDER BY o.id, s.id"
        )
        rows = [row for row in (self._one(chance, fitting) for _ in range(3)) if row]
        ids = list(dict.fromkeys(row[1] for row in rows if row[0] == rows[0][0]))
        places = [
            {"segment_id": identity, "parent_segment_id": ids[0] if n else None}
            for n, identity in enumerate(ids)
        ]
        return ("reading_order.fill", {"order_id": rows[0][0], "segments": places}) if rows else None

    def entry_out(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(chance, "SELECT order_id, id FROM reading_order_entry ORDER BY id")
        return found and ("reading_order.remove", {"order_id": found[0], "entry_id": found[1]})

    def _of_order(self, chance: random.Random, verb: str) -> Chosen:
        found = self._one(chance, "SELECT id FROM reading_order ORDER BY id")
        return found and (f"reading_order.{verb}", {"order_id": found[0]})

    def order_away(self, chance: random.Random, _: World) -> Chosen:
        return self._of_order(chance, "withdraw")

    def order_back(self, chance: random.Random, _: World) -> Chosen:
        return self._of_order(chance, "restore")

    def renumber(self, chance: random.Random, _: World) -> Chosen:
        return self._of_order(chance, "renumber")

    def link(self, chance: random.Random, _: World) -> Chosen:
        segment, other_segment = self._segment(chance), self._segment(chance)
        kind = chance.choice(("glosses", "same_as", "references"))
        return segment and (
            "link.create",
            {"from_id": segment[0], "to_id": other_segment[0], "link_type": kind},
        )

    def link_away(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(chance, "SELECT id FROM link ORDER BY id")
        return found and ("link.delete", {"link_id": found[0]})

    def link_back(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(chance, "SELECT id FROM link ORDER BY id")
        return found and ("link.restore", {"link_id": found[0]})

    def _fact(self, chance: random.Random) -> Params:
        if chance.random() < 0.5:
            return {"level": "project", "key": "language"}
        return {"level": "node", "key": "language", "target_id": chance.choice(self.pages)}

    def state(self, chance: random.Random, _: World) -> Chosen:
        return "source_setting.set", {**self._fact(chance), "value": chance.choice(("la", "es", "grc"))}

    def clear(self, chance: random.Random, _: World) -> Chosen:
        return "source_setting.clear", self._fact(chance)


def prove(make_engine: Callable[..., Engine], tmp_path: Any, seeds: range, sequences: int) -> None:
    for seed in seeds:
        engine = make_engine(plugins=[documents_plugin(), armarium_plugin()], state=f"state-{seed}")
        place = tmp_path / f"{seed}.library"
        engine.run(None, "library.create", {"path": str(place)}, PERSON)
        library = engine.libraries.get(place)
        moves = Moves(Desk(engine, library)).all()
        tally = Histories(engine, library, moves, seed=seed).run(sequences)
        assert tally.steps > 0
        assert tally.undone > 0
        assert not set(tally.refused) - {"changed", "already-undone"}


@pytest.mark.slow
def test_every_move_is_made_and_none_is_always_refused(desk: Desk) -> None:
    """The histories would prove little about an action that is always refused: each succeeds here at least once."""
    history = Histories(desk.engine, desk.library, Moves(desk).all(), seed=5)
    # Old geometry has histories of its own in test_old_geometry.
    never = {action.name for action in armarium_plugin().actions} - {"segment.convert_page"}
    for _ in range(12):
        history.run(10, steps=30)
        with desk.library.db.read() as conn:
            raw = raw_of(conn)
            never -= {row[0] for row in raw.execute("SELECT DISTINCT action_name FROM audit")}
        if not never:
            break
    assert not never


@pytest.mark.slow
def test_random_histories_come_back_exactly(make_engine: Callable[..., Engine], tmp_path: Any) -> None:
    prove(make_engine, tmp_path, range(2), 12)


def check_undo_of_everything(make_engine: Callable[..., Engine], tmp_path: Any, seed: int) -> None:
    """Undo a whole history from its first page on, and check that only the new project is left."""
    engine = make_engine(plugins=[documents_plugin(), armarium_plugin()], state=f"state-{seed}")
    place = tmp_path / f"{seed}.library"
    engine.run(None, "library.create", {"path": str(place)}, PERSON)
    library = engine.libraries.get(place)
    content = Histories(engine, library, []).content
    desk = Desk(engine, library)
    history = Histories(engine, library, Moves(desk).all(), seed=seed)
    # Whatever is chosen at random, there is a deletion, a split and a merge: each leaves a note that no undo removes.
    page = desk.page("Cut up")
    pass_id = desk.new_pass(page, "Hand")
    one, two, three = desk.lines(page, pass_id, 3)
    desk.run("segment.merge", segment_ids=[one, two], keep_id=one)
    parts = [{"anchor": {"rect": [0.1, 0.1 * n, 0.5, 0.05]}} for n in (1, 2)]
    desk.run("segment.split", segment_id=three, expected_version=1, parts=parts)
    desk.run("segment.delete", segment_ids=[one], expected_versions=[2])
    history.content = history.read()
    history.run(2, steps=40)
    with library.db.read() as conn:
        raw = raw_of(conn)
        assert raw.execute("SELECT count(*) FROM segment_forwarding").fetchone()[0] >= 3
    assert history.empty() > 20
    assert history.content == content
    with library.db.read() as conn:
        raw = raw_of(conn)
        assert raw.execute("SELECT count(*) FROM segment_forwarding").fetchone()[0] >= 3


@pytest.mark.parametrize("seed", range(2))
def test_a_whole_history_is_taken_back_to_an_empty_project(
    make_engine: Callable[..., Engine], tmp_path: Any, seed: int
) -> None:
    check_undo_of_everything(make_engine, tmp_path, seed)


@pytest.mark.soak
@pytest.mark.timeout(0)
@pytest.mark.parametrize("seed", range(100, 140))
def test_forty_whole_histories_are_taken_back(
    make_engine: Callable[..., Engine], tmp_path: Any, seed: int
) -> None:
    check_undo_of_everything(make_engine, tmp_path, seed)


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_ten_thousand_histories_come_back_exactly(make_engine: Callable[..., Engine], tmp_path: Any) -> None:
    prove(make_engine, tmp_path, range(100, 200), 100)
