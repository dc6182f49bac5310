"""Bake-offs of readers over HTTP: who takes part, what is refused, and the table that comes of it."""

from __future__ import annotations

from typing import Any

import bakeoff_readers as readers
import pytest
import yaml
from bakeoff_desk import URL, Desk, row_of

from armarium.api import Engine, Library


@pytest.fixture
def desk(engine: Engine, library: Library, client: Any) -> Desk:
    return Desk(engine, library, client)


def test_readers_are_measured_on_the_same_lines_and_the_table_is_ranked(desk: Desk) -> None:
    desk.give(readers.First, readers.Second, readers.Third, readers.Broken)
    desk.set_up(pages=1000)
    page, _ = desk.page()
    dark, _ = desk.page(shade=240)
    before = desk.rows("SELECT count(*) FROM content_representation")
    begun = desk.start()
    assert (begun["state"], begun["lines"], begun["volume"]) == ("waiting", 120, 1000)
    assert [one["document_id"] for one in begun["pages"]] == [page, dark]
    told = desk.finish(begun["id"])
    assert (told["state"], told["id"]) == ("done", told["job_id"])
    assert desk.rows("SELECT count(*) FROM content_representation") == before
    # Of each page 10 rows have 6 letters and 50 have 7, a line feed parts two: 10 * 6 + 50 * 7 + 59 = 469 characters.
    first, second = row_of(told, "first:base@1"), row_of(told, "second:base@1")
    assert first["cer"]["diplomatic"] == pytest.approx(12 / 938, abs=1e-6)
    assert second["cer"]["diplomatic"] == pytest.approx(60 / 938, abs=1e-6)
    assert {one["document_id"]: one["cer"]["diplomatic"] for one in second["pages_cer"]} == {
        page: pytest.approx(60 / 469, abs=1e-6),
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
    # Each that was not scored says why, and stands last.
    unscored = [one for one in told["candidates"] if one["cer"] is None]
    assert unscored == told["candidates"][-len(unscored) :]
    assert all(one["not_scored"] for one in unscored)
    assert {one["role"] for one in unscored} == {"contender"}
    audit = desk.rows("SELECT action_name FROM audit_log WHERE id = ?", begun["audit_id"])
    assert audit == [("evaluation.run",)]


def test_the_table_outlives_the_job_and_lies_in_the_recipe_folder(desk: Desk) -> None:
    desk.give(readers.First, readers.Second)
    desk.set_up()
    desk.page(), desk.page()
    told = desk.run()
    kept = yaml.safe_load((desk.library.recipe / "bakeoffs" / f"{told['id']}.yaml").read_text())
    assert kept == told
    with desk.library.db.write() as conn:
        conn.exec_driver_sql("DELETE FROM job")
    again = desk.client.get(f"{URL}/{told['id']}").json()
    assert again == told
    listed = desk.client.get(URL).json()
    assert (listed["count"], listed["items"][0]["id"]) == (1, told["id"])
