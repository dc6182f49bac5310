"""Random histories of every action of this family, with merges, splits and corrections among them: undo is
exact, and its refusals are those that an independent oracle predicts.
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from paleography_project import FAMILIES, PaleographyProject

from armarium.api import Engine
from armarium.principals import LOCAL_OWNER
from armarium_paleography.records.likeness import vectors
from armarium_testing.histories import Histories, Move, World

Params = dict[str, Any]
Chosen = tuple[str, Params] | None
FOREVER = {"likeness.look"}
"""Actions that only queue a job, which the histories do not wait for."""


class RandomSteps:
    """Random statements about two pages of three lines each; about half of them are refused, as they should
    be.
    """

    def __init__(self, project: PaleographyProject) -> None:
        self.project = project
        made = [project.page(["erat uerbum", "et uerbum erat", "apud deum"]) for _ in range(2)]
        self.pages = [page.id for page in made]
        chance = np.random.default_rng(1)
        rows = [
            {"segment_id": line, "document_id": page.id, "fingerprint": "made",
             "vector": chance.normal(size=4).astype(np.float16).tobytes()}
            for page in made for line in page.lines
        ]  # fmt: skip
        with project.library.db.write() as conn:
            conn.execute(vectors.insert(), rows)

    def all(self) -> list[Move]:
        """Return every operation, the commonest several times."""
        often = [self.attribute, self.attribute, self.assign, self.describe, self.place_sign, self.fact, self.withdraw, self.merge,
                 self.propose, self.decide]  # fmt: skip
        return [
            *often, *often, self.hand, self.campaign, self.change_campaign, self.assign_reading, self.sign, self.allograph,
            self.clear, self.take, self.propose, self.decide, self.correct, self.split, self.delete, self.undelete,
        ]  # fmt: skip

    def _one(self, chance: random.Random, query: str) -> Any:
        rows = self.project.rows(query)
        return chance.choice(rows) if rows else None

    def _line(self, chance: random.Random) -> str:
        """Return a line, usually a live one."""
        live = "WHERE deleted_at IS NULL " if chance.random() < 0.8 else ""
        found = self._one(chance, f"SELECT id FROM segment {live}ORDER BY id") or self._one(
            chance, "SELECT id FROM segment"
        )
        return str(found[0])

    def _id(self, chance: random.Random, table: str) -> Any:
        found = self._one(chance, f"SELECT id FROM {table} ORDER BY id")
        return found and str(found[0])

    def hand(self, chance: random.Random, _: World) -> Chosen:
        return "hand.create", {"label": chance.choice("AB")}

    def attribute(self, chance: random.Random, _: World) -> Chosen:
        hand = self._id(chance, "hand")
        return ("hand.attribute", {"hand_id": hand, "segment_id": self._line(chance)}) if hand else None

    def campaign(self, chance: random.Random, _: World) -> Chosen:
        hand = self._id(chance, "hand") if chance.random() < 0.5 else None
        return "campaign.create", {"document_id": chance.choice(self.pages), "name": "So", "hand_id": hand}

    def change_campaign(self, chance: random.Random, _: World) -> Chosen:
        found = self._id(chance, "campaign")
        return found and ("campaign.update", {"campaign_id": found, "sequence": chance.randrange(1, 4)})

    def assign(self, chance: random.Random, _: World) -> Chosen:
        found = self._id(chance, "campaign")
        return found and (
            "campaign.assign",
            {"segment_id": self._line(chance), "campaign_id": found if chance.random() < 0.8 else None},
        )

    def assign_reading(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(
            chance,
            "SELECT r.id, c.id FROM content_representation r JOIN campaign c USING (document_id) ORDER BY r.id, c.id",
        )
        return found and (
            "campaign.assign_reading",
            {"representation_id": found[0], "campaign_ids": [found[1]]},
        )

    def sign(self, chance: random.Random, _: World) -> Chosen:
        variant = self._id(chance, "sign") if chance.random() < 0.3 else None
        point = chance.choice((None, "U+A753", "U+204A"))
        given = {"name": chance.choice("xy"), "picture_segment_id": self._line(chance)}
        return "sign.create", {**given, "code_point": point, "variant_of": variant}

    def place_sign(self, chance: random.Random, _: World) -> Chosen:
        found = self._id(chance, "sign")
        return found and ("sign.add_instance", {"sign_id": found, "segment_id": self._line(chance)})

    def take(self, chance: random.Random, _: World) -> Chosen:
        seen = [{"segment_id": self._line(chance), "name": chance.choice("xyz")} for _ in range(2)]
        return "sign.take", {"signs": seen}

    def allograph(self, chance: random.Random, _: World) -> Chosen:
        return "letterform.allograph_create", {"character": chance.choice("st"), "name": "long"}

    def describe(self, chance: random.Random, _: World) -> Chosen:
        form = self._one(chance, "SELECT id, character FROM letterform_allograph ORDER BY id")
        named = (
            {"allograph_id": form[0], "character": form[1]}
            if form and chance.random() < 0.5
            else {"character": "t"}
        )
        hand = self._id(chance, "hand") if chance.random() < 0.3 else None
        return "letterform.set", {"segment_id": self._line(chance), **named, "hand_id": hand}

    def clear(self, chance: random.Random, _: World) -> Chosen:
        return "letterform.clear", {"segment_id": self._line(chance)}

    def fact(self, chance: random.Random, _: World) -> Chosen:
        span = {"char_start": 0, "char_end": chance.randrange(1, 6)} if chance.random() < 0.7 else {}
        return "editorial.create", {
            "segment_id": self._line(chance),
            "kind": chance.choice(("lost", "unclear")),
            **span,
        }

    def withdraw(self, chance: random.Random, _: World) -> Chosen:
        table, action, name = chance.choice(
            (
                ("hand", "hand.withdraw", "hand_id"), ("hand_attribution", "hand.attribution_withdraw", "attribution_id"),
                ("campaign", "campaign.withdraw", "campaign_id"), ("sign", "sign.withdraw", "sign_id"),
                ("sign_instance", "sign.instance_withdraw", "instance_id"),
                ("editorial_fact", "editorial.withdraw", "fact_id"),
                ("letterform_allograph", "letterform.allograph_withdraw", "allograph_id"),
            )
        )  # fmt: skip
        found = self._one(chance, f"SELECT id FROM {table} WHERE withdrawn_at IS NULL ORDER BY id")
        return found and (action, {name: found[0]})

    def propose(self, chance: random.Random, _: World) -> Chosen:
        return "likeness.propose", {
            "kind": chance.choice(("hand", "sign")),
            "segment_ids": [self._line(chance)],
        }

    def decide(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(chance, "SELECT id FROM likeness_proposal WHERE state = 'pending' ORDER BY id")
        return found and (f"likeness.{chance.choice(('accept', 'reject'))}", {"proposal_id": found[0]})

    def correct(self, chance: random.Random, _: World) -> Chosen:
        text = chance.choice(("erat uerbum", "uerbum", "nihil", "et uerbum erat apud"))
        return "representation.create", {"segment_id": self._line(chance), "text": text}

    def merge(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(
            chance,
            "SELECT a.id, b.id FROM segment a JOIN segment b USING (pass_id) WHERE a.id <> b.id AND a.deleted_at IS NULL"
            " AND b.deleted_at IS NULL ORDER BY a.id, b.id",
        )
        # Only one time in three, or the lines would run out.
        if not found or chance.random() > 0.3:
            return None
        return "segment.merge", {"segment_ids": list(found), "keep_id": found[0]}

    def split(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(chance, "SELECT id, version FROM segment WHERE deleted_at IS NULL ORDER BY id")
        parts = [{"anchor": {"rect": [x, 0.03, 0.4, 0.05]}} for x in (0.1, 0.5)]
        return found and (
            "segment.split",
            {"segment_id": found[0], "expected_version": found[1], "parts": parts},
        )

    def delete(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(chance, "SELECT id, version FROM segment WHERE deleted_at IS NULL ORDER BY id")
        return found and ("segment.delete", {"segment_ids": [found[0]], "expected_versions": [found[1]]})

    def undelete(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(chance, "SELECT id FROM segment WHERE deleted_at IS NOT NULL ORDER BY id")
        return found and ("segment.undelete", {"segment_ids": [found[0]]})


Rows = Mapping[str, Mapping[Any, Mapping[str, Any]]]
OF_LIVE = {
    "hand_attribution": ("hand", "hand_id", "withdrawn_at"),
    "sign_instance": ("sign", "sign_id", "withdrawn_at"),
    "campaign_member": ("campaign", "campaign_id", "superseded_at"),
    "campaign_reading": ("campaign", "campaign_id", "superseded_at"),
}
ONE_OF = {
    "campaign_member": ("segment_id", "superseded_at"),
    "letterform": ("segment_id", "withdrawn_at"),
    "sign": ("code_point", "withdrawn_at"),
}


def is_about_withdrawn(rows: Rows, table: str, row: Mapping[str, Any]) -> bool:
    """Return whether a live statement is about a withdrawn hand, sign or campaign."""
    if table not in OF_LIVE:
        return False
    other, column, ended = OF_LIVE[table]
    return row[ended] is None and rows[other][row[column]]["withdrawn_at"] is not None


def is_second_of_one(rows: Rows, table: str, row: Mapping[str, Any]) -> bool:
    """Return whether a segment has a second campaign or description, or a code point a second live sign."""
    if table not in ONE_OF:
        return False
    column, ended = ONE_OF[table]
    if row[ended] is not None or row[column] is None:
        return False
    return any(
        one["id"] != row["id"] and one[ended] is None and one[column] == row[column]
        for one in rows[table].values()
    )


SAID_ONCE = {
    "hand_attribution": ("hand_id", "segment_id", "provenance_kind", "created_by"),
    "sign_instance": ("sign_id", "segment_id"),
    "campaign_reading": ("representation_id", "campaign_id"),
}


def is_stated_twice(rows: Rows, table: str, row: Mapping[str, Any]) -> bool:
    """Return whether a statement repeats a live one."""
    if table not in SAID_ONCE:
        return False
    ended = "superseded_at" if table == "campaign_reading" else "withdrawn_at"
    same = [row[column] for column in SAID_ONCE[table]]
    return row[ended] is None and any(
        one["id"] != row["id"] and one[ended] is None and [one[column] for column in SAID_ONCE[table]] == same
        for one in rows[table].values()
    )


LAWS = (is_about_withdrawn, is_second_of_one, is_stated_twice)


def start(
    make_engine: Callable[..., Engine], tmp_path: Any, seed: int
) -> tuple[Histories, PaleographyProject]:
    made = [importlib.import_module(f"armarium_{name}.plugin").armarium_plugin() for name in FAMILIES]
    engine = make_engine(plugins=made, state=f"state-{seed}")
    place = tmp_path / f"{seed}.library"
    engine.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER)
    project = PaleographyProject(engine, engine.libraries.get(place), None)
    return Histories(engine, project.library, RandomSteps(project).all(), seed=seed, laws=LAWS), project


def prove(make_engine: Callable[..., Engine], tmp_path: Any, seeds: range, sequences: int) -> None:
    for seed in seeds:
        history, _ = start(make_engine, tmp_path, seed)
        tally = history.run(sequences)
        assert tally.steps > 0
        assert tally.undone > 0
        assert not set(tally.refused) - {"changed", "already-undone"}


@pytest.mark.slow
def test_random_histories_come_back_exactly(make_engine: Callable[..., Engine], tmp_path: Any) -> None:
    prove(make_engine, tmp_path, range(2), 12)


@pytest.mark.slow
def test_every_action_runs_and_all_steps_are_undone(
    make_engine: Callable[..., Engine], tmp_path: Any
) -> None:
    history, project = start(make_engine, tmp_path, 5)
    never = {
        action.name
        for action in importlib.import_module("armarium_paleography.plugin").armarium_plugin().actions
    }
    never -= FOREVER
    for _ in range(20):
        history.run(8, steps=25)
        never -= {name for (name,) in project.rows("SELECT DISTINCT action_name FROM audit")}
        if not never:
            break
    assert not never
    history.empty()
    for table in ("hand", "hand_attribution", "campaign", "campaign_member", "campaign_reading", "editorial_fact", "sign",
                  "sign_instance", "letterform", "letterform_allograph", "likeness_proposal"):  # fmt: skip
        assert project.rows(f"SELECT count(*) FROM {table}") == [(0,)], table


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_many_random_histories_come_back_exactly(make_engine: Callable[..., Engine], tmp_path: Any) -> None:
    prove(make_engine, tmp_path, range(100, 110), 100)
