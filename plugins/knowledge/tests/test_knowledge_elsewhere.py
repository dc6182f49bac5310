"""Knowledge under rights, in transfers, and under hostile sizes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from knowledge_desk import AGENT, DEED, Desk, machine

from armarium.api import Engine
from armarium.principals import LOCAL_OWNER
from armarium_documents.actions.transfer.copying import plan
from armarium_documents.schemas.transfer import TransferParams
from armarium_knowledge.matching import sound, sounds
from armarium_knowledge.queries.for_families import found_in_run


def test_what_only_withheld_pages_name_is_not_shown(desk: Desk) -> None:
    hidden, page = (
        desk.page(["Secret Person came"], name="Hidden"),
        desk.page(["Public Person came"], name="Shown"),
    )
    secret, public, both = desk.entity("Secret Person"), desk.entity("Public Person"), desk.entity("Both")
    desk.mention(hidden, secret, "Secret Person")
    desk.mention(hidden, both, "came")
    desk.mention(page, public, "Public Person")
    desk.mention(page, both, "came")
    claim = desk.claim("Secret Person did it", source_ids=[hidden.id], subject_entity_id=secret)["id"]
    open_said = desk.claim("Public Person did it", source_ids=[page.id], subject_entity_id=public)["id"]
    pair = {"survivor_id": secret, "candidate_id": public, "score": 0.5}
    desk.do("entity.propose_matches", {"pairs": [pair]})
    desk.do("rights.set", {"target_kind": "document", "target_id": hidden.id, "restricted": True})
    headers = machine(desk)

    def get(path: str, **query: Any) -> Any:
        return desk.client.get(path, params=query or None, headers=headers)

    assert {item["id"] for item in get("/api/entities").json()["items"]} == {public, both}
    assert [item["id"] for item in get("/api/claims").json()["items"]] == [open_said]
    assert get("/api/entity-matches").json()["total"] == 0
    assert get("/api/kg/search", q="person").json()["count"] == 2
    assert get(f"/api/entities/{both}").json()["source_document_ids"] == [page.id]
    named_answer = get(f"/api/entities/{both}/mentions").json()
    assert ([item["document_id"] for item in named_answer["items"]], named_answer["total"]) == ([page.id], 1)
    assert get(f"/api/entities/{both}/mentions", limit=1, offset=5).json()["total"] == 1
    paths = (
        f"/api/entities/{secret}",
        f"/api/entities/{secret}/export",
        f"/api/entities/{secret}/mentions",
        f"/api/kg/entities/{secret}/neighbourhood",
        f"/api/claims/{claim}",
        f"/api/documents/{hidden.id}/mentions",
        f"/api/documents/{hidden.id}/known-names",
        f"/api/staleness?document_id={hidden.id}",
    )
    for path in paths:
        answer = get(path)
        assert answer.status_code in (403, 404), path
        assert "Secret" not in answer.text
    assert get(f"/api/documents/{page.id}/known-names").status_code == 200
    assert {item["id"] for item in desk.get("/api/entities")["items"]} == {secret, public, both}


def test_a_transfer_takes_entities_and_statements_along_and_proposes_who_they_are(
    desk: Desk, engine: Engine, tmp_path: Path
) -> None:
    page, juan, ana = desk.page(), desk.entity(), desk.entity("Ana Lopez")
    stays = desk.entity("Stays")
    desk.mention(page, juan, "Juan Garcia")
    span = page.at("sold the mill")
    source = {
        "source_document_id": page.id,
        "source_char_start": span["char_start"],
        "source_char_end": span["char_end"],
    }
    desk.claim(subject_entity_id=juan, entity_ids=[ana], **source)
    place = tmp_path / "Other.library"
    engine.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER)
    target = engine.libraries.get(place)
    other_desk = Desk(engine, target, desk.client)
    there = other_desk.do("entity.create", {"canonical_name": "JUAN GARCÍA", "entity_type": "person"})["id"]
    asked = {"source_library": str(desk.library.path), "items": [page.id], "mode": "copy"}
    (expected,) = plan(engine, target, LOCAL_OWNER, TransferParams.model_validate(asked))["entity_matches"]
    assert (expected["survivor_entity_id"], expected["candidate_entity_id"]) == (there, juan)
    assert other_desk.rows("SELECT count(*) FROM entity_match") == [(0,)]
    outcome = engine.run(target, "document.transfer", asked, replace(LOCAL_OWNER))
    assert outcome.result is not None
    written = outcome.result["written"]
    assert (written["mentions"], written["entities"], written["claims"]) == (1, 2, 1)
    (match,) = outcome.result["entity_matches"]
    assert (match["survivor_entity_id"], match["method"], match["state"]) == (there, "transfer", "pending")
    rows = other_desk.rows("SELECT canonical_name, curation_state FROM entity ORDER BY canonical_name")
    assert [tuple(row) for row in rows] == [
        ("Ana Lopez", "unreviewed"),
        ("JUAN GARCÍA", "unreviewed"),
        ("Juan Garcia", "unreviewed"),
    ]
    ((subject, named, excerpt),) = other_desk.rows(
        "SELECT c.subject_entity_id, (SELECT count(*) FROM claim_entity n WHERE n.claim_id = c.id), s.excerpt"
        " FROM claim c JOIN claim_source s ON s.claim_id = c.id"
    )
    assert (subject, named, excerpt) == (match["candidate_entity_id"], 2, "sold the mill")
    other_desk.undo(outcome.audit_id)
    assert other_desk.rows("SELECT count(*) FROM entity_match") == [(0,)]
    assert stays in {item["id"] for item in desk.get("/api/entities")["items"]}


def test_a_transfer_takes_refusals_and_types_along_and_tells_what_it_cuts(
    desk: Desk, engine: Engine, tmp_path: Path
) -> None:
    desk.client.patch("/api/library/settings", json={"entity_types": ["ship"]})
    page, stays = desk.page(), desk.page(name="Stays")
    ship, juan = desk.entity("Toledo", "ship"), desk.entity()
    desk.mention(page, ship, "Toledo")
    refused = desk.mention(page, juan, "Juan Garcia")
    desk.client.delete(f"/api/mentions/{refused['id']}")
    desk.mention(page, juan, "Juan Garcia", nth=1)
    claim = desk.claim(source_ids=[page.id, stays.id])["id"]
    second = desk.claim("second hand", source_ids=[claim])["id"]
    place = tmp_path / "Other.library"
    engine.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER)
    other_desk = Desk(engine, engine.libraries.get(place), desk.client)
    params = {"source_library": str(desk.library.path), "items": [page.id], "mode": "copy"}
    outcome = engine.run(other_desk.library, "document.transfer", params, LOCAL_OWNER)
    assert outcome.result is not None
    told = [*outcome.result["edges_cut"], *outcome.result["left_behind"]]
    assert any(stays.id in (item.get("to_id"), item.get("id")) or stays.id in item["why"] for item in told), (
        told
    )
    assert other_desk.rows("SELECT text FROM mention_refusal") == [("Juan Garcia",)]
    assert other_desk.rows("SELECT count(*) FROM claim_source") == [(1,)]
    assert other_desk.rows("SELECT text FROM claim") == [("Juan Garcia sold the mill",)]
    assert second in {item["id"] for item in desk.get("/api/claims")["items"]}
    ((kept,),) = other_desk.rows("SELECT id FROM entity WHERE entity_type = 'ship'")
    other_desk.do("entity.update", {"entity_id": kept, "entity_type": "ship", "description": "A ship"})
    other_desk.do("entity.create", {"canonical_name": "Cadiz", "entity_type": "ship"})
    other_desk.undo(str(other_desk.rows("SELECT id FROM audit ORDER BY seq DESC LIMIT 1")[0][0]))
    other_desk.undo(str(other_desk.rows("SELECT id FROM audit WHERE action_name = 'entity.update'")[0][0]))
    other_desk.undo(outcome.audit_id)
    assert other_desk.rows("SELECT count(*) FROM entity_match") == [(0,)]


def test_many_mentions_of_one_entity(desk: Desk) -> None:
    line = " ".join(["Juan"] * 500)
    page, juan, other_entity = desk.page([line, *DEED]), desk.entity("Juan"), desk.entity("Iuan")
    names = [
        {
            "segment_id": page.lines[0],
            "representation_id": page.readings[0],
            "char_start": 5 * number,
            "char_end": 5 * number + 4,
            "entity_id": juan,
        }
        for number in range(500)
    ]
    result = desk.do("mention.take", {"document_id": page.id, "names": names})
    assert len(result["mention_ids"]) == 500
    listed = desk.get(f"/api/entities/{juan}/mentions", limit=7, offset=490)
    assert (listed["total"], listed["count"]) == (500, 7)
    merged = desk.client.post("/api/entities/merge", json={"survivor_id": other_entity, "ids": [juan]}).json()
    assert desk.get(f"/api/entities/{other_entity}")["source_supports"] == [
        {"document_id": page.id, "mentions": 500}
    ]
    desk.undo(merged["audit_id"])
    assert desk.get(f"/api/entities/{juan}/mentions")["total"] == 500


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("schmidt", "schmitt", "de"),
        ("ximenez", "jimenes", "es"),
        ("joannes", "ioannes", "la"),
        ("philip", "filip", "en"),
    ],
)
def test_spellings_of_one_sound_have_one_key(one: str, other: str, language: str) -> None:
    assert sound(one, language) == sound(other, language)


@pytest.mark.parametrize(
    "names",
    [
        ("john macdonald", "john mcdonald", "john m donald"), ("hugh o neill", "hugh oneill"), ("jeanne d arc", "jeanne darc"),
        ("oliver st john", "oliver saint john"), ("sta cruz", "santa cruz"), ("ste marie", "sainte marie"),
    ],
)  # fmt: skip
def test_prefixes_of_names_sound_alike_however_they_are_written(names: tuple[str, ...]) -> None:
    assert len({tuple(sounds(name, None)) for name in names}) == 1


def test_names_that_only_begin_like_a_prefix_stay_apart() -> None:
    assert sounds("martin mace", None) != sounds("martin m ace", None)
    assert sounds("stan cruz", None) != sounds("st cruz", None)


def test_hostile_bodies_are_refused_in_words(desk: Desk) -> None:
    page, juan = desk.page(), desk.entity()
    deep: Any = {}
    for _ in range(40):
        deep = {"a": deep}
    for body in (
        {"canonical_name": "", "entity_type": "person"},
        {"canonical_name": "a\x00b", "entity_type": "person"},
        {"canonical_name": "x" * 1_001, "entity_type": "person"},
        {"canonical_name": "x", "entity_type": "person", "metadata": deep},
        {
            "canonical_name": "x",
            "entity_type": "person",
            "date_values": [{"as_written": "x", "iso_start": "yesterday"}],
        },
        {
            "canonical_name": "x",
            "entity_type": "person",
            "place_values": [{"label": "x", "geometry_type": "point", "basis": "b"}],
        },
        {
            "canonical_name": "x",
            "entity_type": "person",
            "place_values": [{"label": "x", "geometry_type": "bbox", "basis": "b"}],
        },
        {
            "canonical_name": "x",
            "entity_type": "person",
            "place_values": [{"label": "x", "geometry_type": "none", "basis": "b", "lat": 1.0}],
        },
        {
            "canonical_name": "x",
            "entity_type": "person",
            "authority_links": [{"authority": "a", "authority_id": "1", "uri": "no uri"}],
        },
    ):
        assert desk.client.post("/api/entities", json=body).status_code == 422, body
    surrogate = b'{"canonical_name": "a\\ud800b", "entity_type": "person"}'
    answer = desk.client.post(
        "/api/entities", content=surrogate, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code in (400, 422)
    where = {"entity_id": juan, "document_id": page.id}
    for span in (
        {"char_start": -1, "char_end": 3},
        {"char_start": 0, "char_end": 2**60},
        {"char_start": True, "char_end": 3},
    ):
        assert desk.client.post("/api/mentions", json={**where, **span}).status_code == 422, span


def test_what_two_runs_found_is_told_for_their_comparison(desk: Desk) -> None:
    from armarium_workflows.comparing import _compare_found

    page = desk.page()
    name = {"segment_id": page.lines[0], "representation_id": page.readings[0], "entity_type": "person"}
    spans = {"one": [(15, 26)], "two": [(15, 26), (30, 36)]}
    for run, span in spans.items():
        names = [{**name, "char_start": start, "char_end": end} for start, end in span]
        desk.do("mention.take", {"document_id": page.id, "names": names}, replace(AGENT, run_id=run))
        for text in ("They sold it", f"Only {run} says so"):
            said = {"text": text, "segment_ids": [page.lines[0]]}
            stated = {"document_id": page.id, "provider": run, "model": "m", "statements": [said]}
            desk.do("claim.take", stated, replace(AGENT, run_id=run))
    with desk.library.db.read() as conn:
        left, right = found_in_run(conn, "one"), found_in_run(conn, "two")
        assert left.keys() == right.keys()
        pairs = {key[1]: _compare_found(key, left[key], right[key]) for key in left}
    assert [one["name"] for one in pairs["entities"]["only_right"]] == ["Toledo"]
    assert [one["text"] for one in pairs["claims"]["only_left"]] == ["Only one says so"]
    assert (pairs["entities"]["both"], pairs["entities"]["only_left"], pairs["claims"]["both"]) == (1, [], 1)
