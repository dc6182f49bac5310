"""Links: the vocabulary, both ends, aliases, naming, and each refusal."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from source_model_fixtures import PERSON, Desk

from armarium.api import Conflict, Forbidden, Invalid, NotFound, ServiceError
from armarium_source_model.queries.links import links_of, naming
from armarium_source_model.vocabulary import ALIASES, LINK_TYPES, authority_of
from armarium_testing.answers import add_answers


def expect_refusal(kind: type[ServiceError], desk: Any, name: str, /, **params: Any) -> ServiceError:
    with pytest.raises(kind) as caught:
        desk.run(name, **params)
    return caught.value


@pytest.fixture
def ends(desk: Any) -> Any:
    """Three segments of a page."""
    page = desk.page()
    return desk.lines(page, desk.new_pass(page))


def link(desk: Any, one: str, other: str, kind: str = "glosses", **more: Any) -> str:
    result = desk.run("link.create", from_id=one, to_id=other, link_type=kind, **more)
    return str(result["result"]["link_id"])


def test_a_link_reads_differently_from_its_two_ends(desk: Any, ends: Any) -> None:
    one, other, _ = ends
    link_id = link(desk, one, other, certainty=0.5, note="later hand")
    with desk.library.db.read() as conn:
        (from_one,), (from_other,) = links_of(conn, one), links_of(conn, other)
    assert (from_one["label"], from_one["inbound"], from_one["other_id"]) == ("glosses", False, other)
    assert (from_other["label"], from_other["inbound"], from_other["other_id"]) == ("glossed by", True, one)
    assert (from_one["id"], from_one["certainty"], from_one["note"]) == (link_id, 0.5, "later hand")


def test_an_alias_and_its_key_are_one_link(desk: Any, ends: Any) -> None:
    one, other, _ = ends
    result = desk.run("link.create", from_id=one, to_id=other, link_type="references")
    assert result["result"]["link_type"] == "cites"
    refusal = expect_refusal(Conflict, desk, "link.create", from_id=one, to_id=other, link_type="cites")
    assert (refusal.code, refusal.fields["id"]) == ("already_exists", result["result"]["link_id"])
    link(desk, other, one, "cites")


def test_a_symmetric_link_exists_once(desk: Any, ends: Any) -> None:
    one, other, _ = ends
    result = desk.run("link.create", from_id=one, to_id=other, link_type="same_as")
    assert result["result"]["directed"] is False
    assert (
        expect_refusal(Conflict, desk, "link.create", from_id=other, to_id=one, link_type="same_as").code
        == "already_exists"
    )


def test_what_cannot_be_linked_is_refused_in_words(desk: Any, ends: Any) -> None:
    one, other, third = ends
    base = {"from_id": one, "to_id": other, "link_type": "glosses"}
    create = "link.create"
    refusal = expect_refusal(Invalid, desk, create, **{**base, "link_type": "likes"})
    assert refusal.code == "unknown_link_type"
    assert "next_logical" in refusal.detail
    assert expect_refusal(Invalid, desk, create, **{**base, "to_id": one}).code == "equal_ends"
    assert expect_refusal(Invalid, desk, create, from_id=one, link_type="glosses").code == "invalid_request"
    assert expect_refusal(Invalid, desk, create, **{**base, "to_id": ""}).code == "invalid_request"
    assert expect_refusal(Invalid, desk, create, **{**base, "to_id": "legacy:a:0"}).code == "provisional_id"
    assert expect_refusal(Invalid, desk, create, **base, certainty=2).code == "invalid_request"
    expect_refusal(NotFound, desk, create, **{**base, "to_id": "nowhere"})
    expect_refusal(NotFound, desk, create, **base, to_kind="document")
    for kind in ("entity", "claim", "canvas_item"):
        assert kind in expect_refusal(NotFound, desk, create, **base, to_kind=kind).detail
    assert (
        expect_refusal(Invalid, desk, create, **{**base, "to_id": "no uri"}, to_kind="uri").code == "bad_uri"
    )
    page = desk.page()
    assert (
        expect_refusal(Invalid, desk, create, **{**base, "to_id": page}, to_kind="note").code == "other_kind"
    )
    desk.run("segment.delete", segment_ids=[third], expected_versions=[1])
    assert expect_refusal(Conflict, desk, create, **{**base, "to_id": third}).code == "segment_deleted"


def test_an_end_of_another_family_is_asked_of_it(desk: Any, ends: Any) -> None:
    class Entities:
        kind = "entity"

        def check(self, conn: object, identity: str) -> None:
            if identity == "merged":
                raise Conflict("It is live under another id.", code="merged", id="live")

    add_answers(desk.engine, armarium_source_model_link_ends=lambda: [Entities()])
    new_link = link(desk, ends[0], "rome", "names", to_kind="entity")
    assert expect_refusal(
        Conflict,
        desk,
        "link.create",
        from_id=ends[0],
        to_id="merged",
        to_kind="entity",
        link_type="names",
    ).fields == {"id": "live"}
    uri = "https://www.geonames.org/3169070/roma.html"
    link(desk, "rome", uri, "same_as", from_kind="entity", to_kind="uri")
    link(desk, uri, "roma", "same_as", from_kind="uri", to_kind="entity")
    with desk.library.db.read() as conn:
        found = naming(conn, desk.engine, uri)
        every = naming(conn, desk.engine)
        none = naming(conn, desk.engine, "https://example.org/x")
    assert (found["authority"], found["authority_id"], found["entity_ids"]) == (
        "geonames",
        "3169070",
        ["rome", "roma"],
    )
    assert [
        (segment["segment_id"], segment["entity_id"], segment["link_id"]) for segment in found["segments"]
    ] == [(ends[0], "rome", new_link)]
    assert every["segments"] == found["segments"]
    assert (none["segments"], none["entity_ids"], none["authority"]) == ([], [], None)


def test_a_segment_that_names_a_uri_itself_is_found_too(desk: Any, ends: Any) -> None:
    link(desk, ends[0], "https://www.wikidata.org/wiki/Q220", "names", to_kind="uri")
    with desk.library.db.read() as conn:
        (segment,) = naming(conn, desk.engine, "https://www.wikidata.org/wiki/Q220")["segments"]
    assert (segment["segment_id"], segment["entity_id"]) == (ends[0], None)


def test_documents_and_notes_are_ends_and_locks_hold(desk: Any, ends: Any) -> None:
    note = desk.run("document.create", name="A thought", node_kind="note")["id"]
    new_link = link(desk, note, ends[0], "comments_on", from_kind="note")
    folder = desk.run("document.create", name="Box")["id"]
    link(desk, folder, ends[0], "related_to", from_kind="document")
    with desk.library.db.read() as conn:
        page = conn.exec_driver_sql("SELECT document_id FROM segment").scalar()
    desk.run("document.lock", document_id=note, locked=True)
    editor = desk.as_(replace(PERSON, role="editor", name="an editor"))
    expect_refusal(Forbidden, editor, "link.delete", link_id=new_link)
    desk.run("document.lock", document_id=page, locked=True)
    expect_refusal(
        Forbidden,
        editor,
        "link.create",
        from_id=folder,
        from_kind="document",
        to_id=ends[1],
        link_type="free",
    )


def test_links_over_http(client: Any, ends: Any) -> None:
    one, other, third = ends
    types = client.get("/api/links/types").json()
    assert {kind["key"] for kind in types["types"]} == set(LINK_TYPES)
    assert types["aliases"] == ALIASES
    body = {"from_id": one, "to_id": other, "link_type": "continues"}
    answer = client.post("/api/links", json=body).json()
    assert answer["ok"]
    assert answer["audit_id"]
    link_id = answer["result"]["link_id"]
    place = f"/api/links/{link_id}"
    assert client.delete(place).status_code == 200
    assert client.delete(place).status_code == 409
    assert client.get(f"/api/links/of/{one}").json()["links"] == []
    assert len(client.get(f"/api/links/of/{one}", params={"include_deleted": True}).json()["links"]) == 1
    assert client.post(f"{place}/restore").status_code == 200
    assert client.post(f"{place}/restore").status_code == 409
    client.delete(place)
    client.post("/api/links", json=body)
    assert client.post(f"{place}/restore").json()["code"] == "already_exists"
    assert client.delete("/api/links/nowhere").status_code == 404
    uri = "https://www.geonames.org/3169070"
    client.post("/api/links", json={"from_id": third, "to_id": uri, "to_kind": "uri", "link_type": "names"})
    assert len(client.get("/api/links/of/https%3A%2F%2Fwww.geonames.org%2F3169070").json()["links"]) == 1
    assert client.get("/api/links/naming", params={"uri": uri}).json()["segments"][0]["segment_id"] == third


def test_the_links_of_nothing_are_not_found(client: Any, desk: Any, ends: Any) -> None:
    one, _, third = ends
    page = desk.page()
    place = "/api/links/of/"
    answer = client.get(f"{place}{'0' * 32}")
    assert (answer.status_code, answer.json()["id"]) == (404, "0" * 32)
    assert "no link touches it" in answer.json()["detail"]
    for known in (one, page, "https%3A%2F%2Fexample.org%2Fnever-linked"):
        assert client.get(place + known).json()["links"] == []
    withdrawn = link(desk, third, "http://example.org/x", "cites", to_kind="uri")
    desk.run("link.delete", link_id=withdrawn)
    assert client.get(f"{place}http%3A%2F%2Fexample.org%2Fx").json()["links"] == []

    class Entities:
        kind = "entity"

        def check(self, conn: object, identity: str) -> None:
            if identity == "merged":
                raise Conflict("It is live under another id.", code="merged", id="live")
            if identity != "rome":
                raise NotFound(f"There is no entity {identity}.")

    add_answers(desk.engine, armarium_source_model_link_ends=lambda: [Entities()])
    assert [client.get(place + end).status_code for end in ("rome", "merged", "nobody")] == [
        200,
        200,
        404,
    ]


@pytest.fixture
def with_canvas(make_engine: Any, tmp_path: Any) -> Any:
    """A project of an engine with every family."""
    engine = make_engine(state="whole")
    engine.run(None, "library.create", {"path": str(tmp_path / "Whole.library")}, PERSON)
    return Desk(engine, engine.libraries.get(tmp_path / "Whole.library"))


def test_an_item_on_a_canvas_can_be_an_end(with_canvas: Any) -> None:
    desk = with_canvas
    page = desk.page()
    folder = desk.run("document.create", name="Box", doc_type="folder")["id"]
    item = desk.run("canvas.item_create", folder_id=folder, kind="note", text="Who?")["id"]
    new_link = link(desk, item, page, "comments_on", from_kind="canvas_item", to_kind="document")
    with desk.library.db.read() as conn:
        assert [(one["id"], one["other_kind"]) for one in links_of(conn, page)] == [(new_link, "canvas_item")]
    given = {"from_id": "nowhere", "to_id": page, "link_type": "free", "to_kind": "document"}
    refusal = expect_refusal(NotFound, desk, "link.create", from_kind="canvas_item", **given)
    assert refusal.code == "canvas_item_not_found"


def test_every_alias_leads_to_a_type_and_labels_differ() -> None:
    assert all(key in LINK_TYPES for key in ALIASES.values())
    assert all(
        link_type.is_directed == (link_type.key not in ("same_as", "related_to", "free"))
        for link_type in LINK_TYPES.values()
    )
    assert authority_of("http://viaf.org/viaf/102333412") == ("viaf", "102333412")
    assert authority_of("https://d-nb.info/gnd/118540238") == ("gnd", "118540238")
