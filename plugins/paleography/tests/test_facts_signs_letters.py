"""Editorial facts, signs and letterforms: answers and refusals."""

from __future__ import annotations

import pytest
from paleography_desk import Desk

from armarium.api import ActionContext, json_text
from armarium.principals import LOCAL_OWNER
from armarium_paleography.models import hands as hand_table
from armarium_paleography.models import letterforms

TEXT = "In principio erat uerbum"


def test_a_fact_names_characters_of_the_reading_that_counts(desk: Desk) -> None:
    page = desk.page([TEXT])
    line = page.lines[0]
    body = {"segment_id": line, "kind": "unclear", "char_start": 3, "char_end": 12, "certainty": 0.5}
    made = desk.post("/editorial", body)
    desk.post("/editorial", {"segment_id": line, "kind": "lost", "char_start": 24, "char_end": 24,
                             "extent_quantity": 2, "extent_unit": "chars", "reason": "hole"})  # fmt: skip
    desk.post("/editorial", {"segment_id": line, "kind": "added", "place": "above"})
    found = desk.get(f"/editorial/segment/{line}")
    assert [one["kind"] for one in found["facts"]] == ["added", "unclear", "lost"]
    assert found["counting_reading"]["text"] == TEXT
    assert made["representation_id"] == found["counting_reading"]["representation_id"]
    gone = desk.post(f"/editorial/{made['id']}/withdraw")
    assert [one["kind"] for one in desk.get(f"/editorial/segment/{line}")["facts"]] == ["added", "lost"]
    assert desk.post(f"/editorial/{made['id']}/withdraw", None, 409)["code"] == "withdrawn"
    desk.undo(gone["audit_id"])
    assert len(desk.get(f"/editorial/segment/{line}")["facts"]) == 3


def test_a_span_that_is_not_in_the_reading_is_refused(desk: Desk) -> None:
    page = desk.page([TEXT])
    line, bare = page.lines[0], desk.page().lines[0]
    other = desk.page(["Fuit homo"])
    ((foreign,),) = desk.rows("SELECT id FROM content_representation WHERE segment_id = ?", other.lines[0])
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
        assert desk.post("/editorial", body, status)["code"] == code, body
    desk.post("/editorial", {**about, "representation_id": "no"}, 404)
    desk.post("/editorial", {**about, "segment_id": "no"}, 404)
    desk.post("/editorial/no/withdraw", None, 404)
    desk.get("/editorial/segment/no", 404)
    assert desk.get(f"/editorial/segment/{bare}")["counting_reading"] is None


def test_a_code_point_is_of_one_live_sign(desk: Desk) -> None:
    line = desk.page().lines[0]
    body = {"name": "pro", "picture_segment_id": line, "code_point": "U+A753"}
    first = desk.post("/signs", {**body, "list_references": [{"authority": "Cappelli", "number": "256"}]})
    taken = desk.post("/signs", {**body, "name": "per"}, 409)
    assert (taken["code"], taken["id"]) == ("code_point_taken", first["id"])
    gone = desk.post(f"/signs/{first['id']}/withdraw")
    second = desk.post("/signs", {**body, "name": "per"})
    refused = desk.undo(gone["audit_id"], 409)
    assert (refused["reason"], refused["id"]) == ("changed", second["id"])
    desk.post(f"/signs/{second['id']}/withdraw")
    desk.undo(gone["audit_id"])
    assert [one["name"] for one in desk.get("/signs")["items"]] == ["pro"]
    assert desk.get("/signs", include_withdrawn=True)["count"] == 2


