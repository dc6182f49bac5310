"""IIIF of a past step: manifest, canvas and lines as they were, whose addresses lead on to the past."""

from __future__ import annotations

import json
from typing import Any

import pytest
from iiif_helpers import OWNER, add_lines, add_page, sources
from starlette.testclient import TestClient

from armarium.api import Engine, Library, find_moment


def without_step(answer: Any, step: str) -> str:
    return str(answer.text).replace(f"?as_of={step}", "")


@pytest.mark.parametrize(
    "route", ["iiif/lines/{page}", "canvas/{page}", "manifest/{page}", "manifest/{folder}"]
)
def test_what_is_published_of_a_past_step_is_what_was_published_then(
    engine: Engine, library: Library, client: TestClient, route: str
) -> None:
    page = add_page(engine, library)
    add_lines(engine, library, page)
    path = "/api/iiif/" + route.format(page=page, folder=sources(library))
    with library.db.read() as conn:
        step = find_moment(conn).audit_id
        line = conn.exec_driver_sql("SELECT id FROM segment WHERE kind = 'line'").scalars().first()
    then = client.get(path)
    assert then.status_code == 200, then.text
    client.post(f"/api/segments/{line}/correct", json={"text": "Other words"}).raise_for_status()
    engine.run(library, "document.update", {"document_id": page, "name": "Renamed"}, OWNER)
    add_page(engine, library, name="2.png")

    past = client.get(path, params={"as_of": step})
    assert past.status_code == 200, past.text
    # Only the text of today is searched.
    assert json.loads(without_step(past, step)) == {
        name: value for name, value in then.json().items() if name != "service"
    }
    assert client.get(path).text != then.text
    if "lines" not in route:
        assert f"/api/iiif/iiif/lines/{page}?as_of={step}" in past.text
