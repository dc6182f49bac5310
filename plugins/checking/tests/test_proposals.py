"""After a correction, other lines with the same error are proposed; a person decides about many in one step."""

from __future__ import annotations

from typing import Any

import pytest
from checking_project import MACHINE, CheckingProject

from armarium.api import Conflict, Forbidden, Invalid
from armarium_checking.misreadings import Confusion, Experience, WordChange, mendings_of, word_changes

READ = [
    "the lamcl of the king",
    "a hancl in the sand",
    "all the lamcl and the hand",
    "the clear sound of it",
    "by my hancl and seal",
    "the land of the hand",
]
RIGHT = "the land of the king"


@pytest.fixture
def lines(project: CheckingProject) -> list[str]:
    """Six lines that a reader read, in which it took a d for cl several times."""
    page, pass_id, made = project.page([0.5] * len(READ))
    project.read(page, pass_id, made, READ, "one")
    return made


def correct(project: CheckingProject, line: str, text: str) -> dict[str, Any]:
    answer = project.client.post(f"/api/segments/{line}/correct", json={"text": text})
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def proposals(project: CheckingProject, **query: Any) -> list[dict[str, Any]]:
    answer = project.client.get("/api/check/proposals", params=query)
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


def item(proposal: dict[str, Any]) -> dict[str, Any]:
    names = ("segment_id", "reading_id", "char_start", "char_end", "read", "proposed")
    return {name: proposal[name] for name in names}


def words_of(found: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(one["read"], one["proposed"]) for one in found]


def test_a_confusion_is_named_with_its_letters_before_and_after() -> None:
    (change,) = word_changes("in the hancl of", "in the hand of")
    assert change == WordChange("hancl", "hand")
    assert change.confusions() == [Confusion("cl", "d", "n", " ")]
    assert list(mendings_of("sancl", change.confusions()[0])) == ["sand"]
    assert list(mendings_of("clans", Confusion("cl", "d", " ", "a"))) == ["dans"]
    assert list(mendings_of("clear", change.confusions()[0])) == []


def test_letters_are_not_parted_from_the_marks_on_them() -> None:
    (change,) = word_changes("itaq\u0303 ore", "itaq\u0304 ore")
    assert change.confusions() == [Confusion("q\u0303", "q\u0304", "a", " ")]
    assert word_changes("de la rue", "dela rue") == []
    assert WordChange("abcdefgh", "stuvwxyz").confusions() == []


def test_the_corrected_word_and_words_with_the_same_confusion_are_proposed(
    project: CheckingProject, lines: list[str]
) -> None:
    correct(project, lines[1], "a hand in the sand")
    found_proposals = proposals(project, segment_id=lines[1])
    assert words_of(found_proposals) == [("hancl", "hand")]
    assert found_proposals[0]["segment_id"] == lines[4]
    assert found_proposals[0]["picture"] == f"/api/segments/{lines[4]}/picture"
    assert (found_proposals[0]["wrong"], found_proposals[0]["right"]) == ("hancl", "hand")
    correct(project, lines[0], RIGHT)
    everywhere = proposals(project)
    assert sorted(words_of(everywhere)) == [("hancl", "hand"), ("lamcl", "land")]
    probabilities = [one["probability"] for one in everywhere]
    assert probabilities == sorted(probabilities, reverse=True)
    # A word that is as it should be is not proposed for having the letters.
    assert "clear" not in {one["read"] for one in everywhere}


def test_another_word_is_proposed_where_the_confusion_leads_to_a_word_that_is_known(
    project: CheckingProject, lines: list[str]
) -> None:
    page, pass_id, made = project.page([0.5] * 2)
    project.read(page, pass_id, made, ["white sancl here", "the sand there"], "one")
    correct(project, lines[1], "a hand in the sand")
    found_proposals = proposals(project, segment_id=lines[1])
    assert ("sancl", "sand") in words_of(found_proposals)


