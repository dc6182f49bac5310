"""Verdicts on a restricted page are withheld from callers who may not read it; only their number is stated."""

from __future__ import annotations

from typing import Any

from checking_project import BUILTIN, CheckingProject

SECRET = "Zyxwvuts and friend"


def test_verdicts_on_a_restricted_page_are_withheld_and_counted(project: CheckingProject) -> None:
    texts = {"hidden": SECRET, "open": "Dear Sir and friend"}
    pages: dict[str, Any] = {}
    runs: dict[str, str] = {}
    for name, text in texts.items():
        page, pass_id, lines = project.page([0.6])
        project.read(page, pass_id, lines, [text], "two")
        project.read(page, pass_id, lines, [text], "three")
        project.read(page, pass_id, lines, [f"{text[:-6]}fiends"], "one")
        runs[name] = project.check(page)["job_id"]
        pages[name] = (page, lines[0])
    answer = project.client.post("/api/tokens", json={"name": "an editor", "role": "editor"}).json()
    stranger = {"Authorization": f"Bearer {answer['token']}"}
    asked = ["/api/check/verdicts", "/api/check/verdicts?layer=readings"]
    before = project.client.get(asked[0], headers=stranger)
    assert (before.json()["total"], SECRET in before.text) == (2, True)
    (target,) = {verdict["target_id"] for verdict in project.verdicts(run_id=runs["hidden"])}
    project.do("rights.set", {"target_kind": "document", "target_id": pages["hidden"][0], "restricted": True})
    for path in asked:
        response = project.client.get(path, headers=stranger)
        assert (response.status_code, response.json()["total"], response.json()["withheld"]) == (200, 1, 1), (
            response.text
        )
        assert [item["run_id"] for item in response.json()["items"]] == [runs["open"]]
        assert SECRET not in response.text
    for path in (f"/api/check/runs/{runs['hidden']}", f"/api/check/verdicts?target_id={target}"):
        response = project.client.get(path, headers=stranger)
        assert (response.status_code, response.json()["code"]) == (403, "rights_restricted"), response.text
    body = {"target_id": target, "verdict": "confirm", "layer": "readings", "reasons": "Seen"}
    for path in ("/api/check/verdicts", "/api/mcp/tools/check/verdicts"):
        refused = project.client.post(path, json=body, headers=stranger)
        assert (refused.status_code, refused.json()["code"]) == (403, "rights_restricted"), refused.text
    started = {"layer": "readings", "scope_ids": [pages["hidden"][0]], "checker": BUILTIN}
    refused = project.client.post("/api/check/runs", json=started, headers=stranger)
    assert (refused.status_code, refused.json()["code"]) == (403, "rights_restricted")
    seen = project.client.get(asked[0])
    assert (seen.json()["total"], SECRET in seen.text, seen.json().get("withheld", 0)) == (2, True, 0)
