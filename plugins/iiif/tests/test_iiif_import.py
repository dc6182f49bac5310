"""Manifests imported by reference: the folder they become, undo, and fetching through the network gate."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import orjson
import pytest
from iiif_helpers import OWNER, SAMPLE, add_lines, add_page, draw_quarters, encode_image, sources
from PIL import Image
from starlette.testclient import TestClient

from armarium.api import Egress, Engine, Library, Unavailable, raw_of
from armarium_iiif import downloads, jobs
from armarium_iiif.queries.references import Reference
from armarium_testing.digest import table_digests

Json = dict[str, Any]


class PublisherServer(ThreadingHTTPServer):
    """A publisher's server on this machine, which serves given answers and records the requests."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.pages: dict[str, tuple[int, dict[str, str], bytes]] = {}
        self.reached: list[str] = []


class _Answer(BaseHTTPRequestHandler):
    server: PublisherServer

    def do_GET(self) -> None:
        self.server.reached.append(self.path)
        pages = self.server.pages
        first = pages.pop(f"first {self.path}", None)
        status, headers, body = first or pages.get(self.path, (404, {}, b"nothing"))
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        return


@pytest.fixture
def publisher() -> Iterator[PublisherServer]:
    server = PublisherServer()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def publisher_reachable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the jobs alone reach this machine under the publisher's name."""

    class Loopback(Egress):
        @contextmanager
        def open(self, method: str, url: str, **how: Any) -> Iterator[Any]:
            with super().open(method, url, **{**how, "reach": "machine"}) as answer:
                yield answer

    for module in (jobs, downloads):
        monkeypatch.setattr(
            module,
            "gate",
            lambda engine: Loopback(local_only=False, resolver=lambda host, port: ["127.0.0.1"]),
        )
    monkeypatch.setattr(jobs, "PAUSE_SECONDS", 0)


def digest(engine: Engine, library: Library) -> dict[str, str]:
    """Return digests of the project's tracked tables."""
    return table_digests(library.db, engine.library_schema)


def manifest_at(base: str, count: int = 2, **canvas: Any) -> bytes:
    """Return a manifest of *count* canvases whose pictures are below *base*."""
    items = [
        {
            "id": f"https://example.org/c/{number}",
            "type": "Canvas",
            "label": {"none": [f"f. {number}"]},
            "width": 800,
            "height": 600,
            "items": [
                {
                    "type": "AnnotationPage",
                    "items": [
                        {
                            "motivation": "painting",
                            "body": {
                                "id": f"{base}/plain/{number}.png",
                                "type": "Image",
                                "service": [{"id": f"{base}/i/{number}", "type": "ImageService3"}],
                            },
                        }
                    ],
                }
            ],
            **canvas,
        }
        for number in range(1, count + 1)
    ]
    return orjson.dumps(
        {"id": "https://example.org/m", "type": "Manifest", "label": {"none": ["A book"]}, "items": items}
    )


def upload(client: TestClient, data: bytes = SAMPLE, **form: str) -> Any:
    return client.post(
        "/api/iiif/manifests", files={"file": ("letters.json", data, "application/json")}, data=form
    )


def pages_of(client: TestClient, folder: str) -> list[Json]:
    response: list[Json] = client.get("/api/documents", params={"parent_id": folder}).json()["items"]
    return response


def job_of(client: TestClient, engine: Engine, library: Library, answer: Any) -> Json:
    """Run the queued jobs; return the requested one as it ended."""
    assert answer.status_code == 200, answer.text
    engine.jobs.run_until_idle(library)
    found_answer: Json = client.get(f"/api/activity/jobs/{answer.json()['job_id']}").json()
    return found_answer


def test_a_manifest_becomes_a_folder_of_referenced_pages(
    engine: Engine, library: Library, client: TestClient
) -> None:
    before = digest(engine, library)
    answer = upload(client)
    assert answer.status_code == 200, answer.text
    new_answer = answer.json()
    assert (new_answer["name"], new_answer["version"], new_answer["canvases"], new_answer["notes"]) == (
        "Letters",
        3,
        1,
        [],
    )
    (page,) = pages_of(client, new_answer["document_id"])
    assert (page["name"], page["page_label"], page["sequence"], page["doc_type"]) == (
        "f. 1r",
        "f. 1r",
        1,
        "page",
    )
    assert page["metadata"] == {
        "source_type": "iiif",
        "iiif_manifest": "https://example.org/letters/manifest",
        "iiif_canvas_id": "https://example.org/letters/1",
        "width": 3000,
        "height": 4000,
    }
    engine.undo(library, [new_answer["audit_id"]], OWNER)
    assert digest(engine, library) == before


