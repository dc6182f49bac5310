"""Which pages lack the output of a step: decided for each step from the text and lines that a page has now."""

from __future__ import annotations

from typing import Any

import bakeoff_fixtures
import bakeoff_readers as readers
import pytest
from start_fixtures import Desk, step

from armarium.api import Engine, Library
from armarium_recipes.cards.sources import cards_here

NAMES = step("find-names-tag-words", "entities", "names")
ORDER = step("put-in-order", "lines", "order")


@pytest.fixture
def desk(engine: Engine, library: Library, client: Any) -> Desk:
    """The project of this module's tests."""
    return Desk(engine, library, client)


def _count_done(desk: Desk) -> list[int]:
    return [run["done"] for run in desk.plan()["runs"]]


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
    assert [(run["done"], run["of"], run["note"]) for run in plan["runs"]] == [
        (2, 3, "Already done on 2 of 3 pages."),
        (1, 3, "Already done on 1 of 3 pages."),
    ]
    # A deleted pass does not count.
    with desk.library.db.read() as conn:
        (pass_id,) = conn.exec_driver_sql("SELECT pass_id FROM segment WHERE document_id = ?", (lined,)).one()
    desk.do("segment.pass_delete", {"pass_id": pass_id})
    assert [run["done"] for run in desk.plan()["runs"]] == [1, 1]


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
    assert [card["account"]["done"] for card in run["cards"]] == [3, 2]
    summary = desk.get(f"/runs/{run['job_id']}/summary")
    assert (summary["pages"], summary["finished"]) == (2, True)
    assert [(run["done"], run["of"]) for run in desk.plan()["runs"]] == [(2, 2), (2, 2)]


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
    assert (run["state"], [card["state"] for card in run["cards"]]) == ("done", ["done", "done"])
    assert run["cards"][1]["account"]["pages"] == 0


@pytest.fixture
def reader(desk: Desk) -> dict[str, Any]:
    """A step that reads lines with a small reader."""
    bakeoff_fixtures.Desk(desk.engine, desk.library, desk.client).give(readers.First)
    card = next(card for card in cards_here(desk.engine, desk.library) if card.reader == "first")
    return {
        "id": "read",
        "job": "read-a-line",
        "layer": "reading",
        "card": {"id": card.id, "source": card.source},
    }


def _texts(desk: Desk) -> dict[str, list[str]]:
    """Return the readings of each line, oldest first."""
    found: dict[str, list[str]] = {}
    with desk.library.db.read() as conn:
        for line, text in conn.exec_driver_sql(
            "SELECT segment_id, content FROM content_representation WHERE NOT retracted ORDER BY created_at, id"
        ):
            found.setdefault(line, []).append(text)
    return found


def test_a_page_is_read_when_its_lines_are_and_only_the_others_are_read(
    desk: Desk, reader: dict[str, Any]
) -> None:
    """One typed line does not make a page of eight lines read; the person's line is left alone."""
    (page,) = desk.pages(1)
    lines = desk.lines(page, count=8)
    desk.do("representation.create", {"segment_id": lines[0], "text": "By hand"})
    desk.recipe(reader)
    (planned,) = desk.plan()["runs"]
    assert (planned["done"], planned["of"]) == (0, 1)
    assert planned["note"] == "On 1 page 1 of 8 lines are read; the others are read now."
    run = desk.run_whole()
    assert run["state"] == "done", run
    texts = _texts(desk)
    assert texts[lines[0]] == ["By hand"]
    assert [texts[line] for line in lines[1:]] == [[f"line {n}"] if n % 10 else ["lime 0"] for n in range(7)]
    assert _count_done(desk) == [1]
    # A line drawn later is unread, and the page with it.
    with desk.library.db.read() as conn:
        (pass_id,) = conn.exec_driver_sql("SELECT pass_id FROM segment WHERE id = ?", (lines[0],)).one()
    line = {
        "document_id": page,
        "pass_id": pass_id,
        "kind": "line",
        "anchor": {"rect": [0.1, 0.96, 0.8, 0.03]},
    }
    desk.do("segment.create_many", {"segments": [line]})
    assert _count_done(desk) == [0]


