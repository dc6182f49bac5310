"""Every route of documents over HTTP: its answer, its audit id, and each refusal it declares."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from documents_fixtures import OWNER, add_picture, imported_of, picture, rows

from armarium.api import Engine, Library

Make = Callable[..., str]
NOWHERE = "f" * 32


def token_client(engine: Engine, client: Any, role: str) -> Any:
    """Return a client with an agent's token of *role*."""
    answer = client.post("/api/tokens", json={"name": role, "role": role}).json()
    client.headers["Authorization"] = f"Bearer {answer['token']}"
    return client


@pytest.fixture
def agent(engine: Engine, library: Library) -> Iterator[Callable[[str], Any]]:
    """Clients with agents' tokens."""
    from armarium_testing.fixtures import http_client

    made = []

    def make(role: str) -> Any:
        running = http_client(engine, library)
        made.append(running)
        return token_client(engine, next(running), role)

    yield make
    for running in made:
        next(running, None)


def test_a_number_that_json_does_not_know_is_refused_in_words(client: Any) -> None:
    """Python's JSON reader accepts NaN and Infinity, and turns a number that is too large into Infinity: each was
    stored as null.
    """
    response = client.post("/api/documents", json={"name": "Box"}).json()["id"]
    for number in ("NaN", "Infinity", "-Infinity", "1e999"):
        for method, route, body in (
            ("PATCH", f"/api/documents/{response}", {"attributes": {"a": ["?"]}}),
            ("POST", "/api/documents", {"name": "B", "attributes": {"a": {"b": "?"}}}),
            (
                "POST",
                "/api/actions/invoke",
                {"name": "document.create", "params": {"name": "B", "attributes": {"a": "?"}}},
            ),
        ):
            json_text = json.dumps(body).replace('"?"', number)
            answer = client.request(
                method, route, content=json_text, headers={"Content-Type": "application/json"}
            )
            assert answer.status_code == 422, answer.text
            assert "no JSON numbers" in answer.json()["detail"]


def test_a_folder_from_first_to_last(client: Any) -> None:
    response = client.post("/api/documents", json={"name": "Letters"})
    assert response.status_code == 200
    identity, audit = response.json()["id"], response.json()["audit_id"]
    assert response.headers["X-Service-Audit-Id"] == audit
    assert client.get(f"/api/documents/{identity}").json()["name"] == "Letters"
    changed = client.patch(f"/api/documents/{identity}", json={"name": "Wills", "attributes": {"a": 1}})
    assert (changed.json()["name"], changed.json()["attributes"]) == ("Wills", {"a": 1})
    answer = client.patch(f"/api/documents/{identity}", json={"is_starred": True}).json()
    assert (answer["attributes"], answer["is_starred"]) == ({"a": 1}, True)
    box = client.post("/api/documents", json={"name": "Box"}).json()["id"]
    moved = client.post("/api/documents/move", json={"ids": [identity], "parent_id": box})
    assert moved.json()["ids"] == [identity]
    assert client.get(f"/api/documents/{identity}").json()["parent_id"] == box
    removed_answer = client.delete(f"/api/documents/{identity}").json()
    assert (removed_answer["status"], removed_answer["id"]) == ("deleted", identity)
    assert client.get(f"/api/documents/{identity}").json()["deleted_at"] is not None
    back = client.post(f"/api/documents/{identity}/restore").json()
    assert (back["folder_id"], back["into_sources"]) == (box, False)
    undone = client.post(f"/api/actions/audit/{back['audit_id']}/undo")
    assert undone.status_code == 200
    entry = client.get("/api/documents/trash").json()["items"][0]
    assert (entry["document_id"], entry["from_folder_id"]) == (identity, box)
    plan = client.get("/api/documents/trash/empty").json()
    assert (plan["items"], plan["documents"]) == (1, 1)
    emptied = client.post("/api/documents/trash/empty").json()
    assert emptied["removed"]["documents"] == 1
    assert client.get(f"/api/documents/{identity}").status_code == 404
    assert client.get("/api/documents/trash").json()["total"] == 0


