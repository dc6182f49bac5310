"""Recipes of every purpose, run to the end on a drawn letter.

Its lines are read by what is installed here; everything else is asked of a provider on this machine that answers from
the known text with planted errors. What a run made is undone and redone as one set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from start_fixtures import URL, Desk

from armarium.api import Engine, Library
from armarium_demo.samples import SamplePage, sample_pages
from armarium_reading.jobs import asking
from armarium_recipes.knowledge.purposes import PURPOSES
from armarium_source_model.api import page_text
from armarium_testing.fixtures import http_client
from armarium_testing.truthful_provider import NAME, TruthfulProvider

pytestmark = pytest.mark.slow


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """An engine with every installed family."""
    return make_engine()


@dataclass
class LetterProject:
    """A letter in a project, and short ways to set up a recipe and count its results."""

    desk: Desk
    page: SamplePage
    page_id: str
    folder: Path
    provider: TruthfulProvider

    def set_up(self, purpose: str, **more: Any) -> dict[str, Any]:
        """Save answers to the setup and the settings that only a person can give, with an export and a site."""
        answers = {
            "purposes": [purpose],
            "languages": ["es"],
            "scripts": ["Latn"],
            "materials": ["typescript"],
            "layers": ["output"],
            **more,
        }
        recipe = self.desk.client.post("/api/recipes/assemble", json=answers).json()["recipe"]
        for step in recipe["steps"]:
            if step["job"] in ("export", "publish"):
                step["settings"]["folder"] = str(self.folder / step["job"])
            elif step["job"] in ("link-to-authorities", "place-in-a-gazetteer"):
                step["settings"]["file"] = str(self.folder / "names.csv")
        saved = self.desk.client.put(URL, json={"answers": answers, "recipe": recipe})
        assert saved.status_code == 200, saved.text
        answer: dict[str, Any] = saved.json()["recipe"]
        return answer

    def choose(self, step: str) -> None:
        """Choose the provider's model for a step."""
        items = self.desk.client.get("/api/recipes/candidates", params={"step": step}).json()["items"]
        body = {"step": step, "card": next(item["id"] for item in items if NAME in item["name"])}
        answer = self.desk.client.post(f"{URL}/steps/use-candidate", json=body)
        assert answer.status_code == 200, answer.text

    def rows(self, statement: str) -> list[Any]:
        """Return the rows of a query."""
        with self.desk.library.db.read() as conn:
            return [tuple(row) for row in conn.exec_driver_sql(statement)]

    def text(self) -> str:
        """Return the text of the page."""
        with self.desk.library.db.read() as conn:
            return page_text(conn, self.page_id).text

    def count_made(self) -> dict[str, int]:
        """Return how many rows of each kind the project has."""
        asked = {
            "readings": "content_representation WHERE retracted = 0",
            "names": "mention",
            "statements": "claim",
            "artifacts": "artifact",
        }
        return {name: self.rows(f"SELECT count(*) FROM {where}")[0][0] for name, where in asked.items()}


def _box(polygon: Any, page: SamplePage) -> list[float]:
    """Return the box around a polygon, in fractions of the picture."""
    left, right = min(x for x, _ in polygon), max(x for x, _ in polygon)
    top, bottom = min(y for _, y in polygon), max(y for _, y in polygon)
    size = (page.width, page.height) * 2
    return [one / of for one, of in zip((left, top, right - left, bottom - top), size, strict=True)]


