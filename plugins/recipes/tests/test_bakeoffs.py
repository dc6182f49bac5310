"""Bake-offs of readers over HTTP: who takes part, what is refused, and the resulting table."""

from __future__ import annotations

from json import dumps
from typing import Any

import bakeoff_readers as readers
import pytest
import yaml
from bakeoff_fixtures import URL, Desk, row_of

from armarium.api import Engine, Library
from armarium_recipes.bakeoffs import recovery


@pytest.fixture
def desk(engine: Engine, library: Library, client: Any) -> Desk:
    return Desk(engine, library, client)


def test_readers_are_measured_on_the_same_lines_and_the_table_is_ranked(desk: Desk) -> None:
    desk.give(readers.First, readers.Second, readers.RefusingReader, readers.Third)
    desk.set_up(pages=1000)
    page, _ = desk.page()
    dark, _ = desk.page(shade=240)
    before = desk.rows("SELECT count(*) FROM content_representation")
    begun = desk.start()
    assert (begun["state"], begun["lines"], begun["volume"]) == ("waiting", 120, 1000)
    assert [page["document_id"] for page in begun["pages"]] == [page, dark]
    desk.set_up(pages=1)
    # The stated number of pages is smaller than the number that exists by now.
    assert desk.start()["volume"] == 2
    told = desk.finish(begun["id"])
    assert (told["state"], told["id"]) == ("done", told["job_id"])
    assert desk.rows("SELECT count(*) FROM content_representation") == before
    # On each page 10 rows have 6 letters and 50 have 7, separated by line feeds: 10 * 6 + 50 * 7 + 59 = 469 characters.
    first, second = row_of(told, "first:base@1"), row_of(told, "second:base@1")
    assert first["cer"]["diplomatic"] == pytest.approx(12 / 938, abs=1e-6)
    assert second["cer"]["diplomatic"] == pytest.approx(120 / 938, abs=1e-6)
    assert {one["document_id"]: one["cer"]["diplomatic"] for one in second["pages_cer"]} == {
        page: pytest.approx(120 / 469, abs=1e-6),
        dark: 0,
    }
    assert told["candidates"][0]["card"] == "first:base@1"
    assert (first["tied"], second["tied"]) == (True, False)
    assert first["wer"] == pytest.approx(12 / 240, abs=1e-6)
    assert first["pages_per_hour"] > 0
    assert first["cost_usd"]["value"] == 0
    assert (first["role"], first["local"], first["carbon_g_per_page"]) == ("rule-rank", True, None)
    comparison = told["comparison"]
    assert comparison["better"] == "first:base@1"
    assert comparison["difference"] > 0
    # Candidates that were not scored come last, each with the reason.
    unscored = [candidate for candidate in told["candidates"] if candidate["cer"] is None]
    assert unscored == told["candidates"][-len(unscored) :]
    assert all(one["not_scored"] for one in unscored)
    assert row_of(told, "silent:base@1")["not_scored"].endswith("too faint to read.")
    audit = desk.rows("SELECT action_name FROM audit WHERE id = ?", begun["audit_id"])
    assert audit == [("evaluation.run",)]


def test_carbon_is_reckoned_from_what_a_person_states_and_from_what_processors_worked(desk: Desk) -> None:
    """Grams are CPU-seconds of the run, times watts, times grams per kilowatt-hour; the answer calls this an estimate
    and says what it is based on.
    """
    desk.give(readers.First, readers.Second)
    desk.set_up()
    desk.page(), desk.page()
    told = desk.finish(desk.start(power={"watts": 20, "grid_g_per_kwh": 400})["id"])
    for candidate in told["candidates"]:
        if candidate["not_scored"] is not None:
            assert (candidate["carbon_g_per_page"], candidate["carbon_from"]) == (None, None)
            continue
        worked = float(
            candidate["carbon_from"].removeprefix("Estimate: ").partition(" CPU-seconds a page")[0]
        )
        assert worked > 0
        assert candidate["carbon_g_per_page"] == pytest.approx(worked * 20 / 3_600_000 * 400, abs=1e-6)
        assert "at 20 watts and 400 grams a kilowatt-hour, as stated" in candidate["carbon_from"]
    for power in ({"watts": 20}, {"watts": 0, "grid_g_per_kwh": 400}, {"watts": 1e999, "grid_g_per_kwh": 1}):
        assert desk.client.post(URL, content=dumps({"power": power})).status_code == 422


