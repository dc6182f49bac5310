"""Which pages lack the output of a step: decided for each step from the text and lines that a page has now."""

from __future__ import annotations

from typing import Any

import pytest
from start_fixtures import Desk, step

from armarium.api import Engine, Library

NAMES = step("find-names-tag-words", "entities", "names")
ORDER = step("put-in-order", "lines", "order")


@pytest.fixture
def desk(engine: Engine, library: Library, client: Any) -> Desk:
    """The project of this module's tests."""
    return Desk(engine, library, client)


def _count_done(desk: Desk) -> list[int]:
    return [one["done"] for one in desk.plan()["runs"]]


@pytest.mark.parametrize("job", ["names", "order"])
def test_a_page_without_what_a_step_takes_is_done_until_it_has_it(desk: Desk, job: str) -> None:
    """An empty page blocks nothing and is not tried repeatedly; it is due once it has lines and a text."""
    full, empty = desk.pages(2)
    desk.lines(full, ["Dear Sir"])
    desk.recipe(NAMES if job == "names" else ORDER)
    desk.run_whole()
    assert _count_done(desk) == [2]
    assert desk.start(422)["refusals"][0]["kind"] == "nothing-left"
    desk.lines(empty, ["Yours sincerely"])
    assert _count_done(desk) == [1]
    (card,) = desk.run_whole()["cards"]
    assert (card["account"]["pages"], _count_done(desk)) == (1, [2])


def test_imported_lines_and_text_count_whichever_program_made_them(desk: Desk) -> None:
    """A page imported from another program lacks neither lines nor reading; one imported with lines alone lacks the
    reading.
    """
    read, lined, _ = desk.pages(3)
    for page, text in ((read, "Dear Sir"), (lined, None)):
        line = {"key": "1", "rect": [0.1, 0.1, 0.8, 0.2], **({"text": text} if text else {})}
        taken = {
            "document_id": page,
            "name": "Imported",
            "provider": "another-program",
            "model": "x",
            "lines": [line],
        }
        desk.do("segment.take_lines", taken)
    finder = {"id": "lines", "job": "find-lines", "layer": "lines"}
    reader = {"id": "read", "job": "read-a-line", "layer": "reading"}
    cards = {"find-lines": "rapidocr:", "read-a-line": "rapidocr:"}
    from armarium_recipes.cards.sources import cards_here

    for one in (finder, reader):
        found = next(
            card for card in cards_here(desk.engine, desk.library)
            if one["job"] in card.jobs and card.id.startswith(cards[one["job"]])
        )  # fmt: skip
        one["card"] = {"id": found.id, "source": found.source}  # type: ignore[assignment]
    desk.recipe(finder, reader)
    plan = desk.plan()
    assert plan["refusals"] == [], plan
    assert [(one["done"], one["of"], one["note"]) for one in plan["runs"]] == [
        (2, 3, "Already done on 2 of 3 pages."),
        (1, 3, "Already done on 1 of 3 pages."),
    ]
    # A deleted pass does not count.
    with desk.library.db.read() as conn:
        (pass_id,) = conn.exec_driver_sql("SELECT pass_id FROM segment WHERE document_id = ?", (lined,)).one()
    desk.do("segment.pass_delete", {"pass_id": pass_id})
    assert [one["done"] for one in desk.plan()["runs"]] == [1, 1]


def test_what_a_run_made_and_a_person_deleted_is_lacking_again(desk: Desk) -> None:
    """Deleted regions are found again, although the run that made them was not undone."""
    pages = desk.pages(2)
    for page in pages:
        desk.lines(page, ["Dear Sir", "I am"])
    desk.recipe(step("find-regions", "lines"))
    desk.run_whole()
    assert _count_done(desk) == [2]
    with desk.library.db.read() as conn:
        asked = (
            "SELECT id, version FROM segment WHERE document_id = ? AND kind = 'region' AND deleted_at IS NULL"
        )
        regions = conn.exec_driver_sql(asked, (pages[0],)).all()
    ids = [region for region, _ in regions]
    desk.do("segment.delete", {"segment_ids": ids, "expected_versions": [version for _, version in regions]})
    assert _count_done(desk) == [1]
    (card,) = desk.run_whole()["cards"]
    assert (card["account"]["pages"], _count_done(desk)) == (1, [2])


def test_a_card_that_cannot_tell_says_so_and_runs_on_every_page_again(desk: Desk) -> None:
    """Whether a check was done is not known, so it is offered for all pages again."""
    for page in desk.pages(2):
        desk.lines(page, ["Dear Sir"])
    desk.recipe(step("check", "check"))
    for _ in range(2):
        (card,) = desk.plan()["runs"]
        assert (card["done"], card["of"]) == (0, 2)
        assert card["note"] == "It is unknown on which pages this was done; it runs on every page."
        run = desk.run_whole()
        assert (run["state"], run["cards"][0]["account"]["pages"]) == ("done", 2)


def test_pages_deleted_between_two_cards_are_passed_over_by_the_second(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first card has processed them, later ones do not, and the run succeeds."""
    from armarium_recipes.project import running

    pages = desk.pages(3)
    for page in pages:
        desk.lines(page, ["Dear Sir"])
    desk.recipe(ORDER, NAMES)
    plain = running._Runner._end_card

    def end_card(runner: Any, card: Any) -> None:
        plain(runner, card)
        if card.id == "order":
            assert desk.client.delete(f"/api/documents/{pages[0]}").status_code == 200

    monkeypatch.setattr(running._Runner, "_end_card", end_card)
    run = desk.run_whole()
    assert run["state"] == "done", run
    assert [one["account"]["done"] for one in run["cards"]] == [3, 2]
    summary = desk.get(f"/runs/{run['job_id']}/summary")
    assert (summary["pages"], summary["finished"]) == (2, True)
    assert [(one["done"], one["of"]) for one in desk.plan()["runs"]] == [(2, 2), (2, 2)]


def test_all_pages_deleted_half_way_leave_the_later_cards_nothing_to_do(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That is no error: the card is done, with no pages."""
    from armarium_recipes.project import running

    pages = desk.pages(2)
    for page in pages:
        desk.lines(page, ["Dear Sir"])
    desk.recipe(ORDER, NAMES)
    plain = running._Runner._begin_card

    def begin_card(runner: Any, card: Any) -> None:
        if card.id == "names":
            for page in pages:
                desk.client.delete(f"/api/documents/{page}")
        plain(runner, card)

    monkeypatch.setattr(running._Runner, "_begin_card", begin_card)
    run = desk.run_whole()
    assert (run["state"], [one["state"] for one in run["cards"]]) == ("done", ["done", "done"])
    assert run["cards"][1]["account"]["pages"] == 0
