"""A part cut from a restricted place shows it, and the page it was cut from shows what is restricted on the part."""

from __future__ import annotations

import pytest
from restricted_project import RestrictedProject

from armarium.api import find_withheld
from armarium.principals import LOCAL_OWNER


def cut(project: RestrictedProject, page: str, top: int, **box: int) -> str:
    box = {"left": 50, "width": 500, "height": 80, **box}
    answer = project.client.post(f"/api/images/{page}/crop", json={**box, "top": top})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["child"]["id"])


def test_an_outsider_sees_no_picture_cut_from_a_restricted_line(project: RestrictedProject) -> None:
    page = project.open
    over, beside = cut(project, page.id, 50), cut(project, page.id, 250)
    project.restrict(page.lines[0], kind="segment")
    _, headers = project.token()
    for child, status in ((over, 403), (beside, 200)):
        answer = project.client.get(f"/api/documents/{child}/renditions", headers=headers)
        assert answer.status_code == status, answer.text
        assert project.client.get(f"/api/documents/{child}/renditions").status_code == 200


@pytest.mark.parametrize("use", ["export", "cloud-model"])
def test_what_is_cut_from_a_cut_counts_too_and_parts_beside_it_do_not(
    project: RestrictedProject, use: str
) -> None:
    page = project.open
    over, beside = cut(project, page.id, 50), cut(project, page.id, 250)
    inner = cut(project, over, 5, left=5, width=100, height=20)
    stated = {"target_kind": "segment", "target_id": page.lines[0], "model_use": "none"}
    project.do("rights.set", stated)
    asked = (page.id, over, beside, inner)
    assert find_withheld(project.library, LOCAL_OWNER, asked, use).keys() == {page.id, over, inner}  # type: ignore[arg-type]


def test_a_page_is_withheld_with_a_part_that_was_cut_from_it(project: RestrictedProject) -> None:
    page = project.open
    over, beside = cut(project, page.id, 50), cut(project, page.id, 250)
    record = project.restrict(over)
    withheld = find_withheld(project.library, LOCAL_OWNER, (page.id, over, beside), "export")
    assert withheld.keys() == {page.id, over}
    project.do("rights.withdraw", {"record_id": record["id"]})
    assert find_withheld(project.library, LOCAL_OWNER, (page.id, over, beside), "export") == {}


def test_a_cut_that_lies_elsewhere_is_withheld_with_the_page_it_was_cut_from(
    project: RestrictedProject,
) -> None:
    page = project.open
    moved, restored, beside = cut(project, page.id, 50), cut(project, page.id, 60), cut(project, page.id, 250)
    inner = cut(project, moved, 5, left=5, width=100, height=20)
    elsewhere = str(project.do("document.create", {"name": "Elsewhere"})["id"])
    project.do("document.move", {"ids": [moved, beside], "parent_id": elsewhere})
    project.do("document.move", {"ids": [inner], "parent_id": elsewhere})
    project.do("document.delete", {"ids": [restored]})
    project.do("document.delete", {"ids": [page.id]})
    assert project.do("document.restore", {"document_id": restored})["into_sources"]
    project.do("document.restore", {"document_id": page.id})
    _, headers = project.token()

    def refused_ids() -> set[str]:
        asked = (moved, inner, restored, beside, elsewhere)
        return {
            one
            for one in asked
            if project.client.get(f"/api/documents/{one}", headers=headers).status_code == 403
        }

    assert refused_ids() == set()
    line = project.restrict(page.lines[0], kind="segment")
    assert refused_ids() == {moved, inner, restored}
    withheld = find_withheld(project.library, LOCAL_OWNER, (moved, inner, restored, beside), "export")
    assert withheld.keys() == {moved, inner, restored}
    project.do("rights.withdraw", {"record_id": line["id"]})
    for above in (page.id, moved):
        record = project.restrict(above)
        hidden = {moved, inner} | ({restored, beside} if above == page.id else set())
        assert refused_ids() == hidden
        withheld = find_withheld(project.library, LOCAL_OWNER, (moved, inner, restored, beside), "export")
        assert withheld.keys() == hidden
        project.do("rights.withdraw", {"record_id": record["id"]})