def test_several_are_deleted_in_one_step(client: Any, folder: Make) -> None:
    ids = [folder(name) for name in "ab"]
    answer = client.post("/api/documents/delete", json={"ids": ids}).json()
    assert (answer["ids"], answer["id"], answer["item_count"]) == (ids, None, 2)
    assert client.post(f"/api/actions/audit/{answer['audit_id']}/undo").status_code == 200
    assert client.get(f"/api/documents/{ids[1]}").json()["deleted_at"] is None


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/api/documents/{}", None),
        ("GET", "/api/documents?parent_id={}", None),
        ("PATCH", "/api/documents/{}", {"name": "A"}),
        ("DELETE", "/api/documents/{}", None),
        ("PUT", "/api/documents/{}/lock", {"locked": True}),
        ("GET", "/api/documents/{}/view", None),
        ("POST", "/api/documents/{}/restore", None),
        ("POST", "/api/documents", {"name": "A", "parent_id": NOWHERE}),
        ("POST", "/api/documents/move", {"ids": [NOWHERE]}),
        ("POST", "/api/documents/delete", {"ids": [NOWHERE]}),
        ("GET", "/api/documents/{}/renditions", None),
        ("GET", "/api/documents/{}/renditions/1/content", None),
        ("POST", "/api/documents/{}/renditions/1/primary", None),
        ("GET", "/api/documents/{}/thumbnail", None),
        ("GET", "/api/documents/{}/artifacts", None),
        ("GET", "/api/artifacts/{}", None),
        ("GET", "/api/content-representations/document/{}", None),
        ("GET", "/api/content-representations/{}/revisions", None),
        ("POST", "/api/content-representations/{}/revisions", {"content": "A"}),
        ("POST", "/api/documents/import", {"folder": "/tmp", "parent_id": NOWHERE}),
    ],
)
def test_an_unknown_id_is_404_in_words(shared_client: Any, method: str, path: str, body: Any) -> None:
    answer = shared_client.request(method, path.format(NOWHERE), json=body)
    assert answer.status_code == 404
    assert answer.json()["detail"].endswith(".")
    assert answer.json()["code"].endswith("_not_found")


@pytest.mark.parametrize(
    ("path", "given"),
    [
        ("/api/documents", {"limit": 0}),
        ("/api/documents", {"limit": 1001}),
        ("/api/documents", {"offset": -1}),
        ("/api/documents", {"doc_type": "box"}),
        ("/api/documents", {"sort_by": "name; DROP TABLE document"}),
        ("/api/documents/trash", {"limit": 0}),
        (f"/api/documents/{NOWHERE}/view", {"level": "all"}),
        (f"/api/documents/{NOWHERE}/view", {"sort_direction": "up"}),
        (f"/api/documents/{NOWHERE}/view", {"children": "perhaps"}),
        (f"/api/documents/{NOWHERE}/artifacts", {"limit": "many"}),
    ],
)
def test_a_query_out_of_range_is_422(shared_client: Any, path: str, given: dict[str, Any]) -> None:
    answer = shared_client.get(path, params=given)
    assert answer.status_code == 422
    assert answer.json()["code"] == "invalid_request"


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[]",
        b'{"name": 1}',
        b'{"name": "a\\u0000b"}',
        b'{"name": "\\ud800"}',
        b'{"name": "A", "color": "red"}',
        b'{"name": "A", "attributes": ' + b'{"a":' * 10_000 + b"1" + b"}" * 10_000 + b"}",
        b'{"name": "' + b"x" * 10_000 + b'"}',
    ],
)
def test_an_invalid_body_is_refused(shared_client: Any, body: bytes) -> None:
    answer = shared_client.post("/api/documents", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422)
    assert answer.json()["detail"]


def test_a_viewer_reads_and_writes_nothing(
    agent: Callable[[str], Any], folder: Make, library: Library
) -> None:
    box = folder("Box")
    viewer = agent("viewer")
    assert viewer.get(f"/api/documents/{box}").status_code == 200
    for method, path, body in (
        ("POST", "/api/documents", {"name": "A"}),
        ("PATCH", f"/api/documents/{box}", {"name": "A"}),
        ("DELETE", f"/api/documents/{box}", None),
        ("POST", "/api/documents/move", {"ids": [box]}),
    ):
        answer = viewer.request(method, path, json=body)
        assert answer.status_code == 403
        assert answer.json()["code"] == "library_access_denied"


def test_a_machine_neither_locks_nor_empties(agent: Callable[[str], Any], folder: Make) -> None:
    box = folder("Box")
    machine = agent("editor")
    locked = machine.put(f"/api/documents/{box}/lock", json={"locked": True})
    assert (locked.status_code, locked.json()["code"]) == (403, "owner_only")
    emptied = machine.post("/api/documents/trash/empty")
    assert (emptied.status_code, emptied.json()["code"]) == (403, "person_only")


