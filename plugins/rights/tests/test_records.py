"""Rights records: what applies to a target, who may do what with a record, and every refusal."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from restricted_project import EDITOR, MACHINE, RestrictedProject

from armarium.api import Engine, Forbidden
from armarium.principals import LOCAL_OWNER
from armarium_rights.cli import in_words
from armarium_testing.conformance import exercise_plugin


def effective(project: RestrictedProject, kind: str, target_id: str) -> dict[str, Any]:
    answer = project.client.get("/api/rights/effective", params={"target_kind": kind, "target_id": target_id})
    assert answer.status_code == 200, answer.text
    found_answer: dict[str, Any] = answer.json()
    return found_answer


def undo(project: RestrictedProject, audit_id: str, who: Any = LOCAL_OWNER) -> dict[str, Any]:
    return project.engine.undo(project.library, [audit_id], who)


def test_actions_conform(engine: Engine, tmp_path: Path) -> None:
    assert exercise_plugin(engine, "rights", tmp_path / "kit") == []


def test_records_above_a_target_only_tighten(project: RestrictedProject) -> None:
    page, line = project.hidden_page.id, project.hidden_page.lines[0]
    free = {"restricted": False, "readers": None, "model_use": None, "labels": [], "holders": [],
            "conditions": [], "record_ids": []}  # fmt: skip
    assert effective(project, "segment", line) == {"target_kind": "segment", "target_id": line, **free}
    stated: list[tuple[str, str, dict[str, Any]]] = [
        ("segment", line, {"model_use": "cloud", "labels": ["Line"], "conditions": "Ask first"}),
        ("document", page, {"restricted": True, "readers": ["a", "b"], "model_use": "local", "labels": ["Page", "All"]}),
        ("document", project.box, {"restricted": True, "readers": ["b", "c"], "holders": ["The house"]}),
        ("library", "library", {"labels": ["All"], "holders": ["The town"], "model_use": "cloud"}),
    ]  # fmt: skip
    made = []
    for kind, target_id, more in stated:
        answer = project.client.post(
            "/api/rights", json={"target_kind": kind, "target_id": target_id, **more}
        )
        assert answer.status_code == 200, answer.text
        assert (answer.json()["target_kind"], answer.json()["target_id"]) == (kind, target_id)
        made.append(answer.json()["id"])
    assert effective(project, "segment", line) == {
        "target_kind": "segment",
        "target_id": line,
        "restricted": True,
        "readers": ["b"],
        "model_use": "local",
        "labels": ["All", "Page", "Line"],
        "holders": ["The town", "The house"],
        "conditions": ["Ask first"],
        "record_ids": made[::-1],
    }
    beside = effective(project, "document", project.open.id)
    assert (beside["restricted"], beside["record_ids"]) == (False, [made[3]])


def test_a_record_that_names_no_reader_is_the_owners_alone(project: RestrictedProject) -> None:
    project.restrict(project.hidden_page.id)
    assert effective(project, "document", project.hidden_page.id)["readers"] == []
    _, other = project.token()
    assert project.client.get(f"/api/documents/{project.hidden_page.id}", headers=other).status_code == 403
    assert project.client.get(f"/api/documents/{project.hidden_page.id}").status_code == 200


def test_a_withdrawn_record_counts_no_more_and_comes_back_with_the_undo(project: RestrictedProject) -> None:
    record = project.restrict(project.hidden_page.id)
    answer = project.client.post(f"/api/rights/{record['id']}/withdraw")
    assert (answer.status_code, answer.json()["withdrawn_at"] is not None) == (200, True)
    assert effective(project, "document", project.hidden_page.id)["restricted"] is False
    second_answer = project.client.post(f"/api/rights/{record['id']}/withdraw")
    assert (second_answer.status_code, second_answer.json()["code"]) == (409, "already_withdrawn")
    undo(project, answer.json()["audit_id"])
    assert effective(project, "document", project.hidden_page.id)["restricted"] is True


def test_a_record_without_a_target_or_with_server_fields_is_refused(
    project: RestrictedProject,
) -> None:
    whole = {"target_kind": "library", "target_id": "library"}
    bodies: list[tuple[dict[str, Any], int, str]] = [
        ({"target_kind": "document", "target_id": "nowhere"}, 404, "not_found"),
        ({"target_kind": "segment", "target_id": "nowhere"}, 404, "not_found"),
        ({"target_kind": "library", "target_id": "nowhere"}, 422, "bad_target"),
        ({**whole, "readers": ["a"]}, 422, "invalid_request"),
        ({**whole, "model_use": "some"}, 422, "invalid_request"),
        ({**whole, "trust": "person"}, 422, "invalid_request"),
        ({**whole, "created_by": "me"}, 422, "invalid_request"),
    ]
    for body, status, code in bodies:
        answer = project.client.post("/api/rights", json=body)
        assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    assert project.rows("SELECT count(*) FROM rights_record") == [(0,)]


def test_unknown_records_and_targets_are_named(project: RestrictedProject) -> None:
    answer = project.client.post("/api/rights/nowhere/withdraw")
    assert (answer.status_code, answer.json()["code"]) == (404, "rights_record_not_found")
    for query, status in (
        ("document&target_id=no", 404),
        ("library&target_id=no", 422),
        ("page&target_id=no", 422),
    ):
        assert project.client.get(f"/api/rights/effective?target_kind={query}").status_code == status


def test_a_machine_tightens_and_loosens_nothing(project: RestrictedProject) -> None:
    page = project.hidden_page.id
    own = {"target_kind": "document", "target_id": page, "restricted": True, "readers": [MACHINE.token_id]}
    outcome = project.engine.run(project.library, "rights.set", own, MACHINE)
    assert outcome.result is not None
    record_id = outcome.result["id"]
    with pytest.raises(Forbidden) as refused:
        project.do("rights.withdraw", {"record_id": record_id}, MACHINE)
    assert refused.value.code == "person_only"
    with pytest.raises(Forbidden) as refused:
        undo(project, outcome.audit_id, MACHINE)
    assert refused.value.code == "person_only"
    back = project.engine.run(project.library, "rights.withdraw", {"record_id": record_id}, LOCAL_OWNER)
    with pytest.raises(Forbidden):
        undo(project, back.audit_id, MACHINE)
    assert effective(project, "document", page)["restricted"] is False


def test_a_machine_cannot_move_a_page_away_from_a_record(project: RestrictedProject) -> None:
    """A machine's undo cannot either; a person may."""
    page = project.hidden_page.id
    other_document_id = project.do("document.create", {"name": "Elsewhere"})["id"]
    project.do("rights.set", {"target_kind": "document", "target_id": project.box, "model_use": "none"})
    move = {"ids": [page], "parent_id": other_document_id}
    with pytest.raises(Forbidden) as refused:
        project.do("document.move", move, MACHINE)
    assert "rights record" in refused.value.detail
    project.do("document.move", move)
    project.do("document.move", {"ids": [page], "parent_id": project.box}, MACHINE)
    assert effective(project, "document", page)["model_use"] == "none"


