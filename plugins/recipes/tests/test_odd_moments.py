"""Start at unusual moments and with recipes that can hardly run here; routes that only read; choices that persist."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from start_fixtures import URL, Desk, picture, step

from armarium.api import Engine, Library
from armarium_recipes.cards.sources import cards_here

ORDER = step("put-in-order", "lines", "order")


@pytest.fixture
def desk(engine: Engine, library: Library, client: Any) -> Desk:
    """The project of this module's tests."""
    return Desk(engine, library, client)


def _to_fetch(desk: Desk) -> Any:
    """Return the card of a model that can be downloaded."""
    found = [card for card in cards_here(desk.engine, desk.library) if "read-a-line" in card.jobs]
    return next(item for item in found if item.availability == "download" and "en" in item.languages)


def test_start_pressed_by_many_at_once_is_one_run(desk: Desk) -> None:
    desk.lines(desk.pages(1)[0])
    desk.recipe(ORDER)
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: desk.client.post(f"{URL}/start", json={}), range(6)))
    assert sorted(answer.status_code for answer in answers) == [200, *[409] * 5]
    assert {answer.json()["code"] for answer in answers if answer.status_code == 409} == {"already_started"}
    desk.work()
    assert [item["state"] for item in desk.get("/runs")["items"]] == ["done"]


def test_start_during_an_import_processes_each_page_once(desk: Desk, tmp_path: Path) -> None:
    """Pages imported before Start belong to the person's run, later ones to the run of the import."""
    folder = tmp_path / "box"
    folder.mkdir()
    for number in range(4):
        (folder / f"{number}.png").write_bytes(picture(rows=2) + bytes([number]))
    desk.lines(desk.pages(1)[0])
    desk.recipe(ORDER)
    desk.do("document.import", {"folder": str(folder)})
    desk.start()
    desk.work()
    runs = desk.get("/runs")["items"]
    assert {run["state"] for run in runs} == {"done"}, runs
    ran_over = [page for run in runs for page in run["page_ids"]]
    assert len(ran_over) == len(set(ran_over)) == desk.plan()["pages"] == 5
    assert [(run["done"], run["of"]) for run in desk.plan()["runs"]] == [(5, 5)]


def test_with_all_models_missing_start_names_each_and_runs_nothing(desk: Desk) -> None:
    """Another model can be used for all of them, and that choice persists when the recipe is proposed again."""
    desk.lines(desk.pages(1)[0])
    card = _to_fetch(desk)
    read = {"job": "read-a-line", "layer": "reading", "card": {"id": card.id, "source": card.source}}
    steps = [{"id": f"read-{number}", **read} for number in range(2)]
    desk.recipe(*steps)
    refused = desk.start(422)
    sentences = [refusal["sentence"] for refusal in refused["refusals"]]
    assert len(sentences) == 2
    assert [f"of the step read-{number} " in sentence for number, sentence in enumerate(sentences)] == [
        True,
        True,
    ]
    assert desk.get("/runs")["items"] == []
    (entry,) = desk.plan()["downloads"]
    body = {"model": entry["model"], "card": entry["instead"][0]}
    assert desk.client.post(f"{URL}/start/use-instead", json=body).status_code == 200
    chosen = {override["step"]: override["card"]["id"] for override in desk.get("")["overrides"]}
    assert set(chosen) == {"read-0", "read-1"}
    # Proposed again for another language, the steps have other ids; the choices stay with the ids they were made for.
    answer = desk.client.post(f"{URL}/layers", json={"languages": ["la"]})
    assert answer.status_code == 200, answer.text
    assert {override["step"]: override["card"]["id"] for override in answer.json()["overrides"]} == chosen


def test_a_replacement_model_is_kept_when_the_recipe_is_proposed_again(desk: Desk) -> None:
    desk.lines(desk.pages(1)[0])
    card = _to_fetch(desk)
    read = {"id": "read", "job": "read-a-line", "layer": "reading"}
    desk.recipe({**read, "card": {"id": card.id, "source": card.source}})
    (entry,) = desk.plan()["downloads"]
    instead = entry["instead"][-1]
    desk.client.post(f"{URL}/start/use-instead", json={"model": entry["model"], "card": instead})
    answers = desk.get("")["answers"]
    proposed = desk.client.post("/api/recipes/assemble", json=answers).json()["recipe"]
    (second_step,) = [one for one in proposed["steps"] if one["id"] == "read"]
    assert second_step["card"]["id"] == instead
    assert "was chosen by a person" in " ".join(second_step["reasons"])


