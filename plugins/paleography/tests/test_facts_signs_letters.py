"""Editorial facts, signs and letterforms: answers and refusals."""

from __future__ import annotations

import pytest
from paleography_project import PaleographyProject

from armarium.api import ActionContext, json_text
from armarium.principals import LOCAL_OWNER
from armarium_paleography.records.hands import hands as hand_table
from armarium_paleography.records.marks import letterforms

TEXT = "In principio erat uerbum"


def test_a_fact_names_characters_of_the_reading_that_counts(project: PaleographyProject) -> None:
    page = project.page([TEXT])
    line = page.lines[0]
    body = {"segment_id": line, "kind": "unclear", "char_start": 3, "char_end": 12, "certainty": 0.5}
    answer = project.post("/editorial", body)
    project.post("/editorial", {"segment_id": line, "kind": "lost", "char_start": 24, "char_end": 24,
                             "extent_quantity": 2, "extent_unit": "chars", "reason": "hole"})  # fmt: skip
    project.post("/editorial", {"segment_id": line, "kind": "added", "place": "above"})
    found_answer = project.get(f"/editorial/segment/{line}")
    assert [fact["kind"] for fact in found_answer["facts"]] == ["added", "unclear", "lost"]
    assert found_answer["counting_reading"]["text"] == TEXT
    assert answer["representation_id"] == found_answer["counting_reading"]["representation_id"]
    assert project.get(f"/editorial/document/{page.id}")["items"] == found_answer["facts"]
    removed_answer = project.post(f"/editorial/{answer['id']}/withdraw")
    assert [item["kind"] for item in project.get(f"/editorial/document/{page.id}")["items"]] == [
        "added",
        "lost",
    ]
    assert [fact["kind"] for fact in project.get(f"/editorial/segment/{line}")["facts"]] == ["added", "lost"]
    assert project.post(f"/editorial/{answer['id']}/withdraw", None, 409)["code"] == "withdrawn"
    project.undo(removed_answer["audit_id"])
    assert len(project.get(f"/editorial/segment/{line}")["facts"]) == 3


def test_a_span_that_is_not_in_the_reading_is_refused(project: PaleographyProject) -> None:
    page = project.page([TEXT])
    line, bare = page.lines[0], project.page().lines[0]
    other_page = project.page(["Fuit homo"])
    ((foreign,),) = project.rows(
        "SELECT id FROM content_representation WHERE segment_id = ?", other_page.lines[0]
    )
    about = {"segment_id": line, "kind": "unclear"}
    bodies = [
        ({**about, "char_start": 0, "char_end": len(TEXT) + 1}, 422, "span_outside"),
        ({**about, "char_start": 3, "char_end": 3}, 422, "span_outside"),
        ({**about, "char_start": 5, "char_end": 3, "kind": "lost"}, 422, "span_outside"),
        ({**about, "char_start": 3}, 422, "invalid_request"),
        ({**about, "char_start": -1, "char_end": 3}, 422, "invalid_request"),
        ({**about, "extent_quantity": 3}, 422, "invalid_request"),
        ({**about, "kind": "ugly"}, 422, "invalid_request"),
        ({**about, "withdrawn_at": "now"}, 422, "invalid_request"),
        ({**about, "representation_id": foreign}, 422, "other_segment"),
        ({**about, "segment_id": bare, "char_start": 0, "char_end": 1}, 422, "no_reading"),
    ]
    for body, status, code in bodies:
        assert project.post("/editorial", body, status)["code"] == code, body
    project.post("/editorial", {**about, "representation_id": "no"}, 404)
    project.post("/editorial", {**about, "segment_id": "no"}, 404)
    project.post("/editorial/no/withdraw", None, 404)
    project.get("/editorial/segment/no", 404)
    assert project.get(f"/editorial/segment/{bare}")["counting_reading"] is None