def test_an_outsider_cannot_change_a_restricted_page_by_any_action(project: RestrictedProject) -> None:
    page, line = project.hidden_page.id, project.hidden_page.lines[0]
    result = project.engine.run(
        project.library, "document.update", {"document_id": page, "is_starred": True}, LOCAL_OWNER
    )
    record = project.restrict(page)
    for name, params in (
        ("document.update", {"document_id": page, "name": "Mine"}),
        ("document.delete", {"ids": [project.box]}),
        ("document.move", {"ids": [page], "parent_id": None}),
        ("representation.create", {"segment_id": line, "text": "mine"}),
        ("rights.withdraw", {"record_id": record["id"]}),
    ):
        with pytest.raises(Forbidden) as refused:
            project.do(name, params, EDITOR)
        assert refused.value.code == "rights_restricted", name
    with pytest.raises(Forbidden) as refused:
        undo(project, result.audit_id, EDITOR)
    assert refused.value.code == "rights_restricted"
    assert project.rows("SELECT name FROM document WHERE id = ?", page) == [("Zyxwvuts.png",)]


def test_the_rights_command_explains_what_applies(project: RestrictedProject) -> None:
    project.restrict(project.hidden_page.id, readers=["a-reader"], holders=["The house"], model_use="local")
    assert in_words(effective(project, "document", project.hidden_page.id)) == (
        "Seen by: the owner, a-reader\nModels: those on this machine\nHolders: The house"
    )
    assert (
        in_words(effective(project, "document", project.open.id)) == "Seen by: everybody\nModels: not limited"
    )


