"""What is restricted now is not shown of the past either, also where it stood elsewhere then; the rest is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from restricted_project import Page, RestrictedProject

OPENAPI = Path(__file__).parents[3] / "docs" / "openapi.json"
FORMATS = ("pagexml", "alto", "tei", "hocr", "plain-text")


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


def doors(project: RestrictedProject, page: Page, step: str) -> Iterator[str]:
    """Yield every published address that answers of the past, asked about *page* as of *step*."""
    order = project.rows("SELECT id FROM reading_order WHERE document_id = ?", page.id)[0][0]
    for path, methods in json.loads(OPENAPI.read_text("utf-8"))["paths"].items():
        if any(
            parameter.get("name") == "as_of" for parameter in methods.get("get", {}).get("parameters", ())
        ):
            for name in FORMATS if "format_name" in path else ("",):
                place = path.format(
                    document_id=page.id,
                    doc_id=page.id,
                    segment_id=page.lines[1],
                    order_id=order,
                    format_name=name,
                )
                yield f"{place}?as_of={step}" + (
                    f"&parent_id={project.box}" if place == "/api/documents" else ""
                )


def test_no_door_to_the_past_shows_a_page_that_is_restricted_now(project: RestrictedProject) -> None:
    page, (_, headers) = project.hidden_page, project.token()
    addresses = list(doors(project, page, last_step(project)))
    assert len(addresses) > 20
    project.do("document.update", {"document_id": page.id, "name": "by now.png"})
    project.restrict(page.id)
    own = {address: project.client.get(address) for address in addresses}
    assert [address for address, answer in own.items() if answer.status_code != 200] == []
    assert sum(page.word in answer.text for answer in own.values()) > 15
    for address in addresses:
        answer = project.client.get(address, headers=headers)
        assert page.word not in answer.text, address
        assert answer.status_code in ((200, 403) if address.startswith("/api/documents?") else (403, 404)), (
            address
        )


def test_no_door_to_the_past_shows_what_empty_trash_removed(project: RestrictedProject) -> None:
    page = project.hidden_page
    addresses = list(doors(project, page, last_step(project)))
    project.do("document.delete", {"ids": [page.id]})
    project.do("document.empty_trash", {})
    for address in addresses:
        answer = project.client.get(address)
        assert page.word not in answer.text, address
        assert answer.status_code == (200 if address.startswith("/api/documents?") else 404), (
            address,
            answer.text,
        )
