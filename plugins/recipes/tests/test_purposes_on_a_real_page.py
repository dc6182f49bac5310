"""Five purposes, one after the other, on a page of a notebook of the 1930s.

RapidOCR finds its lines and the base reader of handwriting reads them; a provider on this machine, which answers from
the known text with planted errors and says so, does the rest.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from rapidfuzz.distance import Levenshtein
from start_fixtures import URL, Desk

from armarium.api import Engine, Library
from armarium_source_model.api import page_text
from armarium_testing.truthful_provider import NAME, TruthfulProvider

DATA = Path(os.environ.get("ARMARIUM_SHARED_DATA", Path(__file__).resolve().parents[4] / "shared" / "data"))
PICTURE = DATA / "onehand-peraire" / "D.2.eurasie-3-4_0016.jpg"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not DATA.is_dir(), reason="the shared sample pages are not beside this checkout"),
]

MAKES = {
    "transcribe": ("readings", "segments", "files", "sites"),
    "entities": ("names", "entities"),
    "search": ("vectors",),
    "translate-normalise": ("readings",),
    "tables": ("tables",),
}
"""What each purpose adds to the results of those before it."""
TABLES = {
    "readings": "content_representation WHERE retracted = 0",
    "segments": "segment WHERE deleted_at IS NULL",
    "names": "mention",
    "entities": "entity",
    "tables": "artifact",
    "files": "export_kept",
    "sites": "export_site",
}


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """An engine with every installed family."""
    return make_engine()


def truth() -> list[str]:
    """Return the lines of the page as they were transcribed."""
    root = ElementTree.parse(PICTURE.with_suffix(".xml")).getroot()
    lines = [element.get("CONTENT") or "" for element in root.iter() if element.tag.endswith("}String")]
    return [line for line in lines if line.strip()]


@pytest.fixture
def desk(engine: Engine, library: Library, client: Any, tmp_path: Path) -> Iterator[Desk]:
    """The page in a project, and the provider."""
    pytest.importorskip("rapidocr")
    box = tmp_path / "box"
    box.mkdir()
    shutil.copy(PICTURE, box)
    (tmp_path / "export").mkdir()
    with TruthfulProvider(truth()) as provider:
        new_desk = Desk(engine, library, client)
        provider.add_to(engine, NAME)
        new_desk.do("document.import", {"folder": str(box)})
        new_desk.work()
        yield new_desk


def count_made(desk: Desk) -> dict[str, int]:
    """Return how many rows of each kind the project has."""
    with desk.library.db.read() as conn:
        return {
            what: int(conn.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one())
            for what, table in TABLES.items()
        }


def set_up(desk: Desk, purpose: str, folder: Path) -> None:
    """Save answers to the setup, and the folders of the export and the site."""
    answers = {
        "purposes": [purpose],
        "languages": ["fr"],
        "scripts": ["Latn"],
        "materials": ["handwriting"],
        "layers": ["output"],
    }
    recipe = desk.client.post("/api/recipes/assemble", json=answers).json()["recipe"]
    for step in recipe["steps"]:
        if step["job"] in ("export", "publish"):
            step["settings"]["folder"] = str(folder / step["job"])
    saved = desk.client.put(URL, json={"answers": answers, "recipe": recipe})
    assert saved.status_code == 200, saved.text


def test_five_purposes_run_to_their_ends_and_are_undone_as_sets(desk: Desk, tmp_path: Path) -> None:
    """Each keeps the results of those before it; undone newest first, each leaves the previous state."""
    lines = truth()
    runs: list[tuple[str, dict[str, int]]] = []
    for purpose, adds in MAKES.items():
        before = count_made(desk)
        set_up(desk, purpose, tmp_path)
        plan = desk.plan()
        assert (plan["refusals"], plan["skipped"]) == ([], []), purpose
        run = desk.run_whole()
        assert run["state"] == "done", (purpose, run["reason"])
        cards = {card["id"]: card for card in run["cards"]}
        assert {card["state"] for card in cards.values()} == {"done"}, run["cards"]
        assert not any(card["account"]["failed"] for card in cards.values()), run["cards"]
        after = count_made(desk)
        assert {what for what in adds if what in TABLES and after[what] > before[what]} == set(adds) - {
            "vectors"
        }, (purpose, before, after)
        if "vectors" in adds:
            assert cards["vectors"]["account"]["done"] == 1
        if runs:
            # What an earlier purpose did is not done again.
            assert cards["read"]["why"] == "Every page has already been through it."
        else:
            with desk.library.db.read() as conn:
                text = page_text(conn, run["page_ids"][0]).text
            # The provider plants errors; what it corrected differs from the truth in fewer than 17 of 100 letters.
            assert Levenshtein.normalized_distance("\n".join(lines), text) < 0.17
        runs.append((run["job_id"], before))
    (path,) = list((tmp_path / "export").rglob("*.xml"))
    assert "manifold" in path.read_text("utf-8").lower()
    assert (tmp_path / "publish" / "eleventy.config.js").is_file()
    for job_id, before in reversed(runs):
        query = {"set_id": job_id, "limit": 500}
        steps = desk.client.get("/api/actions/audit", params=query).json()["items"]
        undo = {"audit_ids": [step["id"] for step in steps if step["undoable"]]}
        answer = desk.client.post("/api/actions/audit/undo", json=undo)
        assert answer.status_code == 200, answer.text
        assert count_made(desk) == before
