"""Sizes, signs, scripts and shapes sent to break knowledge: each is taken for what it is, or refused in a sentence."""

from __future__ import annotations

import os
from typing import Any

import pytest
from knowledge_desk import AGENT, Desk

MENTIONS = int(os.environ.get("ARMARIUM_MENTIONS", "2000"))
"""How many mentions of one entity are made; 100,000 is the full figure."""
OF_EACH = 10_000


def test_a_mention_is_made_of_words_on_one_line_or_refused(desk: Desk) -> None:
    page, juan = desk.page(["𝔍𝔲𝔞𝔫 came 👩‍👩‍👧", "to Toledo"]), desk.entity()
    where = {"entity_id": juan, "document_id": page.id}
    length = len("\n".join(page.texts))
    for start, end, code in (
        (length, length + 3, "not_words"),
        (length - 2, length + 1, "not_words"),
        (10**9, 10**9 + 1, "not_words"),
        (3, 3, "not_words"),
        (4, 3, "not_words"),
        (10, 15, "not_words"),
        (5, length, "several_lines"),
        (5, page.texts[0].__len__() + 1, "several_lines"),
    ):
        refusal = desk.expect_refusal(
            "POST", "/api/mentions", 422, code, **where, char_start=start, char_end=end
        )
        assert refusal["detail"]
    # Offsets count characters, so that none lies within a pair of surrogates.
    answer = desk.client.post("/api/mentions", json={**where, "char_start": 1, "char_end": 4}).json()
    assert (answer["text"], answer["segment_char_start"], answer["segment_char_end"]) == ("𝔲𝔞𝔫", 1, 4)
    assert desk.names_on(page)["count"] == 1


@pytest.mark.parametrize(("line", "end"), [("Jose\u0301 came", 4), ("सीता आयी", 1), ("മാല", 1), ("ကောင်း", 1)])
def test_no_mark_is_parted_from_its_letter(desk: Desk, line: str, end: int) -> None:
    page, entity = desk.page([line]), desk.entity("Somebody")
    where = {"entity_id": entity, "document_id": page.id}
    refusal = desk.expect_refusal(
        "POST", "/api/mentions", 422, "cuts_a_character", **where, char_start=0, char_end=end
    )
    assert refusal["offset"] == end


SCRIPTS = (
    "王安石", "محمّد", "דָּוִד", "सीता", "Ἀριστοτέλης", "Владимир", "გიორგი", "Հայկ", "ทองคำ", "မောင်", "ᏣᎳᎩ", "ፈቃደ",
    "ភូមិ", "རྒྱལ", "ಕನ್ನಡ", "தமிழ்", "తెలుగు", "ગુજરાતી", "ਪੰਜਾਬੀ", "বাংলা", "やまだ", "ヤマダ", "김철수", "ᠮᠣᠩᠭᠣᠯ",
    "ߒߞߏ", "ⴰⵎⴰⵣⵉⵖ", "𐌰𐍄𐍄𐌰", "𒀭𒂗𒆤", "𓂀𓏏𓆇", "𐤀𐤋𐤐", "ꦗꦮꦶ", "ܝܫܘܥ", "ދިވެހި", "සිංහල", "ລາວສາດ", "മലയാളം", "ଓଡ଼ିଆ",
    "ᚠᚢᚦᚨᚱᚲ", "ᚁᚂᚃᚄ", "ⰀⰁⰂ", "Ⲁⲃⲅⲇ", "𐎀𐎁𐎂", "𐎠𐎡𐎢", "𐬀𐬁𐬂", "𑀅𑀆𑀇", "ꆈꌠꁱ", "ꠍꠤꠟꠐꠤ", "ᜊᜌᜊ", "ᬩᬮᬶ", "ᮞᮥᮔ᮪",
    "ꔀꔁꔂ", "Þórr", "ꤊꤢꤛ", "𐐔𐐯𐐲",
)  # fmt: skip


