"""Content Search finds the lines that a plain scan finds, where they stand, and nothing that the caller may not see."""

from __future__ import annotations

import re
from typing import Any

import pytest
from iiif_helpers import OWNER, PAGE, add_lines, add_page, sources
from starlette.testclient import TestClient

from armarium.api import Engine, Library
from armarium_documents.api import pages_under, require_document
from armarium_iiif.queries import content_search
from armarium_search.queries import lines_found

LEAVES = (
    ("Señor de la plata", "Plata y más plata, el señor"),
    ("Nada", "la casa del plate-"),
    ("ro rico", "PLATA"),
)


def page_of(first: str, second: str) -> str:
    """A PAGE file of two lines that were read."""
    return PAGE.replace("Dear Sir", first).replace(
        '300,101 40,101"/></TextLine>',
        f'300,101 40,101"/><TextEquiv><Unicode>{second}</Unicode></TextEquiv></TextLine>',
    )


@pytest.fixture
def folder(engine: Engine, library: Library) -> str:
    result = engine.run(library, "document.create", {"name": "Letters", "parent_id": sources(library)}, OWNER)
    identity = str((result.result or {})["id"])
    for number, leaf in enumerate(LEAVES):
        page = add_page(engine, library, identity, name=f"{number}.png")
        add_lines(engine, library, page, page_of(*leaf))
    return identity


def found_texts(answer: dict[str, Any]) -> list[str]:
    return [item["body"]["value"] for item in answer["items"]]


def ask(client: TestClient, address: str, **params: str | int) -> dict[str, Any]:
    answer = client.get(address, params=params or None)
    assert answer.status_code == 200, answer.text
    found_answer: dict[str, Any] = answer.json()
    return found_answer


def test_the_lines_of_a_plain_scan_are_found_where_the_manifest_says(client: TestClient, folder: str) -> None:
    manifest = client.get(f"/api/iiif/manifest/{folder}").json()
    offered, old = manifest["service"]
    assert (offered["type"], offered["service"][0]["type"]) == ("SearchService2", "AutoCompleteService2")
    for query, pattern in (
        ("plata", r"\bplata\b"),
        ("senor", "señor"),
        ("pla*", r"\bpla"),
        ("oro", r"\boro\b"),
    ):
        expected = [line for leaf in LEAVES for line in leaf if re.search(pattern, line, re.IGNORECASE)]
        answer = ask(client, offered["id"], q=query)
        assert found_texts(answer) == expected, query
        assert {item["target"].partition("#")[0] for item in answer["items"]} <= {
            item["id"] for item in manifest["items"]
        }
        assert answer["id"].startswith(f"{offered['id']}?q=")
    first = ask(client, offered["id"], q="plata", user="x", motivation="painting")
    assert first["items"][0]["target"].endswith("#xywh=40,40,320,20")
    assert first["ignored"] == ["motivation", "user"]
    quotes = [item["target"]["selector"][0] for item in first["annotations"][0]["items"]]
    assert [(quote["prefix"], quote["exact"], quote["suffix"]) for quote in quotes][1:3] == [
        ("", "Plata", " y más plata, el señor"),
        ("Plata y más ", "plata", ", el señor"),
    ]
    (own,) = (item for item in manifest["items"][:1])
    canvas = client.get(own["id"]).json()
    assert len(ask(client, canvas["service"][0]["id"], q="plata")["items"]) == 2

    as_1 = ask(client, old["@id"], q="plata")
    assert [resource["on"] for resource in as_1["resources"]] == [item["target"] for item in first["items"]]
    assert [hit["match"] for hit in as_1["hits"]] == [quote["exact"] for quote in quotes]
    assert ask(client, old["service"]["@id"], q="plat")["terms"][0] == {
        "match": "plata", "url": f"{old['@id']}?q=plata", "count": 4,
    }  # fmt: skip


