"""Start: the plan, starting, cards that run one after the other, pages that change meanwhile, undo."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from start_fixtures import URL, Desk, step

from armarium.api import Engine, Library

NAMES = step("find-names-tag-words", "entities", "names")
ORDER = step("put-in-order", "lines", "order")
SPLIT = step("split-pages", "prepare", "split")
CHECK = step("check", "check")


@pytest.fixture
def desk(engine: Engine, library: Library, client: Any) -> Desk:
    """The project of this module's tests."""
    return Desk(engine, library, client)


def test_without_a_recipe_start_is_refused_and_says_so(desk: Desk) -> None:
    """So is Start with a recipe but without pages."""
    assert [refusal["kind"] for refusal in desk.plan()["refusals"]] == ["no-recipe"]
    assert desk.start(422)["code"] == "start_refused"
    desk.recipe(ORDER)
    assert [refusal["kind"] for refusal in desk.plan()["refusals"]] == ["nothing-left"]


def test_the_plan_names_each_card_with_what_is_done_already(desk: Desk) -> None:
    """Names were found on one of three pages; for a check the plan cannot tell."""
    pages = desk.pages(3)
    for page in pages:
        desk.lines(page, ["Dear Mrs Woodward"])
    desk.recipe(ORDER, NAMES, CHECK)
    plan = desk.plan()
    assert [(run["id"], run["card"], run["done"], run["of"]) for run in plan["runs"]] == [
        ("order", "workflow", 0, 3),
        ("names", "workflow", 0, 3),
        ("check", "check", 0, 3),
    ]
    assert plan["runs"][0]["workflow_id"] == "system-put-in-order"
    assert "every page" in plan["runs"][2]["note"]
    assert (plan["runs"][2]["layer"], plan["runs"][2]["checker"]) == ("readings", "builtin/agreement")
    assert plan["pages"] == 3
    assert plan["estimate"]["total_cost_usd"] == 0


def test_a_run_does_its_cards_in_order_and_the_next_start_processes_only_what_is_new(
    desk: Desk, client: Any
) -> None:
    """After the run a page is added and a text changed: only these two are processed, unless `redo` asks for all."""
    pages = desk.pages(2)
    desk.do("entity.create", {"canonical_name": "Mrs Woodward", "entity_type": "person"})
    segments = [desk.lines(page, ["Dear Mrs Woodward"])[0] for page in pages]
    desk.recipe(ORDER, NAMES, answers={"purposes": ["edit-corpus"]})
    run = desk.run_whole()
    assert run["state"] == "done", run
    assert [card["state"] for card in run["cards"]] == ["done", "done"]
    assert run["cards"][0]["account"]["done"] == 2
    assert run["cards"][0]["thread_id"]
    summary = desk.get(f"/runs/{run['job_id']}/summary")
    assert (summary["pages"], summary["pages_read"], summary["finished"]) == (2, 2, True)
    assert summary["names"] == {"person": 2}
    assert summary["documents_proposed"] is None
    node = client.get(f"/api/activity/jobs/{run['job_id']}").json()
    assert node["summary"] == summary
    assert node["stages"] == desk.get(f"/runs/{run['job_id']}")["cards"]
    plan = desk.plan()
    assert [(run["done"], run["of"]) for run in plan["runs"]] == [(2, 2), (2, 2)]
    assert desk.start(422)["refusals"][0]["kind"] == "nothing-left"
    desk.do("representation.create", {"segment_id": segments[0], "text": "Dear Mr Woodward"})
    desk.lines(desk.pages(1)[0], ["Mrs Woodward came"])
    assert [run["done"] for run in desk.plan()["runs"]] == [2, 1]
    again = desk.run_whole()
    assert [card["account"]["pages"] for card in again["cards"]] == [1, 2]
    redone = desk.run_whole(redo=["order"])
    assert [card["account"]["pages"] for card in redone["cards"]] == [3, 0]
    assert [item["job_id"] for item in desk.get("/runs")["items"]] == [
        redone["job_id"],
        again["job_id"],
        run["job_id"],
    ]