def test_a_referenced_page_is_published_by_reference(client: TestClient) -> None:
    folder = upload(client).json()["document_id"]
    answer = client.get(f"/api/iiif/manifest/{folder}").json()
    (canvas,) = answer["items"]
    assert canvas["id"] == "https://example.org/letters/1"
    assert (canvas["width"], canvas["height"]) == (3000, 4000)
    body = canvas["items"][0]["items"][0]["body"]
    assert body["id"] == "https://example.org/i/1/full/max/0/default.jpg"
    assert body["service"] == [
        {"id": "https://example.org/i/1", "type": "ImageService3", "profile": "level2"}
    ]
    assert canvas["thumbnail"][0]["id"] == "https://example.org/i/1/full/256,/0/default.jpg"
    assert answer["seeAlso"][0]["id"] == "https://example.org/letters/manifest"


@pytest.mark.parametrize(
    ("service", "given", "thumbnail"),
    [
        ({"id": "https://a.org/i", "type": "ImageService3", "profile": "level0"}, "level0", None),
        ({"@id": "https://a.org/i", "profile": ["http://iiif.io/api/image/2/level1.json", {}]},
         "http://iiif.io/api/image/2/level1.json", "https://a.org/i/full/256,/0/default.jpg"),
        ({"@id": "https://a.org/i", "profile": "http://library.stanford.edu/iiif/image-api/1.1/conformance.html#level2"},
         "http://library.stanford.edu/iiif/image-api/1.1/compliance.html#level2", "https://a.org/i/full/256,/0/native.jpg"),
    ],
)  # fmt: skip
def test_image_services_elsewhere_are_published_unchanged(
    client: TestClient, service: Json, given: str, thumbnail: str | None
) -> None:
    value = orjson.loads(SAMPLE)
    value["items"][0]["items"][0]["items"][0]["body"]["service"] = [service]
    folder = upload(client, orjson.dumps(value)).json()["document_id"]
    (canvas,) = client.get(f"/api/iiif/manifest/{folder}").json()["items"]
    assert canvas["items"][0]["items"][0]["body"]["service"][0]["profile"] == given
    assert [one["id"] for one in canvas.get("thumbnail", [])] == ([thumbnail] if thumbnail else [])


def test_an_imported_manifest_is_transferred_with_its_folder(
    engine: Engine, library: Library, client: TestClient
) -> None:
    folder = upload(client).json()["document_id"]
    with library.db.read() as conn:
        raw = raw_of(conn)
        original = raw.execute("SELECT original FROM iiif_manifest").fetchone()[0]
    client.delete(f"/api/documents/{folder}").raise_for_status()
    assert upload(client).status_code == 200, "what lies in the Trash is not here"
    client.post("/api/documents/trash/empty", json={}).raise_for_status()
    with library.db.read() as conn:
        raw = raw_of(conn)
        assert raw.execute("SELECT count(*) FROM iiif_manifest").fetchone()[0] == 1
        assert raw.execute("SELECT count(*) FROM iiif_canvas").fetchone()[0] == 1
    assert library.objects.has(original), "the second import is of the same file"


def test_order_names_direction_and_description_are_preserved(client: TestClient) -> None:
    value = orjson.loads(manifest_at("https://example.org", 700)) | {
        "viewingDirection": "right-to-left",
        "metadata": [{"label": {"en": ["Shelf"]}, "value": {"none": ["B 12"]}}],
    }
    answer = upload(client, orjson.dumps(value), name="Mine").json()
    assert (answer["name"], answer["canvases"]) == ("Mine", 700)
    folder = client.get(f"/api/documents/{answer['document_id']}").json()
    assert (folder["direction"], folder["source_metadata"]) == ("rtl", {"Shelf": "B 12"})
    response = client.get(f"/api/iiif/manifest/{answer['document_id']}").json()["items"]
    assert [canvas["label"]["none"][0] for canvas in response] == [f"f. {number}" for number in range(1, 701)]


def test_lines_of_a_referenced_page_lie_on_its_canvas(
    engine: Engine, library: Library, client: TestClient
) -> None:
    (page,) = pages_of(client, upload(client).json()["document_id"])
    add_lines(engine, library, page["id"])
    answer = client.get(f"/api/iiif/iiif/lines/{page['id']}").json()
    assert answer["items"][0]["target"] == "https://example.org/letters/1#xywh=300,533,2400,267"


