"""Bake-offs of line finders over HTTP: how many of the checked lines are found, and how many lines too many."""

from __future__ import annotations

from typing import Any

import bakeoff_readers as readers
import pytest
from bakeoff_fixtures import URL, Desk, row_of

from armarium.api import Engine, Library
from armarium_recipes.jobs import compare_line_finders


@pytest.fixture
def desk(engine: Engine, library: Library, client: Any) -> Desk:
    return Desk(engine, library, client)


def test_finders_are_compared_and_only_the_line_readers_is_used(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.give(readers.Finder, readers.RefusingReader)
    desk.set_up()
    desk.page()
    desk.page(checked=False)
    desk.page()
    desk.page(50)
    before = desk.rows("SELECT count(*) FROM segment_pass")
    begun = desk.start(step="find-lines")
    assert begun["step"] == "find-lines"
    assert begun["lines"] == 170
    told = desk.finish(begun["id"])
    assert told["state"] == "done"
    assert desk.rows("SELECT count(*) FROM segment_pass") == before
    row = row_of(told, "rapidocr:PP-OCRv6-det@6")
    # It finds 61 rows on each page: 11 too many on the last page with its 50 rows, one too many on each other with 60.
    assert [row[key] for key in ("lines_found", "lines_checked", "extra_lines")] == [170, 170, 13]
    assert "stands in" in row["note"]
    assert told["candidates"][0] == row
    regions = row_of(told, "layout:detector@0")
    assert regions["not_scored"].startswith("It finds regions")
    assert row_of(told, "linereader:blla@5")["not_scored"]
    url = f"{URL}/{told['id']}/use"
    assert desk.client.post(url, json={"card": row["card"]}).json()["code"] == "other_finder"
    assert desk.client.post(url, json={"card": "linereader:blla@5"}).json()["code"] == "not_scored"
    with desk.library.db.write() as conn:
        conn.exec_driver_sql("DELETE FROM job")
    assert desk.client.get(f"{URL}/{told['id']}").json() == told
    audit = desk.rows("SELECT action_name FROM audit WHERE id = ?", begun["audit_id"])
    assert audit == [("project.compare_line_finders",)]


def test_a_comparison_killed_between_two_pages_continues_and_counts_each_once(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.give(readers.Finder)
    desk.set_up()
    desk.page(), desk.page()
    find, calls = compare_line_finders._find, []

    def dying(*given: Any) -> dict[str, Any]:
        calls.append(given[1])
        if len(calls) == 2:
            raise RuntimeError("killed")
        return find(*given)

    monkeypatch.setattr(compare_line_finders, "_find", dying)
    begun = desk.start(step="find-lines")
    assert desk.finish(begun["id"])["state"] == "failed"
    desk.client.post(f"/api/activity/jobs/{begun['id']}/retry")
    told = desk.finish(begun["id"])
    assert row_of(told, "rapidocr:PP-OCRv6-det@6")["lines_found"] == 120
    assert len(calls) == 3
    assert not list((desk.library.derived_folder / "evaluation").iterdir())
