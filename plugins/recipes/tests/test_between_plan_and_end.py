"""Changes between the plan and Start or during a run: versions, models, folders, choices that are undone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bakeoff_fixtures
import bakeoff_readers as readers
import pytest
from start_fixtures import URL, Desk, step

from armarium.api import Engine, Library
from armarium_recipes.cards.sources import cards_here

ORDER = step("put-in-order", "lines", "order")
READ = {"id": "read", "job": "read-a-line", "layer": "reading"}


@pytest.fixture
def desk(engine: Engine, library: Library, client: Any) -> Desk:
    """The project of this module's tests."""
    return Desk(engine, library, client)


def test_a_version_raised_after_the_plan_was_looked_at_refuses_start(desk: Desk) -> None:
    """Nothing is queued; Start with the current version succeeds."""
    desk.lines(desk.pages(1)[0])
    desk.recipe(ORDER)
    version = desk.get("")["recipe"]["version"]
    desk.recipe(ORDER, title="Changed meanwhile")
    refused = desk.start(409, recipe_version=version)
    assert refused["code"] == "stale_version", refused
    assert desk.get("/runs")["items"] == []
    assert desk.start(recipe_version=version + 1)["started"]["recipe_version"] == version + 1


def test_a_model_removed_after_the_plan_was_looked_at_refuses_start(desk: Desk) -> None:
    """The refusal names the missing model."""
    given = bakeoff_fixtures.Desk(desk.engine, desk.library, desk.client)
    given.give(readers.First, readers.Second)
    desk.lines(desk.pages(1)[0])
    card = next(card for card in cards_here(desk.engine, desk.library) if card.reader == "first")
    desk.recipe({**READ, "card": {"id": card.id, "source": card.source}})
    assert desk.plan()["refusals"] == []
    given.give(readers.Second)
    refused = desk.start(422)
    assert refused["code"] == "start_refused", refused
    assert card.id in refused["detail"]
    assert desk.get("/runs")["items"] == []


def test_the_override_of_a_deleted_folder_is_ignored_and_applies_again_after_restoring(
    desk: Desk, client: Any
) -> None:
    """Plan and Start use the project's card instead; once the folder is restored, its own card applies again."""
    bakeoff_fixtures.Desk(desk.engine, desk.library, desk.client).give(readers.First, readers.Second)
    box, other_folder = desk.folder("Box"), desk.folder("Other")
    for page in (*desk.pages(1, box), *desk.pages(2, other_folder)):
        desk.lines(page)
    own, special = (
        next(card for card in cards_here(desk.engine, desk.library) if card.reader == name)
        for name in ("first", "second")
    )
    desk.recipe({**READ, "card": {"id": own.id, "source": own.source}})
    override = {"scope": "folder", "folder_id": box, "step": "read"}
    override["card"] = {"id": special.id, "source": special.source}
    assert client.put(URL, json={"overrides": [override]}).status_code == 200
    both = [(run["of"], run["provider_override"]) for run in desk.plan()["runs"]]
    assert both == [(2, own.reader), (1, special.reader)]
    deleted = desk.engine.run(desk.library, "document.delete", {"ids": [box]}, bakeoff_fixtures.LOCAL_OWNER)
    plan = desk.plan()
    assert plan["refusals"] == []
    assert [(run["of"], run["provider_override"]) for run in plan["runs"]] == [(2, own.reader)]
    client.post("/api/actions/audit/undo", json={"audit_ids": [deleted.audit_id]})
    assert [(run["of"], run["provider_override"]) for run in desk.plan()["runs"]] == both


def test_a_layer_named_twice_in_one_request_is_refused(desk: Desk, client: Any) -> None:
    answers = {"purposes": ["transcribe"], "languages": ["en"], "scripts": ["Latn"], "materials": ["print"]}
    body = client.post("/api/recipes/assemble", json=answers).json()["recipe"]
    client.put(URL, json={"answers": answers, "recipe": body})
    twice = client.post(f"{URL}/layers", json={"layers": ["entities", "entities"]})
    assert (twice.status_code, twice.json()["code"]) == (422, "already_there")
    # A language has several spellings, which all mean the same one.
    for languages in (["de", "deu"], ["eng"], ["EN"]):
        twice = client.post(f"{URL}/layers", json={"languages": languages})
        assert (twice.status_code, twice.json()["code"]) == (422, "already_there")
    assert desk.get("")["recipe"]["version"] == 1
    assert client.post(f"{URL}/layers", json={"languages": ["deu"]}).json()["proposed"]["languages"] == ["de"]
    answer = client.post(f"{URL}/layers", json={"languages": ["ger"], "remove": True})
    assert (desk.get("")["answers"]["languages"], answer.json()["proposed"]) == (["en"], None)


