"""Scores by cases worked out by hand, and the level to accept above."""

from __future__ import annotations

from typing import Any

import pytest
from finding_desk import MACHINE, Desk

from armarium_finding.scoring import JudgedJoin, judged_joins, levels_of, pool_levels, score, suggest_level

LETTER = "Dear Sir,\nI write to tell you that we have arrived safely."
MORE = "The weather was fair and the ship was fast."
RULING = "SENTENCIA\nEn la ciudad de Toledo se han visto los autos."
PERSON = {"by": "person", "run_id": None, "actor": "owner"}
RUN = {"by": "run", "run_id": "r", "actor": "owner"}


def document(
    *pages: str, state: str = "proposed", by: Any = None, adjusted: str | None = None, **more: Any
) -> dict[str, Any]:
    found = {"page_ids": list(pages), "state": state, "decided_by": by, "adjusted_by": adjusted}
    return {**found, "accepted_as": None, "kind": None, **more}


def make_proposal(joins: dict[str, float], *documents: dict[str, Any]) -> dict[str, Any]:
    rows = [{"page_id": page, "probability": probability} for page, probability in joins.items()]
    pages = [page for one in documents for page in one["page_ids"]]
    return {"method": "rules-1", "joins": rows, "documents": list(documents), "page_ids": pages}


def test_joins_beside_and_inside_what_a_person_judged() -> None:
    joins = {"a": 1.0, "b": 0.1, "c": 0.9, "d": 0.8, "e": 0.7, "g": 0.6}
    proposal = make_proposal(
        joins,
        document("a", "b", state="accepted", by=PERSON),
        document("c", adjusted="owner"),
        document("d", state="rejected", by=PERSON),
        document("e", "f"),
        document("g"),
    )
    assert judged_joins(proposal) == [
        JudgedJoin("b", 0.1, False),
        JudgedJoin("c", 0.9, True),
        JudgedJoin("d", 0.8, True),  # its other side was adjusted to end here
        JudgedJoin("e", 0.7, False),  # the rejected document does not end here
    ]
    assert (
        judged_joins(make_proposal(joins, document("a", "b", "c", "d", "e", "g", state="accepted", by=RUN)))
        == []
    )


def test_a_rejection_counts_only_where_it_says_which_end_is_wrong() -> None:
    joins = {"a": 1.0, "b": 0.9, "c": 0.9, "d": 0.1, "e": 0.9}

    def judge(*states: str) -> list[JudgedJoin]:
        pages = (("a",), ("b",), ("c", "d"), ("e",))
        made = [
            document(*page, state=state, by=None if state == "proposed" else PERSON)
            for page, state in zip(pages, states, strict=True)
        ]
        return judged_joins(make_proposal(joins, *made))

    # Its start, its end or both may be wrong: nobody knows.
    assert judge("proposed", "rejected", "proposed", "proposed") == []
    # The folder begins with it, or ends with it: only the other end is left.
    assert judge("rejected", "proposed", "proposed", "proposed") == [JudgedJoin("b", 0.9, False)]
    assert judge("proposed", "proposed", "proposed", "rejected") == [JudgedJoin("e", 0.9, False)]
    # One end is right by the document beside it; of two pages, the join inside may be the wrong one.
    assert judge("accepted", "rejected", "proposed", "proposed") == [
        JudgedJoin("b", 0.9, True),
        JudgedJoin("c", 0.9, False),
    ]
    assert judge("proposed", "proposed", "rejected", "accepted") == [JudgedJoin("e", 0.9, True)]


def test_a_score_by_hand() -> None:
    joins = {"a": 1.0, "b": 0.1, "c": 0.9, "d": 0.3, "e": 0.7}
    proposal = make_proposal(
        joins,
        document("a", "b", state="accepted", by=PERSON, accepted_as="n1", kind="Letter"),
        document("c", adjusted="owner"),
        document("d", "e", state="accepted", by=PERSON, adjusted="owner", accepted_as="n2", kind="Cable"),
    )
    found = score(proposal, {"n1": "Letter", "n2": "Receipt"})
    # Judged: b no, c yes, d yes, e no; the run proposed c and e, of which c is one.
    assert (found["judged_joins"], found["boundaries_proposed"], found["boundaries_actual"]) == (4, 2, 2)
    assert (found["precision"], found["recall"]) == (0.5, 0.5)
    assert (found["documents"], found["exact_documents"]) == (3, 1)
    assert (found["kinds_confirmed"], found["kinds_right"], found["kind_accuracy"]) == (2, 1, 0.5)
    levels = {level["level"]: (level["joins"], level["agreed"]) for level in found["levels"]}
    # Sure of b 0.9 (right), of c 0.9 (right), of d 0.7 (wrong), of e 0.7 (wrong).
    assert levels[0.5] == levels[0.7] == (4, 2)
    assert levels[0.75] == levels[0.9] == (2, 2)
    assert levels[0.95] == (0, 0)
    assert list(levels) == [0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.97, 0.98, 0.99]


