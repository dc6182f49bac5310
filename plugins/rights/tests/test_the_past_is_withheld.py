"""What is restricted now is not shown of the past either, also where it stood elsewhere then; the rest is."""

from __future__ import annotations

from restricted_project import RestrictedProject


def last_step(project: RestrictedProject) -> str:
    return str(project.rows("SELECT id FROM audit ORDER BY seq DESC LIMIT 1")[0][0])


def test_the_past_of_a_page_with_a_restricted_line_is_not_shown_to_others(project: RestrictedProject) -> None:
    page, (_, headers) = project.hidden_page, project.token()
    step = last_step(project)
    project.client.post(f"/api/segments/{page.lines[1]}/correct", json={"text": "by now"}).raise_for_status()
    path = f"/api/segments/document/{page.id}/text?as_of={step}"
    assert page.word in project.client.get(path, headers=headers).json()["text"]
    project.restrict(page.lines[0], "segment")
    refused = project.client.get(path, headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (403, "rights_restricted")
    assert page.word in project.client.get(path).json()["text"]


def test_the_past_of_other_pages_is_shown_to_whom_something_is_withheld(project: RestrictedProject) -> None:
    page, (_, headers) = project.open, project.token()
    step = last_step(project)
    path = f"/api/segments/document/{page.id}/text?as_of={step}"
    before = project.client.get(path).json()
    project.client.post(f"/api/segments/{page.lines[1]}/correct", json={"text": "by now"}).raise_for_status()
    project.restrict(project.hidden_page.id)
    for listed in ("text", "lines", "shapes"):
        of = f"/api/segments/document/{page.id}/{listed}?as_of={step}"
        assert project.client.get(of, headers=headers).json() == project.client.get(of).json(), listed
    assert project.client.get(path, headers=headers).json() == before


def test_a_step_that_a_caller_does_not_see_is_no_moment_for_it(project: RestrictedProject) -> None:
    _, headers = project.token()
    page = project.hidden_page
    project.client.post(f"/api/segments/{page.lines[1]}/correct", json={"text": "by now"}).raise_for_status()
    hidden = last_step(project)
    project.restrict(page.id)
    path = f"/api/segments/document/{project.open.id}/text"
    answer = project.client.get(f"{path}?as_of={hidden}", headers=headers)
    assert answer.status_code in (403, 404), answer.text
    when = project.rows("SELECT created_at FROM audit WHERE id = ?", hidden)[0][0]
    by_time = project.client.get(path, params={"as_of": when}, headers=headers)
    assert by_time.status_code == 200
    assert by_time.headers["X-Service-As-Of"] != hidden


def test_a_page_moved_to_where_it_is_restricted_is_restricted_of_the_past_too(
    project: RestrictedProject,
) -> None:
    page, (_, headers) = project.open, project.token()
    step = last_step(project)
    project.restrict(project.box)
    project.do("document.move", {"ids": [page.id], "parent_id": project.box})
    answer = project.client.get(f"/api/segments/document/{page.id}/text?as_of={step}", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (403, "rights_restricted")
    folder = project.rows("SELECT id FROM document WHERE name = 'Beside' ORDER BY id DESC")[0][0]
    manifest = project.client.get(f"/api/iiif/manifest/{folder}?as_of={step}", headers=headers)
    assert page.id not in manifest.text


def test_a_citation_tells_others_nothing_of_a_restricted_line(project: RestrictedProject) -> None:
    page, (_, headers) = project.hidden_page, project.token()
    cited = project.client.get(f"/api/segments/{page.lines[1]}/reference").json()["dated_reference"]
    project.restrict(page.lines[0], "segment")
    answer = project.client.post("/api/locations/resolve", json={"segmentId": cited}, headers=headers)
    assert answer.status_code == 403, answer.text
    own = project.client.post("/api/locations/resolve", json={"segmentId": cited}).json()
    assert page.word in own["textThen"]
