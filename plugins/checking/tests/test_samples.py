"""A sample of lines states the error rate of a whole selection: drawn at random, answered by persons, true until the text changes."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import pytest
from checking_project import MACHINE, CheckingProject

from armarium.api import Conflict, Engine, Forbidden, Invalid, Library, NotFound
from armarium.principals import LOCAL_OWNER
from armarium_checking.hookspecs import armarium_checking_taught

ANNA = replace(LOCAL_OWNER, name="Anna")
BEN = replace(LOCAL_OWNER, name="Ben")
TRUTH = "In the name of the Lord amen"


class Selection:
    """Pages of ten lines each that a reader read, every *wrong*th of them with two letters wrong."""

    def __init__(self, project: CheckingProject, pages: int = 4, wrong: int = 4) -> None:
        self.project = project
        self.pages: list[str] = []
        self.truth: dict[str, str] = {}
        for page_number in range(pages):
            page, pass_id, lines = project.page([0.5] * 10)
            texts = []
            for number, line in enumerate(lines):
                text = f"{TRUTH} {page_number}{number}"
                self.truth[line] = text
                texts.append(text.replace("name", "nanne") if number % wrong == 0 else text)
            readings = [
                {"segment_id": line, "text": text, "confidence": 0.5 if "nanne" in text else 0.9}
                for line, text in zip(lines, texts, strict=True)
            ]
            taken = {"document_id": page, "pass_id": pass_id, "provider": "one", "model": "one"}
            project.do("reading.take", {**taken, "readings": readings}, MACHINE)
            self.pages.append(page)

    @property
    def rate(self) -> float:
        """The true rate of the whole selection, counted by hand: two errors in each line that is wrong."""
        wrong = len([line for number, line in enumerate(self.truth) if number % 10 % 4 == 0])
        return 2 * wrong / sum(map(len, self.truth.values()))

    def draw(self, **more: Any) -> dict[str, Any]:
        answer = self.project.client.post("/api/quality/samples", json={"scope_ids": self.pages, **more})
        assert answer.status_code == 200, answer.text
        drawn_answer: dict[str, Any] = answer.json()
        return drawn_answer

    def rate_of(self, sample_id: str) -> dict[str, Any]:
        answer = self.project.client.get(f"/api/quality/samples/{sample_id}")
        assert answer.status_code == 200, answer.text
        told: dict[str, Any] = answer.json()
        return told

    def next(self, sample_id: str, **query: Any) -> dict[str, Any] | None:
        answer = self.project.client.get(f"/api/quality/samples/{sample_id}/next", params=query).json()
        line: dict[str, Any] | None = answer["line"]
        return line

    def answer_all(self, sample_id: str, most: int = 1_000, who: Any = ANNA) -> int:
        many = 0
        while many < most and (line := self.next(sample_id)) is not None:
            text = self.truth[line["segment_id"]]
            self.project.do("quality.answer", {"line_id": line["line_id"], "text": text}, who)
            many += 1
        return many


@pytest.fixture
def selection(project: CheckingProject) -> Selection:
    return Selection(project)


def test_the_rate_of_the_whole_selection_lies_in_the_interval(selection: Selection) -> None:
    drawn = selection.draw(lines=20, seed=3)
    assert (drawn["lines"], drawn["population"], drawn["cer"], drawn["statement"]) == (20, 40, None, None)
    assert drawn["lines_to_width"] is None
    assert selection.answer_all(drawn["id"]) == 20
    rate = selection.rate_of(drawn["id"])
    assert rate["cer"]["low"] <= selection.rate <= rate["cer"]["high"]
    assert rate["wer"]["low"] < rate["wer"]["rate"] < rate["wer"]["high"]
    assert 0 < rate["cer"]["more_lines"] <= 20
    assert rate["persons"] == ["Anna"]
    for part in ("95 % interval", "20 of 40 lines", "seed 3", "Anna", "word error rate"):
        assert part in rate["statement"]


def test_with_every_line_answered_the_rate_is_exact(selection: Selection) -> None:
    drawn = selection.draw(lines=40)
    selection.answer_all(drawn["id"])
    rate = selection.rate_of(drawn["id"])
    rates = {name: rate["cer"][name] for name in ("rate", "low", "high")}
    assert rates == pytest.approx(dict.fromkeys(rates, selection.rate))
    assert rate["cer"]["more_lines"] == 0


def test_the_same_seed_draws_the_same_lines_and_another_draws_others(selection: Selection) -> None:
    def lines_of(seed: int) -> list[str]:
        sample = selection.draw(lines=12, seed=seed)["id"]
        listed = selection.project.client.get(f"/api/quality/samples/{sample}/lines").json()
        return [item["segment_id"] for item in listed["items"]]

    assert lines_of(5) == lines_of(5) != lines_of(6)


def test_the_bad_strata_are_named(selection: Selection) -> None:
    drawn = selection.draw(lines=40)
    selection.answer_all(drawn["id"])
    strata = selection.rate_of(drawn["id"])["strata"]
    assert [stratum["name"] for stratum in strata if stratum["bad"]] == ["low"]
    assert sum(stratum["lines"] for stratum in strata if stratum["what"] == "pages") == 40


def test_blind_lines_do_not_tell_what_was_read_before_they_are_answered(selection: Selection) -> None:
    drawn = selection.draw(lines=20)
    line = selection.next(drawn["id"])
    assert line is not None
    assert line["read_text"] is None
    assert line["left"] == 20
    listed = selection.project.client.get(f"/api/quality/samples/{drawn['id']}/lines").text
    assert TRUTH[:8] not in listed
    with pytest.raises(Invalid, match="transcribed blind"):
        selection.project.do("quality.answer", {"line_id": line["line_id"], "confirmed": True})
    compared = selection.next(selection.draw(lines=20, way="confirm")["id"])
    assert compared is not None
    assert compared["read_text"].startswith("In the na")
    result = selection.project.do("quality.answer", {"line_id": compared["line_id"], "confirmed": True})
    assert result["truth"] == compared["read_text"]


def test_two_persons_on_one_line_do_not_overwrite_each_other(selection: Selection) -> None:
    line = selection.next(selection.draw(lines=20)["id"])
    assert line is not None
    do = selection.project.do
    do("quality.answer", {"line_id": line["line_id"], "text": "Anna's"}, ANNA)
    with pytest.raises(Conflict, match="Anna has already answered this line"):
        do("quality.answer", {"line_id": line["line_id"], "text": "Ben's"}, BEN)
    outcome = do("quality.answer", {"line_id": line["line_id"], "text": "Ben's", "replace": True}, BEN)
    assert (outcome["truth"], outcome["answered_by"]) == ("Ben's", "Ben")


def test_an_answer_is_one_thing_and_a_persons(selection: Selection) -> None:
    line = selection.next(selection.draw(lines=20)["id"])
    assert line is not None
    for said in ({}, {"text": "a", "illegible": True}):
        with pytest.raises(Invalid, match="one of them"):
            selection.project.do("quality.answer", {"line_id": line["line_id"], **said})
    with pytest.raises(Forbidden):
        selection.project.do("quality.answer", {"line_id": line["line_id"], "text": "a"}, MACHINE)
    selection.project.do("quality.answer", {"line_id": line["line_id"], "illegible": True})


def test_pages_deleted_half_way_count_neither_as_lines_nor_as_answers(selection: Selection) -> None:
    drawn = selection.draw(lines=40)
    waiting = selection.project.client.get(f"/api/quality/samples/{drawn['id']}/lines").json()["items"]
    selection.answer_all(drawn["id"], most=30)
    selection.project.do("document.delete", {"ids": [selection.pages[0]]})
    rate = selection.rate_of(drawn["id"])
    assert (rate["population"], rate["pages"], rate["gone"], rate["holds"]) == (30, 3, 1, False)
    assert "1 of its pages were deleted" in rate["statement"]
    gone = next(one for one in reversed(waiting) if one["document_id"] == selection.pages[0])
    with pytest.raises(Conflict, match=r"deleted since|answered this line"):
        selection.project.do("quality.answer", {"line_id": gone["id"], "text": "x"})
    selection.answer_all(drawn["id"])
    assert selection.rate_of(drawn["id"])["cer"]["rate"] == pytest.approx(selection.rate, rel=0.05)


def test_a_statement_says_when_it_no_longer_holds_and_undo_makes_it_hold_again(selection: Selection) -> None:
    drawn = selection.draw(lines=20)
    selection.answer_all(drawn["id"])
    assert selection.rate_of(drawn["id"])["holds"]
    line = next(iter(selection.truth))
    answer = selection.project.client.post(f"/api/segments/{line}/correct", json={"text": "Something else"})
    rate = selection.rate_of(drawn["id"])
    assert (rate["holds"], rate["changed"]) == (False, 1)
    assert "It no longer holds: the text of 1 of its pages" in rate["statement"]
    selection.project.client.post(f"/api/actions/audit/{answer.json()['audit_id']}/undo")
    assert selection.rate_of(drawn["id"])["holds"]


def test_the_readings_of_one_reader_are_measured_even_where_another_text_counts(selection: Selection) -> None:
    line = next(iter(selection.truth))
    selection.project.client.post(f"/api/segments/{line}/correct", json={"text": selection.truth[line]})
    drawn = selection.draw(lines=40, reader="one")
    selection.answer_all(drawn["id"])
    rate = selection.rate_of(drawn["id"])
    assert (rate["cer"]["rate"], rate["holds"]) == (pytest.approx(selection.rate), True)
    counting = selection.draw(lines=40)
    selection.answer_all(counting["id"])
    assert selection.rate_of(counting["id"])["cer"]["rate"] < selection.rate


def test_an_empty_selection_and_one_nobody_can_make_are_refused_with_a_sentence(
    project: CheckingProject, selection: Selection
) -> None:
    page, _, _ = project.page([0.5])
    for body, said in (
        ({"scope_ids": [page]}, "no line with a text"),
        ({"reader": "nobody"}, "no line with a text"),
        ({"query": "amen"}, "No installed family can select by a search"),
        ({"hand_id": "no-hand"}, "No installed family can select by a hand"),
    ):
        answer = project.client.post("/api/quality/samples", json=body)
        assert answer.status_code == 422, answer.text
        assert said in answer.json()["detail"]
    assert project.client.post("/api/quality/samples", json={"scope_ids": ["none"]}).status_code == 404
    with pytest.raises(NotFound):
        project.do("quality.extend", {"sample_id": "none", "lines": 1})


def test_what_is_withheld_belongs_to_no_selection_and_no_number_tells_of_it(selection: Selection) -> None:
    project = selection.project
    whole = selection.draw(lines=20)
    answer = project.client.post("/api/tokens", json={"name": "an editor", "role": "editor"}).json()
    editor = {"Authorization": f"Bearer {answer['token']}"}
    project.do("rights.set", {"target_kind": "document", "target_id": selection.pages[0], "restricted": True})
    other_body = {"scope_ids": [], "lines": 15}
    seen_answer = project.client.post("/api/quality/samples", json=other_body, headers=editor)
    assert seen_answer.status_code == 200, seen_answer.text
    assert (seen_answer.json()["population"], seen_answer.json()["pages"]) == (30, 3)
    listed = project.client.get("/api/quality/samples", headers=editor).json()
    assert [item["id"] for item in listed["items"]] == [seen_answer.json()["id"]]
    hidden = project.client.get(f"/api/quality/samples/{whole['id']}", headers=editor)
    assert hidden.status_code in (403, 404)
    assert len(project.client.get("/api/quality/samples").json()["items"]) == 2


def test_more_lines_are_drawn_from_those_that_are_left(selection: Selection) -> None:
    drawn = selection.draw(lines=20)
    more = selection.project.do("quality.extend", {"sample_id": drawn["id"], "lines": 10})
    assert more["lines"] >= 30
    lines = selection.project.client.get(f"/api/quality/samples/{drawn['id']}/lines").json()["items"]
    assert len({line["segment_id"] for line in lines}) == more["lines"]
    selection.project.do("quality.extend", {"sample_id": drawn["id"], "lines": 100})
    with pytest.raises(Conflict, match="none left to draw"):
        selection.project.do("quality.extend", {"sample_id": drawn["id"], "lines": 1})
    selection.answer_all(drawn["id"])
    assert selection.rate_of(drawn["id"])["cer"]["rate"] == pytest.approx(selection.rate)


def test_a_sample_is_removed_with_its_answers_and_comes_back_by_undo(selection: Selection) -> None:
    drawn = selection.draw(lines=20)
    selection.answer_all(drawn["id"])
    before = selection.rate_of(drawn["id"])
    answer = selection.project.client.delete(f"/api/quality/samples/{drawn['id']}").json()
    assert selection.project.client.get(f"/api/quality/samples/{drawn['id']}").status_code == 404
    selection.project.client.post(f"/api/actions/audit/{answer['audit_id']}/undo")
    assert selection.rate_of(drawn["id"]) == before


def test_lines_whose_text_taught_the_reader_are_never_drawn(
    engine: Engine, selection: Selection, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, lines = selection.pages[0], list(selection.truth)

    def name_taught(
        point: Any, library: Library, conn: Any, models: Collection[str]
    ) -> list[Mapping[str, Any]]:
        assert point is armarium_checking_taught
        assert "one" in models
        return [{"one": [page, *lines[10:15]], "two": lines[30:]}]

    monkeypatch.setattr(engine.points, "ask", name_taught)
    drawn = selection.draw(lines=100)
    assert (drawn["taught"], drawn["population"]) == (15, 25)
    listed = selection.project.client.get(f"/api/quality/samples/{drawn['id']}/lines").json()["items"]
    assert not {item["segment_id"] for item in listed} & set(lines[:15])
    selection.answer_all(drawn["id"])
    assert "15 lines that taught the reader were left out" in selection.rate_of(drawn["id"])["statement"]


def test_a_random_prefix_of_the_answers_is_a_sample_too(selection: Selection) -> None:
    """Whoever stops half-way has not answered the first pages only."""
    random.seed(1)
    drawn = selection.draw(lines=40)
    selection.answer_all(drawn["id"], most=16)
    listed = selection.project.client.get(f"/api/quality/samples/{drawn['id']}/lines").json()["items"]
    pages = {item["document_id"] for item in listed if item["truth"] is not None}
    assert pages == set(selection.pages)
    rate = selection.rate_of(drawn["id"])
    assert rate["cer"]["low"] <= selection.rate <= rate["cer"]["high"]
