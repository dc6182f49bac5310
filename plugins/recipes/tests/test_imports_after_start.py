"""Imports after Start run the recipe by themselves; later cards follow cut spreads; a run survives being killed at any
point.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from start_fixtures import URL, Desk, picture, step

from armarium.api import Engine, Example, JobContext, Library
from armarium.jobs.body_ends import JobStopped
from armarium.principals import LOCAL_OWNER

NAMES = step("find-names-tag-words", "entities", "names")
ORDER = step("put-in-order", "lines", "order")


@pytest.fixture
def desk(engine: Engine, library: Library, client: Any) -> Desk:
    """The project of this module's tests."""
    return Desk(engine, library, client)


def test_an_import_after_start_runs_the_recipe_over_its_pages(
    desk: Desk, client: Any, tmp_path: Path
) -> None:
    """One run for the whole import, over its pages only; before Start nothing runs."""
    for name in ("a", "b"):
        folder = tmp_path / name
        folder.mkdir()
        for number in range(3):
            (folder / f"{number}.png").write_bytes(
                picture(rows=2 + number % 2) + name.encode() + bytes([number])
            )
    desk.recipe(ORDER)
    client.post("/api/documents/import", json={"folder": str(tmp_path / "a")})
    desk.work()
    assert desk.get("/runs")["items"] == []
    desk.run_whole()
    desk.do("document.import", {"folder": str(tmp_path / "b")})
    desk.work()
    run = desk.get("/runs")["items"][0]
    assert (run["started_by"], run["state"], len(run["page_ids"])) == ("import", "done", 3), run
    assert run["cards"][0]["account"]["pages"] == 3
    assert len(desk.get("/runs")["items"]) == 2
    steps = client.get("/api/actions/audit?action=document.add_files").json()["items"]
    set_id = next(one["set_id"] for one in steps if one["set_id"] is not None)
    ids = [item["id"] for item in client.get(f"/api/actions/audit?set_id={set_id}").json()["items"]]
    undone = client.post("/api/actions/audit/undo", json={"audit_ids": ids})
    assert undone.status_code == 200, undone.text
    assert [fault for fault in desk.engine.plugins.faults if fault.name == "recipes"] == []


def test_an_import_whose_recipe_cannot_run_is_a_failed_run(desk: Desk) -> None:
    """The run states the plan's refusals; once the recipe is corrected, a retry succeeds."""
    desk.lines(desk.pages(1)[0])
    desk.recipe(ORDER)
    desk.run_whole()
    desk.recipe({**ORDER, "card": {"id": "builtin:gone@1", "source": "shipped"}})
    page = desk.pages(1)[0]
    desk.lines(page)
    desk.work()
    run = desk.get("/runs")["items"][0]
    assert (run["started_by"], run["state"]) == ("import", "failed")
    assert run["refusals"]
    assert run["refusals"][0]["sentence"] in run["reason"]
    desk.recipe(ORDER)
    answer = desk.client.post(f"/api/activity/jobs/{run['job_id']}/retry")
    assert answer.status_code == 200, answer.text
    desk.work()
    again = desk.run(run["job_id"])
    assert (again["state"], again["refusals"], again["page_ids"]) == ("done", [], [page])


def test_pictures_that_are_cut_are_followed_by_the_later_cards(desk: Desk, tmp_path: Path) -> None:
    """Lines are found once, on the halves; the plan, redo and the summary count the halves too."""
    from armarium_testing.sample_layouts import spread_page

    spread = spread_page(Example(desk.engine, desk.library, LOCAL_OWNER, tmp_path))
    desk.recipe(step("split-pages", "prepare", "split"), ORDER)
    run = desk.run_whole()
    assert run["state"] == "done", run
    assert run["page_ids"] == [spread]
    assert [card["account"]["pages"] for card in run["cards"]] == [1, 2]
    assert desk.get(f"/runs/{run['job_id']}/summary")["pages"] == 2
    plan = desk.plan()
    assert plan["pages"] == 2
    assert [(run["done"], run["of"]) for run in plan["runs"]] == [(2, 2), (2, 2)]
    again = desk.run_whole(redo=["split", "order"])
    assert [card["account"]["pages"] for card in again["cards"]] == [2, 2]
    assert len(again["page_ids"]) == 2


@pytest.mark.slow
def test_a_run_killed_anywhere_loses_nothing_and_doubles_nothing(
    desk: Desk, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is killed before and after each of its writes."""
    for page in desk.pages(2):
        desk.lines(page, ["Dear Sir"])
    desk.recipe(ORDER, NAMES)
    plain = {name: getattr(JobContext, name) for name in ("save", "act", "spawn_many")}
    at = {"left": 0, "after": False}

    def killing(name: str) -> Any:
        def call(self: JobContext, *args: Any, **more: Any) -> Any:
            if self.kind.name != "run-a-recipe" or at["left"] < 0:
                return plain[name](self, *args, **more)
            at["left"] -= 1
            dies = at["left"] < 0
            if dies and not at["after"]:
                raise JobStopped("shutdown")
            found = plain[name](self, *args, **more)
            if dies:
                raise JobStopped("shutdown")
            return found

        return call

    for name in plain:
        monkeypatch.setattr(JobContext, name, killing(name))
    for after in (False, True):
        calls = 0
        while True:
            at.update(left=calls, after=after)
            job_id = desk.start(redo=["order", "names"])["started"]["job_id"]
            for _ in range(4):
                desk.work()
            run = desk.run(job_id)
            assert run["state"] == "done", (calls, after, run)
            assert [card["state"] for card in run["cards"]] == ["done", "done"]
            with library.db.read() as conn:
                children = conn.exec_driver_sql(
                    "SELECT count(*) FROM job WHERE parent_id = ?", (job_id,)
                ).scalar()
            assert children == 2, (calls, after)
            if at["left"] >= 0:
                break
            calls += 1
        assert calls >= 5
    assert URL
