"""Every published GET, requested by a caller who may not read the page: nothing restricted appears in any
answer.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import islice, product
from typing import Any
from urllib.parse import quote

import pytest
from restricted_project import COLOURS, EDITOR, Page, RestrictedProject

from armarium.api import Forbidden, find_withheld
from armarium.principals import LOCAL_OWNER
from armarium_testing.samples import slow_too, today

MOST_REQUESTS = 12
"""The most requests to one route, with different ids."""

OTHERS = {
    "artifact_id": "SELECT id FROM artifact WHERE document_id = ?",
    "audit_id": "SELECT a.id FROM audit a JOIN audit_target t ON t.seq = a.seq WHERE t.target_id = ?",
    "bookmark_id": "SELECT id FROM document WHERE alias_target_id = ?",
    "image_id": "SELECT id FROM rendition WHERE document_id = ?",
    "order_id": "SELECT id FROM reading_order WHERE document_id = ?",
    "pass_id": "SELECT id FROM segment_pass WHERE document_id = ?",
    "rendition_id": "SELECT id FROM rendition WHERE document_id = ?",
    "representation_id": "SELECT id FROM content_representation WHERE document_id = ?",
    "segment_id": "SELECT id FROM segment WHERE document_id = ?",
    "mets_id": "SELECT id FROM format_mets WHERE document_id = ?",
    "job_id": "SELECT j.id FROM job j, json_tree(j.args) t WHERE t.value = ?",
    "batch_id": "SELECT id FROM image_batch WHERE folder_id = ?",
}
FIXED = {
    "format_name": ["pagexml", "alto", "tei"], "key": ["letter"], "region": ["full"], "size": ["max"],
    "rotation": ["0"], "quality": ["default"], "file_format": ["png"], "path": ["x"], "runtime": ["x"], "model": ["x"],
}  # fmt: skip
STREAMS = {"/api/changes/stream"}


def ids(project: RestrictedProject, name: str, page: Page) -> list[str]:
    """Return values for the path parameter *name*, from *page* and its surroundings."""
    if name in FIXED:
        return FIXED[name]
    if name in OTHERS:
        return [str(row[0]) for row in project.rows(OTHERS[name], page.id)] or ["nothing"]
    if name == "end_id":
        return [*page.lines, page.id]
    beneath = [str(row[0]) for row in project.rows("SELECT id FROM document WHERE parent_id = ?", page.id)]
    return [page.id, project.box, *beneath]


def requests(project: RestrictedProject, page: Page) -> Iterator[str]:
    """Yield the path of every GET, with ids of *page* in it."""
    published = project.client.get("/openapi.json").json()["paths"]
    for path, operations in sorted(published.items()):
        if "get" not in operations or path in STREAMS:
            continue
        names = [
            parameter["name"]
            for parameter in operations["get"].get("parameters", ())
            if parameter["in"] == "path"
        ]
        values = [ids(project, name, page) for name in names]
        for chosen in islice(product(*values), MOST_REQUESTS):
            filled = path
            for name, value in zip(names, chosen, strict=True):
                filled = filled.replace(f"{{{name}}}", value)
            yield from _with_query(filled, operations["get"], page)
            if any(parameter["name"] == "as_of" for parameter in operations["get"].get("parameters", ())):
                yield from (f"{filled}?as_of={step}" for step in past_steps(project))


def past_steps(project: RestrictedProject) -> list[str]:
    """Return steps of the time before anything was restricted: one at which lines were as they were read, and the last."""
    steps = [
        row[0] for row in project.rows("SELECT id FROM audit WHERE action_name <> 'rights.set' ORDER BY seq")
    ]
    return [steps[-8], steps[-1]]


def _with_query(path: str, operation: dict[str, Any], page: Page) -> Iterator[str]:
    asked = {
        parameter["name"]: parameter
        for parameter in operation.get("parameters", ())
        if parameter["in"] == "query"
    }
    values = {"document_id": page.id, "segment_id": page.lines[0], "parent_id": page.id, "ids": page.id,
              "target_id": page.id, "target_kind": "document", "pass_id": page.pass_id, "name": "Test"}  # fmt: skip
    needed = [name for name, one in asked.items() if one.get("required")]
    yield path + ("?" + "&".join(f"{name}={values.get(name, 'x')}" for name in needed) if needed else "")
    for name in asked:
        if name in values and name not in needed:
            yield f"{path}?{name}={values[name]}"


def in_turn(asked: list[str]) -> list[str]:
    """Return what is asked on this day: a third, or everything with the slow tests."""
    return asked if slow_too() else asked[today(3) :: 3]


def reveals(answer: Any, page: Page) -> bool:
    """Return whether an answer has the page's word in it, or a pixel of its colour."""
    if page.word.encode() in answer.content:
        return True
    if not answer.headers.get("content-type", "").startswith("image/"):
        return False
    from PIL import Image

    image = Image.open(io.BytesIO(answer.content)).convert("RGB")
    wanted = COLOURS["hidden" if page.word.startswith("Z") else "open"]
    colours = image.getcolors(image.width * image.height) or []
    return any(max(abs(a - b) for a, b in zip(colour, wanted, strict=True)) < 40 for _, colour in colours)


@pytest.fixture
def outsider(project: RestrictedProject) -> dict[str, str]:
    """The headers of an editor who may not read restricted pages."""
    return project.token()[1]


