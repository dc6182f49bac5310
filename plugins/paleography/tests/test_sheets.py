"""Sheets: all pictures of a hand, sign or letter, levelled and scaled to one height, without restricted ones."""

from __future__ import annotations

import importlib
import io
from collections.abc import Callable
from typing import Any

import pytest
from paleography_project import FAMILIES, PaleographyProject
from PIL import Image

from armarium.api import Engine


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """An engine with paleography and rights."""
    names = (*FAMILIES, "rights")
    return make_engine(
        plugins=[importlib.import_module(f"armarium_{name}.plugin").armarium_plugin() for name in names]
    )


def sheet(project: PaleographyProject, path: str, **query: Any) -> tuple[Image.Image, list[int]]:
    """Return the picture, and how many pictures are shown and left out."""
    headers = query.pop("headers", None)
    answer = project.client.get(f"/api{path}", params=query, headers=headers)
    assert answer.status_code == 200, answer.text
    counts = [int(answer.headers[f"X-Service-{name}"]) for name in ("Shown", "Left-Out")]
    return Image.open(io.BytesIO(answer.content)), counts


def attribute_hand(project: PaleographyProject, lines: list[str]) -> str:
    hand = project.hand("Iohannes ꝓ אב")
    for line in lines:
        project.post("/hands/attributions", {"hand_id": hand, "segment_id": line})
    return hand


def test_every_picture_of_a_hand_is_on_its_sheet_at_one_height(project: PaleographyProject) -> None:
    page = project.page(lines=3, picture=True)
    hand = attribute_hand(project, page.lines)
    small, counts = sheet(project, f"/hands/{hand}/sheet", height=32)
    large, _ = sheet(project, f"/hands/{hand}/sheet", height=64)
    assert counts == [3, 0]
    assert small.width == large.width == 1600
    assert large.height > small.height
    # The lines of the sample page are dark bars on grey; nothing else on the sheet is as dark and wide.
    dark = sum(large.convert("L").histogram()[:60])
    assert dark > 3_000
    _, counts = sheet(project, f"/hands/{hand}/sheet", limit=2, offset=2)
    assert counts == [1, 0]


def test_a_leaning_line_is_level_on_the_sheet(project: PaleographyProject) -> None:
    page = project.page(lines=1, picture=True)
    line = page.lines[0]
    hand = attribute_hand(project, [line])
    level, _ = sheet(project, f"/hands/{hand}/sheet")
    body = {"segment_id": line, "expected_version": 1, "baseline": [[0.1, 0.04], [0.9, 0.10]]}
    project.send("PUT", f"/segments/{line}", body)
    turned, _ = sheet(project, f"/hands/{hand}/sheet")
    assert turned.tobytes() != level.tobytes()


def test_sheets_of_signs_and_letters(project: PaleographyProject) -> None:
    page = project.page(lines=2, picture=True)
    one, two = page.lines
    sign = project.post("/signs", {"name": "et", "picture_segment_id": one, "code_point": "U+204A"})["id"]
    project.post(f"/signs/{sign}/instances", {"segment_id": two})
    # The picture of the sign first, then its other instances.
    assert sheet(project, f"/signs/{sign}/sheet")[1] == [2, 0]
    assert sheet(project, f"/signs/{sign}/sheet", offset=1)[1] == [1, 0]
    project.post(f"/signs/{sign}/instances", {"segment_id": one})
    assert sheet(project, f"/signs/{sign}/sheet")[1] == [2, 0]
    (version,) = project.rows("SELECT version FROM segment WHERE id = ?", one)[0]
    answer = project.post("/segments/delete", {"segment_ids": [one], "expected_versions": [version]})
    assert sheet(project, f"/signs/{sign}/sheet")[1] == [1, 0]
    project.undo(answer["audit_id"])
    form = project.post("/letterforms/allographs", {"character": "g", "name": "open g"})["id"]
    hand = project.hand()
    for line in page.lines:
        project.send(
            "PUT", f"/letterforms/segment/{line}", {"character": "g", "allograph_id": form, "hand_id": hand}
        )
    for asked in ({"character": "g"}, {"allograph_id": form}, {"hand_id": hand}):
        assert sheet(project, "/letterforms/sheet", **asked)[1] == [2, 0]
    assert sheet(project, "/letterforms/sheet", character="x")[1] == [0, 0]
    assert project.get("/letterforms/sheet", 422)["code"] == "nothing_named"
    for path in ("/hands/no/sheet", "/signs/no/sheet"):
        project.get(path, 404)
    project.get(f"/hands/{hand}/sheet", 422, height=5)