def test_a_lock_applies_beneath_it(client: Any, agent: Callable[[str], Any], folder: Make) -> None:
    box = folder("Box")
    inner = folder("Inner", box)
    assert client.put(f"/api/documents/{box}/lock", json={"locked": True}).json()["is_locked"] is True
    answer = agent("editor").patch(f"/api/documents/{inner}", json={"name": "A"})
    assert (answer.status_code, answer.json()["code"]) == (403, "node_locked")


def test_renditions_in_canonical_order(client: Any, engine: Engine, library: Library, folder: Make) -> None:
    from armarium_documents.api import add_rendition

    page = add_picture(engine, library, folder("Box"), picture())
    with library.db.write() as conn:
        ctx, before, raw = engine.bus.open_step(conn, "document.update", library, OWNER, None)
        for role in ("derived", "enhanced", "odd", "background-removed"):
            add_rendition(ctx, page, checksum=None, mime_type="image/png", role=role)
        engine.bus.close_step(ctx, before, raw, {}, undoable=True)
    found_answer = client.get(f"/api/documents/{page}/renditions").json()
    assert [item["role"] for item in found_answer["items"]] == [
        "archival-original",
        "enhanced",
        "background-removed",
        "derived",
        "odd",
    ]
    assert [item["is_primary"] for item in found_answer["items"]] == [True, False, False, False, False]
    assert found_answer["count"] == 5
    unmade = found_answer["items"][1]["id"]
    answer = client.get(f"/api/documents/{page}/renditions/{unmade}/content")
    assert (answer.status_code, answer.json()["code"]) == (404, "rendition_not_materialized")
    answer = client.post(f"/api/documents/{page}/renditions/{unmade}/primary")
    assert (answer.status_code, answer.json()["code"]) == (404, "rendition_not_materialized")


@pytest.fixture
def pictured(client: Any, engine: Engine, library: Library, folder: Make) -> tuple[str, str, bytes]:
    """A page, its rendition and its bytes."""
    data = picture(300, 200)
    page = add_picture(engine, library, folder("Box"), data)
    return page, client.get(f"/api/documents/{page}/renditions").json()["items"][0]["id"], data


def test_the_bytes_of_a_rendition(client: Any, pictured: tuple[str, str, bytes]) -> None:
    page, rendition, data = pictured
    path = f"/api/documents/{page}/renditions/{rendition}/content"
    whole = client.get(path)
    assert (whole.content, whole.headers["content-type"]) == (data, "image/jpeg")
    assert whole.headers["accept-ranges"] == "bytes"
    etag = whole.headers["etag"]
    assert client.get(path, headers={"If-None-Match": etag}).status_code == 304
    assert client.get(path, headers={"If-None-Match": f'W/"x", {etag}'}).status_code == 304
    part = client.get(path, headers={"Range": "bytes=10-19"})
    assert (part.status_code, part.content) == (206, data[10:20])
    assert part.headers["content-range"] == f"bytes 10-19/{len(data)}"
    tail = client.get(path, headers={"Range": "bytes=-5"})
    assert tail.content == data[-5:]
    for outside in (f"bytes={len(data) + 10}-", f"bytes={len(data)}-{len(data) + 5}", "bytes=-0"):
        refused = client.get(path, headers={"Range": outside})
        assert (refused.status_code, refused.json()["code"]) == (416, "range_outside")
        assert "lies outside the file" in refused.json()["detail"]
        assert refused.headers["content-range"] == f"bytes */{len(data)}"
    for none in ("bytes=5-2", "bytes=-", "bytes=a-b", "lines=1-2", "bytes", "bytes=" + "1-2," * 30 + "1-2"):
        passed_over = client.get(path, headers={"Range": none})
        assert (passed_over.status_code, passed_over.content) == (200, data)
    both = client.get(path, headers={"Range": f"bytes={len(data) + 9}-, 0-3"})
    assert (both.status_code, both.content) == (206, data[:4])
    several = client.get(path, headers={"Range": "bytes=0-1,10-11"})
    assert several.status_code == 206
    assert several.headers["content-type"].startswith("multipart/byteranges")
    stale = client.get(path, headers={"Range": "bytes=0-1", "If-Range": '"other"'})
    assert (stale.status_code, stale.content) == (200, data)
    head = client.head(path)
    assert (head.status_code, head.headers["content-length"], head.content) == (200, str(len(data)), b"")
    assert head.headers["etag"] == whole.headers["etag"]