def test_a_code_point_belongs_to_one_live_sign(project: PaleographyProject) -> None:
    line = project.page().lines[0]
    body = {"name": "pro", "picture_segment_id": line, "code_point": "U+A753"}
    first = project.post("/signs", {**body, "list_references": [{"authority": "Cappelli", "number": "256"}]})
    answer = project.post("/signs", {**body, "name": "per"}, 409)
    assert (answer["code"], answer["id"]) == ("code_point_taken", first["id"])
    removed_answer = project.post(f"/signs/{first['id']}/withdraw")
    second = project.post("/signs", {**body, "name": "per"})
    refused = project.undo(removed_answer["audit_id"], 409)
    assert (refused["reason"], refused["id"]) == ("changed", second["id"])
    project.post(f"/signs/{second['id']}/withdraw")
    project.undo(removed_answer["audit_id"])
    assert [item["name"] for item in project.get("/signs")["items"]] == ["pro"]
    assert project.get("/signs", include_withdrawn=True)["count"] == 2


def test_a_sign_is_no_variant_of_itself_of_nothing_or_of_a_withdrawn_one(project: PaleographyProject) -> None:
    line = project.page().lines[0]
    body = {"name": "et", "picture_segment_id": line}
    first = project.post("/signs", body)["id"]
    variant = project.post("/signs", {**body, "variant_of": first, "variant": "crossed"})
    assert variant["variant_of"] == first
    own = "0" * 31 + "1"
    project.post("/signs", {**body, "id": own, "variant_of": own}, 422)
    project.post("/signs", {**body, "variant_of": own}, 404)
    project.post(f"/signs/{first}/withdraw")
    assert project.post("/signs", {**body, "variant_of": first}, 409)["code"] == "withdrawn"
    for wrong in ("A753", "U+a753", "U+D800", "U+110000", "U+ZZZZ", "U+0FFFFF"):
        project.post("/signs", {**body, "code_point": wrong}, 422)
    assert project.post("/signs", {**body, "code_point": "U+10FFFF"})["code_point"] == "U+10FFFF"
    project.post("/signs", {"name": "et"}, 422)
    project.post("/signs", {**body, "picture_segment_id": "no"}, 404)


def test_instances_of_a_sign(project: PaleographyProject) -> None:
    page = project.page()
    sign = project.post("/signs", {"name": "et", "picture_segment_id": page.lines[0]})["id"]
    answer = project.post(f"/signs/{sign}/instances", {"segment_id": page.lines[1], "certainty": 0.7})
    assert answer["document_id"] == page.id
    assert project.post(f"/signs/{sign}/instances", {"segment_id": page.lines[1]}, 409)["id"] == answer["id"]
    project.post(f"/signs/{sign}/instances", {"segment_id": "no"}, 404)
    project.post("/signs/no/instances", {"segment_id": page.lines[1]}, 404)
    project.get("/signs/no/instances", 404)
    assert project.get(f"/signs/{sign}/instances")["count"] == 1
    removed_answer = project.post(f"/signs/instances/{answer['id']}/withdraw")
    project.post(f"/signs/instances/{answer['id']}/withdraw", None, 409)
    project.post("/signs/instances/no/withdraw", None, 404)
    project.undo(removed_answer["audit_id"])
    taken_back = project.undo(answer["audit_id"])["audit_ids"][0]
    ended = project.post(f"/signs/{sign}/withdraw")
    project.post(f"/signs/{sign}/withdraw", None, 409)
    project.post(f"/signs/{sign}/instances", {"segment_id": page.lines[0]}, 409)
    assert project.undo(taken_back, 409)["because"] == "withdrawn"
    project.undo(ended["audit_id"])
    project.undo(taken_back)
    assert project.get(f"/signs/{sign}/instances")["count"] == 1


