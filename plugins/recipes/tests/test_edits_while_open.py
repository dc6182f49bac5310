"""Files in the folder `recipe` that are edited by hand while the project is open: noticed when the recipe is next used."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml
from start_fixtures import Desk, step

from armarium.api import Engine, Library
from armarium_recipes.actions.setup import example_answers, example_recipe
from armarium_recipes.project import files

URL = "/api/recipes/project"


@pytest.fixture
def desk(engine: Engine, library: Library, client: Any) -> Desk:
    """The project of this module's tests."""
    return Desk(engine, library, client)


def edit(path: Path, before: str, after: str) -> None:
    """Edit a file as an editor does, long enough ago for the edit to be complete."""
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after, 1))
    os.utime(path, (1, path.stat().st_size))


def file_state(client: Any, name: str = "recipe.yaml") -> dict[str, Any]:
    """Return the state of a file."""
    file: dict[str, Any] = next(file for file in client.get(URL).json()["files"] if file["name"] == name)
    return file


def saves_of(client: Any) -> list[dict[str, Any]]:
    """Return the steps that saved the recipe, oldest first."""
    response: list[dict[str, Any]] = client.get("/api/actions/audit", params={"limit": 100}).json()["items"]
    return [one for one in response[::-1] if one["action_name"] == "project.save_setup"]


LOOKS = {
    "the recipe": ("GET", URL, None),
    "the plan": ("GET", f"{URL}/start", None),
    "what happens by itself": ("GET", f"{URL}/automatic", None),
    "candidates": ("GET", "/api/recipes/candidates?step=order", None),
    "a check": ("POST", "/api/recipes/check", {"recipe": {}}),
    "assembling": ("POST", "/api/recipes/assemble", example_answers()),
    "Start, refused or not": ("POST", f"{URL}/start", {"redo": ["no such step"]}),
    "a choice, refused": ("POST", f"{URL}/steps/use-candidate", {"step": "x", "card": "builtin:x@1"}),
    "a layer, refused": ("POST", f"{URL}/layers", {"layers": ["no such layer"]}),
    "a bake-off, refused": ("POST", f"{URL}/bakeoffs", {}),
}


def test_an_edit_is_taken_in_before_the_recipe_is_looked_at(desk: Desk) -> None:
    """It becomes a step of its own that anyone can undo, whichever request notices it."""
    desk.client.put(URL, json={"answers": example_answers(), "recipe": example_recipe()})
    path = desk.library.recipe / "recipe.yaml"
    for look, (method, asked, body) in LOOKS.items():
        edit(path, "Typed letters", look)
        assert desk.client.request(method, asked, json=body).status_code < 500
        taken = saves_of(desk.client)[-1]
        assert taken["actor"] == {"kind": "machine", "name": "recipe files"}, look
        assert desk.client.get(URL).json()["recipe"]["title"] == look
        assert file_state(desk.client)["state"] == "in-step"
        undone = desk.client.post("/api/actions/audit/undo", json={"audit_ids": [taken["id"]]})
        assert undone.status_code == 200, undone.text
        assert "Typed letters" in path.read_text()


def test_a_faulty_edit_is_refused_with_its_line_once_and_taken_in_when_it_is_mended(desk: Desk) -> None:
    desk.client.put(URL, json={"recipe": example_recipe()})
    path = desk.library.recipe / "recipe.yaml"
    edit(path, "job: find-lines", "job: find-lines\n  command: rm -rf")
    line = next(n for n, text in enumerate(path.read_text().splitlines(), 1) if "command" in text)
    assert (file_state(desk.client)["state"], file_state(desk.client)["line"]) == ("refused", line)
    assert desk.plan()["refusals"] is not None
    assert len(saves_of(desk.client)) == 1
    edit(path, "\n  command: rm -rf", "")
    edit(path, "Typed letters", "Mended")
    assert file_state(desk.client)["state"] == "in-step"
    assert desk.client.get(URL).json()["recipe"]["title"] == "Mended"


def test_where_the_project_changed_before_anyone_looked_both_are_kept(desk: Desk) -> None:
    desk.client.put(URL, json={"recipe": example_recipe()})
    edit(desk.library.recipe / "recipe.yaml", "Typed letters", "By hand")
    desk.client.put(URL, json={"recipe": {**example_recipe(), "title": "By the route"}})
    assert file_state(desk.client)["state"] == "both-changed"
    assert desk.client.get(URL).json()["recipe"]["title"] == "By the route"
    assert "By hand" in (desk.library.recipe / "recipe.yaml").read_text()
    assert "By the route" in (desk.library.recipe / "recipe.project.yaml").read_text()


def test_where_nothing_was_edited_nothing_is_read_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no wait for the files that the project wrote itself either."""
    desk.client.put(URL, json={"answers": example_answers(), "recipe": example_recipe()})
    desk.plan()
    monkeypatch.setattr(files, "settle", lambda *_: pytest.fail("the files were settled"))
    monkeypatch.setattr(files, "read_file", lambda *_: pytest.fail("a file was read"))
    desk.plan()
    desk.client.get(URL)


def test_a_file_that_is_being_written_is_waited_for(desk: Desk) -> None:
    """A half-written file can be a valid recipe; it must never become the project's."""
    desk.client.put(URL, json={"recipe": example_recipe()})
    path = desk.library.recipe / "recipe.yaml"
    whole = path.read_text().replace("Typed letters", "Whole")
    half = whole[: whole.index("steps:")]
    path.write_text(half)
    thread = Thread(target=lambda: desk.client.get(URL))
    thread.start()
    path.write_text(whole)
    thread.join()
    assert len(desk.client.get(URL).json()["recipe"]["steps"]) == 2
    assert len(saves_of(desk.client)) == 2


def test_a_recipe_edited_during_a_run_applies_to_the_next_run(desk: Desk) -> None:
    """The run keeps the recipe it was started with; the project's version increases."""
    desk.pages(2)
    desk.recipe(step("split-pages", "prepare", "split"))
    job_id = desk.start()["started"]["job_id"]
    edit(desk.library.recipe / "recipe.yaml", "title: Test", "title: Edited")
    assert desk.plan()["refusals"] is not None
    assert desk.client.get(URL).json()["recipe"]["version"] == 2
    desk.work()
    run = desk.run(job_id)
    assert (run["state"], run["recipe_version"]) == ("done", 1)


def test_an_import_after_start_runs_what_the_edited_file_says(desk: Desk, tmp_path: Path) -> None:
    desk.pages(1)
    desk.recipe(step("split-pages", "prepare", "split"), step("put-in-order", "lines", "order"))
    desk.run_whole()
    path = desk.library.recipe / "recipe.yaml"
    values = yaml.safe_load(path.read_text())
    values["steps"] = values["steps"][:1]
    path.write_text(yaml.safe_dump(values))
    os.utime(path, (1, 1))
    desk.pages(1)
    desk.work()
    run = desk.get("/runs")["items"][0]
    assert (run["started_by"], run["state"]) == ("import", "done")
    assert [card["job"] for card in run["cards"]] == ["split-pages"]
