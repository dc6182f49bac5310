"""Runs, proposals, and what a person makes of them, over HTTP."""

from __future__ import annotations

import json
from typing import Any

import pytest
from finding_desk import MACHINE, Desk, agent
from finding_samples import kept_params

from armarium.api import Engine

NOWHERE = "f" * 32
LETTER = "Madrid, 3 de mayo de 1950.\nMuy señor mío:\nHe recibido su carta y le agradezco mucho sus noticias"
SECOND = "que llegaron ayer por la tarde.\nAtentamente,\nFdo. Juan Pérez."
RULING = "SENTENCIA\nEn la ciudad de Toledo se han visto los autos del juicio."
CABLE = "TELEGRAMA\nLlegamos mañana por la noche al puerto."
TEXTS = [LETTER, SECOND, "", RULING, CABLE]
# Joins by hand: letter | runs over: -2 -3 = -5; ruling: -2 +3 opening +3 closings = 4; cable: -2 +2.5 = 0.5.


def pages_of(proposal: dict[str, Any]) -> list[list[str]]:
    return [document["page_ids"] for document in proposal["documents"]]


def states(proposal: dict[str, Any]) -> list[str]:
    return [document["state"] for document in proposal["documents"]]


def fault(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json().get("code")


def test_a_run_proposes_and_changes_nothing_else(desk: Desk) -> None:
    folder, pages = desk.box(TEXTS)
    before = desk.rows("SELECT id, parent_id, name, prototype_key, sort_order FROM document ORDER BY id")
    found = desk.find(folder)
    assert (
        desk.rows("SELECT id, parent_id, name, prototype_key, sort_order FROM document ORDER BY id") == before
    )
    assert pages_of(found) == [pages[:3], pages[3:4], pages[4:]]
    assert [join["probability"] for join in found["joins"]] == pytest.approx(
        [1.0, 0.006693, 0.982014, 0.622459], abs=1e-6
    )
    assert [document["kind"] for document in found["documents"]] == ["Carta", "Sentencia", "Cable"]
    assert [document["name"] for document in found["documents"]] == [
        "Carta, 1950-05-03",
        "Sentencia",
        "Cable",
    ]
    assert [document["date"] for document in found["documents"]] == ["1950-05-03", None, None]
    assert [document["confidence"] for document in found["documents"]] == pytest.approx(
        [0.982014, 0.622459, 0.622459], abs=1e-6
    )
    assert (found["method"], found["leaves"], found["state"], found["stale"]) == (
        "rules-1",
        4,
        "current",
        False,
    )
    assert [(finding["kind"], finding["page_id"]) for finding in found["findings"]] == [
        ("blank-verso", pages[2])
    ]
    answer = desk.client.get(f"/api/artifacts/{found['id']}").json()
    assert (answer["artifact_type"], answer["document_id"], answer["run_id"]) == (
        "grouping",
        folder,
        found["job_id"],
    )


def test_a_correction_shows_that_a_proposal_is_stale(desk: Desk) -> None:
    folder, pages = desk.box([LETTER, SECOND])
    found = desk.find(folder)
    ((line,),) = desk.rows("SELECT id FROM segment WHERE document_id = ? ORDER BY bbox_y LIMIT 1", pages[0])
    desk.do("representation.create", {"segment_id": line, "text": "Madrid, 4 de mayo de 1950."})
    assert desk.proposal(found["id"])["stale"] is True


def test_a_newer_run_supersedes_and_its_undo_gives_the_older_back(desk: Desk) -> None:
    folder, _ = desk.box(TEXTS)
    first, second = desk.find(folder), desk.find(folder)
    older = desk.proposal(first["id"])
    assert (older["state"], older["superseded_by"]) == ("superseded", second["id"])
    for verb, body in (
        ("accept", {}),
        ("reject", {"document_indexes": [0]}),
        ("split", {"document_index": 0, "page_id": NOWHERE}),
        ("join", {"document_index": 0}),
        ("move-page", {"document_index": 0, "to": "next"}),
    ):
        answer = desk.post(first["id"], verb, **body)
        assert fault(answer) == (409, "proposal_superseded")
        assert answer.json()["superseded_by"] == second["id"]
    listed = desk.client.get("/api/find-documents/proposals", params={"folder_id": folder}).json()
    assert [(item["id"], item["state"]) for item in listed["items"]] == [
        (second["id"], "current"),
        (first["id"], "superseded"),
    ]
    assert (listed["count"], listed["items"][0]["pages"], listed["items"][0]["documents_proposed"]) == (
        2,
        5,
        3,
    )
    steps = desk.rows("SELECT id FROM audit WHERE set_id = ?", second["job_id"])
    desk.engine.undo(desk.library, [one for (one,) in steps], MACHINE)
    assert desk.proposal(first["id"])["state"] == "current"


def test_split_join_and_move_are_taken_back_exactly(desk: Desk) -> None:
    folder, pages = desk.box(TEXTS)
    found = desk.find(folder)
    changes: list[tuple[str, dict[str, Any], list[list[str]], list[tuple[str, str, bool]]]] = [
        ("split", {"document_index": 0, "page_id": pages[1]}, [pages[:1], pages[1:3], pages[3:4], pages[4:]],
         [(pages[0], pages[1], True)]),
        ("join", {"document_index": 1}, [pages[:3], pages[3:]], [(pages[3], pages[4], False)]),
        ("move-page", {"document_index": 0, "to": "next"}, [pages[:2], pages[2:4], pages[4:]],
         [(pages[1], pages[2], True), (pages[2], pages[3], False)]),
    ]  # fmt: skip
    for verb, body, expected, examples in changes:
        answer = desk.post(found["id"], verb, **body)
        assert answer.status_code == 200, answer.text
        told = answer.json()
        assert pages_of(told["proposal"]) == expected
        assert [
            (example["left_page_id"], example["right_page_id"], example["boundary"])
            for example in told["examples"]
        ] == examples
        assert [document["index"] for document in told["proposal"]["documents"]] == list(range(len(expected)))
        touched = [document for document in told["proposal"]["documents"] if document["adjusted_by"]]
        assert touched
        assert all(one["confidence"] == 1.0 for one in touched)
        assert told["proposal"]["examples"] == told["examples"]
        assert desk.proposal(found["id"]) == {**told["proposal"], "stale": False}
        assert desk.rows("SELECT action_name FROM audit WHERE id = ?", told["audit_id"]) == [
            ("finddocs.adjust",)
        ]
        desk.undo(told["audit_id"])
        ((undone,),) = desk.rows("SELECT action_name FROM audit WHERE inverse_of = ?", told["audit_id"])
        assert undone == "finddocs.unadjust"
        assert desk.proposal(found["id"]) == found


def test_an_example_says_what_the_run_had_said(desk: Desk) -> None:
    folder, pages = desk.box(TEXTS)
    found = desk.find(folder)
    (joined,) = desk.post(found["id"], "join", document_index=0).json()["examples"]
    assert joined["run_probability"] == pytest.approx(0.982014, abs=1e-6)
    assert joined["decided_by"]
    assert joined["at"]
    assert joined["run_reasons"][0] == "judgment heading on line 1 (+3.0)"
    (verso,) = desk.post(found["id"], "split", document_index=0, page_id=pages[2]).json()["examples"]
    assert (verso["run_probability"], verso["run_reasons"]) == (None, ["It was considered the same leaf."])


def test_a_page_moved_back_to_the_document_before(desk: Desk) -> None:
    folder, pages = desk.box([LETTER, RULING, "Y se notificó a todas las partes."])
    found = desk.find(folder)
    assert pages_of(found) == [pages[:1], pages[1:]]
    answer = desk.post(found["id"], "move-page", document_index=1, to="previous").json()
    assert pages_of(answer["proposal"]) == [pages[:2], pages[2:]]
    assert [document["kind"] for document in answer["proposal"]["documents"]] == ["Carta", None]


def test_what_cannot_be_adjusted_is_refused_in_words(desk: Desk) -> None:
    folder, pages = desk.box(TEXTS)
    found = desk.find(folder)
    refused: list[tuple[str, dict[str, Any], int, str]] = [
        ("split", {"document_index": 9, "page_id": pages[0]}, 422, "unknown_index"),
        ("split", {"document_index": 0, "page_id": pages[4]}, 422, "unknown_page"),
        ("split", {"document_index": 0, "page_id": pages[0]}, 422, "begins_already"),
        ("split", {"document_index": -1, "page_id": pages[0]}, 422, "invalid_request"),
        ("join", {"document_index": 2}, 422, "unknown_index"),
        ("join", {"document_index": 0, "adjusted_by": "me"}, 422, "invalid_request"),
        ("move-page", {"document_index": 0, "to": "previous"}, 422, "unknown_index"),
        ("move-page", {"document_index": 2, "to": "next"}, 422, "unknown_index"),
        ("move-page", {"document_index": 1, "to": "next"}, 422, "only_page"),
        ("move-page", {"document_index": 1, "to": "sideways"}, 422, "invalid_request"),
        ("accept", {"document_indexes": [0], "min_confidence": 0.5}, 422, "two_ways"),
        ("accept", {"document_indexes": [7]}, 422, "unknown_index"),
        ("accept", {"document_indexes": []}, 422, "invalid_request"),
        ("reject", {"document_indexes": [7]}, 422, "unknown_index"),
        ("reject", {}, 422, "invalid_request"),
    ]
    for verb, body, status, code in refused:
        assert fault(desk.post(found["id"], verb, **body)) == (status, code), (verb, body)
        assert fault(desk.post(NOWHERE, verb, **body))[0] in (404, 422)
    assert desk.proposal(found["id"]) == found
    desk.post(found["id"], "accept", document_indexes=[1])
    for verb, body in (
        ("join", {"document_index": 0}),
        ("join", {"document_index": 1}),
        ("move-page", {"document_index": 0, "to": "next"}),
        ("accept", {"document_indexes": [1]}),
        ("reject", {"document_indexes": [1]}),
    ):
        assert fault(desk.post(found["id"], verb, **body)) == (409, "decided_already")


def test_only_a_person_adjusts(desk: Desk) -> None:
    folder, _pages = desk.box(TEXTS)
    found = desk.find(folder)
    change = {"op": "join", "document_index": 0}
    with pytest.raises(Exception, match="Only a person"):
        desk.do("finddocs.adjust", {"proposal_id": found["id"], "change": change}, MACHINE)


def test_accepting_makes_groups_prototypes_and_a_canvas_and_is_taken_back(desk: Desk) -> None:
    folder, pages = desk.box([*TEXTS, "Una página que sigue sin más."])
    found = desk.find(folder)
    answer = desk.post(found["id"], "accept").json()
    first, second, third = (one["node_id"] for one in answer["accepted"])
    children = list(desk.rows(
        "SELECT id, doc_type, name, prototype_key, date_iso FROM document WHERE parent_id = ? AND deleted_at IS NULL"
        " ORDER BY sort_order, name", folder))  # fmt: skip
    assert children == [
        (first, "group", "Carta, 1950-05-03", "carta", "1950-05-03"),
        (second, "page", "0004.jpg", "sentencia", None),
        (third, "group", "Cable", "cable", None),
    ]
    assert second == pages[3]
    inside = "SELECT id FROM document WHERE parent_id = ? ORDER BY sort_order, name"
    assert [one for (one,) in desk.rows(inside, first)] == pages[:3]
    assert [one for (one,) in desk.rows(inside, third)] == pages[4:]
    assert sorted(desk.rows("SELECT key, label FROM classification WHERE NOT builtin")) == [
        ("cable", "Cable"), ("carta", "Carta"), ("sentencia", "Sentencia")]  # fmt: skip
    laid = desk.rows("SELECT item_id, x, y FROM canvas_place WHERE folder_id = ? ORDER BY y, x", folder)
    assert [one[0] for one in laid] == [first, second, third]
    assert states(answer["proposal"]) == ["accepted"] * 3
    decided = answer["proposal"]["documents"][0]["decided_by"]
    assert (decided["by"], decided["run_id"]) == ("person", None)
    desk.undo(answer["audit_id"])
    assert desk.rows("SELECT action_name FROM audit WHERE inverse_of = ?", answer["audit_id"]) == [
        ("finddocs.unaccept",)
    ]
    assert desk.proposal(found["id"]) == found
    assert desk.rows("SELECT count(*) FROM classification WHERE NOT builtin") == [(0,)]
    assert desk.rows("SELECT count(*) FROM canvas_place") == [(0,)]
    assert {one for (one,) in desk.rows("SELECT parent_id FROM document WHERE doc_type = 'page'")} == {folder}


def test_a_prototype_that_is_there_is_used(desk: Desk) -> None:
    desk.do("classification.create", {"key": "pliegos", "label": "CARTA"})
    desk.do("classification.create", {"key": "cable", "label": "Rope"})
    folder, _pages = desk.box(TEXTS)
    found = desk.find(folder)
    assert [document["prototype_key"] for document in found["documents"]] == ["pliegos", None, None]
    answer = desk.post(found["id"], "accept", arrange=False).json()
    assert [document["prototype_key"] for document in answer["proposal"]["documents"]] == [
        "pliegos",
        "sentencia",
        "cable-2",
    ]
    assert desk.rows("SELECT count(*) FROM canvas_place") == [(0,)]


def test_accepting_some_leaves_the_rest_in_their_order(desk: Desk) -> None:
    folder, pages = desk.box(TEXTS)
    found = desk.find(folder)
    answer = desk.post(found["id"], "accept", min_confidence=0.95).json()
    assert [one["index"] for one in answer["accepted"]] == [0]
    order = [
        one for (one,) in desk.rows("SELECT id FROM document WHERE parent_id = ? ORDER BY sort_order", folder)
    ]
    assert order == [answer["accepted"][0]["node_id"], pages[3], pages[4]]
    assert states(answer["proposal"]) == ["accepted", "proposed", "proposed"]
    assert desk.post(found["id"], "accept", min_confidence=1.0).json()["accepted"] == []
    remaining_answer = desk.post(found["id"], "accept").json()
    assert [one["index"] for one in remaining_answer["accepted"]] == [1, 2]
    assert fault(desk.post(found["id"], "accept")) == (409, "decided_already")


def test_documents_that_share_two_parties_become_a_group_in_date_order(desk: Desk) -> None:
    first = (
        "JUZGADO DE TOLEDO\nToledo, 5 de junio de 1931.\nJuan Pérez contra Compañía Norte.\nY así se hizo."
    )
    second = "SENTENCIA\nToledo, 2 de mayo de 1930.\nJuan Pérez contra Compañía Norte.\nY así se dijo."
    folder, pages = desk.box([first, second, CABLE])
    found = desk.find(folder)
    (group,) = found["groups"]
    assert (group["document_indexes"], group["label"]) == ([1, 0], "Juan Pérez – Compañía Norte")
    assert group["parties"] == ["Juan Pérez", "Compañía Norte"]
    alone = desk.post(found["id"], "accept", document_indexes=[0]).json()
    assert alone["groups_made"] == []
    answer = desk.post(found["id"], "accept", document_indexes=[1]).json()
    node = answer["groups_made"][0]["node_id"]
    inside = desk.rows("SELECT id FROM document WHERE parent_id = ? ORDER BY sort_order", node)
    assert [one for (one,) in inside] == [pages[1], pages[0]]
    order = desk.rows("SELECT id FROM document WHERE parent_id = ? ORDER BY sort_order", folder)
    assert [one for (one,) in order] == [node, pages[2]]
    assert answer["proposal"]["groups"][0]["state"] == "accepted"
    for audit_id in (answer["audit_id"], alone["audit_id"]):
        desk.undo(audit_id)
    assert desk.proposal(found["id"]) == found
    ungrouped = desk.post(found["id"], "accept", groups=False).json()
    assert ungrouped["groups_made"] == []


def test_what_was_moved_away_after_it_was_accepted_is_not_brought_back_for_its_group(desk: Desk) -> None:
    texts = [
        "JUZGADO DE TOLEDO\nToledo, 5 de junio de 1931.\nJuan Pérez contra Compañía Norte.\nY así se hizo.",
        "SENTENCIA\nToledo, 2 de mayo de 1930.\nJuan Pérez contra Compañía Norte.\nY así se dijo.",
    ]
    folder, _ = desk.box(texts)
    found = desk.find(folder)
    first = desk.post(found["id"], "accept", document_indexes=[0]).json()["accepted"][0]["node_id"]
    elsewhere = desk.do("document.create", {"name": "Elsewhere"})["id"]
    desk.do("document.move", {"ids": [first], "parent_id": elsewhere})
    answer = desk.post(found["id"], "accept", document_indexes=[1]).json()
    assert answer["groups_made"] == []
    assert desk.rows("SELECT parent_id FROM document WHERE id = ?", first) == [(elsewhere,)]


def test_a_locked_folder_does_not_keep_the_others_from_being_found(desk: Desk) -> None:
    above = str(desk.do("document.create", {"name": "Archive"})["id"])
    boxes = [desk.box(TEXTS, name)[0] for name in ("A", "B", "C")]
    desk.do("document.move", {"ids": boxes, "parent_id": above})
    desk.do("document.lock", {"document_id": boxes[0], "locked": True})
    headers = agent(desk)
    body = {"scope_ids": [above], "accept_above": 0.95}
    job_id = desk.client.post("/api/find-documents/runs", json=body, headers=headers).json()["job_id"]
    desk.engine.jobs.run_until_idle(desk.library)
    run = desk.client.get(f"/api/find-documents/runs/{job_id}").json()
    assert run["state"] == "done", run
    found = [desk.proposal(proposal_id) for proposal_id in run["proposal_ids"]]
    assert [item["folder_id"] for item in found] == boxes[1:]
    assert [states(item)[0] for item in found] == ["accepted", "accepted"]
    log = desk.client.get(f"/api/activity/jobs/{job_id}/log").text
    assert "locked" in log


def test_rejecting_marks_documents_and_their_groups(desk: Desk) -> None:
    folder, _ = desk.box(TEXTS)
    found = desk.find(folder)
    answer = desk.post(found["id"], "reject", document_indexes=[1, 2]).json()
    assert states(answer["proposal"]) == ["proposed", "rejected", "rejected"]
    assert answer["proposal"]["documents"][1]["decided_by"]["by"] == "person"
    assert [one["index"] for one in desk.post(found["id"], "accept").json()["accepted"]] == [0]


@pytest.mark.parametrize("what", ["moved", "trashed", "grouped"])
def test_what_was_moved_trashed_or_grouped_since_is_not_accepted(desk: Desk, what: str) -> None:
    folder, pages = desk.box(TEXTS)
    found = desk.find(folder)
    if what == "trashed":
        desk.do("document.delete", {"ids": [pages[1]]})
    else:
        kind = {"doc_type": "group", "parent_id": folder} if what == "grouped" else {}
        other_document_id = desk.do("document.create", {"name": "Elsewhere", **kind})["id"]
        desk.do("document.move", {"ids": [pages[1]], "parent_id": other_document_id})
    before = desk.proposal(found["id"])
    answer = desk.post(found["id"], "accept", document_indexes=[0])
    assert fault(answer) == (409, "pages_moved")
    assert answer.json()["page_id"] == pages[1]
    assert desk.proposal(found["id"]) == before
    assert desk.post(found["id"], "accept", document_indexes=[1]).status_code == 200


def test_a_locked_folder_is_left_alone(desk: Desk, engine: Engine) -> None:
    folder, _ = desk.box(TEXTS)
    found = desk.find(folder)
    desk.do("document.lock", {"document_id": folder, "locked": True})
    with pytest.raises(Exception, match="locked"):
        desk.do("finddocs.accept", {"proposal_id": found["id"]}, MACHINE)


def test_a_recipe_accepts_what_the_rules_are_sure_of(desk: Desk) -> None:
    folder, _pages = desk.box(TEXTS)
    found = desk.find(folder, accept_above=0.95)
    assert states(found) == ["accepted", "proposed", "proposed"]
    assert found["documents"][0]["decided_by"]["by"] == "run"
    assert found["documents"][0]["decided_by"]["run_id"] == found["job_id"]
    steps = [
        one for (one,) in desk.rows("SELECT id FROM audit WHERE set_id = ? ORDER BY seq", found["job_id"])
    ]
    assert len(steps) == 2
    desk.engine.undo(desk.library, steps, MACHINE)
    assert desk.rows("SELECT count(*) FROM document WHERE doc_type = 'group'") == [(0,)]
    job = desk.engine.recipe_jobs["find-documents-in-a-folder"]
    assert job.settings().accept_above == 0.95
    assert job.layer == "prepare"


def test_a_run_superseded_before_it_accepts_leaves_its_proposal_to_a_person(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    from finding_samples import TEXTS as SAMPLES
    from finding_samples import kept_params

    from armarium_finding import store

    folder, pages = desk.box(list(SAMPLES))
    read = store.read_proposal

    def read_while_another_proposes(conn: Any, proposal_id: str) -> dict[str, Any]:
        found = read(conn, proposal_id)
        monkeypatch.setattr(store, "read_proposal", read)
        desk.do("finddocs.propose", kept_params(folder, pages))
        return found

    monkeypatch.setattr(store, "read_proposal", read_while_another_proposes)
    run = desk.run(folder, accept_above=0.5)
    assert run["state"] == "done"
    assert states(desk.proposal(run["proposal_ids"][0])) == ["proposed", "proposed"]
    assert desk.rows("SELECT count(*) FROM document WHERE doc_type = 'group'") == [(0,)]


def test_a_run_takes_folders_and_chosen_pages(desk: Desk) -> None:
    folder, pages = desk.box(TEXTS)
    other, _others = desk.box([CABLE], "Other")
    run = desk.run(folder, other)
    assert len(run["proposal_ids"]) == 2
    assert run["words"] == "Ended with 2 proposals."
    chosen = desk.find(pages[4], pages[3])
    assert chosen["page_ids"] == pages[3:]


def test_what_a_run_cannot_look_at_is_refused(desk: Desk) -> None:
    empty = desk.do("document.create", {"name": "Empty"})["id"]
    folder, pages = desk.box(TEXTS)
    group = desk.do("document.create", {"name": "Letter", "doc_type": "group", "parent_id": folder})["id"]
    desk.do("document.move", {"ids": pages[:2], "parent_id": group})
    loose_at_top = desk.do("document.create", {"name": "0001.jpg", "doc_type": "page"})["id"]
    path = "/api/find-documents/runs"
    for scope, status, code in (
        ([empty], 422, "no_pages"),
        ([group], 422, "no_pages"),
        ([pages[0]], 422, "no_pages"),
        ([loose_at_top], 422, "no_pages"),
        ([NOWHERE], 404, "document_not_found"),
        ([], 422, "invalid_request"),
    ):
        assert fault(desk.client.post(path, json={"scope_ids": scope})) == (status, code), scope
    assert fault(desk.client.post(path, json={"scope_ids": [folder], "accept_above": 2})) == (
        422,
        "invalid_request",
    )
    assert fault(desk.client.get(f"{path}/{NOWHERE}")) == (404, "unknown_run")
    assert fault(desk.client.get(f"/api/find-documents/proposals/{NOWHERE}")) == (404, "unknown_proposal")
    assert desk.client.get("/api/find-documents/proposals", params={"folder_id": NOWHERE}).status_code == 404
    assert desk.find(folder)["page_ids"] == pages[2:]


def test_other_artifacts_are_no_proposals(desk: Desk) -> None:
    folder, _ = desk.box(TEXTS)
    other_artifact = desk.do(
        "artifact.create", {"document_id": folder, "artifact_type": "grouping", "data": {"a": 1}}
    )
    assert fault(desk.client.get(f"/api/find-documents/proposals/{other_artifact['id']}")) == (
        404,
        "unknown_proposal",
    )
    assert desk.client.get("/api/find-documents/proposals").json() == {"items": [], "count": 0, "withheld": 0}


def test_what_is_sent_to_be_kept_is_looked_over(desk: Desk) -> None:
    import json

    from finding_samples import TEXTS as SAMPLES
    from finding_samples import kept_params

    from armarium.api import Invalid

    folder, pages = desk.box(list(SAMPLES))
    good = kept_params(folder, pages)
    sent = json.loads(good["proposal"])
    wrong: list[tuple[dict[str, Any], str]] = [
        ({**sent, "page_ids": sent["page_ids"][:-1]}, "in order"),
        ({**sent, "page_ids": [*pages[:-1], NOWHERE]}, "loose"),
        ({**sent, "groups": [[0, 0]]}, "groups"),
        ({**sent, "said": {**sent["said"], NOWHERE: {"fingerprint": ""}}}, "other pages"),
        ({**sent, "state": "accepted"}, "does not fit"),
    ]
    for value, words in wrong:
        with pytest.raises(Invalid, match=words):
            desk.do("finddocs.propose", {"folder_id": folder, "proposal": json.dumps(value)})
    with pytest.raises(Invalid, match="not a folder"):
        desk.do("finddocs.propose", {**good, "folder_id": pages[0]})
    with pytest.raises(Invalid, match="does not fit"):
        desk.do("finddocs.propose", {**good, "proposal": "{"})
    assert desk.do("finddocs.propose", good)["documents"] == 2


def test_pages_that_nobody_has_read_are_refused_and_named(desk: Desk) -> None:
    folder, _ = desk.box([None] * 4)
    answer = desk.client.post("/api/find-documents/runs", json={"scope_ids": [folder]})
    assert fault(answer) == (422, "nothing_read")
    assert "None of the 4 pages has been read" in answer.json()["detail"]
    other, _ = desk.box([LETTER, CABLE], "Read")
    run = desk.run(folder, other)
    assert len(run["proposal_ids"]) == 1
    assert run["words"] == (
        "Ended with 1 proposal. In 1 folder no page has been read, so nothing was proposed."
    )


def test_parts_of_a_split_picture_are_not_looked_at_and_the_run_says_so(desk: Desk) -> None:
    folder, _ = desk.box([LETTER, CABLE])
    only = desk.do("document.create", {"name": "Spreads"})["id"]
    for number, place in enumerate((folder, only)):
        spread = {"id": f"spread{number}", "parent_id": place, "doc_type": "file", "name": "spread.jpg"}
        half = {"id": f"half{number}", "parent_id": f"spread{number}", "doc_type": "page", "name": "left"}
        desk.do("document.add_files", {"nodes": [{**node, "file_type": "image"} for node in (spread, half)]})
    assert desk.run(folder)["words"] == (
        "Ended with 1 proposal. In 1 folder the parts of a split picture, or the pages of a picture file, stay with it "
        "and were not looked at."
    )
    answer = desk.client.post("/api/find-documents/runs", json={"scope_ids": [only]})
    assert fault(answer) == (422, "no_pages")
    assert "the parts of a split picture" in answer.json()["detail"]


def test_a_run_whose_cues_match_nothing_says_so_and_accepts_nothing(desk: Desk) -> None:
    folder, _ = desk.box(["Et puis le lendemain nous sommes partis.", "Il faisait un temps affreux."])
    run = desk.run(folder, accept_above=0.0)
    assert run["words"] == (
        "Ended with 1 proposal. In 1 folder no cue of any language matched, so nothing is said about how sure their "
        "documents are."
    )
    found = desk.proposal(run["proposal_ids"][0])
    assert [(document["confidence"], document["state"]) for document in found["documents"]] == [
        (None, "proposed")
    ]
    assert desk.post(found["id"], "accept").status_code == 200  # a person may


def test_folders_of_one_page_and_of_blank_pages(desk: Desk) -> None:
    for texts, count in (([CABLE], 1), (["", "", ""], 1)):
        folder, pages = desk.box(texts)
        found = desk.find(folder)
        assert len(found["documents"]) == count
        assert found["documents"][0]["page_ids"] == pages
        assert desk.post(found["id"], "accept").status_code == 200


@pytest.mark.slow
def test_five_thousand_blank_pages_are_one_document_that_can_be_adjusted(desk: Desk) -> None:
    folder, pages = desk.box([""] * 5_000)
    found = desk.find(folder)
    assert [document["page_ids"] for document in found["documents"]] == [pages]
    split = desk.post(found["id"], "split", document_index=0, page_id=pages[2_500])
    assert split.status_code == 200, split.text
    assert desk.post(found["id"], "accept").status_code == 200


def test_a_proposal_larger_than_one_free_field_is_kept_adjusted_and_put_back(desk: Desk) -> None:
    """As of a folder of some thousand pages, whose joins fill more than the mebibyte that a caller's JSON may have."""
    folder, pages = desk.box([LETTER, CABLE])
    sent = json.loads(kept_params(folder, pages, (LETTER, CABLE))["proposal"])
    sent["documents"][0]["reasons"] = ["Begins: opening. " * 80_000]
    proposal_id = str(desk.do("finddocs.propose", {"folder_id": folder, "proposal": json.dumps(sent)})["id"])
    kept = desk.proposal(proposal_id)
    assert kept["documents"][0]["reasons"] == sent["documents"][0]["reasons"]
    answer = desk.post(proposal_id, "join", document_index=0)
    assert answer.status_code == 200, answer.text
    assert pages_of(answer.json()["proposal"]) == [pages]
    desk.undo(answer.json()["audit_id"])
    assert desk.proposal(proposal_id) == kept
