"""Rights cost nothing where there are no records: no caller causes a query."""

from __future__ import annotations

import pytest
from restricted_project import RestrictedProject

from armarium_rights.withholding import RightsOfProject


def test_a_project_without_records_causes_no_query(
    project: RestrictedProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    any_record = RightsOfProject.has_any

    def counting(self: RightsOfProject, raw: object) -> bool:
        asked.append("any")
        return any_record(self, raw)  # type: ignore[arg-type]

    monkeypatch.setattr(RightsOfProject, "has_any", counting)
    monkeypatch.setattr(RightsOfProject, "find_withheld", None)
    _, headers = project.token()
    path = f"/api/documents/{project.open.id}"
    for given in ({}, headers):
        project.client.get(path, headers=given)
        asked.clear()
        for _ in range(20):
            assert project.client.get(path, headers=given).status_code == 200
        assert asked == []


def test_a_project_whose_rights_cannot_be_read_is_the_owners_alone(project: RestrictedProject) -> None:
    assert project.library.db.visibility is not None
    project.library.db.visibility.rights = None
    project.library.db.visibility._without = -1
    _, headers = project.token()
    path = f"/api/documents/{project.open.id}"
    assert project.client.get(path, headers=headers).json()["code"] == "rights_restricted"
    assert project.client.get(path).status_code == 200
