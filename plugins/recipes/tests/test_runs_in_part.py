"""A run over pages of which some are withheld from a caller: it is shown without them, and no count reveals them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from start_fixtures import URL, Desk, step

from armarium.api import Engine, Library, Principal
from armarium.principals import LOCAL_OWNER
from armarium.web.stream_routes import as_seen

KEPT, HIDDEN = 2, 3


@pytest.fixture
def desk(engine: Engine, library: Library, client: Any) -> Desk:
    """The project of this module's tests."""
    return Desk(engine, library, client)


@pytest.fixture
def viewer(desk: Desk) -> Any:
    """The client of a viewer who may not read what is restricted."""
    answer = desk.client.post("/api/tokens", json={"name": "a viewer", "role": "viewer"}).json()
    headers = {"Authorization": f"Bearer {answer['token']}"}
    return lambda path: desk.client.get(path, headers=headers)


def restrict(desk: Desk, *pages: str) -> None:
    """Withhold pages from everybody who is not named."""
    for page in pages:
        desk.do("rights.set", {"target_kind": "document", "target_id": page, "restricted": True})


def paths_of_run(job_id: str) -> dict[str, str]:
    """Return the paths of all answers that describe a run."""
    return {
        "list": f"{URL}/runs",
        "run": f"{URL}/runs/{job_id}",
        "summary": f"{URL}/runs/{job_id}/summary",
        "job": f"/api/activity/jobs/{job_id}",
        "jobs": "/api/activity/jobs",
        "plan": f"{URL}/start",
        "workflows": "/api/workflow-execution/runs",
        "log": f"/api/activity/jobs/{job_id}/log",
        "steps": "/api/actions/audit",
        "activity": "/api/activity",
    }


def numbers(value: Any, name: str = "") -> list[tuple[str, int]]:
    """Return each number of an answer, except times and sizes, with its key."""
    if isinstance(value, dict):
        return [number for key, one in value.items() for number in numbers(one, key)]
    if isinstance(value, list):
        return [number for one in value for number in numbers(one, name)]
    return [(name, value)] if isinstance(value, int) and not isinstance(value, bool) else []


COUNTS = ("pages", "done", "failed", "left", "pages_read", "pages_done", "pages_failed", "of")


def test_a_run_is_shown_without_the_pages_that_are_withheld(desk: Desk, viewer: Any) -> None:
    """By any route; the owner still sees all pages. Damaged pages fail, visible and withheld ones."""
    pages = desk.pages(KEPT + HIDDEN)
    kept_pages, hidden = pages[:KEPT], pages[KEPT:]
    for page in pages:
        desk.lines(page, ["Dear Sir"])
    for page in (kept_pages[0], *hidden[:2]):
        desk.damage(page)
    desk.recipe(step("find-regions", "lines"), step("put-in-order", "lines", "order"))
    job_id = desk.run_whole()["job_id"]
    restrict(desk, *hidden)
    for name, path in paths_of_run(job_id).items():
        seen, whole = viewer(path), desk.client.get(path)
        assert (seen.status_code, whole.status_code) == (200, 200), name
        assert all(page not in seen.text for page in hidden), name
        told = [number for number in numbers(seen.json()) if number[0] in COUNTS and name != "jobs"]
        told = [(key, count) for key, count in told if count != 100 or key == "failed"]
        assert all(count <= KEPT for _, count in told), (name, told)
    run = viewer(f"{URL}/runs/{job_id}").json()
    assert run["page_ids"] == kept_pages
    regions, order = run["cards"]
    assert {key: regions["account"][key] for key in ("pages", "done", "failed", "left")} == {
        "pages": 2,
        "done": 1,
        "failed": 1,
        "left": 0,
    }
    assert regions["offer"].startswith("1 page was not done")
    assert order["account"]["done"] == 2
    summary = viewer(f"{URL}/runs/{job_id}/summary").json()
    assert (summary["pages"], summary["pages_read"]) == (2, 2)
    assert [failed_page["document_id"] for failed_page in summary["stages"][0]["failed_pages"]] == [
        kept_pages[0]
    ]
    assert desk.run(job_id)["cards"][0]["account"]["failed"] == 3
    assert desk.plan()["started"]["pages"] == 5


def test_a_run_of_which_all_pages_are_withheld_is_not_shown(desk: Desk, viewer: Any) -> None:
    """The list counts it as withheld."""
    page = desk.pages(1)[0]
    desk.lines(page, ["Dear Sir"])
    desk.recipe(step("put-in-order", "lines", "order"))
    job_id = desk.run_whole()["job_id"]
    restrict(desk, page)
    listed = viewer(f"{URL}/runs").json()
    assert (listed["items"], listed["count"], listed["withheld"]) == ([], 0, 1)
    for path in (f"{URL}/runs/{job_id}", f"{URL}/runs/{job_id}/summary"):
        answer = viewer(path)
        assert (answer.status_code, answer.json()["code"]) == (404, "recipe_run_not_found")
    assert "stages" not in viewer(f"/api/activity/jobs/{job_id}").json()
    assert page not in viewer(f"/api/activity/jobs/{job_id}").text


