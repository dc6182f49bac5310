"""Random histories of every undoable action of this family: saves, layers, candidates, Start, decisions about edited
files, champions. Undo is exact, and when all is undone nothing remains.
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bakeoff_samples import finished_bakeoff
from conftest import FAMILIES
from start_fixtures import Desk

from armarium.api import Engine, Example
from armarium.principals import LOCAL_OWNER
from armarium_recipes.cards.sources import cards_here
from armarium_testing.histories import Histories, Move, World

Chosen = tuple[str, dict[str, Any]] | None
NOT_UNDOABLE = {"project.compare_line_finders"}
TABLES = ("recipes_project", "recipes_override", "recipes_start", "recipes_proposed", "recipes_champion")


class Moves:
    """Random moves in a project with two folders of pages; some of them are refused, as they should be."""

    def __init__(self, desk: Desk, folder: Path) -> None:
        self.desk = desk
        self.bakeoff = finished_bakeoff(Example(desk.engine, desk.library, LOCAL_OWNER, folder))
        self.folders = [desk.folder(name) for name in "AB"]
        for one in self.folders:
            desk.lines(desk.pages(1, one)[0], ["Dear Sir"])
        readers = [card for card in cards_here(desk.engine, desk.library) if "read-a-line" in card.jobs]
        self.far = next(
            reader for reader in readers if reader.availability == "download" and "en" in reader.languages
        )
        self.here = [reader for reader in readers if reader.installed and reader.reader]

    def all(self) -> list[Move]:
        """Return every move, the commonest twice."""
        often = [
            self.answers,
            self.recipe,
            self.overrides,
            self.layers,
            self.candidate,
            self.start,
            self.champion,
        ]
        return [
            *often,
            *often,
            self.instead,
            self.take_from_bakeoff,
            self.decide,
            self.hand,
            self.withdraw,
            self.folder,
            self.back,
        ]

    def _read_setup(self) -> dict[str, Any]:
        from armarium_recipes.project.saving import read_saved

        with self.desk.library.db.read() as conn:
            return read_saved(conn).answer()

    def _rows(self, statement: str) -> list[Any]:
        with self.desk.library.db.read() as conn:
            return list(conn.exec_driver_sql(statement).all())

    def answers(self, chance: random.Random, _: World) -> Chosen:
        said = {
            "purposes": [chance.choice(("transcribe", "entities", "edit-corpus"))],
            "languages": chance.choice((["en"], ["es", "la"])),
            "scripts": ["Latn"],
            "materials": [chance.choice(("typescript", "print"))],
            "pages": chance.randrange(9),
        }
        return "project.save_setup", {"answers": said if chance.random() < 0.9 else None}

    def recipe(self, chance: random.Random, _: World) -> Chosen:
        card = chance.choice((self.far, self.here[0]))
        steps = [
            {"id": "find-lines", "job": "find-lines", "layer": "lines"},
            {"id": "order", "job": "put-in-order", "layer": "lines", "card": {"id": "builtin:put-in-order@1", "source": "shipped"}},
            {"id": "read", "job": "read-a-line", "layer": "reading", "card": {"id": card.id, "source": card.source}},
        ]  # fmt: skip
        made = {"id": "letters", "title": chance.choice("xyz"), "steps": steps[chance.randrange(2) :]}
        return "project.save_setup", {"recipe": made if chance.random() < 0.9 else None}

    def overrides(self, chance: random.Random, _: World) -> Chosen:
        card = chance.choice(self.here)
        one = {"scope": "folder", "folder_id": chance.choice(self.folders), "step": "read"}
        one["card"] = {"id": card.id, "source": card.source}  # type: ignore[assignment]
        return "project.save_setup", {"overrides": [one][: chance.randrange(2)]}

    def layers(self, chance: random.Random, _: World) -> Chosen:
        named = {"layers": [chance.choice(("entities", "graph", "vectors"))]}
        if chance.random() < 0.4:
            named = {"languages": [chance.choice(("fr", "en", "la"))]}
        return "project.add_layer", {**named, "remove": chance.random() < 0.4}

    def candidate(self, chance: random.Random, _: World) -> Chosen:
        return "project.use_candidate", {"step": "read", "card": chance.choice([*self.here, self.far]).id}

    def instead(self, chance: random.Random, _: World) -> Chosen:
        assert self.far.download is not None
        return "project.use_instead", {"model": self.far.download.id, "card": chance.choice(self.here).id}

    def take_from_bakeoff(self, chance: random.Random, _: World) -> Chosen:
        where = {"scope": "folder", "folder_id": chance.choice(self.folders)} if chance.random() < 0.5 else {}
        return "project.use_bakeoff", {**self.bakeoff, **where}

    def start(self, chance: random.Random, _: World) -> Chosen:
        return "project.start", {"redo": ["order"] if chance.random() < 0.5 else []}

    def decide(self, chance: random.Random, _: World) -> Chosen:
        """Edit a file and decide about it at once; an edit noticed later would become a step that no move made."""
        path = self.desk.library.recipe / "setup.yaml"
        if self._read_setup()["answers"] is None or not path.exists():
            return None
        lines = [line for line in path.read_text().splitlines() if not line.startswith("pages:")]
        path.write_text("\n".join([*lines, f"pages: {chance.randrange(100, 10**6)}"]) + "\n")
        return "project.decide_file", {"name": "setup.yaml", "keep": chance.choice(("file", "project"))}

    def hand(self, chance: random.Random, _: World) -> Chosen:
        return "hand.create", {"label": chance.choice("AB")}

    def champion(self, chance: random.Random, _: World) -> Chosen:
        hands = self._rows("SELECT id FROM hand ORDER BY id")
        card = chance.choice((None, *self.here))
        return hands and (
            "project.set_champion",
            {"hand_id": chance.choice(hands)[0], "card": card and card.id},
        )

    def withdraw(self, chance: random.Random, _: World) -> Chosen:
        hands = self._rows("SELECT id FROM hand WHERE withdrawn_at IS NULL ORDER BY id")
        return hands and ("hand.withdraw", {"hand_id": chance.choice(hands)[0]})

    def folder(self, chance: random.Random, _: World) -> Chosen:
        return ("document.delete", {"ids": [chance.choice(self.folders)]}) if chance.random() < 0.4 else None

    def back(self, chance: random.Random, _: World) -> Chosen:
        rows = self._rows(
            "SELECT id FROM document WHERE doc_type = 'folder' AND deleted_at IS NOT NULL ORDER BY id"
        )
        return rows and ("document.restore", {"ids": [chance.choice(rows)[0]]})


def begin(make_engine: Callable[..., Engine], tmp_path: Path, seed: int) -> tuple[Histories, Moves]:
    made = [importlib.import_module(f"armarium_{name}.plugin").armarium_plugin() for name in FAMILIES]
    engine = make_engine(plugins=made, state=f"state-{seed}")
    place = tmp_path / f"{seed}.library"
    engine.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER)
    moves = Moves(Desk(engine, engine.libraries.get(place), None), tmp_path)
    return Histories(engine, moves.desk.library, moves.all(), seed=seed), moves


@pytest.mark.slow
def test_random_histories_come_back_exactly(make_engine: Callable[..., Engine], tmp_path: Path) -> None:
    for seed in range(2):
        history, _ = begin(make_engine, tmp_path, seed)
        tally = history.run(8)
        assert tally.steps > 0
        assert tally.undone > 0
        assert not set(tally.refused) - {"changed", "already-undone"}


@pytest.mark.slow
def test_every_move_is_made_and_everything_is_undone(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    """Each undoable action of the family is done at least once; in the end every step is undone."""
    history, moves = begin(make_engine, tmp_path, 5)
    actions = importlib.import_module("armarium_recipes.plugin").armarium_plugin().actions
    never = {action.name for action in actions if action.undoable}
    assert {action.name for action in actions} - never == NOT_UNDOABLE
    for _ in range(8):
        history.run(6, steps=25)
        never -= {name for (name,) in moves._rows("SELECT DISTINCT action_name FROM audit")}
        if not never:
            break
    assert not never
    history.empty()
    for table in TABLES:
        assert moves._rows(f"SELECT count(*) FROM {table}") == [(0,)], table
    names = {path.name for path in moves.desk.library.recipe.glob("*.yaml")}
    assert not names & {"setup.yaml", "recipe.yaml", "overrides.yaml", "started.yaml", "proposed.yaml"}


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_many_random_histories_come_back_exactly(make_engine: Callable[..., Engine], tmp_path: Path) -> None:
    for seed in range(100, 106):
        begin(make_engine, tmp_path, seed)[0].run(60)