def test_the_same_manifest_is_imported_once_into_a_folder(client: TestClient) -> None:
    first = upload(client).json()
    again = upload(client)
    assert (again.status_code, again.json()["document_id"]) == (409, first["document_id"])
    other = client.post("/api/documents", json={"name": "Elsewhere", "doc_type": "folder"}).json()["id"]
    assert upload(client, parent_id=other).status_code == 200


@pytest.mark.parametrize(
    ("data", "form", "status", "code"),
    [
        (b"no json", {}, 422, "not_a_manifest"),
        (b'{"type": "Collection", "items": []}', {}, 422, "not_a_manifest"),
        (SAMPLE, {"parent_id": "nothing"}, 404, None),
        (b" " * ((64 << 20) + 1), {}, 413, "file_too_large"),
    ],
)
def test_uploads_that_are_refused(
    engine: Engine,
    library: Library,
    client: TestClient,
    data: bytes,
    form: dict[str, str],
    status: int,
    code: str | None,
) -> None:
    before = digest(engine, library)
    answer = upload(client, data, **form)
    assert answer.status_code == status
    assert code is None or answer.json()["code"] == code
    assert digest(engine, library) == before


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/m", "http://localhost/m", "http://[::1]/m", "http://10.1.2.3/m", "http://192.168.0.7/m",
        "http://169.254.169.254/latest", "http://0x7f000001/m", "http://[::ffff:127.0.0.1]/m", "http://2130706433/m",
        "http://[fe80::1]/m", "http://0.0.0.0/m",
    ],
)  # fmt: skip
def test_manifests_in_the_local_network_are_not_fetched(
    engine: Engine, library: Library, client: TestClient, url: str
) -> None:
    answer = client.post("/api/iiif/manifests/fetch", json={"url": url})
    if answer.status_code == 200:  # a host name is only resolved, and refused, when it is fetched
        ended = job_of(client, engine, library, answer)
        assert ended["state"] == "failed"
        assert "not on the network this request may reach" in ended["reason"]
    else:
        assert (answer.status_code, answer.json()["code"]) == (403, "out_of_reach")


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "file:///etc/passwd", "https://me:word@example.org/m", "http://[x/m"]
)
def test_invalid_urls_are_refused(client: TestClient, url: str) -> None:
    answer = client.post("/api/iiif/manifests/fetch", json={"url": url})
    assert answer.status_code == 400
    assert "web address" in answer.json()["detail"]


def test_a_host_name_that_resolves_to_a_local_address_is_not_followed(
    engine: Engine,
    library: Library,
    client: TestClient,
    publisher: PublisherServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        jobs,
        "gate",
        lambda engine: Egress(local_only=False, resolver=lambda host, port: ["93.184.216.34", "127.0.0.1"]),
    )
    url = f"http://rebinding.example:{publisher.server_port}/m"
    ended = job_of(client, engine, library, client.post("/api/iiif/manifests/fetch", json={"url": url}))
    assert ended["state"] == "failed"
    assert "rebinding.example is not on the network" in ended["reason"]
    assert publisher.reached == []


@pytest.mark.usefixtures("publisher_reachable")
def test_a_redirect_to_a_local_address_is_not_followed(
    engine: Engine, library: Library, client: TestClient, publisher: PublisherServer
) -> None:
    base = f"http://manifests.example:{publisher.server_port}"
    publisher.pages["/m"] = (302, {"Location": "http://169.254.169.254/latest/meta-data"}, b"")
    ended = job_of(
        client, engine, library, client.post("/api/iiif/manifests/fetch", json={"url": f"{base}/m"})
    )
    assert ended["state"] == "failed"
    assert "169.254.169.254 is not on the network" in ended["reason"]


@pytest.mark.usefixtures("publisher_reachable")
def test_undoing_a_waiting_fetch_sends_no_request(
    engine: Engine, library: Library, client: TestClient, publisher: PublisherServer
) -> None:
    base = f"http://manifests.example:{publisher.server_port}"
    publisher.pages["/m"] = (200, {}, manifest_at(base, 1))
    began = client.post("/api/iiif/manifests/fetch", json={"url": f"{base}/m"}).json()

    def state() -> str:
        return str(client.get(f"/api/activity/jobs/{began['job_id']}").json()["state"])

    undone = engine.undo(library, [began["audit_id"]], OWNER)
    engine.jobs.run_until_idle(library)
    assert (state(), publisher.reached) == ("cancelled", [])
    engine.undo(library, undone["audit_ids"], OWNER)
    engine.jobs.run_until_idle(library)
    assert publisher.reached == ["/m"]
    assert state() == "done"