def test_the_suggestion_needs_fifty_joins_and_ninety_nine_in_a_hundred() -> None:
    sure = [JudgedJoin(str(n), 0.995, True) for n in range(50)]
    assert suggest_level(levels_of(sure[:49])) is None
    assert suggest_level(levels_of(sure)) == 0.5
    wrong = JudgedJoin("w", 0.62, False)
    assert suggest_level(levels_of([*sure, wrong])) == 0.65
    assert suggest_level(levels_of([*sure, *sure, wrong])) == 0.5  # 100 of 101
    assert suggest_level([]) is None
    two = pool_levels([{"levels": levels_of(sure[:25])}, {"levels": levels_of(sure[25:])}])
    assert suggest_level(two) == 0.5


def test_a_page_that_the_run_took_for_the_same_leaf_counts_as_missed() -> None:
    proposal = make_proposal({"a": 1.0}, document("a", adjusted="o"), document("b", adjusted="o"))
    found = score(proposal, {})
    assert (found["boundaries_actual"], found["boundaries_proposed"], found["recall"]) == (1, 0, 0.0)
    assert found["precision"] is None
    assert all(level["joins"] == 0 for level in found["levels"])


def test_scoring_over_http(desk: Desk) -> None:
    folder, pages = desk.box([LETTER, MORE, RULING])
    url = "/api/find-documents/score"

    def post(**body: Any) -> tuple[int, Any]:
        answer = desk.client.post(url, json=body)
        return answer.status_code, answer.json()

    assert (post(folder_id="f" * 32)[0], post(folder_id=folder)[1]["code"]) == (404, "no_proposal")
    found = desk.find(folder)
    assert post(folder_id=folder)[1]["code"] == "none_judged"
    other, _ = desk.box([LETTER], "Other")
    assert post(folder_id=other, proposal_id=found["id"])[1]["code"] == "other_folder"
    assert post(folder_id=folder, proposal_id="f" * 32)[0] == 404
    desk.do("finddocs.accept", {"proposal_id": found["id"], "document_indexes": [0]}, MACHINE)
    assert post(folder_id=folder)[1]["code"] == "none_judged"
    desk.post(found["id"], "accept", document_indexes=[1])
    status, told = post(folder_id=folder)
    assert status == 200
    assert told["audit_id"]
    assert told["score"]["judged_joins"] == 1
    assert told["score"]["precision"] == 1.0
    assert told["scores"] == [told["score"]]
    assert told["suggested_accept_above"] is None
    assert told["score"]["proposal_id"] == found["id"]
    assert told["score"]["kinds_right"] == 1
    desk.do("document.update", {"document_id": pages[2], "prototype_key": "letter"})
    again = post(folder_id=folder)[1]
    assert (again["score"]["kinds_confirmed"], again["score"]["kinds_right"]) == (1, 0)
    listed = desk.client.get(url, params={"folder_id": folder}).json()
    assert [item["id"] for item in listed["items"]] == [again["score"]["id"], told["score"]["id"]]
    assert listed["count"] == 2
    assert listed["min_joins"] == 50
    assert listed["levels"][0] == {"level": 0.5, "joins": 1, "agreed": 1}
    learned = desk.client.get(url, params={"method": "learned-1"}).json()
    assert learned["levels"][0]["joins"] == 0
    assert len(learned["items"]) == 2
    assert desk.client.get(url, params={"folder_id": "f" * 32}).status_code == 404
    with pytest.raises(Exception, match="cannot be undone"):
        desk.undo(told["audit_id"])