def test_names_in_fifty_scripts_are_kept_named_and_found(desk: Desk) -> None:
    assert len(SCRIPTS) >= 50
    page = desk.page([f"— {name} —" for name in SCRIPTS])
    made = {name: desk.entity(name) for name in SCRIPTS}
    for name, identity in made.items():
        assert identity in {item["id"] for item in desk.get("/api/entities", q=name)["items"]}, name
        assert identity in {entity["id"] for entity in desk.get("/api/kg/search", q=name)["entities"]}, name
        mention = desk.mention(page, identity, name)
        assert (mention["text"], mention["placed"]) == (name, True), name
    items = desk.get(f"/api/documents/{page.id}/known-names")["items"]
    assert items == []
    for identity in made.values():
        assert desk.client.get(f"/api/entities/{identity}/export").status_code == 200


def test_marks_alone_are_in_no_name_and_blanks_in_all(desk: Desk) -> None:
    juan = desk.entity()
    claim = desk.claim(subject_entity_id=juan)["id"]
    for marks in ("\u0301\u0302", "\u0300", "ـ"):
        for path in ("/api/entities", "/api/claims"):
            assert desk.get(path, q=marks)["total"] == 0, (path, marks)
        assert desk.get("/api/kg/search", q=marks)["count"] == 0
    for blanks in ("", "  "):
        assert [item["id"] for item in desk.get("/api/entities", q=blanks)["items"]] == [juan]
        assert [item["id"] for item in desk.get("/api/claims", q=blanks)["items"]] == [claim]