def test_many_are_accepted_and_rejected_in_one_step_and_undone_in_one(
    project: CheckingProject, lines: list[str]
) -> None:
    correct(project, lines[1], "a hand in the sand")
    correct(project, lines[0], RIGHT)
    proposals_by_read = {proposal["read"]: proposal for proposal in proposals(project)}
    body = {"accepted": [item(proposals_by_read["lamcl"])], "rejected": [item(proposals_by_read["hancl"])]}
    answer = project.client.post("/api/check/proposals", json=body)
    assert answer.status_code == 200, answer.text
    texts = project.client.get(f"/api/segments/{lines[2]}/readings").json()["items"]
    assert "all the land and the hand" in {text["content"] for text in texts}
    # What was rejected is not offered again, what was accepted is right now.
    assert proposals(project) == []
    undone = project.client.post(f"/api/actions/audit/{answer.json()['audit_id']}/undo")
    assert undone.status_code == 200
    assert len(proposals(project)) == 2


def test_of_one_misreading_more_are_offered_while_persons_accept_them(
    project: CheckingProject, lines: list[str]
) -> None:
    page, pass_id, made = project.page([0.5] * 9)
    project.read(page, pass_id, made, [f"{word} hancl" for word in "abcdefghi"], "one")
    correct(project, lines[1], "a hand in the sand")
    first = proposals_of_the_word(project)
    assert len(first) == 2
    project.do("proposal.decide", {"accepted": [item(one) for one in first]})
    more = proposals_of_the_word(project)
    assert len(more) == 6
    project.do("proposal.decide", {"rejected": [item(one) for one in more[:3]]})
    assert proposals_of_the_word(project) == []


def proposals_of_the_word(project: CheckingProject) -> list[dict[str, Any]]:
    """What is proposed of the word that was corrected, however probable."""
    return [proposal for proposal in proposals(project, least=0) if proposal["read"] == "hancl"]


def test_what_is_proposed_has_the_accents_that_persons_write() -> None:
    experience = Experience([("sovictique", "soviétique"), ("Ecole", "École")])
    plain = str.maketrans("éÉ", "ee")

    def fold(word: str) -> str:
        return word.translate(plain).lower()

    assert experience.spell("sovietique", "sovietique", fold) == "soviétique"
    assert experience.spell("Sovietique", "sovietique", fold) == "Soviétique"
    assert experience.spell("ecole", "ecole", fold) == "école"
    assert experience.spell("maison", "maison", fold) == "maison"


def test_a_line_that_a_person_wrote_is_not_proposed(project: CheckingProject, lines: list[str]) -> None:
    correct(project, lines[4], "by my hancl and seal!")
    correct(project, lines[1], "a hand in the sand")
    assert proposals(project, segment_id=lines[1]) == []


def test_a_proposal_for_a_text_that_is_another_by_now_changes_nothing(
    project: CheckingProject, lines: list[str]
) -> None:
    correct(project, lines[1], "a hand in the sand")
    (proposal,) = proposals(project)
    correct(project, lines[4], "by my hand and sea")
    for name in ("accepted", "rejected"):
        with pytest.raises(Conflict, match="List the proposals again"):
            project.do("proposal.decide", {name: [item(proposal)]})
    with pytest.raises(Invalid, match="No proposal is accepted or rejected"):
        project.do("proposal.decide", {})
    with pytest.raises(Forbidden):
        project.do("proposal.decide", {"accepted": [item(proposal)]}, MACHINE)


def test_two_proposals_about_the_same_letters_are_not_both_accepted(
    project: CheckingProject, lines: list[str]
) -> None:
    correct(project, lines[1], "a hand in the sand")
    (proposal,) = proposals(project)
    with pytest.raises(Invalid, match="about the same letters"):
        project.do("proposal.decide", {"accepted": [item(proposal), {**item(proposal), "proposed": "hound"}]})