def test_a_lost_file_is_reported(client: Any, pictured: tuple[str, str, bytes], library: Library) -> None:
    page, rendition, _ = pictured
    library.objects.remove(next(library.objects.digests()))
    answer = client.get(f"/api/documents/{page}/renditions/{rendition}/content")
    assert (answer.status_code, answer.json()["code"]) == (404, "object_missing")


def test_a_rendition_of_another_document_is_404(
    client: Any, pictured: tuple[str, str, bytes], folder: Make
) -> None:
    _, rendition, _ = pictured
    answer = client.get(f"/api/documents/{folder('Other')}/renditions/{rendition}/content")
    assert (answer.status_code, answer.json()["code"]) == (404, "rendition_not_found")


def test_a_thumbnail_is_a_small_jpeg(client: Any, engine: Engine, library: Library, folder: Make) -> None:
    import io

    from PIL import Image

    page = add_picture(engine, library, folder("Box"), picture(1600, 1200))
    early = client.get(f"/api/documents/{page}/thumbnail")
    assert (early.status_code, early.json()["code"]) == (404, "no_thumbnail")
    assert client.get(f"/api/documents/{page}").json()["has_thumbnail"] is False
    engine.jobs.run_until_idle(library)
    assert client.get(f"/api/documents/{page}").json()["has_thumbnail"] is True
    (row,) = client.post("/api/documents/dataset/query", json={"recursive": True, "filters": [{"attr": "document.file_type", "op": "eq", "value": "image"}]}).json()["rows"]  # fmt: skip
    assert row["has_thumbnail"] is True
    answer = client.get(f"/api/documents/{page}/thumbnail")
    assert answer.headers["content-type"] == "image/jpeg"
    with Image.open(io.BytesIO(answer.content)) as image:
        assert (image.size, image.format) == ((512, 384), "JPEG")
    second_answer = client.get(
        f"/api/documents/{page}/thumbnail", headers={"If-None-Match": answer.headers["etag"]}
    )
    assert second_answer.status_code == 304


def test_a_representation_and_its_revisions(client: Any, do: Any, note: Make) -> None:
    text = note("Note")
    result = do(
        "content_representation.create",
        {"document_id": text, "kind": "translation", "content": "one", "language": "en"},
    )
    listed = client.get(f"/api/content-representations/document/{text}").json()
    assert [(item["id"], item["provenance_kind"]) for item in listed] == [(result["id"], "human")]
    path = f"/api/content-representations/{result['id']}/revisions"
    assert client.get(path).json() == []
    first = client.post(path, json={"content": "two", "decision": "better"}).json()
    second = client.post(path, json={"content": "three"}).json()
    assert [first["sequence"], second["sequence"], second["reviewer"]] == [1, 2, "owner"]
    assert [item["content"] for item in client.get(path).json()] == ["two", "three"]
    assert client.get(f"/api/content-representations/document/{text}").json()[0]["content"] == "one"
    assert client.post(path, json={"content": "x", "reviewer": "me"}).status_code == 422


def test_a_representation_of_no_kind_is_refused(do: Any, note: Make) -> None:
    from armarium.api import Invalid

    with pytest.raises(Invalid) as refused:
        do("content_representation.create", {"document_id": note("N"), "kind": "poem", "content": "x"})
    assert refused.value.code == "unknown_kind"


def test_an_import_over_http(client: Any, engine: Engine, library: Library, source: Path) -> None:
    (source / "1.jpg").write_bytes(picture())
    started = client.post("/api/documents/import", json={"folder": str(source)})
    assert started.status_code == 200
    assert (started.json()["state"], started.json()["set_id"]) == ("waiting", started.json()["job_id"])
    engine.jobs.run_until_idle(library)
    listed = client.get("/api/documents", params={"parent_id": imported_of(library)}).json()
    assert [item["name"] for item in listed["items"]] == ["1.jpg"]
    assert rows(library, "SELECT state FROM job WHERE id = ?", started.json()["job_id"]) == [("done",)]


def test_every_route_declares_what_it_answers(shared_client: Any) -> None:
    described = shared_client.get("/openapi.json").json()["paths"]
    ours = {path: spec for path, spec in described.items() if "documents" in path or "artifacts" in path}
    for path, spec in ours.items():
        for method, route in spec.items():
            assert route.get("summary"), (method, path)
            assert {"401", "403"} <= set(route["responses"]), (method, path)


def test_statistics_count_documents_and_pages(
    client: Any, engine: Engine, library: Library, folder: Make
) -> None:
    add_picture(engine, library, folder("Box"), picture())
    answer = client.get("/api/library/stats").json()
    assert (answer["documents"], answer["pages"]) == (3, 1)
