"""Hostile input to paleography over HTTP, case by case: the status, code and sentence of each answer."""

from __future__ import annotations

from typing import Any

import pytest
from paleography_project import PaleographyProject


def refuse(
    project: PaleographyProject, method: str, path: str, body: Any, status: int, code: str, *words: str
) -> dict[str, Any]:
    """Send a request that must be refused with this status, code and all these words; return the refusal."""
    refused = project.send(method, path, body, status)
    assert refused["code"] == code, refused
    assert all(word in refused["detail"] for word in words), refused["detail"]
    return refused


def test_an_attribution_to_a_withdrawn_hand(project: PaleographyProject) -> None:
    line = project.page().lines[0]
    hand = project.hand("Hand of the Rule")
    answer = project.post(f"/hands/{hand}/withdraw")
    body = {"hand_id": hand, "segment_id": line}
    refuse(project, "POST", "/hands/attributions", body, 409, "withdrawn", "hand", "withdrawn")
    invoked = {"name": "hand.attribute", "params": body}
    refuse(project, "POST", "/actions/invoke", invoked, 409, "withdrawn", "hand")
    refuse(
        project,
        "PUT",
        f"/letterforms/segment/{line}",
        {"character": "s", "hand_id": hand},
        409,
        "withdrawn",
        "hand",
    )
    campaign = {"document_id": project.page().id, "name": "A", "hand_id": hand}
    refuse(project, "POST", "/campaigns", campaign, 409, "withdrawn", "hand")
    project.undo(answer["audit_id"])
    assert project.post("/hands/attributions", body)["hand_id"] == hand


def test_a_sign_that_is_a_variant_of_itself(project: PaleographyProject) -> None:
    """No route takes the id of a new sign, and none changes what an existing sign is a variant of."""
    line = project.page().lines[0]
    own = "0" * 31 + "1"
    body = {"name": "et", "picture_segment_id": line, "variant_of": own}
    refuse(project, "POST", "/signs", {**body, "id": own}, 422, "invalid_request", "id")
    refuse(project, "POST", "/signs", body, 404, "sign_not_found", "sign")
    invoked = {"name": "sign.create", "params": {**body, "id": own}}
    refuse(project, "POST", "/actions/invoke", invoked, 422, "invalid_request", "id")
    first = project.post("/signs", {"name": "et", "picture_segment_id": line})["id"]
    refuse(project, "PATCH", f"/signs/{first}", {"variant_of": first}, 422, "invalid_request", "variant_of")
    assert project.get("/signs")["items"][0]["variant_of"] is None


def test_a_code_point_used_twice(project: PaleographyProject) -> None:
    line = project.page().lines[0]
    body = {"name": "pro", "picture_segment_id": line, "code_point": "U+A753"}
    first = project.post("/signs", body)
    other = {**body, "name": "per"}
    taken = refuse(
        project, "POST", "/signs", other, 409, "code_point_taken", "U+A753", first["id"], "withdraw"
    )
    assert taken["id"] == first["id"]
    invoked = {"name": "sign.create", "params": other}
    assert (
        refuse(project, "POST", "/actions/invoke", invoked, 409, "code_point_taken", "U+A753")["id"]
        == first["id"]
    )
    # Other spellings are refused, so none can evade the comparison.
    for spelling in ("u+a753", "U+a753", "U+0A753", "\ua753", "A753"):
        refuse(
            project, "POST", "/signs", {**other, "code_point": spelling}, 422, "invalid_request", "code_point"
        )
    assert project.get("/signs")["count"] == 1


@pytest.mark.parametrize("field", ["component", "feature"])
def test_features_of_80_and_of_81_characters(project: PaleographyProject, field: str) -> None:
    """Eighty characters, not bytes, also of letters beyond ASCII and beyond the basic plane."""
    line = project.page().lines[0]
    path = f"/letterforms/segment/{line}"
    feature = {"component": "bowl", "feature": "open"}
    for letter in ("a", "ſ", "𐌀"):
        body = {"character": "g", "features": [{**feature, field: letter * 80}]}
        assert project.send("PUT", path, body)["features"] == body["features"]
        wrong = {"character": "g", "features": [{**feature, field: letter * 81}]}
        refuse(project, "PUT", path, wrong, 422, "invalid_request", field, "80")
    invoked = {"name": "letterform.set", "params": {"segment_id": line, **wrong}}
    refuse(project, "POST", "/actions/invoke", invoked, 422, "invalid_request", field, "80")
    assert project.get(path)["letterform"]["features"] == body["features"]


@pytest.mark.parametrize("corrected", ["erat", "nihil"])
def test_a_span_moved_by_a_correction_into_nothing(project: PaleographyProject, corrected: str) -> None:
    """The fact stays with its own reading, the answer names it, and undo restores everything."""
    line = project.page(["erat uerbum"]).lines[0]
    fact = {"segment_id": line, "kind": "unclear", "char_start": 5, "char_end": 11}
    new_answer = project.post("/editorial", fact)
    refuse(project, "POST", f"/segments/{line}/correct", {"text": ""}, 422, "invalid_request", "text")
    answer = project.post(f"/segments/{line}/correct", {"text": corrected})
    assert [entry["id"] for entry in answer["unplaced"]] == [new_answer["id"]]
    found_answer = project.get(f"/editorial/segment/{line}")
    assert found_answer["counting_reading"]["text"] == corrected
    (kept_fact,) = found_answer["facts"]
    reading = new_answer["representation_id"]
    assert (kept_fact["representation_id"], kept_fact["char_start"], kept_fact["char_end"]) == (
        reading,
        5,
        11,
    )
    refuse(project, "POST", "/editorial", fact, 422, "span_outside", str(len(corrected)))
    project.undo(answer["audit_id"])
    assert project.get(f"/editorial/segment/{line}")["counting_reading"]["text"] == "erat uerbum"


@pytest.mark.parametrize(
    ("name", "code", "word"),
    [
        ("%2e%2e", "font_not_found", "font"),
        ("..%5c..", "font_not_found", "font"),
        ("..Cardo-Regular.ttf", "font_not_found", "font"),
        ("%00", "font_not_found", "font"),
        # A name with a slash is no route at all.
        ("%2e%2e%2f%2e%2e%2fetc%2fpasswd", "not_found", "no such route"),
        ("Cardo-Regular.ttf%2f..", "not_found", "no such route"),
    ],
)
def test_a_font_name_with_dots(project: PaleographyProject, name: str, code: str, word: str) -> None:
    refuse(project, "GET", f"/fonts/{name}", None, 404, code, word)