def test_a_line_that_nobody_corrected_has_no_proposals(project: CheckingProject, lines: list[str]) -> None:
    answer = project.client.get("/api/check/proposals", params={"segment_id": lines[0]})
    assert answer.status_code == 404
    assert "No person has corrected the line" in answer.json()["detail"]
    assert proposals(project) == []


def test_words_on_withheld_pages_are_neither_proposed_nor_lead_to_proposals(
    project: CheckingProject, lines: list[str]
) -> None:
    hidden, pass_id, made = project.page([0.5] * 2)
    project.read(hidden, pass_id, made, ["a hancl there", "the sand there"], "one")
    page, pass_id, made = project.page([0.5])
    project.read(page, pass_id, made, ["white sancl here"], "one")
    correct(project, lines[1], "a hand in a box")
    project.do("rights.set", {"target_kind": "document", "target_id": hidden, "restricted": True})
    token = project.client.post("/api/tokens", json={"name": "an editor", "role": "editor"}).json()["token"]
    asked = {"params": {"segment_id": lines[1], "least": 0}, "headers": {"Authorization": f"Bearer {token}"}}
    items = project.client.get("/api/check/proposals", **asked).json()["items"]
    assert hidden not in {one["document_id"] for one in items}
    # "sand" stands on the page that may not be seen, and nowhere else.
    assert ("sancl", "sand") not in words_of(items)
    assert ("sancl", "sand") in words_of(proposals(project, segment_id=lines[1], least=0))


def test_a_correction_in_one_language_leads_to_no_proposal_in_lines_of_another(
    project: CheckingProject, lines: list[str]
) -> None:
    page, pass_id, made = project.page([0.5] * 2)
    project.read(page, pass_id, made, ["un hancl de sal", "la sancl y el mar"], "one")
    correct(project, lines[1], "a hand in the sand")
    assert {one["segment_id"] for one in proposals(project, least=0)} == {lines[4], *made}

    english = project.rows("SELECT document_id FROM segment WHERE id = ?", lines[0])[0][0]
    project.do("document.update", {"document_id": english, "language": "eng"})
    project.do("document.update", {"document_id": page, "language": "es-PE"})
    assert {one["segment_id"] for one in proposals(project, least=0)} == {lines[4]}

    # What a line says of itself goes before what its page says; where nothing is said, no language is ruled out.
    project.do("segment.update", {"segment_id": made[1], "expected_version": 1, "language": "en-GB"})
    assert {one["segment_id"] for one in proposals(project, least=0)} == {lines[4], made[1]}
    project.do("document.update", {"document_id": page, "language": "mul"})
    assert {one["segment_id"] for one in proposals(project, least=0)} == {lines[4], *made}

    # A correction in Spanish leads to words of Spanish: "sand" stands on the English page alone.
    project.do("document.update", {"document_id": page, "language": "es"})
    project.do("segment.update", {"segment_id": made[1], "expected_version": 2, "language": "es"})
    correct(project, made[0], "un hand de sal")
    assert proposals(project, segment_id=made[0], least=0) == []


def test_a_rare_word_is_compared_with_those_of_its_language(
    project: CheckingProject, lines: list[str]
) -> None:
    correct(project, lines[1], "a hand in the sand")
    others = [project.page([0.5]) for _ in range(2)]
    for page, pass_id, made in others:
        project.read(page, pass_id, made, ["we stand here"], "one")
        project.do("document.update", {"document_id": page, "language": "en"})
    page, pass_id, made = project.page([0.5])
    project.read(page, pass_id, made, ["aqui stancl algo"], "one")

    def rare() -> list[str]:
        items = project.client.get("/api/disputed", params={"scope_id": page}).json()["items"]
        return [word for item in items for word in item["rare"]]

    assert rare() == ["stancl"]
    project.do("document.update", {"document_id": page, "language": "es"})
    assert rare() == []