def test_a_letterform_has_one_live_description(project: PaleographyProject) -> None:
    page = project.page()
    line = page.lines[0]
    long_s = project.post("/letterforms/allographs", {"character": "s", "name": "long s"})
    path = f"/letterforms/segment/{line}"
    assert project.get(path) == {"segment_id": line, "letterform": None}
    feature = {"component": "ascender", "feature": "looped"}
    first = project.send(
        "PUT", path, {"character": "s", "allograph_id": long_s["id"], "features": [feature, feature]}
    )
    assert first["features"] == [feature]
    second = project.send("PUT", path, {"character": "f", "hand_id": project.hand()})
    assert project.get(path)["letterform"]["id"] == second["id"]
    assert project.get("/letterforms", character="s")["items"] == []
    assert project.get("/letterforms", hand_id=second["hand_id"])["count"] == 1
    cleared = project.send("DELETE", path)
    assert project.get(path)["letterform"] is None
    assert project.send("DELETE", path, status=404)["code"] == "not_described"
    project.send("PUT", path, {"character": "t"})
    assert project.undo(cleared["audit_id"], 409)["because"] == "description_stands"


def test_statements_that_name_a_withdrawn_hand_or_allograph_remain(
    project: PaleographyProject,
) -> None:
    """No new statement can use a withdrawn hand or allograph, but steps made since can be undone."""
    page = project.page()
    line, hand = page.lines[0], project.hand()
    form = project.post("/letterforms/allographs", {"character": "g", "name": "open g"})["id"]
    path, said = f"/letterforms/segment/{line}", {"character": "g", "allograph_id": form, "hand_id": hand}
    project.send("PUT", path, said)
    campaign = project.post("/campaigns", {"document_id": page.id, "name": "A", "hand_id": hand})["id"]
    project.post(f"/hands/{hand}/withdraw")
    project.post(f"/letterforms/allographs/{form}/withdraw")
    steps = [
        project.send("PUT", path, {"character": "g"}),
        project.send("DELETE", path),
        project.send("PATCH", f"/campaigns/{campaign}", {"name": "B", "hand_id": None}),
        project.post("/segments/merge", {"segment_ids": page.lines, "keep_id": page.lines[1]}),
    ]
    for step in reversed(steps):
        project.undo(step["audit_id"])
    described = project.get(path)["letterform"]
    assert (described["allograph_id"], described["hand_id"]) == (form, hand)
    (item,) = project.get(f"/campaigns/document/{page.id}")["items"]
    assert (item["name"], item["hand_id"]) == ("A", hand)
    assert project.send("PUT", path, said, 409)["code"] == "withdrawn"
    assert project.send("PATCH", f"/campaigns/{campaign}", {"hand_id": hand}, 409)["code"] == "withdrawn"


def test_a_letter_is_the_same_letter_however_it_was_typed(project: PaleographyProject) -> None:
    path = f"/letterforms/segment/{project.page().lines[0]}"
    composed, apart = "\u00e9", "e\u0301"
    form = project.post("/letterforms/allographs", {"character": composed, "name": "long accent"})["id"]
    feature = {"component": f"acc{apart}nt", "feature": "long"}
    said = {"character": apart, "allograph_id": form, "features": [feature]}
    assert project.send("PUT", path, said)["character"] == composed
    for character in (composed, apart):
        assert project.get("/letterforms", character=character)["count"] == 1
    assert project.get("/letterforms/features")["items"] == [
        {"component": f"acc{composed}nt", "feature": "long", "count": 1}
    ]
    for nothing in ("  ", "a\u0000"):
        project.send("PUT", path, {"character": nothing}, 422)