def test_terms_are_completed_with_how_often_they_occur(
    client: TestClient, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    terms = ask(client, f"/api/iiif/autocomplete/2/{folder}", q="PLA")
    assert [(item["value"], item["total"]) for item in terms["items"]] == [("plata", 4), ("plate", 1)]
    for item in terms["items"]:
        assert item["service"][0]["type"] == "SearchService2"
        assert ask(client, item["service"][0]["id"])["items"]
    often = ask(client, f"/api/iiif/autocomplete/2/{folder}", q="pla", min=2)
    assert [item["value"] for item in often["items"]] == ["plata"]
    assert ask(client, f"/api/iiif/autocomplete/2/{folder}", q="…")["items"] == []
    second_items = ask(client, f"/api/iiif/autocomplete/2/{folder}", q="la pla")["items"]
    assert [
        (second_item["value"], second_item["service"][0]["id"].partition("=")[2])
        for second_item in second_items
    ] == [("la plata", "%22la+plata%22")]
    monkeypatch.setattr(lines_found, "MOST_PAGES_OF_TERMS", 2)
    terms = ask(client, f"/api/iiif/autocomplete/2/{folder}", q="pla")
    assert [(item["value"], item["total"]) for item in terms["items"]] == [("plata", 3), ("plate", 1)]


def test_many_pages_are_answered_in_parts_that_link_to_each_other(
    client: TestClient, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(content_search, "MOST_PAGES", 1)
    whole: list[str] = []
    address = f"/api/iiif/search/2/{folder}?q=pla*"
    for _ in LEAVES:
        answer = client.get(address).json()
        assert answer["partOf"]["type"] == "AnnotationCollection"
        whole += found_texts(answer)
        address = answer.get("next", {}).get("id")
    assert address is None
    assert whole == [line for leaf in LEAVES for line in leaf if "pla" in line.lower()]
    refused = client.get(f"/api/iiif/search/2/{folder}", params={"q": "pla*", "after": "nope"})
    assert (refused.status_code, refused.json()["code"]) == (422, "no_such_page")


def test_what_is_withheld_is_neither_found_nor_counted_nor_completed(
    engine: Engine, library: Library, client: TestClient, folder: str
) -> None:
    pages = [
        item["id"].rpartition("/")[2] for item in client.get(f"/api/iiif/manifest/{folder}").json()["items"]
    ]
    lines = ask(client, f"/api/iiif/search/2/{pages[1]}", q="nada")["items"]
    segment = lines[0]["id"].partition("#")[2]
    for kind, target in (("document", pages[0]), ("segment", segment)):
        restriction = {"target_kind": kind, "target_id": target, "restricted": True, "readers": []}
        engine.run(library, "rights.set", restriction, OWNER)
    token = client.post("/api/tokens", json={"name": "a scholar", "role": "editor"}).json()["token"]

    def for_the_editor(query: str) -> tuple[list[str], list[tuple[str, int]]]:
        found, terms = (
            client.get(
                f"/api/iiif/{what}/2/{folder}",
                params={"q": query},
                headers={"Authorization": f"Bearer {token}"},
            )
            for what in ("search", "autocomplete")
        )
        return found_texts(found.json()), [(item["value"], item["total"]) for item in terms.json()["items"]]

    codes = [
        client.get(
            f"/api/iiif/search/2/{folder}",
            params={"q": "plata", "after": after},
            headers={"Authorization": f"Bearer {token}"},
        ).json()["code"]
        for after in (pages[0], "nope")
    ]
    assert codes[0] == codes[1]
    assert for_the_editor("nada") == ([], [])
    assert for_the_editor("señor") == ([], [])
    assert for_the_editor("plata") == (["PLATA"], [("plata", 1)])
    assert for_the_editor("casa") == (["la casa del plate-"], [("casa", 1)])
    assert len(ask(client, f"/api/iiif/search/2/{folder}", q="nada")["items"]) == 1


@pytest.mark.parametrize("query", ["", "x" * 10_001, "a " * 5_000, "NOT plata"])
def test_what_cannot_be_searched_is_refused_with_a_reason(
    client: TestClient, folder: str, query: str
) -> None:
    answer = client.get(f"/api/iiif/search/2/{folder}", params={"q": query})
    assert (answer.status_code, bool(answer.json()["detail"])) == (422, True)


def test_every_word_at_once_and_no_word_at_all_are_answered(client: TestClient, folder: str) -> None:
    all_answer = ask(client, f"/api/iiif/search/2/{folder}", q="la plata señor de y mas el")
    assert found_texts(all_answer) == list(LEAVES[0])
    assert ask(client, f"/api/iiif/search/2/{folder}", q='"*(;')["items"] == []
    assert client.get("/api/iiif/search/2/nowhere", params={"q": "x"}).status_code == 404


def test_rare_and_common_words_are_found_the_same_in_their_order_whatever_lies_elsewhere(
    engine: Engine, library: Library, client: TestClient, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner, other = (
        str((engine.run(library, "document.create", {"name": "More", "parent_id": above}, OWNER).result or {})["id"])
        for above in (folder, None)
    )  # fmt: skip
    for above, leaf in ((inner, ("Plata", "oro")), (other, ("plata", "rico")), (folder, ("rico", "plata"))):
        add_lines(engine, library, add_page(engine, library, above, name=leaf[0]), page_of(*leaf))
    named = {f"{number}.png": leaf for number, leaf in enumerate(LEAVES)} | {
        "Plata": ("Plata", "oro"),
        "rico": ("rico", "plata"),
    }
    with library.db.read() as conn:
        leaves = [named[require_document(conn, page).name] for page in pages_under(conn, [folder])]
    assert len(leaves) == 5
    monkeypatch.setattr(lines_found, "FIRST_PAGES", 1)
    for rare, few in ((20, 2_000), (0, 2_000), (0, 0), (10**9, 0)):
        monkeypatch.setattr(lines_found, "RARE", rare)
        monkeypatch.setattr(lines_found, "FEW", few)
        for word in ("plata", "rico", "casa", "nobody"):
            expected = [line for leaf in leaves for line in leaf if re.search(rf"\b{word}\b", line.lower())]
            assert found_texts(ask(client, f"/api/iiif/search/2/{folder}", q=word)) == expected, (
                rare,
                few,
                word,
            )