def test_very_many_mentions_of_one_entity(desk: Desk) -> None:
    line = " ".join(["Juan"] * 500)
    juan, other_entity = desk.entity("Juan"), desk.entity("Iuan")
    pages = []
    for first in range(0, MENTIONS, OF_EACH):
        count = min(OF_EACH, MENTIONS - first)
        page = desk.page([line] * -(-count // 500), name=f"Leaf {first}")
        pages.append(page)
        names = [
            {
                "segment_id": page.lines[number // 500],
                "representation_id": page.readings[number // 500],
                "char_start": 5 * (number % 500),
                "char_end": 5 * (number % 500) + 4,
                "entity_id": juan,
            }
            for number in range(count)
        ]
        result = desk.do("mention.take", {"document_id": page.id, "names": names}, AGENT)
        assert len(result["mention_ids"]) == count
    listed = desk.get(f"/api/entities/{juan}/mentions", limit=7, offset=MENTIONS - 10)
    assert (listed["total"], listed["count"]) == (MENTIONS, 7)
    assert desk.get(f"/api/entities/{juan}")["corroboration_count"] == len(pages)
    step = desk.client.post("/api/entities/merge", json={"survivor_id": other_entity, "ids": [juan]}).json()[
        "audit_id"
    ]
    assert desk.get(f"/api/entities/{other_entity}/mentions")["total"] == MENTIONS
    desk.undo(step)
    assert desk.get(f"/api/entities/{juan}/mentions")["total"] == MENTIONS
    audit_id = desk.client.delete(f"/api/entities/{juan}").json()["audit_id"]
    assert desk.rows("SELECT count(*) FROM mention") == [(0,)]
    desk.undo(audit_id)
    assert desk.get(f"/api/entities/{juan}/mentions")["total"] == MENTIONS


def place(**more: Any) -> dict[str, Any]:
    return {"label": "x", "basis": "b", "geometry_type": "none", **more}


ODD: tuple[dict[str, Any], ...] = (
    place(geojson={}),
    place(geojson={"type": "Banana"}),
    place(geojson={"type": "Point"}),
    place(geojson={"type": "Point", "coordinates": ["1", "2"]}),
    place(geojson={"type": "Point", "coordinates": [1]}),
    place(geojson={"type": "Point", "coordinates": [200, 10]}),
    place(geojson={"type": "Point", "coordinates": [10, 95]}),
    place(geojson={"type": "Point", "coordinates": [True, False]}),
    place(geojson={"type": "LineString", "coordinates": [[1, 2]]}),
    place(geojson={"type": "Polygon", "coordinates": [[[1, 2], [1, 2], [1, 2]]]}),
    place(geojson={"type": "Polygon", "coordinates": []}),
    place(geojson={"type": "FeatureCollection", "features": []}),
    place(geojson={"type": "Feature", "geometry": None}),
    place(geojson={"type": "GeometryCollection", "geometries": [{"type": "Point"}]}),
    place(geometry_type="bbox", geo_bbox=[10, 50, 11, 40]),
    place(geometry_type="bbox", geo_bbox=[10, 50, 999, 60]),
    place(geojson={"type": "Point", "coordinates": [1, 2]}, geo_bbox=[0, 0, 0, 100]),
    place(when={"start": "1700", "end": "1600"}),
)


@pytest.mark.parametrize("value", ODD)
def test_a_place_that_is_none_is_not_written(desk: Desk, value: dict[str, Any]) -> None:
    body = {"canonical_name": "X", "entity_type": "location", "place_values": [value]}
    town = desk.entity("Town", "location")
    expected = [
        desk.client.post("/api/entities", json=body),
        desk.client.patch(f"/api/entities/{town}", json={"place_values": [value]}),
        desk.client.post("/api/actions/invoke", json={"name": "entity.create", "params": body}),
    ]
    for answer in expected:
        assert answer.status_code == 422, answer.text
        assert answer.json()["detail"]
    assert desk.get("/api/entities")["total"] == 1


def test_a_statement_whose_sources_are_all_in_the_trash(desk: Desk) -> None:
    page, juan = desk.page(), desk.entity()
    at = page.at("sold the mill")
    source = {
        "source_document_id": page.id,
        "source_char_start": at["char_start"],
        "source_char_end": at["char_end"],
    }
    claim = desk.claim(subject_entity_id=juan, **source)["id"]
    second = desk.claim("second hand", source_ids=[claim])["id"]
    answer = desk.client.request("POST", "/api/documents/delete", json={"ids": [page.id]})
    assert answer.status_code == 200, answer.text
    assert desk.get("/api/claims")["total"] == 0
    assert desk.get("/api/kg/search", q="mill")["count"] == 0
    assert desk.get(f"/api/entities/{juan}/export", format="json")["statements"] == []
    # By its id it is still there, and may be judged.
    assert desk.get(f"/api/claims/{claim}")["source_ids"] == [page.id]
    assert desk.client.patch(f"/api/claims/{claim}", json={"curation_state": "rejected"}).status_code == 200
    response = desk.client.post("/api/locations/resolve", json={"claimId": claim})
    assert response.status_code in (200, 404, 409)
    assert response.json()
    restored = desk.client.post(f"/api/documents/{page.id}/restore")
    assert restored.status_code == 200
    assert {item["id"] for item in desk.get("/api/claims")["items"]} == {claim, second}
    desk.client.request("POST", "/api/documents/delete", json={"ids": [page.id]})
    assert desk.client.post("/api/documents/trash/empty", json={}).status_code == 200
    for one in (claim, second):
        desk.expect_refusal("GET", f"/api/claims/{one}", 404, "claim_not_found")


def test_statements_stand_in_the_order_of_time_whatever_the_calendar(desk: Desk) -> None:
    juan = desk.entity()
    times = ("../0900", "-0300", "-0050-03", "-0050-11", "0101", "184X", "1849-05", None)
    for time in reversed(times):
        desk.claim(f"at {time}", subject_entity_id=juan, **({"time_start": time} if time else {}))
    answer = desk.get(f"/api/entities/{juan}/export", format="json")["statements"]
    assert [item["time_start"] for item in answer] == list(times)