def test_what_letterforms_refuse(project: PaleographyProject) -> None:
    line = project.page().lines[0]
    path = f"/letterforms/segment/{line}"
    long_s = project.post("/letterforms/allographs", {"character": "s", "name": "long s"})["id"]
    feature = {"component": "c" * 80, "feature": "f" * 80}
    project.send("PUT", path, {"character": "s", "features": [feature]})
    assert project.get("/letterforms/features")["items"] == [{**feature, "count": 1}]
    for wrong in ({**feature, "component": "c" * 81}, {**feature, "feature": "f" * 81}, {"component": "c"}):
        project.send("PUT", path, {"character": "s", "features": [wrong]}, 422)
    refused = project.send("PUT", path, {"character": "t", "allograph_id": long_s}, 422)
    assert refused["code"] == "other_character"
    project.send("PUT", path, {"character": "s", "allograph_id": "no"}, 404)
    project.send("PUT", path, {"character": "s", "hand_id": "no"}, 404)
    project.post(f"/letterforms/allographs/{long_s}/withdraw")
    project.post(f"/letterforms/allographs/{long_s}/withdraw", None, 409)
    project.post("/letterforms/allographs/no/withdraw", None, 404)
    project.send("PUT", path, {"character": "s", "allograph_id": long_s}, 409)
    assert project.get("/letterforms/allographs")["items"] == []
    assert project.get("/letterforms", 422)["code"] == "nothing_named"
    project.get("/letterforms", 404, allograph_id="no")
    project.get("/letterforms", 404, hand_id="no")
    project.get("/letterforms/segment/no", 404)


@pytest.mark.parametrize(
    ("many", "hands"), [(5_000, 1_000), pytest.param(50_000, 10_000, marks=pytest.mark.soak)]
)
def test_fifty_thousand_letterforms_and_ten_thousand_hands_are_answered(
    project: PaleographyProject, many: int, hands: int
) -> None:
    """The fast variant uses a tenth of each."""
    page = project.page(lines=1)
    line = page.lines[0]
    with project.library.db.read() as conn:
        made = conn.exec_driver_sql("SELECT created_at FROM segment").scalar_one()
    features = json_text([{"component": "bowl", "feature": "open"}])

    def insert(ctx: ActionContext) -> None:
        made_by = ("human", made)
        ctx.bulk_insert(
            letterforms,
            ("id", "segment_id", "document_id", "character", "features", "provenance_kind", "created_at"),
            [(f"{n:032x}", line, page.id, "g", features, *made_by) for n in range(many)],
        )
        columns = ("id", "label", "provenance_kind", "created_at")
        ctx.bulk_insert(hand_table, columns, [(f"{n:032x}", f"Hand {n}", *made_by) for n in range(hands)])

    project.engine.run(project.library, "hand.create", {"label": "zz"}, LOCAL_OWNER, in_transaction=insert)
    assert project.get("/letterforms", character="g")["count"] == many
    assert project.get("/letterforms", character="g", limit=10)["total"] == many
    assert project.get("/letterforms/features")["items"][0]["count"] == many
    assert project.get("/hands")["count"] == hands + 1


def test_the_letters_of_the_project_are_ranked_by_use_and_declared_ones_named(
    project: PaleographyProject,
) -> None:
    page = project.page(["ſit ſũ p̄ro ç", "ſ p̄ ​ plain"])
    project.do("document.delete", {"ids": [project.page(["ſ in the Trash"]).id]})
    et = project.post("/signs", {"name": "et", "picture_segment_id": page.lines[0], "code_point": "U+204A"})
    long_s = {"name": "long s", "picture_segment_id": page.lines[0], "code_point": "U+017F"}
    s = project.post("/signs", long_s)
    answer = project.get("/letterforms/letters")["items"]
    assert [(item["letter"], item["uses"], item["sign_id"], item["name"]) for item in answer] == [
        ("ſ", 3, s["id"], "long s"),
        ("p̄", 2, None, None),
        ("ũ", 1, None, None),
        ("ç", 1, None, None),
        ("⁊", 0, et["id"], "et"),
    ]
    assert [item["letter"] for item in project.get("/letterforms/letters", limit=1)["items"]] == ["ſ"]
    project.get("/letterforms/letters", 422, limit=0)