def test_what_nobody_checked_is_read_again_and_what_people_made_chose_or_confirmed_is_not(
    desk: Desk, reader: dict[str, Any]
) -> None:
    page, decided = desk.pages(2)
    made, confirmed, machine = desk.lines(page, count=3)
    (alone,) = desk.lines(decided, ["By hand"])
    desk.recipe(reader)
    desk.run_whole()
    desk.do("representation.create", {"segment_id": made, "text": "By hand"})
    with desk.library.db.read() as conn:
        (reading,) = conn.exec_driver_sql(
            "SELECT id FROM content_representation WHERE segment_id = ?", (confirmed,)
        ).one()
    verdict = {"layer": "readings", "target_id": reading, "verdict": "confirm", "reasons": "So it is."}
    desk.do("check.verdict", verdict)
    before = _texts(desk)
    assert desk.start(422)["refusals"][0]["kind"] == "nothing-left"
    run = desk.run_whole(redo_unchecked=["read"])
    assert run["cards"][0]["account"]["pages"] == 1
    assert {line for line, texts in _texts(desk).items() if texts != before[line]} == {machine}
    # Repeated on all pages, the reading that a person confirmed still counts.
    run = desk.run_whole(redo=["read"])
    after = _texts(desk)
    assert after[confirmed] == before[confirmed]
    assert len(after[machine]) == 3
    assert after[alone][0] == "By hand"


def test_a_step_in_both_is_repeated_only_on_what_nobody_checked(desk: Desk, reader: dict[str, Any]) -> None:
    """The plan counts what the run would do."""
    desk.lines(desk.pages(1)[0], ["By hand"])
    desk.recipe(reader)
    refused = desk.start(422, redo=["read"], redo_unchecked=["read"])
    assert refused["refusals"][0]["kind"] == "nothing-left"


def test_only_steps_that_read_lines_leave_out_what_was_checked(desk: Desk, reader: dict[str, Any]) -> None:
    desk.lines(desk.pages(1)[0], ["Dear Sir"])
    desk.recipe(ORDER, reader)
    refused = desk.start(422, redo_unchecked=["order"])
    assert refused["code"] == "reads_no_lines"
    assert refused["detail"].endswith("It can be asked of: read.")


def test_a_spread_that_was_transcribed_as_pictured_stays_whole_and_plan_and_run_say_so(desk: Desk) -> None:
    page, plain = desk.pages(2)
    desk.lines(page, ["Dear Sir", "I am"])
    desk.recipe(step("split-pages", "prepare"), NAMES)
    split = desk.plan()["runs"][0]
    assert (split["done"], split["of"]) == (1, 2)
    assert (
        split["note"] == "Already done on 1 of 2 pages. 1 page was transcribed as pictured and stays whole."
    )
    desk.client.delete(f"/api/documents/{plain}")
    run = desk.run_whole()
    assert run["cards"][0]["why"] == (
        "Every page has already been through it. 1 page was transcribed as pictured and stays whole."
    )
    assert desk.plan()["runs"][1]["of"] == 1


def test_the_plan_says_where_a_person_drew_all_lines(desk: Desk) -> None:
    card = next(
        card for card in cards_here(desk.engine, desk.library)
        if "find-lines" in card.jobs and card.id.startswith("rapidocr:")
    )  # fmt: skip
    desk.lines(desk.pages(1)[0], count=1)
    desk.recipe(
        {"id": "lines", "job": "find-lines", "layer": "lines", "card": {"id": card.id, "source": card.source}}
    )
    (planned,) = desk.plan()["runs"]
    assert planned["note"].endswith("On 1 page a person drew all lines (1); no others are looked for there.")