def test_a_sign_is_no_variant_of_itself_of_nothing_or_of_a_withdrawn_one(desk: Desk) -> None:
    line = desk.page().lines[0]
    body = {"name": "et", "picture_segment_id": line}
    first = desk.post("/signs", body)["id"]
    variant = desk.post("/signs", {**body, "variant_of": first, "variant": "crossed"})
    assert variant["variant_of"] == first
    own = "0" * 31 + "1"
    desk.post("/signs", {**body, "id": own, "variant_of": own}, 422)
    desk.post("/signs", {**body, "variant_of": own}, 404)
    desk.post(f"/signs/{first}/withdraw")
    assert desk.post("/signs", {**body, "variant_of": first}, 409)["code"] == "withdrawn"
    for wrong in ("A753", "U+a753", "U+D800", "U+110000", "U+ZZZZ", "U+0FFFFF"):
        desk.post("/signs", {**body, "code_point": wrong}, 422)
    assert desk.post("/signs", {**body, "code_point": "U+10FFFF"})["code_point"] == "U+10FFFF"
    desk.post("/signs", {"name": "et"}, 422)
    desk.post("/signs", {**body, "picture_segment_id": "no"}, 404)


def test_instances_of_a_sign(desk: Desk) -> None:
    page = desk.page()
    sign = desk.post("/signs", {"name": "et", "picture_segment_id": page.lines[0]})["id"]
    made = desk.post(f"/signs/{sign}/instances", {"segment_id": page.lines[1], "certainty": 0.7})
    assert made["document_id"] == page.id
    assert desk.post(f"/signs/{sign}/instances", {"segment_id": page.lines[1]}, 409)["id"] == made["id"]
    desk.post(f"/signs/{sign}/instances", {"segment_id": "no"}, 404)
    desk.post("/signs/no/instances", {"segment_id": page.lines[1]}, 404)
    desk.get("/signs/no/instances", 404)
    assert desk.get(f"/signs/{sign}/instances")["count"] == 1
    gone = desk.post(f"/signs/instances/{made['id']}/withdraw")
    desk.post(f"/signs/instances/{made['id']}/withdraw", None, 409)
    desk.post("/signs/instances/no/withdraw", None, 404)
    desk.undo(gone["audit_id"])
    taken_back = desk.undo(made["audit_id"])["audit_ids"][0]
    ended = desk.post(f"/signs/{sign}/withdraw")
    desk.post(f"/signs/{sign}/withdraw", None, 409)
    desk.post(f"/signs/{sign}/instances", {"segment_id": page.lines[0]}, 409)
    assert desk.undo(taken_back, 409)["code"] == "withdrawn"
    desk.undo(ended["audit_id"])
    desk.undo(taken_back)
    assert desk.get(f"/signs/{sign}/instances")["count"] == 1


def test_one_description_of_a_letterform_stands(desk: Desk) -> None:
    page = desk.page()
    line = page.lines[0]
    long_s = desk.post("/letterforms/allographs", {"character": "s", "name": "long s"})
    path = f"/letterforms/segment/{line}"
    assert desk.get(path) == {"segment_id": line, "letterform": None}
    feature = {"component": "ascender", "feature": "looped"}
    first = desk.send(
        "PUT", path, {"character": "s", "allograph_id": long_s["id"], "features": [feature, feature]}
    )
    assert first["features"] == [feature]
    second = desk.send("PUT", path, {"character": "f", "hand_id": desk.hand()})
    assert desk.get(path)["letterform"]["id"] == second["id"]
    assert desk.get("/letterforms", character="s")["items"] == []
    assert desk.get("/letterforms", hand_id=second["hand_id"])["count"] == 1
    cleared = desk.send("DELETE", path)
    assert desk.get(path)["letterform"] is None
    assert desk.send("DELETE", path, status=404)["code"] == "not_described"
    desk.send("PUT", path, {"character": "t"})
    assert desk.undo(cleared["audit_id"], 409)["code"] == "description_stands"


