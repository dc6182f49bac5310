"""Random histories of readings, verdicts, samples, proposals, rights, workflows, chains and waiting runs: undo is exact, its
refusals are predicted.
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable
from typing import Any

import pytest

from armarium.engine import Engine
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium.store.database import raw_of
from armarium_source_model.api import counting_of_segments
from armarium_testing.histories import Histories, Move, World

FAMILIES = ("documents", "source_model", "reading", "rights", "checking", "workflows")
OURS = ("rights", "checking", "workflows")
Chosen = tuple[str, dict[str, Any]] | None
LEFT_OUT = {
    "check.cancel": "not undone",
    "check.run": "puts a job into the queue, and writes nothing else",
    "run.delete_checkpoint": "not undone",
    "workflow.execute_in_job": "as workflow.execute, beneath a job that goes on",
}
"""Actions of these families that are in no history, and why."""
NODES = [{"id": "pages", "tool": "input"}, {"id": "result", "tool": "output"}]
EDGE = {"id": "e", "source": "pages", "source_port": "pages", "target": "result", "target_port": "value"}


class Moves:
    """Random moves on two pages of six lines each, while no job runs; some of them are refused, as they should be."""

    def __init__(self, engine: Engine, library: Library) -> None:
        self.engine, self.library = engine, library
        self.run("background.pause", {"paused": True})
        self.pages = []
        for _ in range(2):
            page = self.run("document.create", {"name": "Page", "doc_type": "page"})["id"]
            lines = [
                {"key": str(n), "rect": [0.1, 0.1 + n / 8, 0.8, 0.1], "text": "Dear Sir"} for n in range(6)
            ]
            made = {"document_id": page, "name": "Read", "provider": "one", "lines": lines}
            self.run("segment.take_lines", made)
            self.pages.append(str(page))

    def run(self, name: str, params: dict[str, Any]) -> dict[str, Any]:
        return self.engine.run(self.library, name, params, LOCAL_OWNER).result or {}

    def all(self) -> list[Move]:
        """Return every move, the commonest twice."""
        often = [self.verdict, self.read, self.restrict, self.execute, self.stop, self.sample, self.answer]
        return [*often, *often, self.extend, self.remove_sample, self.decide, self.take, self.correct, self.choose, self.withdraw, self.save, self.change, self.remove,
                self.chain, self.change_chain, self.remove_chain, self.execute_chain, self.again, self.clear]  # fmt: skip

    def _one(self, chance: random.Random, query: str) -> str | None:
        with self.library.db.read() as conn:
            rows = raw_of(conn).execute(query).fetchall()
        return str(chance.choice(rows)[0]) if rows else None

    def _of(self, chance: random.Random, query: str, action: str, key: str, **more: Any) -> Chosen:
        found = self._one(chance, query)
        return found and (action, {key: found, **more})  # type: ignore[return-value]

    def read(self, chance: random.Random, _: World) -> Chosen:
        """Read a page by another reader."""
        page = chance.choice(self.pages)
        pass_id = self._one(chance, f"SELECT id FROM segment_pass WHERE document_id = '{page}'")
        line = self._one(chance, f"SELECT id FROM segment WHERE pass_id = '{pass_id}' ORDER BY id")
        text = chance.choice(("Deer Sir", "Dear Sirs"))
        readings = [
            {"segment_id": line, "text": text, "places": _places(text) if chance.random() < 0.5 else None}
        ]
        given = {"document_id": page, "pass_id": pass_id, "provider": chance.choice(("two", "three"))}
        return "reading.take", {**given, "readings": readings}

    def correct(self, chance: random.Random, _: World) -> Chosen:
        lines = "SELECT id FROM segment ORDER BY id"
        return self._of(chance, lines, "representation.create", "segment_id", text=chance.choice("ab"))

    def choose(self, chance: random.Random, _: World) -> Chosen:
        reading = self._one(chance, "SELECT id FROM content_representation ORDER BY id")
        line = self._one(chance, f"SELECT segment_id FROM content_representation WHERE id = '{reading}'")
        given = {"segment_id": line, "kind": "transcription", "representation_id": reading}
        return "reading.choose", given

    def verdict(self, chance: random.Random, _: World) -> Chosen:
        said = {"layer": "readings", "verdict": chance.choice(("confirm", "reject")), "reasons": "Seen"}
        readings = "SELECT id FROM content_representation ORDER BY id"
        return self._of(chance, readings, "check.verdict", "target_id", **said)

    def take(self, chance: random.Random, _: World) -> Chosen:
        reading = self._one(chance, "SELECT id FROM content_representation ORDER BY id")
        one = {"target_id": reading, "verdict": "confirm", "reasons": "So"}
        who = {"provider": "builtin", "model": "agreement"}
        given = {"layer": "readings", "kind": "transcription", "checker": who}
        return "check.take", {**given, "verdicts": [one]}

    def sample(self, chance: random.Random, _: World) -> Chosen:
        """Draw lines to state the error rate of a page or of both."""
        pages = chance.choice((self.pages, self.pages[:1]))
        way = chance.choice(("blind", "confirm"))
        return "quality.sample", {"scope_ids": pages, "lines": 10, "seed": chance.randrange(9), "way": way}

    def extend(self, chance: random.Random, _: World) -> Chosen:
        """Draw more; there are some where a sample has fewer lines than its pages."""
        samples = "SELECT id FROM quality_sample ORDER BY id"
        return self._of(chance, samples, "quality.extend", "sample_id", lines=1)

    def answer(self, chance: random.Random, _: World) -> Chosen:
        said: dict[str, Any] = chance.choice(({"text": "Dear Sir"}, {"illegible": True}))
        lines = "SELECT id FROM quality_line ORDER BY id"
        return self._of(chance, lines, "quality.answer", "line_id", replace=chance.random() < 0.5, **said)

    def remove_sample(self, chance: random.Random, _: World) -> Chosen:
        return self._of(chance, "SELECT id FROM quality_sample ORDER BY id", "quality.remove", "sample_id")

    def decide(self, chance: random.Random, _: World) -> Chosen:
        """Say of the first letters of each line of a page whether they were misread."""
        lines = f"SELECT id FROM segment WHERE document_id = '{chance.choice(self.pages)}' AND deleted_at IS NULL ORDER BY id"
        with self.library.db.read() as conn:
            counting = counting_of_segments(conn, [row[0] for row in raw_of(conn).execute(lines)])
        decided: dict[str, list[dict[str, Any]]] = {"accepted": [], "rejected": []}
        for line, shown in sorted(counting.items()):
            place = {
                "segment_id": line,
                "reading_id": shown.representation_id,
                "char_start": 0,
                "char_end": 1,
            }
            item = {**place, "read": shown.text[:1], "proposed": chance.choice("XYZ")}
            decided[chance.choice(("accepted", "rejected"))].append(item)
        return ("proposal.decide", decided) if counting else None

    def restrict(self, chance: random.Random, _: World) -> Chosen:
        about = chance.choice(
            (
                {"target_kind": "library", "target_id": "library"},
                {"target_kind": "document", "target_id": chance.choice(self.pages)},
            )
        )
        return "rights.set", {
            **about,
            "restricted": chance.random() < 0.5,
            "model_use": chance.choice((None, "local")),
        }

    def withdraw(self, chance: random.Random, _: World) -> Chosen:
        return self._of(chance, "SELECT id FROM rights_record ORDER BY id", "rights.withdraw", "record_id")

    def save(self, chance: random.Random, _: World) -> Chosen:
        return "workflow.create", {"name": chance.choice("AB"), "nodes": NODES, "edges": [EDGE]}

    def change(self, chance: random.Random, _: World) -> Chosen:
        anew = {"name": chance.choice("CD"), "nodes": NODES, "edges": [EDGE], "tags": [chance.choice("xy")]}
        return self._of(
            chance, "SELECT id FROM workflow ORDER BY id", "workflow.update", "workflow_id", **anew
        )

    def remove(self, chance: random.Random, _: World) -> Chosen:
        return self._of(chance, "SELECT id FROM workflow ORDER BY id", "workflow.delete", "workflow_id")

    def _steps(self, chance: random.Random) -> list[dict[str, Any]]:
        found = self._one(chance, "SELECT id FROM workflow ORDER BY id")
        return [{"id": "a", "workflow_id": found, "name": chance.choice("AB")}] if found else []

    def chain(self, chance: random.Random, _: World) -> Chosen:
        return "chain.create", {"name": "A chain", "steps": self._steps(chance)}

    def change_chain(self, chance: random.Random, _: World) -> Chosen:
        anew = {"name": chance.choice("CD"), "steps": self._steps(chance)}
        return self._of(
            chance, "SELECT id FROM workflow_chain ORDER BY id", "chain.update", "chain_id", **anew
        )

    def remove_chain(self, chance: random.Random, _: World) -> Chosen:
        return self._of(chance, "SELECT id FROM workflow_chain ORDER BY id", "chain.delete", "chain_id")

    def execute_chain(self, chance: random.Random, _: World) -> Chosen:
        inputs = {"scope_ids": self.pages}
        chains = "SELECT id FROM workflow_chain ORDER BY id"
        return self._of(chance, chains, "chain.execute", "chain_id", inputs=inputs)

    def execute(self, chance: random.Random, _: World) -> Chosen:
        given = {"scope_ids": [chance.choice(self.pages)]}
        return self._of(
            chance, "SELECT id FROM workflow ORDER BY id", "workflow.execute", "workflow_id", **given
        )

    def stop(self, chance: random.Random, _: World) -> Chosen:
        action = chance.choice(("run.pause", "run.resume", "run.cancel"))
        return self._of(chance, "SELECT thread_id FROM workflow_run ORDER BY thread_id", action, "thread_id")

    def again(self, chance: random.Random, _: World) -> Chosen:
        runs = "SELECT thread_id FROM workflow_run ORDER BY thread_id"
        return self._of(chance, runs, "run.read_again", "thread_id")

    def clear(self, chance: random.Random, _: World) -> Chosen:
        return "run.delete", {"statuses": ["cancelled"]}


def _places(text: str) -> dict[str, Any]:
    """Where the letters of a reading stand: side by side, each with another that the reader saw."""
    share = 10_000 // len(text)
    letters = [value for at in range(len(text)) for value in (share * at, share * (at + 1), 0, 10_000, 9_000)]
    return {
        "frame": [0.1, 0.1, 0.8, 0, 0, 0.1],
        "letters": letters,
        "others": {"1": [["c", 0.1]]},
        "fit": 0.5,
    }


def start(make_engine: Callable[..., Engine], tmp_path: Any, seed: int) -> Histories:
    made = [importlib.import_module(f"armarium_{name}.plugin").armarium_plugin() for name in FAMILIES]
    engine = make_engine(plugins=made, state=f"state-{seed}")
    place = tmp_path / f"{seed}.library"
    engine.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER)
    library = engine.libraries.get(place)
    return Histories(engine, library, Moves(engine, library).all(), seed=seed)


def prove(make_engine: Callable[..., Engine], tmp_path: Any, seeds: range, sequences: int) -> None:
    for seed in seeds:
        tally = start(make_engine, tmp_path, seed).run(sequences)
        assert tally.undone > 0
        assert not set(tally.refused) - {"changed", "already-undone"}


@pytest.mark.slow
def test_random_histories_come_back_exactly(make_engine: Callable[..., Engine], tmp_path: Any) -> None:
    prove(make_engine, tmp_path, range(3), 12)


@pytest.mark.slow
def test_every_move_is_made(make_engine: Callable[..., Engine], tmp_path: Any) -> None:
    """Each undoable action of rights, checking and workflows is done at least once."""
    history = start(make_engine, tmp_path, 5)
    ours = [importlib.import_module(f"armarium_{name}.plugin").armarium_plugin() for name in OURS]
    never = {action.name for plugin in ours for action in plugin.actions} - LEFT_OUT.keys()
    for _ in range(8):
        history.run(8, steps=25)
        with history.library.db.read() as conn:
            never -= {row[0] for row in raw_of(conn).execute("SELECT DISTINCT action_name FROM audit")}
        if not never:
            break
    assert not never


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_many_random_histories_come_back_exactly(make_engine: Callable[..., Engine], tmp_path: Any) -> None:
    prove(make_engine, tmp_path, range(100, 110), 100)