def test_the_table_outlives_the_job_and_is_in_the_recipe_folder(desk: Desk) -> None:
    desk.give(readers.First, readers.Second)
    desk.set_up()
    desk.page(), desk.page()
    result = desk.run()
    values = yaml.safe_load((desk.library.recipe / "bakeoffs" / f"{result['id']}.yaml").read_text())
    assert values == result
    # Killed between the step and the writing of the file: the file is written when the project is opened again.
    (desk.library.recipe / "bakeoffs" / f"{result['id']}.yaml").unlink()
    recovery.write_missing_files(desk.engine, desk.library)
    assert yaml.safe_load((desk.library.recipe / "bakeoffs" / f"{result['id']}.yaml").read_text()) == result
    with desk.library.db.write() as conn:
        conn.exec_driver_sql("DELETE FROM job")
    second_answer = desk.client.get(f"{URL}/{result['id']}").json()
    assert second_answer == result
    answer = desk.client.get(f"{URL}/{result['id']}/picture")
    assert answer.content.startswith(b"\x89PNG")
    response = desk.client.get(f"{URL}/{result['id']}/picture", params={"kind": "html"})
    assert "default-src 'none'" in response.headers["content-security-policy"]
    assert "First base" in response.text
    assert desk.client.get(f"{URL}/nothing/picture").json()["code"] == "unknown_bakeoff"
    listed = desk.client.get(URL).json()
    assert (listed["count"], listed["items"][0]["id"]) == (1, result["id"])


def test_too_few_corrected_lines_are_refused_with_how_many_more(desk: Desk) -> None:
    desk.give(readers.First)
    nothing = desk.expect_refusal("too_few_lines")
    assert [nothing[key] for key in ("ready", "lines", "pages", "more_lines", "more_pages")] == [
        False,
        0,
        0,
        100,
        2,
    ]
    assert (nothing["min_lines"], nothing["min_pages"]) == (100, 2)
    desk.set_up()
    first, _ = desk.page(60)
    many = desk.expect_refusal("too_few_lines", page_ids=[first])
    assert (many["more_lines"], many["more_pages"]) == (40, 1)
    desk.page(39)
    one_short = desk.expect_refusal("too_few_lines")
    assert (one_short["lines"], one_short["pages"], one_short["more_lines"], one_short["more_pages"]) == (
        99,
        2,
        1,
        0,
    )
    assert "1 more line first" in one_short["detail"]
    desk.page(60, checked=False)
    assert desk.expect_refusal("too_few_lines")["lines"] == 99
    assert desk.expect_refusal("too_few_lines", step="find-lines")["more_lines"] == 1
    desk.page(1)
    assert desk.start()["lines"] == 100


def test_a_project_that_is_not_set_up_and_one_without_readers_are_refused(desk: Desk) -> None:
    desk.give(readers.Printer)
    desk.page(), desk.page()
    assert desk.expect_refusal("not_set_up")["lines"] == 120
    assert desk.expect_refusal("not_set_up", step="find-lines")["ready"] is False
    desk.set_up()
    refusal = desk.expect_refusal("no_candidate")
    assert (refusal["ready"], refusal["more_lines"]) == (False, 0)
    assert desk.expect_refusal("no_candidate", step="find-lines")["pages"] == 2
    unknown = desk.client.post(URL, json={"page_ids": ["nothing"]})
    assert unknown.status_code == 404
    assert desk.client.post(URL, json={"step": "train"}).status_code == 422
    assert desk.client.get(f"{URL}/nothing").json()["code"] == "unknown_bakeoff"


@pytest.mark.slow
def test_print_engines_read_print_and_never_handwriting(desk: Desk) -> None:
    desk.give(readers.First, readers.Second, readers.Third, readers.Printer)
    desk.page(), desk.page()
    desk.set_up("handwriting")
    by_hand = desk.start()
    assert all(candidate["card"] != "printer:base@1" for candidate in by_hand["candidates"])
    desk.finish(by_hand["id"])
    desk.set_up("print", languages=["en", "la"])
    result = desk.run()
    assert row_of(result, "printer:base@1")["role"] in ("print-baseline", "rule-rank")
    assert row_of(result, "printer:base@1")["cer"] is not None
    assert desk.rows("SELECT count(*) FROM job WHERE kind = 'evaluate-models'") == [(2,)]