@pytest.fixture
def walk(
    engine: Engine, library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[LetterProject]:
    """A letter whose lines are where they were drawn, as after an import of shapes without text."""
    pytest.importorskip("rapidocr")
    page = next(sample_page for sample_page in sample_pages(count=2, scale=0.5) if not sample_page.is_blank)
    box = tmp_path / "box"
    box.mkdir()
    (box / f"{page.name}.jpg").write_bytes(page.jpeg)
    (tmp_path / "export").mkdir()
    (tmp_path / "names.csv").write_text("name,uri,latitude,longitude\nLorenzo,http://a.org/1,1.5,2.5\n")
    monkeypatch.setattr(asking, "AT_ONCE", 1)
    client = http_client(engine, library)
    with TruthfulProvider([line.text for line in page.lines]) as provider:
        desk = Desk(engine, library, next(client))
        provider.add_to(engine, NAME)
        desk.do("document.import", {"folder": str(box)})
        desk.work()
        with library.db.read() as conn:
            asked = "SELECT id FROM document WHERE name LIKE '%.jpg'"
            page_id = str(conn.exec_driver_sql(asked).scalar_one())
        lines = [{"key": line.id, "rect": _box(line.polygon, page)} for line in page.lines]
        shapes = {"document_id": page_id, "name": "Shapes", "provider": "drawn", "model": "drawn"}
        desk.do("segment.take_lines", {**shapes, "lines": lines})
        # A name that the project knows is found without a model.
        desk.do("entity.create", {"canonical_name": "Lorenzo", "entity_type": "person"})
        yield LetterProject(desk, page, page_id, tmp_path, provider)
    client.close()


MAKES: dict[str, tuple[str, ...]] = {
    "transcribe": ("readings",),
    "entities": ("readings", "names"),
    "search": ("readings",),
    "statements": ("readings", "names", "statements"),
    "knowledge-graph": ("readings", "names", "statements"),
    "map-places": ("readings", "names"),
    "translate-normalise": ("readings",),
    "quotations": ("readings", "artifacts"),
    "catalogue": ("readings", "names", "artifacts"),
    "tables": ("readings", "artifacts"),
}
TOOLS = ("edit-corpus", "decipher", "not-sure")


def test_each_purpose_is_tried() -> None:
    assert {*MAKES, *TOOLS} == set(PURPOSES)
    assert [name for name, purpose in PURPOSES.items() if not purpose.runs_by_itself] == list(TOOLS)


@pytest.mark.parametrize("purpose", MAKES)
def test_a_recipe_runs_to_its_end_and_is_undone_and_redone(walk: LetterProject, purpose: str) -> None:
    """It makes what its purpose is for, and files and a site as well; undo and redo of its set are exact."""
    recipe = walk.set_up(purpose)
    jobs = [step["job"] for step in recipe["steps"]]
    assert set(PURPOSES[purpose].jobs) <= set(jobs)
    plan = walk.desk.plan()
    assert (plan["refusals"], plan["skipped"]) == ([], [])
    before = walk.count_made()
    run = walk.desk.run_whole()
    assert run["state"] == "done", run["reason"]
    assert {card["state"] for card in run["cards"]} == {"done"}, run["cards"]
    assert all(not card["account"]["failed"] for card in run["cards"])
    made = walk.count_made()
    assert {name for name in made if made[name] > before[name]} >= set(MAKES[purpose])
    summary = walk.desk.get(f"/runs/{run['job_id']}/summary")
    assert (summary["pages_read"], summary["finished"], summary["skipped"]) == (1, True, [])
    assert bool(summary["names"]) is ("find-names-tag-words" in jobs)
    assert bool(summary["statements"]) is ("find-statements" in jobs)
    if "correct" in jobs:
        # RapidOCR's errors are gone and the planted ones are there: the text is that of the correcting model.
        assert walk.text() == "\n".join(walk.provider.line(n) for n in range(len(walk.page.lines)))
        assert {row[0] for row in walk.rows("SELECT DISTINCT producer_tool FROM content_representation")} >= {
            NAME
        }
    (path,) = [path for path in (walk.folder / "export").rglob("*") if path.suffix in (".xml", ".txt", ".md")]
    assert "Recib" in path.read_text()
    assert (walk.folder / "publish" / "eleventy.config.js").is_file()

    job_id = run["job_id"]
    steps = walk.desk.client.get("/api/actions/audit", params={"set_id": job_id, "limit": 500}).json()[
        "items"
    ]
    undo = {"audit_ids": [step["id"] for step in steps if step["undoable"]]}
    answer = walk.desk.client.post("/api/actions/audit/undo", json=undo)
    assert answer.status_code == 200, answer.text
    assert walk.count_made() == before
    redo = walk.desk.client.post("/api/actions/audit/undo", json={"audit_ids": answer.json()["audit_ids"]})
    assert redo.status_code == 200, redo.text
    assert walk.count_made() == made


def test_handwriting_is_read_by_a_model_that_looks_at_pictures(walk: LetterProject) -> None:
    """A person chose the model for the step; it is asked once per line, and answers from the known text with planted
    errors.
    """
    walk.set_up("transcribe", materials=["handwriting"])
    walk.choose("read")
    run = walk.desk.run_whole()
    assert run["state"] == "done"
    assert walk.provider.pictures == len(walk.page.lines)
    assert walk.text() == "\n".join(walk.provider.line(n) for n in range(len(walk.page.lines)))


@pytest.mark.parametrize("purpose", TOOLS)
def test_tools_run_nothing_when_pages_are_imported(walk: LetterProject, purpose: str) -> None:
    """Not even after Start."""
    recipe = walk.set_up(purpose, jobs=["put-in-order"])
    assert recipe["steps"]
    assert walk.desk.run_whole()["state"] == "done"
    automatic = walk.desk.get("/automatic")
    assert all(not one["runs"] for one in automatic["on_add"] if one["steps"])
    walk.desk.pages(1)
    walk.desk.work()
    assert len(walk.desk.get("/runs")["items"]) == 1