def test_a_failed_run_only_names_the_failed_card_to_such_a_caller(
    desk: Desk, viewer: Any, tmp_path: Path
) -> None:
    """The message of the failure may name a page."""
    kept, hidden = desk.pages(2)
    desk.lines(kept, ["Dear Sir"])
    folder = tmp_path / "files"
    folder.mkdir()
    desk.recipe(step("export", "output", settings={"folder": str(folder)}))
    job_id = desk.start()["started"]["job_id"]
    folder.rmdir()
    desk.work()
    run = desk.run(job_id)
    assert run["state"] == "failed"
    assert str(folder) in run["reason"]
    restrict(desk, hidden)
    answer = viewer(f"{URL}/runs/{job_id}").json()
    assert answer["page_ids"] == [kept]
    assert answer["reason"] == f"{run['cards'][0]['title']} failed."
    assert answer["cards"][0]["why"] is None
    for name, path in paths_of_run(job_id).items():
        # The plan names the folder because the recipe does.
        assert name == "plan" or str(folder) not in viewer(path).text, name


def test_events_of_such_a_run_give_progress_in_hundredths(desk: Desk, viewer: Any) -> None:
    """No event names a withheld page, and progress is in hundredths instead of counts; the owner gets everything."""
    pages = desk.pages(KEPT + HIDDEN)
    for page in pages:
        desk.lines(page, ["Dear Sir"])
    restrict(desk, *pages[KEPT:])
    desk.recipe(step("put-in-order", "lines", "order"))
    since = desk.engine.events.seq
    job_id = desk.run_whole()["job_id"]
    told = desk.engine.events.since(since) or []
    guest = Principal("person", "a viewer", "viewer", token_kind="device")

    def list_heard(principal: Principal) -> list[dict[str, Any]]:
        seen = [asyncio.run(as_seen(desk.engine, item, principal)) for item in told]
        return [item.data for item in seen if item is not None]

    own, guests = list_heard(LOCAL_OWNER), list_heard(guest)
    assert all(page not in str(guests) for page in pages[KEPT:])
    counted = {guest["total"] for guest in guests if guest.get("id") == job_id}
    assert counted
    assert counted <= {0, 1, 100}
    assert not {guest["total"] for guest in guests if "total" in guest} & {HIDDEN, KEPT + HIDDEN}
    assert {one["total"] for one in own if "total" in one} & {KEPT + HIDDEN}


@pytest.fixture
def editor(desk: Desk) -> Any:
    """The client of an editor who may not read what is restricted."""
    answer = desk.client.post("/api/tokens", json={"name": "an editor", "role": "editor"}).json()
    headers = {"Authorization": f"Bearer {answer['token']}"}
    return lambda method, path, body: desk.client.request(method, path, json=body, headers=headers)


def test_start_of_such_a_caller_is_for_the_pages_that_it_sees(desk: Desk, editor: Any) -> None:
    """Neither the answer nor the run includes any other page, even for the owner; the other pages are still due."""
    pages = desk.pages(KEPT + HIDDEN)
    for page in pages:
        desk.lines(page, ["Dear Sir"])
    restrict(desk, *pages[KEPT:])
    desk.recipe(step("put-in-order", "lines", "order"))
    started = editor("POST", f"{URL}/start", {}).json()["started"]
    assert started["pages"] == KEPT
    desk.work()
    run = desk.run(started["job_id"])
    assert (run["state"], run["page_ids"]) == ("done", pages[:KEPT])
    assert [(run["done"], run["of"]) for run in desk.plan()["runs"]] == [(KEPT, KEPT + HIDDEN)]
    assert editor("POST", f"{URL}/start", {}).json()["refusals"][0]["kind"] == "nothing-left"


def test_no_write_answers_the_override_of_a_folder_that_is_withheld(desk: Desk, editor: Any) -> None:
    """No read does either, and what the caller cannot see stays unchanged."""
    box, card = desk.folder(), {"id": "rapidocr:PP-OCRv6-small@6", "source": "shipped"}
    for page in desk.pages(1, box):
        desk.lines(page)
    desk.recipe({"id": "read", "job": "read-a-line", "layer": "reading"})
    override = {"scope": "folder", "folder_id": box, "step": "read", "card": card}
    assert desk.client.put(URL, json={"overrides": [override]}).status_code == 200
    restrict(desk, box)
    answers = {**desk.get("")["answers"], "pages": 7}
    for answer in (
        editor("PUT", URL, {"answers": answers}),
        editor("POST", f"{URL}/steps/use-candidate", {"step": "read", "card": card["id"]}),
        editor("POST", f"{URL}/layers", {"layers": ["entities"]}),
    ):
        assert answer.status_code == 200, answer.text
        assert box not in answer.text
    assert box in [override["folder_id"] for override in desk.get("")["overrides"]]
    assert editor("PUT", URL, {"overrides": []}).status_code == 403