def test_undo_of_use_this_during_a_run_leaves_the_run_as_it_was_started(desk: Desk, client: Any) -> None:
    """The run uses the reader it was started with; the next Start uses the previous one."""
    given = bakeoff_fixtures.Desk(desk.engine, desk.library, desk.client)
    given.give(readers.First, readers.Second)
    given.set_up()
    page, _ = given.page()
    given.page(shade=bakeoff_fixtures.DARK)
    first, second = (
        next(card for card in cards_here(desk.engine, desk.library) if card.reader == name)
        for name in ("first", "second")
    )
    result = given.run()
    desk.recipe(
        {**READ, "card": {"id": first.id, "source": first.source}}, answers={"materials": ["handwriting"]}
    )
    used = client.post(f"{bakeoff_fixtures.URL}/{result['id']}/use", json={"card": second.id})
    assert used.status_code == 200, used.text
    job_id = desk.start(redo=["read"])["started"]["job_id"]
    undone = client.post("/api/actions/audit/undo", json={"audit_ids": [used.json()["audit_id"]]})
    assert undone.status_code == 200, undone.text
    desk.work()
    run = desk.run(job_id)
    assert run["state"] == "done", run
    asked = "SELECT DISTINCT producer_tool FROM content_representation WHERE document_id = ? AND run_id IS NOT NULL"
    assert given.rows(asked, page) == [("second",)]
    assert desk.plan()["runs"] == [] or desk.plan()["runs"][0]["provider_override"] == "first"
    assert desk.get("")["recipe"]["steps"][0]["card"]["id"] == first.id


@pytest.mark.parametrize("job", ["export", "publish"])
def test_a_folder_that_is_not_there_is_named_by_the_check_and_in_the_plan(
    desk: Desk, tmp_path: Path, job: str
) -> None:
    """The plan says so before the run does. The other steps run; once the folder exists, the step runs too."""
    desk.pages(1)
    missing = tmp_path / "gone"
    folder = missing if job == "export" else missing / "site"
    wrong = step(job, "output", "out", settings={"folder": str(folder)})
    saved = desk.recipe(step("put-in-order", "lines", "order"), wrong)
    answer = desk.client.post("/api/recipes/check", json={"recipe": saved["recipe"]}).json()
    assert [(problem["step"], problem["kind"], problem["fix"]) for problem in answer["problems"]] == [
        ("out", "no-model-for-job", None)
    ]
    assert str(missing) in answer["problems"][0]["sentence"]
    plan = desk.plan()
    assert plan["refusals"] == []
    assert [(entry["step"], entry["fix"]) for entry in plan["skipped"]] == [("out", None)]
    assert "does not exist. Create it first" in plan["skipped"][0]["why"]
    missing.mkdir()
    assert desk.plan()["skipped"] == []
    assert desk.client.post("/api/recipes/check", json={"recipe": saved["recipe"]}).json()["ok"]


def test_a_token_with_granted_folders_cannot_learn_whether_others_exist(
    desk: Desk, engine: Engine, library: Library, tmp_path: Path
) -> None:
    """A plan says the same of an existing folder and of one that does not exist."""
    body = {"name": "guest", "role": "editor", "libraries": [str(library.path)], "folders": []}
    response = desk.client.post("/api/tokens", json=body)
    assert response.status_code == 200, response.text
    guest = {"Authorization": f"Bearer {response.json()['token']}"}
    (tmp_path / "there").mkdir()
    said = []
    for name in ("there", "gone"):
        desk.recipe(step("export", "output", settings={"folder": str(tmp_path / name)}))
        plan = desk.client.get(f"{URL}/start", headers=guest)
        assert plan.status_code == 200, plan.text
        said.append([entry["why"].replace(name, "") for entry in plan.json()["skipped"]])
    assert said[0] == said[1]
    assert "granted to this token" in said[0][0]