def test_the_records_in_force_are_listed_with_what_they_are_about(project: RestrictedProject) -> None:
    page = project.hidden_page.id

    def listed(**headers: str) -> dict[str, Any]:
        answer: dict[str, Any] = project.client.get("/api/rights", headers=headers).json()
        return answer

    before = {item["id"] for item in listed()["items"]}
    body = {"target_kind": "document", "target_id": page, "restricted": True, "readers": ["a"]}
    answer = project.client.post("/api/rights", json=body).json()
    project.client.post(
        "/api/rights", json={"target_kind": "library", "target_id": "library", "labels": ["All"]}
    )
    newest, mine = [item for item in listed()["items"] if item["id"] not in before]
    assert (newest["target_kind"], newest["target_name"], newest["labels"]) == ("library", None, ["All"])
    assert (mine["target_id"], mine["restricted"], mine["readers"]) == (page, True, ["a"])
    assert mine["target_name"] == project.client.get(f"/api/documents/{page}").json()["name"]
    code = project.client.post("/api/pair/code", json={"role": "viewer"}).json()["code"]
    token = project.client.post("/api/pair", json={"code": code}).json()["device_token"]
    seen = listed(Authorization=f"Bearer {token}")
    assert mine["id"] not in {item["id"] for item in seen["items"]}
    project.client.post(f"/api/rights/{answer['id']}/withdraw")
    assert answer["id"] not in {item["id"] for item in listed()["items"]}


def test_a_branch_shows_what_its_project_states_of_its_pages_which_is_withdrawn_there(
    project: RestrictedProject,
) -> None:
    page, branch = project.hidden_page.id, project.branch()
    there = {"X-Service-Library-Path": quote(str(branch.library.path))}
    common = {record["id"] for record in project.client.get("/api/rights").json()["items"]}
    of_project = project.restrict(project.box, readers=["a"])["id"]
    # In the branch it lies elsewhere by now.
    branch.do("document.move", {"ids": [page], "parent_id": None})
    stated = {"target_kind": "document", "target_id": page, "model_use": "local"}
    own = branch.do("rights.set", stated)["id"]
    listed = project.client.get("/api/rights", headers=there).json()
    of_branch = {record["id"]: record["of_project"] for record in listed["items"]}
    assert of_branch == {**dict.fromkeys(common, False), own: False, of_project: True}
    assert (listed["items"][0]["id"], listed["total"]) == (own, len(of_branch))
    asked = {"target_kind": "document", "target_id": page}
    combined = project.client.get("/api/rights/effective", params=asked, headers=there).json()
    assert (combined["readers"], combined["model_use"]) == (["a"], "local")
    assert combined["record_ids"][-2:] == [of_project, own]
    refused = project.client.post(f"/api/rights/{of_project}/withdraw", headers=there)
    assert (refused.status_code, refused.json()["code"]) == (409, "of_project")
    project.do("rights.withdraw", {"record_id": of_project})
    combined = project.client.get("/api/rights/effective", params=asked, headers=there).json()
    assert (combined["readers"], combined["model_use"]) == (None, "local")


def test_rights_of_a_branch_are_refused_with_the_reason_where_its_project_does_not_open(
    project: RestrictedProject,
) -> None:
    there = {"X-Service-Library-Path": quote(str(project.branch().library.path))}
    asked = {"target_kind": "document", "target_id": project.hidden_page.id}
    project.engine.libraries.release(project.library.path)
    database = project.library.path / "library.sqlite"
    database.rename(database.with_name("away"))
    for path, params in (("/api/rights", {}), ("/api/rights/effective", asked)):
        answer = project.client.get(path, params=params, headers=there)
        assert answer.status_code == 409, path
        assert "incomplete" in answer.json()["detail"]
    database.with_name("away").rename(database)
    assert project.client.get("/api/rights", headers=there).status_code == 200