def test_a_stopped_bake_off_is_marked_and_writes_no_score(desk: Desk) -> None:
    desk.give(readers.First, readers.Second)
    desk.set_up()
    desk.page(), desk.page()
    begun = desk.start()
    desk.client.post(f"/api/activity/jobs/{begun['id']}/cancel")
    told = desk.finish(begun["id"])
    assert told["state"] == "cancelled"
    assert all(candidate["cer"] is None and candidate["not_scored"] for candidate in told["candidates"])
    used = desk.client.post(f"{URL}/{begun['id']}/use", json={"card": "first:base@1"})
    assert used.json()["code"] == "not_scored"
    with desk.library.db.write() as conn:
        conn.exec_driver_sql("DELETE FROM job")
    assert desk.client.get(f"{URL}/{begun['id']}").json()["state"] == "failed"


@pytest.mark.slow
def test_pages_edited_or_deleted_meanwhile_leave_all_with_the_same_lines(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.give(readers.First, readers.Second)
    desk.set_up()
    pages = [desk.page() for _ in range(6)]
    from armarium_training.jobs import evaluation

    seen: list[str] = []
    measure = evaluation._measure

    def busy(job: Any, candidate: dict[str, Any], page: str, frozen: Any) -> dict[str, Any]:
        found = measure(job, candidate, page, frozen)
        seen.append(candidate["model"])
        if len(seen) == 6:
            # The first candidate has read all pages: now one page is corrected and another deleted.
            for line in pages[0][1][:20]:
                desk.do("representation.create", {"segment_id": line, "text": "something else altogether"})
            desk.do("document.delete", {"ids": [pages[5][0]]})
        return found

    monkeypatch.setattr(evaluation, "_measure", busy)
    result = desk.run()
    first, second = row_of(result, "first:base@1"), row_of(result, "second:base@1")
    # The ground truth is that of the start, on the five pages that both have read.
    assert first["cer"]["diplomatic"] == pytest.approx(30 / (5 * 469), abs=1e-6)
    assert second["cer"]["diplomatic"] == pytest.approx(600 / (5 * 469), abs=1e-6)
    # The figures say on what they rest: no more pages and lines than were counted, and why the other was not.
    gone = pages[5][0]
    assert (len(result["pages"]), result["lines"]) == (5, sum(page["lines"] for page in result["pages"]))
    assert [entry["document_id"] for entry in result["left_out"]] == [gone]
    assert all(len(row["pages_cer"]) == 5 for row in (first, second))
    scores = desk.client.get("/api/evaluation/scores").json()["items"]
    assert [score["pages"] for score in scores] == [5, 5]


def test_use_this_is_an_override_and_for_the_project_the_steps_card_and_is_undone(desk: Desk) -> None:
    desk.give(readers.First, readers.Second)
    desk.set_up()
    desk.page(), desk.page()
    result = desk.run()
    folder = desk.do("document.create", {"name": "Letters", "doc_type": "folder"})["id"]
    url = f"{URL}/{result['id']}/use"

    def use(**body: Any) -> Any:
        return desk.client.post(url, json={"card": "first:base@1", **body})

    assert use(card="nobody@1").json()["code"] == "unknown_card"
    assert use(card="platform:text-recognition@1").json()["code"] == "not_scored"
    assert use(scope="folder").json()["code"] == "folder_wanted"
    assert use(folder_id=folder).json()["code"] == "folder_wanted"
    assert use(scope="folder", folder_id=result["pages"][0]["document_id"]).json()["code"] == "no_folder"
    assert use(scope="folder", folder_id="nothing").status_code == 404
    assert desk.client.post(f"{URL}/nothing/use", json={"card": "x"}).json()["code"] == "unknown_bakeoff"
    beneath = use(scope="folder", folder_id=folder)
    assert beneath.status_code == 200, beneath.text
    assert beneath.json()["overrides"][0]["folder_id"] == folder
    assert beneath.json()["recipe"]["steps"][1]["card"] is None
    everywhere = use()
    read = everywhere.json()["recipe"]["steps"][1]
    assert read["card"]["id"] == "first:base@1"
    assert read["model"]
    assert {override["scope"] for override in everywhere.json()["overrides"]} == {"folder", "project"}
    undone = desk.client.post("/api/actions/audit/undo", json={"audit_ids": [everywhere.json()["audit_id"]]})
    assert undone.status_code == 200, undone.text
    assert desk.client.get("/api/recipes/project").json()["recipe"]["steps"][1]["card"] is None
    desk.give(readers.Second)
    assert use().json()["code"] == "unknown_card"