def test_segments_without_a_usable_picture_are_left_out_and_counted(project: PaleographyProject) -> None:
    pictured, bare = project.page(lines=1, picture=True), project.page(lines=1)
    hand = attribute_hand(project, [*pictured.lines, *bare.lines])
    assert sheet(project, f"/hands/{hand}/sheet")[1] == [1, 1]


def test_a_step_that_took_a_sign_by_its_name_is_not_told_where_the_sign_is_withheld(
    project: PaleographyProject,
) -> None:
    """The sign is withheld with the page of its picture, and with it what elsewhere shows it."""
    hidden, line = project.page(lines=1), project.page(lines=1).lines[0]
    project.post("/signs", {"name": "Zyxwvuts", "picture_segment_id": hidden.lines[0]})
    project.do("sign.take", {"signs": [{"segment_id": line, "name": "zyxwvuts"}]})
    project.do("rights.set", {"target_kind": "document", "target_id": hidden.id, "restricted": True})
    answer = project.client.post("/api/tokens", json={"name": "a viewer", "role": "viewer"}).json()
    headers = {"Authorization": f"Bearer {answer['token']}"}
    log = project.client.get("/api/actions/audit", params={"limit": 1000})
    assert "zyxwvuts" in log.text.casefold()
    told = project.client.get("/api/actions/audit", params={"limit": 1000}, headers=headers)
    assert told.status_code == 200
    assert "zyxwvuts" not in told.text.casefold()


def test_nothing_restricted_is_on_a_sheet_or_in_a_list(project: PaleographyProject) -> None:
    hidden, page = project.page(["ſ"], picture=True), project.page(lines=1, picture=True)
    hand = attribute_hand(project, [*hidden.lines, *page.lines])
    sign = project.post("/signs", {"name": "et", "picture_segment_id": hidden.lines[0]})["id"]
    project.send("PUT", f"/letterforms/segment/{hidden.lines[0]}", {"character": "g"})
    new_answer = project.client.post("/api/tokens", json={"name": "a reader", "role": "viewer"}).json()
    secret = next(value for name, value in new_answer.items() if name == "token" or name.endswith("_token"))
    other_headers = {"Authorization": f"Bearer {secret}"}
    project.do("rights.set", {"target_kind": "document", "target_id": hidden.id, "restricted": True})
    assert sheet(project, f"/hands/{hand}/sheet", headers=other_headers)[1] == [1, 0]
    assert sheet(project, f"/hands/{hand}/sheet")[1] == [2, 0]
    for path, count in (
        (f"/hands/{hand}/attributions", 1),
        ("/signs", 0),
        ("/letterforms?character=g", 0),
        ("/letterforms/features", 0),
        ("/letterforms/letters", 0),
    ):
        answer = project.client.get(f"/api{path}", headers=other_headers)
        assert answer.json()["count"] == count, (path, answer.text)
    # How many would say whose hand the withheld page is said to be.
    assert (
        "withheld" not in project.client.get(f"/api/hands/{hand}/attributions", headers=other_headers).json()
    )
    for path in (f"/hands/segment/{hidden.lines[0]}", f"/signs/{sign}/instances"):
        assert project.client.get(f"/api{path}", headers=other_headers).status_code == 403, path
