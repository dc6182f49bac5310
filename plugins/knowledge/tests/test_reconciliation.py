"""The entities as a reconciliation service: what OpenRefine and the like ask, and what they must not learn."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest
from knowledge_desk import Desk

NAMES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("Juan García de Toledo", "person", {"names": [{"text": "Johannes Garsias", "language": "la"}]}),
    ("Ana López", "person", {"description": "<b>wife</b> of Juan", "language": "es"}),
    ("Toledo", "location", {}),
    ("Toledo Cathedral", "organization", {}),
)


@pytest.fixture
def known(desk: Desk) -> dict[str, str]:
    made = {}
    for name, entity_type, more in NAMES:
        params = {"canonical_name": name, "entity_type": entity_type, **more}
        made[name] = str(desk.do("entity.create", params)["id"])
    viaf = {"authority": "viaf", "authority_id": "12345", "uri": "https://viaf.org/viaf/12345"}
    born = {"as_written": "mayo de 1561", "iso_start": "1561-05-02", "precision": "day"}
    desk.do(
        "entity.update", {"entity_id": made["Ana López"], "authority_links": [viaf], "date_values": [born]}
    )
    return made


def _token(desk: Desk, role: str = "viewer", libraries: Any = None) -> str:
    body = {"name": "refine", "role": role, "libraries": libraries or [str(desk.library.path)]}
    return str(desk.client.post("/api/tokens", json=body).json()["token"])


@pytest.fixture
def address(desk: Desk) -> str:
    return f"/api/reconcile/{_token(desk)}/0.2"


class Refine:
    """Asks as OpenRefine does: without any header but that of a form."""

    def __init__(self, desk: Desk, address: str) -> None:
        self.client, self.address = desk.client, address

    def ask(self, method: str, path: str = "", **more: Any) -> Any:
        headers = {"Authorization": "", "X-Service-Library-Path": "", **more.pop("headers", {})}
        request = self.client.build_request(method, self.address + path, headers=headers, **more)
        for name in ("authorization", "x-service-library-path"):
            del request.headers[name]
        return self.client.send(request)

    def candidates(self, **query: Any) -> list[dict[str, Any]]:
        answer = self.ask("POST", data={"queries": json.dumps({"q0": query})})
        assert answer.status_code == 200, answer.text
        return list(answer.json()["q0"]["result"])


@pytest.fixture
def refine(desk: Desk, address: str) -> Refine:
    return Refine(desk, address)


def test_the_service_says_what_it_is(desk: Desk, refine: Refine, known: dict[str, str], address: str) -> None:
    answer = refine.ask("GET").json()
    assert answer["versions"] == ["0.2"]
    assert answer["name"] == f"{desk.library.name} (Armarium)"
    assert {defaulttype["id"] for defaulttype in answer["defaultTypes"]} == {
        "person",
        "location",
        "organization",
    }
    draft = Refine(desk, address.replace("/0.2", "/1.0-draft")).ask("GET").json()
    assert (draft["versions"], draft["suggest"]["entity"]) == (["1.0-draft"], True)
    path = answer["preview"]["url"].replace("{{id}}", known["Ana López"])
    shown_answer = refine.ask("GET", path.partition(address)[2])
    assert "<b>" not in shown_answer.text
    assert "&lt;b&gt;wife" in shown_answer.text
    assert "1561-05-02" in shown_answer.text
    assert shown_answer.headers["content-security-policy"] == "default-src 'none'"


def test_the_very_name_in_any_spelling_is_a_match(refine: Refine, known: dict[str, str]) -> None:
    for asked in ("Juan García de Toledo", "garcia de toledo, juan", "Johannes Garsias"):
        best = refine.candidates(query=asked)[0]
        assert (best["id"], best["match"], best["score"]) == (known["Juan García de Toledo"], True, 100), (
            asked
        )
    assert refine.candidates(query="TOLEDO")[0]["id"] == known["Toledo"]


def test_a_name_misspelt_is_a_candidate_and_no_match(refine: Refine, known: dict[str, str]) -> None:
    best = refine.candidates(query="Ana Lopes")[0]
    assert best["id"] == known["Ana López"]
    assert not best["match"]
    assert best["score"] < 100
    assert refine.candidates(query="Wolfgang Amadeus Mozart") == []


def test_two_of_one_name_are_both_candidates_and_none_is_the_match(
    desk: Desk, refine: Refine, known: dict[str, str]
) -> None:
    desk.do("entity.create", {"canonical_name": "Ana López", "entity_type": "person", "language": "pt"})
    second_candidates = refine.candidates(query="Ana López")[:2]
    assert [second_candidate["match"] for second_candidate in second_candidates] == [False, False]
    spoken = refine.candidates(query="Ana López", properties=[{"pid": "language", "v": "es"}])
    assert (spoken[0]["id"], [one["match"] for one in spoken[:2]]) == (known["Ana López"], [True, False])


def test_types_and_properties_narrow_what_is_found(desk: Desk, refine: Refine, known: dict[str, str]) -> None:
    candidates = refine.candidates(query="Toledo", type="organization", limit=1)
    assert [item["id"] for item in candidates] == [known["Toledo Cathedral"]]
    for number in range(12):
        desk.do("entity.create", {"canonical_name": f"Toledo {number}", "entity_type": "concept"})
    candidates = refine.candidates(query="Toledo", type="organization", limit=1)
    assert [item["id"] for item in candidates] == [known["Toledo Cathedral"]]
    # As OpenRefine asks: with a type that a candidate should have.
    wanted = {"type": "person", "type_strict": "should"}
    other_candidates = refine.candidates(query="Toledo Cathedral", **wanted)
    assert [
        (other_candidate["id"], other_candidate["match"]) for other_candidate in other_candidates[:1]
    ] == [(known["Toledo Cathedral"], False)]
    (person,) = refine.candidates(query="Juan García de Toledo", **wanted)
    assert person["match"]
    by_id = refine.candidates(properties=[{"pid": "authority_id", "v": "12345"}])
    assert [one["id"] for one in by_id] == [known["Ana López"]]
    draft = {
        "conditions": [
            {"matchType": "name", "propertyValue": "Ana"},
            {"matchType": "property", "propertyId": "date", "propertyValue": "1600", "required": True},
        ]
    }
    answer = refine.ask(
        "POST",
        "/match",
        json={"queries": [draft, {"conditions": [{"matchType": "id", "propertyValue": known["Toledo"]}]}]},
    )
    first, second = answer.json()["results"]
    assert first["candidates"] == []
    assert [candidate["name"] for candidate in second["candidates"]] == ["Toledo"]


def test_properties_of_entities_come_in_both_editions(refine: Refine, known: dict[str, str]) -> None:
    ana = known["Ana López"]
    body = {"ids": [ana, "nobody"], "properties": [{"id": "date"}, {"id": "authority"}, {"id": "name"}]}
    answer = refine.ask("POST", data={"extend": json.dumps(body)}).json()
    assert answer["rows"][ana]["date"] == [{"date": "1561-05-02T00:00:00"}]
    assert answer["rows"][ana]["authority"] == [{"str": "https://viaf.org/viaf/12345"}]
    assert answer["rows"]["nobody"] == {"date": [], "authority": [], "name": []}
    draft = refine.ask("POST", "/extend", json=body).json()
    assert {attribute["id"]: attribute["values"] for attribute in draft["rows"][0]["properties"]} == answer[
        "rows"
    ][ana]
    proposed = refine.ask("GET", "/extend/propose?type=person").json()["properties"]
    assert {"id": "date", "name": "Date"} in proposed


def test_suggestions_begin_as_asked(refine: Refine, known: dict[str, str]) -> None:
    names = [one["name"] for one in refine.ask("GET", "/suggest/entity?prefix=tole").json()["result"]]
    assert names == ["Juan García de Toledo", "Toledo", "Toledo Cathedral"]
    assert [one["id"] for one in refine.ask("GET", "/suggest/type?prefix=per").json()["result"]] == ["person"]
    assert [one["id"] for one in refine.ask("GET", "/suggest/property?prefix=auth").json()["result"]] == [
        "authority",
        "authority_id",
    ]


def test_what_a_project_does_not_show_is_no_candidate(
    desk: Desk, refine: Refine, known: dict[str, str]
) -> None:
    page = desk.page()
    rejected = desk.do("entity.create", {"canonical_name": "Toledo Bridge", "entity_type": "location"})["id"]
    desk.do("entity.update", {"entity_id": rejected, "curation_state": "rejected"})
    only = desk.do("entity.create", {"canonical_name": "Ana Lopez de Ayala", "entity_type": "person"})["id"]
    desk.do("mention.create", {"document_id": page.id, "entity_id": only, **page.at("Ana Lopez")})
    assert only in {candidate["id"] for candidate in refine.candidates(query="Ana Lopez de Ayala")}
    desk.do("document.delete", {"ids": [page.id]})
    assert not {only, rejected} & {
        candidate["id"] for candidate in refine.candidates(query="Ana Lopez de Ayala")
    }
    assert rejected not in {candidate["id"] for candidate in refine.candidates(query="Toledo Bridge")}
    assert refine.ask("GET", f"/preview?id={only}").status_code == 404
    answer = refine.ask("POST", "/extend", json={"ids": [only], "properties": [{"id": "name"}]}).json()
    assert answer["rows"][0]["properties"] == [{"id": "name", "values": []}]


def test_only_a_viewers_token_for_one_project_stands_in_an_address(desk: Desk) -> None:
    owner = desk.client.headers["Authorization"].removeprefix("Bearer ")
    for token in (owner, _token(desk, "editor"), _token(desk, "viewer", "all")):
        answer = Refine(desk, f"/api/reconcile/{quote(token, safe='')}/0.2").ask("GET")
        assert answer.status_code == 403, answer.text
        assert "Only a viewer's token" in answer.json()["detail"]


def test_the_address_opens_nothing_else(desk: Desk, refine: Refine) -> None:
    for nothing in ("wrong", "open"):
        assert Refine(desk, f"/api/reconcile/{nothing}/0.2").ask("GET").status_code == 401
    assert Refine(desk, "/api/entities").ask("GET").status_code == 401
    form = Refine(desk, "/api/actions/invoke").ask("POST", data={"name": "entity.create"})
    assert form.status_code == 422
    assert refine.ask("POST", content="{}", headers={"content-type": "text/plain"}).status_code == 422


def test_a_page_of_another_origin_may_ask_the_service_and_nothing_else(desk: Desk, refine: Refine) -> None:
    there = {"Origin": "http://127.0.0.1:3333"}
    answer = refine.ask("GET", "/suggest/entity?prefix=a", headers=there)
    assert answer.headers["access-control-allow-origin"] == there["Origin"]
    headers = {**there, "Access-Control-Request-Method": "POST"}
    assert refine.ask("OPTIONS", "/match", headers=headers).status_code == 204
    assert desk.client.get("/api/entities", headers=there).status_code == 403


HOSTILE = (
    ("{", 422),
    ("[]", 422),
    ('{"q": 1}', 422),
    ('{"q": {"query": "a", "limit": 0}}', 422),
    ('{"q": {"query": ""}}', 200),
    ('{"q": {"query": "%", "limit": 1e3}}', 200),
    ('{"q": {"query": "a", "type": ["x"], "properties": [{"pid": "none", "v": null}]}}', 422),
    (json.dumps({str(number): {"query": "a"} for number in range(10_000)}), 422),
    (json.dumps({"q": {"query": "a" * 2_000}}), 422),
)


def test_questions_that_are_none_are_refused_in_words(refine: Refine, known: dict[str, str]) -> None:
    for queries, status in HOSTILE:
        answer = refine.ask("POST", data={"queries": queries})
        assert answer.status_code == status, (queries[:80], answer.text[:300])
        assert status == 200 or answer.json()["detail"]