def test_nothing_is_fetched_while_held_offline(make_engine: Any, tmp_path: Any) -> None:
    from armarium_testing.fixtures import http_client

    engine = make_engine(local_only=True)
    engine.run(None, "library.create", {"path": str(tmp_path / "Off.library")}, OWNER)
    for client in http_client(engine, engine.libraries.get(tmp_path / "Off.library")):
        answer = client.post("/api/iiif/manifests/fetch", json={"url": "https://example.org/m"})
    assert (answer.status_code, answer.json()["code"]) == (403, "offline")


@pytest.mark.usefixtures("publisher_reachable")
def test_a_url_without_a_manifest_is_reported(
    engine: Engine, library: Library, client: TestClient, publisher: PublisherServer
) -> None:
    url = f"http://manifests.example:{publisher.server_port}/gone"
    ended = job_of(client, engine, library, client.post("/api/iiif/manifests/fetch", json={"url": url}))
    assert ended["state"] == "failed"
    assert "The server answers 404 where the manifest was expected" in ended["reason"]


@pytest.mark.usefixtures("publisher_reachable")
def test_a_manifest_and_its_pictures_are_fetched(
    engine: Engine, library: Library, client: TestClient, publisher: PublisherServer
) -> None:
    base = f"http://manifests.example:{publisher.server_port}"
    publisher.pages["/m?x=1"] = (200, {}, manifest_at(base, 4))
    url = f"{base}/m?x=1"
    ended = job_of(client, engine, library, client.post("/api/iiif/manifests/fetch", json={"url": url}))
    assert ended["state"] == "done", ended
    with library.db.read() as conn:
        raw = raw_of(conn)
        folder = raw.execute("SELECT document_id, url FROM iiif_manifest").fetchone()
    assert folder[1] == url
    assert publisher.reached == ["/m?x=1"], "only the manifest is fetched until pictures are asked for"

    exif = Image.Exif()
    exif[0x0112] = 6
    publisher.pages["/i/1/full/max/0/default.jpg"] = (
        200,
        {},
        encode_image(draw_quarters(), "JPEG", exif=exif),
    )
    publisher.pages["/plain/2.png"] = (200, {}, encode_image(draw_quarters()))
    publisher.pages["/i/3/full/max/0/default.jpg"] = (200, {}, b"<html>sign in</html>")
    answer = client.post("/api/iiif/images/fetch", json={"document_ids": [folder[0]]})
    assert answer.json()["pages"] == 4
    ended = job_of(client, engine, library, answer)
    assert ended["state"] == "done", ended
    first, second, third, fourth = pages_of(client, folder[0])
    pictures = [
        client.get(f"/api/documents/{page['id']}/renditions").json()["items"] for page in (first, second)
    ]
    assert (pictures[0][0]["pixel_width"], pictures[0][0]["pixel_height"]) == (300, 400)
    assert second["metadata"]["source_url"] == f"{base}/plain/2.png"
    assert (second["metadata"]["width"], second["metadata"]["iiif_canvas_id"]) == (
        800,
        "https://example.org/c/2",
    )
    assert client.get(f"/api/documents/{second['id']}/thumbnail").status_code == 200
    lines = [
        line["message"]
        for line in client.get(f"/api/activity/jobs/{answer.json()['job_id']}/log").json()["lines"]
    ]
    told = " ".join(lines)
    assert third["id"] in told
    assert fourth["id"] in told

    # Pictures already present are not fetched again; failed ones are tried again.
    publisher.reached.clear()
    answer = client.post("/api/iiif/images/fetch", json={"document_ids": [folder[0], third["id"]]})
    assert answer.json()["pages"] == 2
    job_of(client, engine, library, answer)
    assert not any("/1" in path or "/2" in path for path in publisher.reached)


@pytest.mark.usefixtures("publisher_reachable")
def test_fetched_pictures_are_undone_together(
    engine: Engine, library: Library, client: TestClient, publisher: PublisherServer
) -> None:
    base = f"http://manifests.example:{publisher.server_port}"
    folder = upload(client, manifest_at(base, 2)).json()["document_id"]
    for number in (1, 2):
        publisher.pages[f"/i/{number}/full/max/0/default.jpg"] = (
            200,
            {},
            encode_image(draw_quarters(), "JPEG"),
        )
    before = digest(engine, library)
    answer = client.post("/api/iiif/images/fetch", json={"document_ids": [folder]})
    job_of(client, engine, library, answer)
    assert digest(engine, library) != before
    with library.db.read() as conn:
        raw = raw_of(conn)
        steps = [
            row[0]
            for row in raw.execute(
                "SELECT id FROM audit WHERE set_id = ? AND action_name = 'iiif.attach_image'",
                (answer.json()["set_id"],),
            )
        ]
    assert len(steps) == 2
    engine.undo(library, steps, OWNER)
    assert digest(engine, library) == before


