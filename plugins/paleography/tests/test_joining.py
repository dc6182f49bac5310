"""Hands, signs and allographs that are called otherwise, and those that turn out to be one."""

from __future__ import annotations

from paleography_project import PaleographyProject


def test_hands_that_are_one_are_joined_and_the_join_is_undone(project: PaleographyProject) -> None:
    first, second = project.page(lines=2).lines
    hand, b = project.hand("A"), project.hand("B")
    both = [
        project.post("/hands/attributions", {"hand_id": hand, "segment_id": first})["id"]
        for hand in (hand, b)
    ]
    moved = project.post("/hands/attributions", {"hand_id": b, "segment_id": second})["id"]
    project.send("PUT", f"/letterforms/segment/{first}", {"character": "g", "hand_id": b})
    before = project.get("/hands"), project.get(f"/hands/{b}/attributions")
    step = project.post(f"/hands/{hand}/merge", {"other_ids": [b]})
    assert [item["label"] for item in project.get("/hands")["items"]] == ["A"]
    # The judgement that A had already made stays once.
    assert {item["id"] for item in project.get(f"/hands/{hand}/attributions")["items"]} == {both[0], moved}
    assert [item["segment_id"] for item in project.get("/letterforms", hand_id=hand)["items"]] == [first]
    assert project.post(f"/hands/{hand}/merge", {"other_ids": [b]}, 409)["code"] == "withdrawn"
    project.undo(step["audit_id"])
    assert (project.get("/hands"), project.get(f"/hands/{b}/attributions")) == before
    assert project.get("/letterforms", hand_id=hand)["items"] == []


def test_signs_that_are_one_show_all_their_instances(project: PaleographyProject) -> None:
    lines = project.page(lines=3).lines
    one, other = (
        project.post("/signs", {"name": name, "picture_segment_id": line})["id"]
        for name, line in zip("xy", lines[:2], strict=True)
    )
    for sign, line in ((one, lines[2]), (other, lines[2]), (other, lines[1])):
        project.post(f"/signs/{sign}/instances", {"segment_id": line})
    project.post(f"/signs/{one}/merge", {"other_ids": [other]})
    segment_ids = [row["segment_id"] for row in project.get(f"/signs/{one}/instances")["items"]]
    assert sorted(segment_ids) == sorted([lines[2], lines[1]])
    assert project.get("/signs")["count"] == 1


def test_a_sign_joined_with_what_it_is_a_variant_of_is_no_variant_of_itself(
    project: PaleographyProject,
) -> None:
    line = project.page().lines[0]
    whole = {"picture_segment_id": line}
    root = project.post("/signs", {**whole, "name": "et"})["id"]
    middle = project.post("/signs", {**whole, "name": "et with a bar", "variant_of": root})["id"]
    leaf = project.post("/signs", {**whole, "name": "et with two bars", "variant_of": middle})["id"]
    step = project.post(f"/signs/{leaf}/merge", {"other_ids": [root]})
    above = {item["id"]: item["variant_of"] for item in project.get("/signs")["items"]}
    assert (above[leaf], above[middle]) == (None, leaf)
    project.undo(step["audit_id"])
    above = {item["id"]: item["variant_of"] for item in project.get("/signs")["items"]}
    assert above == {root: None, middle: root, leaf: middle}


def test_allographs_of_one_character_are_joined_and_others_are_not(project: PaleographyProject) -> None:
    line = project.page().lines[0]
    long_s, tall_s, open_g = (
        project.post("/letterforms/allographs", {"character": character, "name": name})["id"]
        for character, name in (("s", "long"), ("s", "tall"), ("g", "open"))
    )
    project.send("PUT", f"/letterforms/segment/{line}", {"character": "s", "allograph_id": tall_s})
    path = f"/letterforms/allographs/{long_s}"
    assert project.post(f"{path}/merge", {"other_ids": [open_g]}, 422)["code"] == "other_character"
    project.post(f"{path}/merge", {"other_ids": [tall_s]})
    assert project.get("/letterforms", allograph_id=long_s)["count"] == 1
    assert project.send("PATCH", path, {"name": "long s", "notes": "at the end too"})["name"] == "long s"
    assert project.send("PATCH", path, {"notes": None})["notes"] is None
    names = {item["name"] for item in project.get("/letterforms/allographs")["items"]}
    assert names == {"long s", "open"}


def test_what_is_renamed_keeps_what_is_not_sent(project: PaleographyProject) -> None:
    line = project.page().lines[0]
    hand = project.post("/hands", {"label": "A", "scribe": "Johannes", "date": "about 1450"})["id"]
    renamed = project.send("PATCH", f"/hands/{hand}", {"label": "Hand A", "date": None})
    assert (renamed["label"], renamed["scribe"], renamed["date"]) == ("Hand A", "Johannes", None)
    project.undo(renamed["audit_id"])
    assert project.get("/hands")["items"][0]["date"] == "about 1450"
    sign, other = (
        project.post("/signs", {"name": name, "picture_segment_id": line, "code_point": point})["id"]
        for name, point in (("x", "U+E0FF"), ("y", "U+E100"))
    )
    answer = project.send("PATCH", f"/signs/{sign}", {"code_point": "U+E100"}, 409)
    assert (answer["code"], answer["id"]) == ("code_point_taken", other)
    assert (
        project.send("PATCH", f"/signs/{sign}", {"name": "A cross", "code_point": "U+E0FF"})["name"]
        == "A cross"
    )


def test_nothing_is_joined_with_itself_or_with_what_is_not_there(project: PaleographyProject) -> None:
    hand = project.hand()
    assert project.post(f"/hands/{hand}/merge", {"other_ids": [hand]}, 422)["code"] == "same_one"
    assert project.post(f"/hands/{hand}/merge", {"other_ids": ["none"]}, 404)["code"] == "hand_not_found"
    assert project.send("PATCH", "/hands/none", {"label": "A"}, 404)["code"] == "hand_not_found"
