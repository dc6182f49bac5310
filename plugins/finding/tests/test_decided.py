"""What was decided in a proposal stands in every later one of the folder; a run never goes against it."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import pytest
from finding_desk import MACHINE, Desk
from finding_samples import kept_params

from armarium.api import Conflict
from armarium_finding import jobs

LETTERS = [
    f"Madrid, {day} de mayo de 1950.\nMuy señor mío:\n{words}\nAtentamente,"
    for day, words in enumerate(
        ("Hoy llega el barco.", "La casa está vendida.", "Mi hermano se casó.", "Nada nuevo hay aquí."),
        start=3,
    )
]


def pages_of(proposal: dict[str, Any]) -> list[list[str]]:
    return [document["page_ids"] for document in proposal["documents"]]


def states(proposal: dict[str, Any]) -> list[str]:
    return [document["state"] for document in proposal["documents"]]


def test_a_later_run_keeps_what_was_joined_and_rejected_and_accepts_the_rest(desk: Desk) -> None:
    folder, pages = desk.box(LETTERS)
    first = desk.find(folder)
    assert len(first["documents"]) == 4
    assert desk.post(first["id"], "join", document_index=1).status_code == 200
    assert desk.post(first["id"], "reject", document_indexes=[2]).status_code == 200
    then = desk.find(folder, accept_above=0.9)
    assert pages_of(then) == [pages[:1], pages[1:3], pages[3:]]
    assert states(then) == ["accepted", "accepted", "rejected"]
    joined, rejected = then["documents"][1:]
    assert (joined["confidence"], joined["adjusted_by"]) == (1.0, first_owner(first, desk))
    assert rejected["decided_by"]["by"] == "person"
    assert rejected["from_proposal_id"] == first["id"]
    by_page = {join["page_id"]: join for join in then["joins"]}
    assert (by_page[pages[2]]["probability"], by_page[pages[3]]["probability"]) == (0.0, 1.0)
    assert by_page[pages[2]]["decided_by"] == joined["adjusted_by"]
    # The score measures what the run itself said, not what it was told.
    assert by_page[pages[2]]["run_probability"] > 0.5
    score = desk.client.post("/api/find-documents/score", json={"folder_id": folder}).json()["score"]
    assert (score["boundaries_proposed"], score["boundaries_actual"]) == (3, 2)


def first_owner(proposal: dict[str, Any], desk: Desk) -> str:
    return str(desk.proposal(proposal["id"])["documents"][1]["adjusted_by"])


def test_undoing_a_decision_lets_the_next_run_propose_afresh(desk: Desk) -> None:
    folder, pages = desk.box(LETTERS)
    first = desk.find(folder)
    joined = desk.post(first["id"], "join", document_index=0).json()
    rejected = desk.post(first["id"], "reject", document_indexes=[1]).json()
    desk.find(folder)
    desk.undo(rejected["audit_id"])
    desk.undo(joined["audit_id"])
    again = desk.find(folder)
    assert pages_of(again) == [[page] for page in pages]
    assert states(again) == ["proposed"] * 4


def test_a_page_split_off_as_no_second_shot_stays_apart(desk: Desk) -> None:
    folder, pages = desk.box([LETTERS[0], LETTERS[0], LETTERS[1]])
    first = desk.find(folder)
    assert pages_of(first) == [pages[:2], pages[2:]]
    assert desk.post(first["id"], "split", document_index=0, page_id=pages[1]).status_code == 200
    again = desk.find(folder)
    assert pages_of(again) == [[page] for page in pages]
    by_page = {join["page_id"]: join for join in again["joins"]}
    assert (by_page[pages[1]]["probability"], by_page[pages[1]]["run_probability"]) == (1.0, None)


def test_what_was_put_together_stays_so_with_a_new_page_between(desk: Desk) -> None:
    folder, pages = desk.box(LETTERS)
    assert desk.post(desk.find(folder)["id"], "join", document_index=1).status_code == 200
    between = desk.page(folder, 9, "Zaragoza, 9 de junio de 1951.\nQuerida madre:\nVuelvo pronto.")
    order = [*pages[:2], between, *pages[2:]]
    desk.do("document.move", {"ids": [between], "parent_id": folder, "after_id": pages[1]})
    assert pages_of(desk.find(folder)) == [order[:1], order[1:4], order[4:]]


def test_a_page_accepted_as_a_document_of_its_own_is_not_proposed_again(desk: Desk) -> None:
    folder, pages = desk.box(LETTERS)
    first = desk.find(folder, accept_above=0.9)
    assert states(first) == ["accepted"] * 4
    again = desk.find(folder, accept_above=0.9)
    assert states(again) == ["accepted"] * 4
    assert [document["accepted_as"] for document in again["documents"]] == pages
    assert desk.post(again["id"], "accept").json()["code"] == "decided_already"


def test_a_machine_cannot_store_a_proposal_against_a_decision(desk: Desk) -> None:
    folder, pages = desk.box(LETTERS)
    first = desk.find(folder)
    desk.post(first["id"], "join", document_index=1)
    with pytest.raises(Conflict, match="decided in an earlier proposal"):
        desk.do("finddocs.propose", kept_params(folder, pages, tuple(LETTERS)), MACHINE)
    sent = json.loads(kept_params(folder, pages, tuple(LETTERS))["proposal"])
    sent["documents"][1]["adjusted_by"] = "owner"
    with pytest.raises(Exception, match="does not fit"):
        desk.do("finddocs.propose", {"folder_id": folder, "proposal": json.dumps(sent)}, MACHINE)


def test_a_decision_made_while_a_run_looks_at_the_pages_counts(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, pages = desk.box(LETTERS)
    first = desk.find(folder)
    propose = jobs.propose

    def propose_while_a_person_joins(*given: Any) -> dict[str, Any]:
        proposal = propose(*given)
        monkeypatch.setattr(jobs, "propose", propose)
        assert desk.post(first["id"], "join", document_index=1).status_code == 200
        return proposal

    monkeypatch.setattr(jobs, "propose", propose_while_a_person_joins)
    assert pages_of(desk.find(folder)) == [pages[:1], pages[1:3], pages[3:]]


@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(n, marks=pytest.mark.slow) for n in range(4, 30))]
)
def test_no_run_goes_against_any_decision(desk: Desk, seed: int) -> None:
    """Random decisions and runs; the oracle keeps its own book of who belongs with whom, by pages."""
    chance = random.Random(seed)
    texts = [
        f"{'Muy señor mío:' if chance.random() < 0.5 else 'Y así fue.'}\nCarta {'abcdefgh'[n] * 9}\n"
        + ("Atentamente," if chance.random() < 0.5 else "y luego")
        for n in range(8)
    ]
    folder, pages = desk.box(texts)
    together: dict[tuple[str, str], bool] = {}
    rejected: set[tuple[str, ...]] = set()
    singles: set[str] = set()
    grouped: set[str] = set()
    for _ in range(4):
        found = desk.find(folder, accept_above=chance.choice((None, 0.5, 0.9)))
        for _ in range(chance.randrange(1, 4)):
            documents = found["documents"]
            index = chance.randrange(len(documents))
            what = chance.choice(("join", "split", "reject", "accept"))
            body: dict[str, Any] = {"document_index": index}
            if what == "split":
                body["page_id"] = chance.choice(documents[index]["page_ids"])
            if what in ("reject", "accept"):
                body = {"document_indexes": [index]}
            answer = desk.post(found["id"], what, **body)
            if answer.status_code != 200:
                assert answer.status_code in (409, 422), answer.text
                continue
            found = answer.json()["proposal"]
        for document in found["documents"]:
            own = tuple(document["page_ids"])
            if document["state"] == "rejected":
                rejected.add(own)
            elif document["state"] == "accepted" and len(own) > 1:
                grouped.update(own)
            elif document["adjusted_by"] or (
                document["decided_by"] and document["decided_by"]["by"] == "person"
            ):
                together.update(dict.fromkeys(itertools.pairwise(own), True))
                order = found["page_ids"]
                start, end = order.index(own[0]), order.index(own[-1])
                if start:
                    together[order[start - 1], own[0]] = False
                if end + 1 < len(order):
                    together[own[-1], order[end + 1]] = False
                if document["state"] == "accepted":
                    singles.add(own[0])
        remaining_pages = [page for page in pages if page not in grouped]
        if not remaining_pages:
            break
        later = desk.find(folder, accept_above=0.0)
        of = {page: one for one in later["documents"] for page in one["page_ids"]}
        for (a, b), same in together.items():
            if a in of and b in of:
                assert (of[a]["index"] == of[b]["index"]) == same, (seed, a, b)
        for document in later["documents"]:
            assert (tuple(document["page_ids"]) in rejected) <= (document["state"] == "rejected"), seed
            if document["state"] == "accepted" and len(document["page_ids"]) > 1:
                grouped.update(document["page_ids"])
        for page in singles & of.keys():
            assert (of[page]["state"], of[page]["accepted_as"]) == ("accepted", page), seed
        if len(grouped) == len(pages):
            break
