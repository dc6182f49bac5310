"""A bake-off over pages of which some are withheld from a caller is not shown to that caller: its scores reveal them."""

from __future__ import annotations

from typing import Any

import bakeoff_readers as readers
import pytest
from bakeoff_fixtures import URL, Desk

from armarium.api import Engine, Library


@pytest.fixture
def desk(engine: Engine, library: Library, client: Any) -> Desk:
    return Desk(engine, library, client)


def _viewer(desk: Desk) -> Any:
    answer = desk.client.post("/api/tokens", json={"name": "a viewer", "role": "viewer"}).json()
    headers = {"Authorization": f"Bearer {answer['token']}"}
    return lambda path: desk.client.get(path, headers=headers)


def test_a_bake_off_names_no_page_that_is_withheld(desk: Desk) -> None:
    desk.give(readers.First, readers.Second)
    desk.set_up()
    kept, hidden, left_out = desk.page()[0], desk.page()[0], desk.page(checked=False)[0]
    result = desk.run(page_ids=[kept, hidden, left_out])
    for page in (hidden, left_out):
        desk.do("rights.set", {"target_kind": "document", "target_id": page, "restricted": True})
    viewer = _viewer(desk)
    listed = viewer(URL)
    assert (listed.json()["items"], listed.json()["withheld"]) == ([], 1)
    roads = [
        listed,
        *(viewer(f"{URL}/{result['id']}{end}") for end in ("", "/picture", "/picture?kind=html")),
    ]
    assert [road.status_code for road in roads] == [200, 403, 403, 403]
    assert all(hidden not in road.text and left_out not in road.text for road in roads)
    assert desk.client.get(f"{URL}/{result['id']}").json() == result