@pytest.mark.parametrize("above", ["the page", "the folder", "the project"])
def test_nothing_of_a_restricted_page_appears_in_any_answer(
    project: RestrictedProject, outsider: dict[str, str], above: str
) -> None:
    page = project.hidden_page
    asked = list(dict.fromkeys(requests(project, page)))
    if above == "the page":
        # The walk proves something only if the page was visible on these routes before; the same for each of the three.
        assert sum(reveals(project.client.get(path, headers=outsider), page) for path in asked) > 30
    else:
        # What lies above the page restricts it on one route as on another.
        asked = in_turn(asked)
    target = {"the page": page.id, "the folder": project.box, "the project": "library"}[above]
    project.restrict(target, "library" if above == "the project" else "document")
    told = {path: project.client.get(path, headers=outsider) for path in asked}
    leaks = [path for path, answer in told.items() if reveals(answer, page)]
    assert leaks == []
    broken = {path: answer.text for path, answer in told.items() if answer.status_code >= 500}
    assert broken == {}
    for path, answer in told.items():
        if page.id in path.partition("?")[0] or page.lines[0] in path:
            assert answer.status_code == 403, path
            # Some routes of the whole engine are for the owner only.
            assert answer.json().get("code") in ("rights_restricted", "owner_only"), path


def test_nothing_restricted_in_the_project_appears_in_any_answer_of_a_branch_made_before(
    project: RestrictedProject, outsider: dict[str, str]
) -> None:
    page, branch = project.hidden_page, project.branch()
    headers = {**outsider, "X-Service-Library-Path": quote(str(branch.library.path))}
    every = list(dict.fromkeys(requests(branch, page)))
    asked = in_turn(every)
    shown = {path for path in asked if reveals(project.client.get(path, headers=headers), page)}
    assert len(shown) > (30 if slow_too() else 10)
    record = project.restrict(project.box)
    # In the branch it is moved away from the folder that is restricted.
    branch.do("document.move", {"ids": [page.id], "parent_id": None})
    told = {path: project.client.get(path, headers=headers) for path in asked}
    assert [path for path, answer in told.items() if reveals(answer, page)] == []
    assert {path: answer.text for path, answer in told.items() if answer.status_code >= 500} == {}
    assert find_withheld(branch.library, LOCAL_OWNER, [page.id], "export")
    with pytest.raises(Forbidden):
        branch.do("document.update", {"document_id": page.id, "name": "Seen"}, EDITOR)
    project.do("rights.withdraw", {"record_id": record["id"]})
    told = {path: project.client.get(path, headers=headers) for path in sorted(shown)[:5]}
    assert [path for path, answer in told.items() if not reveals(answer, page)] == []


def test_the_owner_and_a_named_reader_see_all_of_it(project: RestrictedProject) -> None:
    page = project.hidden_page
    reader_id, reader = project.token()
    every = list(dict.fromkeys(requests(project, page)))
    asked = [path for path in in_turn(every) if reveals(project.client.get(path), page)]
    assert len(asked) > (30 if slow_too() else 10)
    project.restrict(page.id, readers=[reader_id])
    for headers in ({}, reader):
        unseen = [path for path in asked if not reveals(project.client.get(path, headers=headers), page)]
        assert unseen == []


def test_the_other_page_is_shown_as_before(project: RestrictedProject, outsider: dict[str, str]) -> None:
    page = project.open
    asked = [path for path in dict.fromkeys(requests(project, page)) if project.box not in path]
    asked = in_turn(asked)
    before = {path: reveals(project.client.get(path, headers=outsider), page) for path in asked}
    project.restrict(project.hidden_page.id)
    after = {path: reveals(project.client.get(path, headers=outsider), page) for path in asked}
    assert {path for path in asked if before[path] and not after[path]} == set()


def test_lists_say_how_much_is_withheld(project: RestrictedProject, outsider: dict[str, str]) -> None:
    project.restrict(project.hidden_page.id)
    for path, withheld in (
        (f"/api/documents?parent_id={project.box}", 1),
        (f"/api/documents/{project.box}/view", 1),
        ("/api/bookmarks", 1),
        ("/api/annotations", 1),
        ("/api/reading/episodes", 1),
        (f"/api/documents/run-history?ids={project.open.id}&ids={project.hidden_page.id}", 1),
    ):
        seen = project.client.get(path, headers=outsider)
        assert (seen.status_code, seen.json().get("withheld", 0)) == (200, withheld), (path, seen.text)
        assert not project.client.get(path).json().get("withheld")


def test_a_restricted_line_takes_the_whole_pictures_and_texts_of_its_page_with_it(
    project: RestrictedProject, outsider: dict[str, str]
) -> None:
    page = project.hidden_page
    first, second = page.lines
    secret = project.client.get(f"/api/segments/{first}/readings").json()["items"][0]["content"]
    assert "corrected" in secret or "first line" in secret
    project.restrict(first, "segment")
    for path in in_turn([*dict.fromkeys(requests(project, page))]):
        answer = project.client.get(path, headers=outsider)
        assert answer.status_code < 500, (path, answer.text)
        assert b"first line" not in answer.content, path
        assert b"corrected" not in answer.content, path
        assert not answer.headers.get("content-type", "").startswith("image/") or not reveals(answer, page), (
            path
        )
    assert project.client.get(f"/api/segments/{second}/readings", headers=outsider).json()["count"] == 1
    listed = project.client.get(f"/api/segments/document/{page.id}", headers=outsider).json()
    assert (first in str(listed), second in str(listed), listed["withheld"] > 0) == (False, True, True)
    text = project.client.get(f"/api/segments/document/{page.id}/text", headers=outsider).json()["text"]
    assert text == f"{page.word} second line"
    for path in (f"/api/documents/{page.id}/thumbnail", f"/api/segments/{second}/picture"):
        assert project.client.get(path, headers=outsider).json()["code"] == "rights_restricted"
        assert project.client.get(path).status_code == 200
