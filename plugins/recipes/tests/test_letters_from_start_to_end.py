"""A box of typed letters, from five answers to a searchable text, read by what is installed here, and undone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from start_fixtures import URL, Desk

from armarium.api import Engine, Library
from armarium_demo.samples import sample_pages
from armarium_source_model.api import page_text

ANSWERS = {
    "purposes": ["entities"],
    "languages": ["en"],
    "scripts": ["Latn"],
    "materials": ["typescript"],
}


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"[a-z]+", text.lower()) if len(word) > 3}


def _texts(library: Library, run: dict[str, Any]) -> list[str]:
    with library.db.read() as conn:
        return [page_text(conn, page).text for page in run["page_ids"]]


@pytest.mark.slow
def test_letters_are_read_and_named_from_start_to_end_and_undone_as_sets(
    engine: Engine, library: Library, client: Any, tmp_path: Path
) -> None:
    """The pages are drawn from known texts; RapidOCR reads them."""
    pytest.importorskip("rapidocr")
    desk = Desk(engine, library, client)
    folder = tmp_path / "letters"
    folder.mkdir()
    pages = [page for page in sample_pages(count=4) if not page.is_blank][:3]
    for page in pages:
        (folder / f"{page.name}.jpg").write_bytes(page.jpeg)
    desk.do("document.import", {"folder": str(folder)})
    desk.work()
    recipe = client.post("/api/recipes/assemble", json=ANSWERS).json()["recipe"]
    saved = client.put(URL, json={"answers": ANSWERS, "recipe": recipe})
    assert saved.status_code == 200, saved.text
    plan = desk.plan()
    assert plan["refusals"] == [], plan
    assert plan["pages"] == len(pages)
    run = desk.run_whole()
    assert run["state"] == "done", run
    summary = desk.get(f"/runs/{run['job_id']}/summary")
    assert (summary["pages_read"], summary["finished"]) == (len(pages), True)
    for page, text in zip(sorted(pages, key=lambda one: one.name), _texts(library, run), strict=True):
        truth = _words(page.text)
        assert len(truth & _words(text)) >= 0.8 * len(truth), (page.name, text)
    # One undo of the run's set reverts what every card wrote: each step carries the set of its workflow.
    steps = client.get("/api/actions/audit", params={"set_id": run["job_id"]}).json()["items"]
    undo = {"audit_ids": [step["id"] for step in steps if step["undoable"]]}
    answer = client.post("/api/actions/audit/undo", json=undo)
    assert answer.status_code == 200, answer.text
    assert all(run["done"] == 0 for run in desk.plan()["runs"] if not run["note"])
    assert _texts(library, run) == ["", "", ""]