def test_what_named_one_before_it_was_withdrawn_goes_on_to_and_comes_back_as_it_was(desk: Desk) -> None:
    """No new statement can use a withdrawn hand or allograph, but steps made since can be undone."""
    page = desk.page()
    line, hand = page.lines[0], desk.hand()
    form = desk.post("/letterforms/allographs", {"character": "g", "name": "open g"})["id"]
    path, said = f"/letterforms/segment/{line}", {"character": "g", "allograph_id": form, "hand_id": hand}
    desk.send("PUT", path, said)
    campaign = desk.post("/campaigns", {"document_id": page.id, "name": "A", "hand_id": hand})["id"]
    desk.post(f"/hands/{hand}/withdraw")
    desk.post(f"/letterforms/allographs/{form}/withdraw")
    steps = [
        desk.send("PUT", path, {"character": "g"}),
        desk.send("DELETE", path),
        desk.send("PATCH", f"/campaigns/{campaign}", {"name": "B", "hand_id": None}),
        desk.post("/segments/merge", {"segment_ids": page.lines, "keep_id": page.lines[1]}),
    ]
    for step in reversed(steps):
        desk.undo(step["audit_id"])
    described = desk.get(path)["letterform"]
    assert (described["allograph_id"], described["hand_id"]) == (form, hand)
    (kept,) = desk.get(f"/campaigns/document/{page.id}")["items"]
    assert (kept["name"], kept["hand_id"]) == ("A", hand)
    assert desk.send("PUT", path, said, 409)["code"] == "withdrawn"
    assert desk.send("PATCH", f"/campaigns/{campaign}", {"hand_id": hand}, 409)["code"] == "withdrawn"


def test_what_letterforms_refuse(desk: Desk) -> None:
    line = desk.page().lines[0]
    path = f"/letterforms/segment/{line}"
    long_s = desk.post("/letterforms/allographs", {"character": "s", "name": "long s"})["id"]
    feature = {"component": "c" * 80, "feature": "f" * 80}
    desk.send("PUT", path, {"character": "s", "features": [feature]})
    assert desk.get("/letterforms/features")["items"] == [{**feature, "count": 1}]
    for wrong in ({**feature, "component": "c" * 81}, {**feature, "feature": "f" * 81}, {"component": "c"}):
        desk.send("PUT", path, {"character": "s", "features": [wrong]}, 422)
    refused = desk.send("PUT", path, {"character": "t", "allograph_id": long_s}, 422)
    assert refused["code"] == "other_character"
    desk.send("PUT", path, {"character": "s", "allograph_id": "no"}, 404)
    desk.send("PUT", path, {"character": "s", "hand_id": "no"}, 404)
    desk.post(f"/letterforms/allographs/{long_s}/withdraw")
    desk.post(f"/letterforms/allographs/{long_s}/withdraw", None, 409)
    desk.post("/letterforms/allographs/no/withdraw", None, 404)
    desk.send("PUT", path, {"character": "s", "allograph_id": long_s}, 409)
    assert desk.get("/letterforms/allographs")["items"] == []
    assert desk.get("/letterforms", 422)["code"] == "nothing_named"
    desk.get("/letterforms", 404, allograph_id="no")
    desk.get("/letterforms", 404, hand_id="no")
    desk.get("/letterforms/segment/no", 404)


@pytest.mark.parametrize(
    ("many", "hands"), [(5_000, 1_000), pytest.param(50_000, 10_000, marks=pytest.mark.soak)]
)
def test_fifty_thousand_letterforms_and_ten_thousand_hands_are_answered(
    desk: Desk, many: int, hands: int
) -> None:
    """The fast variant uses a tenth of each."""
    page = desk.page(lines=1)
    line = page.lines[0]
    with desk.library.db.read() as conn:
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

    desk.engine.run(desk.library, "hand.create", {"label": "zz"}, LOCAL_OWNER, in_transaction=insert)
    assert desk.get("/letterforms", character="g")["count"] == many
    assert desk.get("/letterforms", character="g", limit=10)["total"] == many
    assert desk.get("/letterforms/features")["items"][0]["count"] == many
    assert desk.get("/hands")["count"] == hands + 1