@pytest.mark.usefixtures("publisher_reachable")
def test_a_partial_download_is_in_the_folder_that_is_cleared_after_a_kill(
    engine: Engine,
    library: Library,
    client: TestClient,
    publisher: PublisherServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    base = f"http://manifests.example:{publisher.server_port}"
    folder = upload(client, manifest_at(base, 1)).json()["document_id"]
    publisher.pages["/i/1/full/max/0/default.jpg"] = (200, {}, encode_image(draw_quarters(), "JPEG"))
    real, targets = jobs.download_picture, []

    def download(ctx: Any, page: Any, target: Any) -> str:
        targets.append(target)
        return real(ctx, page, target)

    monkeypatch.setattr(jobs, "download_picture", download)
    ended = job_of(
        client, engine, library, client.post("/api/iiif/images/fetch", json={"document_ids": [folder]})
    )
    assert ended["state"] == "done"
    clearing = library.objects.root / "tmp"
    assert [target.resolve().is_relative_to(clearing.resolve()) for target in targets] == [True]
    assert list(clearing.iterdir()) == []


def test_pictures_in_the_local_network_are_not_fetched(
    engine: Engine, library: Library, client: TestClient, publisher: PublisherServer
) -> None:
    folder = upload(client, manifest_at(f"http://127.0.0.1:{publisher.server_port}", 1)).json()["document_id"]
    answer = client.post("/api/iiif/images/fetch", json={"document_ids": [folder]})
    ended = job_of(client, engine, library, answer)
    assert (ended["state"], "127.0.0.1 is not on the network" in ended["reason"]) == ("failed", True)
    log = client.get(f"/api/activity/jobs/{answer.json()['job_id']}/log").json()["lines"]
    assert any("127.0.0.1 is not on the network" in line["message"] for line in log)
    assert publisher.reached == []


@pytest.mark.usefixtures("publisher_reachable")
def test_a_server_that_does_not_answer_postpones_the_job(
    engine: Engine, library: Library, client: TestClient
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    folder = upload(client, manifest_at(f"http://silent.example:{port}", 5)).json()["document_id"]
    answer = client.post("/api/iiif/images/fetch", json={"document_ids": [folder]})
    assert answer.status_code == 200
    for _ in range(60):
        engine.jobs.run_until_idle(library, timeout=1)
        found_answer = client.get(f"/api/activity/jobs/{answer.json()['job_id']}").json()
        if (found_answer["reason"] or "").startswith("The picture server does not answer."):
            break
    assert found_answer["state"] == "waiting"
    assert found_answer["done"] == 0, "none of them counts as tried"


def test_fetching_nothing_is_refused(engine: Engine, library: Library, client: TestClient) -> None:
    page = add_page(engine, library)
    for ids in ([page], [sources(library)]):
        answer = client.post("/api/iiif/images/fetch", json={"document_ids": ids})
        assert (answer.status_code, answer.json()["code"]) == (422, "nothing_to_fetch")


def test_a_picture_is_attached_once_and_only_to_a_canvas(
    engine: Engine, library: Library, client: TestClient
) -> None:
    (page,) = pages_of(client, upload(client).json()["document_id"])
    params = {
        "document_id": page["id"], "checksum": library.objects.put_bytes(encode_image(draw_quarters())), "mime_type": "image/png",
        "size_bytes": 9, "pixel_width": 400, "pixel_height": 300, "source_url": "https://example.org/1.png",
    }  # fmt: skip

    def attach(**changes: Any) -> Any:
        return client.post(
            "/api/actions/invoke", json={"name": "iiif.attach_image", "params": params | changes}
        )

    assert attach(checksum="0" * 64).json()["code"] == "object_missing"
    assert attach().status_code == 200
    assert attach().json()["code"] == "has_picture"
    assert attach(document_id=add_page(engine, library)).json()["code"] == "not_a_canvas"


def test_a_canvas_without_an_address_of_its_picture_is_refused(tmp_path: Path) -> None:
    bare = Reference("1", "f. 1", None, None, None, False)
    with pytest.raises(Unavailable, match="names no picture of it"):
        jobs.download_picture(None, bare, tmp_path / "picture")  # type: ignore[arg-type]
