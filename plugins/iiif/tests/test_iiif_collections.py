"""Collections of others come in in bulk, politely and once; a manifest that changed is noticed and taken without losing work."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from iiif_helpers import OWNER
from starlette.testclient import TestClient
from test_iiif_import import (
    PublisherServer,
    job_of,
    manifest_at,
    pages_of,
    publisher,
    publisher_reachable,
)

from armarium.api import Engine, Library

Json = dict[str, Any]
__all__ = ["publisher", "publisher_reachable"]
FAMILIES = ("documents", "source_model", "images", "formats", "search", "iiif")


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    return make_engine(
        plugins=[importlib.import_module(f"armarium_{name}.plugin").armarium_plugin() for name in FAMILIES]
    )


def collection(address: str, *members: tuple[str, str], **more: Any) -> tuple[int, dict[str, str], bytes]:
    items = [{"id": one, "type": kind, "label": {"none": ["x"]}} for kind, one in members]
    found = {"id": address, "type": "Collection", "label": {"en": ["Archive"]}, "items": items, **more}
    return 200, {}, orjson.dumps(found)


def test_a_collection_of_collections_that_contains_itself_comes_in_once(
    engine: Engine,
    library: Library,
    client: TestClient,
    publisher: PublisherServer,
    publisher_reachable: None,
) -> None:
    base = f"http://manifests.example:{publisher.server_port}"
    top, inner = f"{base}/top", f"{base}/inner"
    publisher.pages["/robots.txt"] = (200, {}, b"User-agent: *\nDisallow: /private/\n")
    publisher.pages["/top"] = collection(
        top,
        ("Collection", top), ("Collection", inner), ("Manifest", f"{base}/1"), ("Manifest", f"{base}/private/2"),
        ("Manifest", f"{base}/kept"), ("Manifest", f"{base}/gone"), ("Manifest", "javascript:alert(1)"),
    )  # fmt: skip
    older = {
        "@type": "sc:Collection",
        "label": "Inner",
        "manifests": [{"@id": f"{base}/3"}],
        "collections": [{"@id": top}],
    }
    publisher.pages["/inner"] = (200, {}, orjson.dumps(older))
    for name in ("1", "private/2", "3", "kept"):
        publisher.pages[f"/{name}"] = (200, {}, manifest_at(base, 2))
    publisher.pages["/kept"] = (200, {"X-Robots-Tag": "noarchive"}, manifest_at(base, 2))

    def take() -> Json:
        ended = job_of(client, engine, library, client.post("/api/iiif/manifests/fetch", json={"url": top}))
        assert ended["state"] == "done", ended["reason"]
        return dict(ended["result"])

    first = take()
    counts = {
        name: first[name] for name in ("collections", "manifests", "already", "canvases", "failed_count")
    }
    assert counts == {"collections": 2, "manifests": 2, "already": 0, "canvases": 4, "failed_count": 3}
    assert [entry["address"].removeprefix(base) for entry in first["failed"]] == [
        "/private/2",
        "/kept",
        "/gone",
    ]
    assert "/private/2" not in publisher.reached
    (within,) = [page for page in pages_of(client, first["collection_id"]) if page["name"] == "Inner"]
    assert [page["name"] for page in pages_of(client, within["id"])] == ["A book"]
    publisher.reached.clear()
    again = take()
    assert (again["collection_id"], again["manifests"], again["already"]) == (first["collection_id"], 0, 2)
    assert not {"/1", "/3"} & set(publisher.reached), "what is there is not asked for again"


def test_a_publisher_that_asks_to_wait_is_waited_for_and_the_import_goes_on(
    engine: Engine,
    library: Library,
    client: TestClient,
    publisher: PublisherServer,
    publisher_reachable: None,
) -> None:
    base = f"http://manifests.example:{publisher.server_port}"
    publisher.pages["/top"] = collection(f"{base}/top", ("Manifest", f"{base}/1"), ("Manifest", f"{base}/2"))
    publisher.pages["/1"] = (200, {}, manifest_at(base, 1))
    publisher.pages["first /2"] = (429, {"Retry-After": "0.05"}, b"")
    publisher.pages["/2"] = (200, {}, manifest_at(base, 2))
    answer = client.post("/api/iiif/manifests/fetch", json={"url": f"{base}/top"})
    ended = job_of(client, engine, library, answer)
    assert (ended["state"], ended["result"]["manifests"], ended["result"]["already"]) == ("done", 2, 0)
    assert [publisher.reached.count(path) for path in ("/1", "/2")] == [1, 2]


def test_a_changed_manifest_is_noticed_and_taken_without_losing_work(
    engine: Engine,
    library: Library,
    client: TestClient,
    publisher: PublisherServer,
    publisher_reachable: None,
) -> None:
    base = f"http://manifests.example:{publisher.server_port}"
    publisher.pages["/m"] = (200, {"ETag": '"1"'}, manifest_at(base, 3))
    job = job_of(client, engine, library, client.post("/api/iiif/manifests/fetch", json={"url": f"{base}/m"}))
    folder = job["result"]["document_id"]
    mine, other, _ = pages_of(client, folder)
    engine.run(library, "document.update", {"document_id": mine["id"], "name": "My letter"}, OWNER)

    def check(**how: Any) -> Json:
        began = client.post("/api/iiif/manifests/check", json=how)
        ended = job_of(client, engine, library, began)
        assert ended["state"] == "done", ended["reason"]
        return dict(ended["result"])

    assert (check()["changed"], client.get("/api/iiif/manifests/changed").json()["items"]) == ([], [])
    now: Json = orjson.loads(manifest_at(base, 4))
    del now["items"][2]
    for canvas in now["items"]:
        canvas["label"] = {"none": [canvas["label"]["none"][0].replace("f. ", "fol. ")]}
    body = now["items"][1]["items"][0]["items"][0]["body"]
    body["id"] = f"{base}/moved.png"
    text = {
        "type": "Annotation",
        "motivation": "supplementing",
        "body": {"type": "TextualBody", "value": "Dear"},
    }
    now["items"][1]["annotations"] = [{"type": "AnnotationPage", "items": [text]}]
    publisher.pages["/m"] = (200, {"ETag": '"2"'}, orjson.dumps(now))
    assert check(document_ids=[folder])["changed"] == [folder]
    (noticed,) = client.get("/api/iiif/manifests/changed").json()["items"]
    assert (noticed["document_id"], noticed["url"]) == (folder, f"{base}/m")
    taken = check(take=True)
    assert (taken["taken"], taken["failed"], client.get("/api/iiif/manifests/changed").json()["count"]) == (
        1,
        [],
        0,
    )
    names = [page["name"] for page in pages_of(client, folder)]
    assert names == ["My letter", "fol. 2", "f. 3", "fol. 4"], (
        "a name given here stays, and so does a page that is gone"
    )
    response = client.get(f"/api/iiif/manifest/{folder}").json()["items"][1]
    assert response["items"][0]["items"][0]["body"]["id"] == f"{base}/moved.png"
    lines = client.get(f"/api/iiif/iiif/lines/{other['id']}").json()["items"]
    assert [line["body"]["value"] for line in lines] == ["Dear"]
    assert check(take=True)["taken"] == 0
    refused = client.post(
        "/api/actions/invoke",
        json={"name": "iiif.update", "params": {"document_id": mine["id"], "file": "{}"}},
    )
    assert refused.json()["code"] == "no_manifest"