def test_lines_are_listed_in_the_order_in_which_a_correction_helps(
    project: CheckingProject,
) -> None:
    page, pass_id, made = project.page([0.5] * 4)
    sure = [0.99, 0.5, 0.98, 0.97]
    texts = ["in nomine domini amen", "in nomine donini anen", "anno domini primo", "actum est hoc"]
    readings = [
        {"segment_id": line, "text": text, "confidence": one}
        for line, text, one in zip(made, texts, sure, strict=True)
    ]
    taken = {"document_id": page, "pass_id": pass_id, "provider": "one", "model": "one", "readings": readings}
    project.do("reading.take", taken, MACHINE)
    listed = project.client.get("/api/disputed").json()["items"]
    assert listed[0]["segment_id"] == made[1]
    # Where another reader reads something else, it comes sooner than where only one was less sure.
    project.read(page, pass_id, [made[2]], ["arma donum prima nocte"], "two")
    project.read(page, pass_id, [made[2]], [texts[2]], "one")
    order = [
        one["segment_id"]
        for one in project.client.get("/api/disputed", params={"scope_id": page}).json()["items"]
    ]
    assert order.index(made[2]) < order.index(made[3])
    # What the reader says of each letter counts as much as what it says of the line.
    before = {one["segment_id"]: one["expected"] for one in listed}
    doubted = {"frame": (0, 0, 1, 0, 0, 0.1), "letters": [0, 10_000, 0, 10_000, 4_000] * len(texts[3])}
    again = {"segment_id": made[3], "text": texts[3], "confidence": sure[3], "places": doubted}
    project.do("reading.take", {**taken, "readings": [again]}, MACHINE)
    after = {
        one["segment_id"]: one["expected"] for one in project.client.get("/api/disputed").json()["items"]
    }
    assert after[made[3]] == pytest.approx((before[made[3]] + 0.6 * len(texts[3])) / 2)
    correct(project, made[1], texts[0])
    items = project.client.get("/api/disputed").json()["items"]
    assert made[1] not in {one["segment_id"] for one in items}
    assert project.client.get("/api/disputed", params={"scope_id": "none"}).status_code == 404


def test_a_rare_word_one_confusion_from_a_known_one_is_named(project: CheckingProject) -> None:
    for _ in range(2):
        page, pass_id, made = project.page([0.5])
        project.read(page, pass_id, made, ["the hand here"], "one")
    page, pass_id, made = project.page([0.5] * 2)
    project.read(page, pass_id, made, ["my hancl there", "the lancl"], "one")
    correct(project, made[1], "the land")
    listed = project.client.get("/api/disputed").json()["items"]
    assert {one["segment_id"]: one["rare"] for one in listed}[made[0]] == ["hancl"]


def test_the_ink_is_asked_where_somebody_wants_it_and_weighs_the_proposals(
    project: CheckingProject, lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    correct(project, lines[1], "a hand in the sand")
    correct(project, lines[0], RIGHT)
    plain = {proposal["read"]: proposal["probability"] for proposal in proposals(project)}
    asked: list[tuple[str, str, str]] = []

    def say(
        _engine: Any, _library: Any, _conn: Any, _who: Any, those: Any, _seconds: float
    ) -> dict[int, float]:
        asked.extend(those)
        return {number: 2.0 if "hancl" in text else -40.0 for number, (_, text, _) in enumerate(those)}

    monkeypatch.setattr(
        project.engine.points,
        "ask_first",
        lambda point, *given: say(*given) if "ink" in point.__name__ else None,
    )
    assert all(proposal["ink"] is None for proposal in proposals(project))
    assert asked == []
    weighed = proposals(project, ink=True, least=0)
    assert ("by my hancl and seal", "by my hand and seal") in {(text, other) for _, text, other in asked}
    (likely, unlikely) = weighed
    assert (likely["read"], likely["ink"]) == ("hancl", 2.0)
    assert likely["probability"] > plain["hancl"]
    assert (unlikely["read"], unlikely["ink"]) == ("lamcl", -40.0)
    assert unlikely["probability"] < 0.5 <= plain["lamcl"]
    assert words_of(proposals(project, ink=True)) == [("hancl", "hand")]
