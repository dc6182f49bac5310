"""Rights cost nothing where there are no records: no caller causes a query."""

from __future__ import annotations

import pytest
from rights_ground import Ground

from armarium_rights.withholding import RightsOfProject


def test_a_project_without_records_is_not_asked_about(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    any_record = RightsOfProject.has_any

    def counting(self: RightsOfProject, raw: object) -> bool:
        asked.append("any")
        return any_record(self, raw)  # type: ignore[arg-type]

    monkeypatch.setattr(RightsOfProject, "has_any", counting)
    monkeypatch.setattr(RightsOfProject, "find_withheld", None)
    _, headers = ground.token()
    path = f"/api/documents/{ground.open.id}"
    for given in ({}, headers):
        ground.client.get(path, headers=given)
        asked.clear()
        for _ in range(20):
            assert ground.client.get(path, headers=given).status_code == 200
        assert asked == []


def test_a_project_whose_rights_cannot_be_read_is_the_owners_alone(ground: Ground) -> None:
    assert ground.library.db.visibility is not None
    ground.library.db.visibility.rights = None
    ground.library.db.visibility._without = -1
    _, headers = ground.token()
    path = f"/api/documents/{ground.open.id}"
    assert ground.client.get(path, headers=headers).json()["code"] == "rights_restricted"
    assert ground.client.get(path).status_code == 200