def test_a_step_whose_plugin_was_uninstalled_is_left_out_with_why(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The recipe was saved while the plugin was installed; the other steps run."""
    desk.lines(desk.pages(1)[0])
    desk.recipe(ORDER, step("find-regions", "lines", "regions"))
    left = [job for name, job in desk.engine.recipe_jobs.items() if name != "find-regions"]
    monkeypatch.setattr(desk.engine, "recipe_jobs", type(desk.engine.recipe_jobs)(left))
    plan = desk.plan()
    assert plan["refusals"] == []
    (skipped,) = plan["skipped"]
    assert (skipped["step"], skipped["fix"]) == ("regions", None)
    assert "No installed plugin does find-regions" in skipped["why"]
    run = desk.run_whole()
    assert (run["state"], [card["job"] for card in run["cards"]]) == ("done", ["put-in-order"])
    assert desk.get(f"/runs/{run['job_id']}/summary")["skipped"] == [skipped]


def test_looking_at_a_recipe_writes_nothing(desk: Desk) -> None:
    """They queue no job, record no step and change no row."""
    desk.lines(desk.pages(1)[0])
    desk.recipe(ORDER)
    desk.run_whole()

    def digest() -> str:
        with desk.library.db.read() as conn:
            tables = [
                row[0] for row in conn.exec_driver_sql("SELECT name FROM sqlite_schema WHERE type = 'table'")
            ]
            rows = [
                (name, [tuple(row) for row in conn.exec_driver_sql(f'SELECT * FROM "{name}"')])
                for name in sorted(tables)
                if not name.startswith("sqlite_")
            ]
        return hashlib.sha256(repr(rows).encode()).hexdigest()

    before = digest()
    for path in ("/automatic", "/start", "", "/runs"):
        assert desk.client.get(f"{URL}{path}").status_code == 200
    assert digest() == before


def test_documents_that_finding_proposed_are_counted(desk: Desk) -> None:
    """The count is null when the run has no card that finds them."""
    for page in desk.pages(2):
        desk.lines(page, ["To my brother", "your sister"])
    desk.recipe(step("find-documents-in-a-folder", "structure", "documents"))
    run = desk.run_whole()
    assert run["state"] == "done", run
    assert desk.get(f"/runs/{run['job_id']}/summary")["documents_proposed"] == 1
    desk.recipe(ORDER)
    run = desk.run_whole()
    assert desk.get(f"/runs/{run['job_id']}/summary")["documents_proposed"] is None


def test_documents_that_are_made_in_mid_run_take_no_page_from_the_later_cards(desk: Desk) -> None:
    """Finding accepts the certain ones and moves their pages: later cards process each page once, and undo moves them
    back.
    """
    box = desk.folder()
    pages = desk.pages(4, box)
    said = (
        "the barley is in and the mill turns day and night",
        "nobody here has seen John since he sailed on Tuesday",
        "we paid forty pounds for two grey horses and a cart",
        "my mother asks whether the roof was ever mended",
    )
    for number, (page, words) in enumerate(zip(pages, said, strict=True)):
        desk.lines(page, ["Dear Sir", words] if number % 2 == 0 else [words, "Yours sincerely"])
    finding = {"accept_above": 0.0}
    desk.recipe(
        step("find-documents-in-a-folder", "prepare", "documents", settings=finding),
        ORDER,
    )

    def parents() -> set[str]:
        with desk.library.db.read() as conn:
            asked = "SELECT parent_id FROM document WHERE file_type = 'image' AND deleted_at IS NULL"
            return set(conn.exec_driver_sql(asked).scalars())

    run = desk.run_whole()
    assert run["state"] == "done", run
    assert len(parents()) == 2
    assert box not in parents()
    assert [card["account"]["done"] for card in run["cards"]] == [4, 4]
    plan = desk.plan()
    assert (plan["pages"], [(run["done"], run["of"]) for run in plan["runs"]]) == (4, [(0, 4), (4, 4)])
    assert desk.get(f"/runs/{run['job_id']}/summary")["documents_proposed"] == 2
    query = {"set_id": run["job_id"], "limit": 500}
    steps = desk.client.get("/api/actions/audit", params=query).json()["items"]
    undo = {"audit_ids": [one["id"] for one in steps if one["undoable"]]}
    assert desk.client.post("/api/actions/audit/undo", json=undo).status_code == 200
    assert parents() == {box}
    assert [run["done"] for run in desk.plan()["runs"]] == [0, 0]
