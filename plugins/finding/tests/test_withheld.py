"""What is restricted is in no proposal, and what is restricted later is shown to nobody else."""

from __future__ import annotations

from finding_desk import Desk, agent

LETTER = "Toledo, 2 de mayo de 1930.\nDear Sir,\nSecretaria Robles contra Compañía Norte.\nAnd so on it went."
OTHER = "SENTENCIA\nEn la ciudad de Toledo se han visto los autos."


def restrict(desk: Desk, page_id: str) -> None:
    body = {"target_kind": "document", "target_id": page_id, "restricted": True}
    answer = desk.client.post("/api/rights", json=body)
    assert answer.status_code == 200, answer.text


def test_a_restricted_page_is_left_out_of_a_run_the_owner_s_too(desk: Desk) -> None:
    folder, pages = desk.box([OTHER, LETTER, OTHER])
    restrict(desk, pages[1])
    found = desk.find(folder)
    assert pages[1] not in found["page_ids"]
    assert "Robles" not in str(found)


def test_a_folder_of_restricted_pages_gives_no_proposal(desk: Desk) -> None:
    folder, pages = desk.box([LETTER])
    restrict(desk, pages[0])
    assert desk.run(folder) | {"job_id": ""} == {
        "job_id": "", "state": "done", "reason": None, "words": "Ended with 0 proposals.", "proposal_ids": []}  # fmt: skip


def test_a_proposal_with_a_page_restricted_later_is_hidden_from_others(desk: Desk) -> None:
    folder, pages = desk.box([OTHER, LETTER, OTHER + " Y más."])
    found = desk.find(folder)
    assert "Robles" in str(found)
    restrict(desk, pages[1])
    headers = agent(desk)
    url = f"/api/find-documents/proposals/{found['id']}"
    assert desk.client.get(url, headers=headers).json()["code"] == "rights_restricted"
    assert desk.client.get("/api/find-documents/proposals", headers=headers).json()["items"] == []
    for verb, body in (("accept", {}), ("reject", {"document_indexes": [0]})):
        refused = desk.client.post(f"{url}/{verb}", headers=headers, json=body)
        assert (refused.status_code, refused.json()["code"]) == (403, "rights_restricted")
    assert len(desk.proposal(found["id"])["documents"]) == 3


def test_what_went_elsewhere_and_is_restricted_there_is_left_out_for_others(desk: Desk) -> None:
    folder, pages = desk.box([OTHER, LETTER, OTHER + " Y más."])
    found = desk.find(folder)
    elsewhere = desk.do("document.create", {"name": "Elsewhere"})["id"]
    desk.do("document.move", {"ids": [pages[1]], "parent_id": elsewhere})
    restrict(desk, pages[1])
    headers = agent(desk)
    url = f"/api/find-documents/proposals/{found['id']}"
    for path in (url, f"/api/artifacts/{found['id']}", "/api/find-documents/proposals"):
        response = desk.client.get(path, headers=headers)
        assert response.status_code == 200, path
        assert "Robles" not in response.text, path
        assert "1930" not in response.text, path
    answer = desk.client.get(url, headers=headers).json()
    assert [document["index"] for document in answer["documents"]] == [0, 2]
    assert answer["documents_withheld"] == 1
    assert pages[1] not in str(answer)
    for verb in ("accept", "reject"):
        refused = desk.client.post(f"{url}/{verb}", headers=headers, json={"document_indexes": [1]})
        assert (refused.status_code, refused.json()["code"]) == (403, "rights_restricted")
    response = desk.client.post(f"{url}/accept", headers=headers, json={}).json()
    assert [one["index"] for one in response["accepted"]] == [0, 2]
    assert pages[1] not in str(response)