def test_undo_of_start_cancels_what_waits_and_undo_of_the_set_reverts_what_was_made(
    desk: Desk, client: Any, library: Library
) -> None:
    """These are two undos: of the Start itself, and of the set of its run."""
    page = desk.pages(1)[0]
    desk.do("entity.create", {"canonical_name": "Mrs Woodward", "entity_type": "person"})
    desk.lines(page, ["Dear Mrs Woodward"])
    desk.recipe(NAMES)
    path = library.recipe / "started.yaml"
    first = desk.start()
    values = yaml.safe_load(path.read_text())
    assert (values["recipe_version"], values["job_id"]) == (1, first["started"]["job_id"])
    undo = {"audit_ids": [first["audit_id"]]}
    assert client.post("/api/actions/audit/undo", json=undo).status_code == 200
    assert not path.exists()
    run = desk.run(first["started"]["job_id"])
    assert run["state"] == "cancelled"
    assert [card["state"] for card in run["cards"]] == ["not run"]
    assert desk.plan()["started"] is None
    done = desk.run_whole()
    assert done["state"] == "done"
    mentions = client.get(f"/api/documents/{page}/mentions").json()
    steps = client.get("/api/actions/audit", params={"set_id": done["job_id"]}).json()["items"]
    undo = {"audit_ids": [one["id"] for one in steps if one["undoable"]]}
    assert steps
    assert client.post("/api/actions/audit/undo", json=undo).status_code == 200, steps
    assert client.get(f"/api/documents/{page}/mentions").json() != mentions
    assert desk.plan()["runs"][0]["done"] == 0


def test_start_pressed_twice_is_one_run(desk: Desk) -> None:
    """The second request is told of the first run; an unknown step and an outdated version are refused too."""
    desk.lines(desk.pages(1)[0], ["Dear Sir"])
    desk.recipe(NAMES)
    assert desk.start(422, redo=["nothing"])["code"] == "unknown_step"
    assert desk.start(409, recipe_version=7)["code"] == "stale_version"
    first = desk.start(recipe_version=1)
    second = desk.start(409)
    assert (second["code"], second["job_id"]) == ("already_started", first["started"]["job_id"])


def test_a_recipe_saved_while_it_runs_does_not_change_the_run(desk: Desk) -> None:
    """The run keeps the version it was started with."""
    desk.lines(desk.pages(1)[0], ["Dear Sir"])
    desk.recipe(NAMES)
    job_id = desk.start()["started"]["job_id"]
    desk.recipe(ORDER, NAMES)
    desk.work()
    run = desk.run(job_id)
    assert (run["recipe_version"], [card["id"] for card in run["cards"]]) == (1, ["names"])


def test_pages_that_are_deleted_meanwhile_are_passed_over(desk: Desk, client: Any) -> None:
    """The run succeeds."""
    pages = desk.pages(3)
    for page in pages:
        desk.lines(page, ["Dear Sir"])
    desk.recipe(ORDER, NAMES)
    job_id = desk.start()["started"]["job_id"]
    assert client.delete(f"/api/documents/{pages[0]}").status_code == 200
    desk.work()
    run = desk.run(job_id)
    assert run["state"] == "done"
    assert [card["account"]["pages"] for card in run["cards"]] == [2, 2]
    assert desk.get(f"/runs/{job_id}/summary")["pages"] == 2


def test_a_failed_card_stops_those_after_it_and_failed_pages_are_offered_again(
    desk: Desk, tmp_path: Path
) -> None:
    """An unreadable picture costs only its page; a missing folder fails the card."""
    good, bad = desk.pages(2)
    for page in (good, bad):
        desk.lines(page, ["Dear Sir"])
    desk.damage(bad)
    place = tmp_path / "site"
    place.mkdir()
    site = step("publish", "output", settings={"folder": str(place)})
    desk.recipe(step("find-regions", "lines"), site, NAMES)
    job_id = desk.start()["started"]["job_id"]
    place.rmdir()
    place.write_text("in the way")
    desk.work()
    run = desk.run(job_id)
    assert [card["state"] for card in run["cards"]] == ["done", "failed", "not run"], run
    regions = run["cards"][0]
    assert (regions["account"]["done"], regions["account"]["failed"]) == (1, 1)
    assert "read them again" in regions["offer"]
    assert (run["state"], run["cards"][1]["why"] in run["reason"]) == ("failed", True)
    summary = desk.get(f"/runs/{job_id}/summary")
    stage = summary["stages"][0]
    assert [failed_page["document_id"] for failed_page in stage["failed_pages"]] == [bad]
    assert [one["id"] for one in summary["not_run"]] == ["names"]
    again = f"/api/workflow-execution/threads/{stage['thread_id']}/read-again"
    assert desk.client.post(again).status_code == 200
    assert desk.plan()["runs"][0]["done"] == 1


def test_what_is_asked_of_an_unknown_run_is_refused(client: Any) -> None:
    """Both the run and its summary answer 404."""
    for path in ("/runs/nothing", "/runs/nothing/summary"):
        answer = client.get(f"{URL}{path}")
        assert (answer.status_code, answer.json()["code"]) == (404, "recipe_run_not_found")
