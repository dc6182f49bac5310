"""Random histories of every action of this family, with segments deleted and merged among them: undo is
exact.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from map_project import MapProject

from armarium.api import Engine
from armarium.principals import LOCAL_OWNER
from armarium_documents.plugin import armarium_plugin as documents
from armarium_georeference.plugin import armarium_plugin
from armarium_source_model.plugin import armarium_plugin as source_model
from armarium_testing.histories import Histories, Move, World

Chosen = tuple[str, dict[str, Any]] | None
ANNOTATED = {
    "type": "Annotation",
    "target": {"source": {"width": 400, "height": 250}},
    "body": {
        "features": [
            {
                "properties": {"resourceCoords": [x, y]},
                "geometry": {"type": "Point", "coordinates": [x / 100, y / 100]},
            }
            for x, y in ((40, 40), (300, 50), (200, 200))
        ],
        "transformation": {"type": "polynomial", "options": {"order": 1}},
    },
}


class RandomSteps:
    """Random operations on a map with two passes."""

    def __init__(self, project: MapProject) -> None:
        self.project = project
        self.page, first = project.page()
        self.passes = [
            first,
            str(project.do("segment.pass_create", document_id=self.page, name="Other")["id"]),
        ]
        for pass_id in self.passes:
            project.segments(self.page, pass_id, [[0.1, 0.1 * n, 0.3, 0.05] for n in range(1, 6)])

    def all(self) -> list[Move]:
        """Return every operation, those that write control points several times."""
        often = [self.create, self.create, self.create, self.mark, self.mark, self.update, self.update]
        return [
            *often,
            self.remove,
            self.choose,
            self.choose,
            self.annotate,
            self.name,
            self.correct,
            self.merge,
            self.delete,
        ]

    def _one(self, chance: random.Random, query: str) -> Any:
        rows = self.project.rows(query)
        return chance.choice(rows) if rows else None

    def _place(self, chance: random.Random) -> dict[str, Any]:
        lon, lat = chance.randrange(-10, 10) / 4, 40 + chance.randrange(20) / 4
        if chance.random() < 0.5:
            return {"lon": lon, "lat": lat}
        return {"original_crs": "EPSG:3857", "original_x": lon * 100_000, "original_y": lat * 100_000}

    def _segment(self, chance: random.Random) -> Any:
        live = "WHERE deleted_at IS NULL " if chance.random() < 0.8 else ""
        return self._one(chance, f"SELECT id, pass_id FROM segment {live}ORDER BY id")

    def create(self, chance: random.Random, _: World) -> Chosen:
        segment = self._segment(chance)
        return segment and (
            "georeference.point_create", {"pass_id": segment[1], "segment_id": segment[0], **self._place(chance)}
        )  # fmt: skip

    def mark(self, chance: random.Random, _: World) -> Chosen:
        at = {"x": chance.randrange(11) / 10, "y": chance.randrange(11) / 10}
        return "georeference.point_create", {
            "pass_id": chance.choice(self.passes),
            **at,
            **self._place(chance),
        }

    def _point(self, chance: random.Random) -> Any:
        return self._one(chance, "SELECT id, pass_id FROM georeference_control_point ORDER BY id")

    def update(self, chance: random.Random, _: World) -> Chosen:
        point, other_segment = self._point(chance), self._segment(chance)
        what: list[dict[str, Any]] = [{"enabled": chance.random() < 0.6}, {"note": chance.choice(("x", None))}, self._place(chance),
                {"x": 0.3, "y": chance.random()}, {"segment_id": other_segment[0]} if other_segment else {}]  # fmt: skip
        return point and ("georeference.point_update", {"point_id": point[0], **chance.choice(what)})

    def remove(self, chance: random.Random, _: World) -> Chosen:
        point = self._point(chance)
        return point and ("georeference.point_delete", {"point_id": point[0]})

    def choose(self, chance: random.Random, _: World) -> Chosen:
        kind = chance.choice(("helmert", "polynomial1", "thin-plate-spline", None))
        return "georeference.set_type", {"pass_id": chance.choice(self.passes), "type": kind}

    def annotate(self, chance: random.Random, _: World) -> Chosen:
        return "georeference.read_annotation", {
            "pass_id": chance.choice(self.passes),
            "annotation": ANNOTATED,
        }

    def name(self, chance: random.Random, _: World) -> Chosen:
        segment = self._segment(chance)
        named = {"segment_id": segment and segment[0], "uri": f"https://example.org/{chance.randrange(3)}"}
        return segment and ("georeference.place_names", {"document_id": self.page, "placements": [named]})

    def correct(self, chance: random.Random, _: World) -> Chosen:
        segment = self._segment(chance)
        said = {"kind": "world-point", "text": chance.choice(("geo:40,2", "somewhere"))}
        return segment and ("representation.create", {"segment_id": segment[0], **said})

    def merge(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(
            chance,
            "SELECT a.id, b.id FROM segment a JOIN segment b USING (pass_id) WHERE a.id <> b.id AND a.deleted_at IS NULL"
            " AND b.deleted_at IS NULL ORDER BY a.id, b.id",
        )
        if not found or chance.random() > 0.4:
            return None
        return "segment.merge", {"segment_ids": list(found), "keep_id": found[0]}

    def delete(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(chance, "SELECT id, version FROM segment WHERE deleted_at IS NULL ORDER BY id")
        return found and ("segment.delete", {"segment_ids": [found[0]], "expected_versions": [found[1]]})


def is_a_second_point(
    rows: Mapping[str, Mapping[Any, Mapping[str, Any]]], table: str, row: Mapping[str, Any]
) -> bool:
    """Return whether a segment would be two control points of its pass."""
    if table != "georeference_control_point":
        return False
    own = (row["pass_id"], row["segment_id"])
    return any(
        one["id"] != row["id"] and (one["pass_id"], one["segment_id"]) == own for one in rows[table].values()
    )


def start(make_engine: Callable[..., Engine], tmp_path: Any, seed: int) -> tuple[Histories, MapProject]:
    engine = make_engine(plugins=[documents(), source_model(), armarium_plugin()], state=f"state-{seed}")
    place = tmp_path / f"{seed}.library"
    engine.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER)
    project = MapProject(engine, engine.libraries.get(place), None)
    return Histories(
        engine, project.library, RandomSteps(project).all(), seed=seed, laws=(is_a_second_point,)
    ), project


def prove(make_engine: Callable[..., Engine], tmp_path: Any, seeds: range, sequences: int) -> None:
    for seed in seeds:
        history, project = start(make_engine, tmp_path, seed)
        tally = history.run(sequences)
        assert tally.undone > 0
        assert not set(tally.refused) - {"changed", "already-undone"}
        history.empty()
        assert project.rows("SELECT count(*) FROM georeference_control_point") == [(0,)]


@pytest.mark.slow
def test_random_histories_come_back_exactly(make_engine: Callable[..., Engine], tmp_path: Any) -> None:
    prove(make_engine, tmp_path, range(2), 10)


@pytest.mark.slow
def test_every_action_runs(make_engine: Callable[..., Engine], tmp_path: Any) -> None:
    history, project = start(make_engine, tmp_path, 3)
    never = {action.name for action in armarium_plugin().actions}
    for _ in range(6):
        history.run(5, steps=25)
        never -= {name for (name,) in project.rows("SELECT DISTINCT action_name FROM audit")}
        if not never:
            break
    assert not never


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_many_random_histories_come_back_exactly(make_engine: Callable[..., Engine], tmp_path: Any) -> None:
    prove(make_engine, tmp_path, range(100, 110), 100)
