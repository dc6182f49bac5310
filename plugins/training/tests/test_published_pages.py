"""Reading at scale of canvases whose pictures others publish: fetched where the shard is read, here or elsewhere."""

from __future__ import annotations

import io
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import training_readers
from PIL import Image
from training_desk import Desk

import armarium_worker
from armarium.api import Engine, Unavailable
from armarium_checking.plugin import armarium_plugin as checking
from armarium_documents.plugin import armarium_plugin as documents
from armarium_far_worker import published
from armarium_far_worker.work import do_work
from armarium_formats.plugin import armarium_plugin as formats
from armarium_iiif.plugin import armarium_plugin as iiif
from armarium_images.plugin import armarium_plugin as images
from armarium_layout.plugin import armarium_plugin as layout
from armarium_reading.api import READERS
from armarium_reading.plugin import armarium_plugin as reading
from armarium_rights.plugin import armarium_plugin as rights
from armarium_source_model.plugin import armarium_plugin as source_model
from armarium_training import packing
from armarium_training.compute import GROUP, Compute, FarState, Shard
from armarium_training.plugin import armarium_plugin as training

MANIFEST = """{"@context": "http://iiif.io/api/presentation/3/context.json", "id": "https://example.org/m", "type": "Manifest",
 "label": {"en": ["Letters"]}, "items": [{"id": "https://example.org/1", "type": "Canvas", "width": 300, "height": 400,
 "label": {"none": ["f. 1r"]}, "items": [{"id": "https://example.org/1/p", "type": "AnnotationPage", "items": [
 {"id": "https://example.org/1/a", "type": "Annotation", "motivation": "painting", "target": "https://example.org/1",
 "body": {"id": "https://example.org/1.jpg", "type": "Image", "format": "image/jpeg", "width": 300, "height": 400}}]}]}]}"""


class Far(Compute):
    """Another machine: keeps what it is sent, and answers as a worker there does."""

    name, label, seconds_between = "far", "Far", 0.0
    size: Any = (300, 400)
    sent: list[Shard] = []

    def submit(self, shard: Shard, attempt: int) -> str:
        self.sent.append(shard)
        return str(shard.number)

    def ask(self, far_ids: Sequence[str]) -> dict[str, FarState]:
        line = {
            "kind": "line",
            "rect": [30, 40, 150, 200],
            "reading": {"text": "far away", "confidence": 0.5},
        }
        width, height = self.size
        page = {"lines": [line], "width": width, "height": height}
        told = {one["document_id"]: page for shard in self.sent for one in shard.manifest["pages"]}
        return {far_id: FarState("done", result={"number": 0, "pages": told}) for far_id in far_ids}

    def cancel(self, far_ids: Sequence[str]) -> None: ...


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """An engine with IIIF too."""
    stands_on = [
        documents(),
        source_model(),
        formats(),
        images(),
        iiif(),
        layout(),
        reading(),
        rights(),
        checking(),
    ]
    return make_engine(plugins=[*stands_on, training()])


@pytest.fixture
def canvas(desk: Desk) -> str:
    """A page whose picture lies at example.org."""
    for reader in training_readers.ALL:
        desk.engine.drivers.give(READERS, reader.name, reader)
    Far.sent, Far.size = [], (300, 400)
    desk.engine.drivers.give(GROUP, Far.name, Far)
    folder = desk.do("iiif.import", {"file": MANIFEST, "filename": "m.json"})["document_id"]
    ((page,),) = desk.rows("SELECT id FROM document WHERE parent_id = ?", folder)
    return str(page)


def read(desk: Desk, page: str, **more: Any) -> dict[str, Any]:
    body = {"scope_ids": [page], "card": "careful", **more}
    answer = desk.client.post("/api/reading-at-scale", json=body)
    assert answer.status_code == 200, answer.text
    desk.engine.jobs.run_until_idle(desk.library)
    told: dict[str, Any] = desk.client.get(f"/api/reading-at-scale/jobs/{answer.json()['job_id']}").json()
    return told


def jpeg() -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (300, 400), "white").save(file, "JPEG")
    return file.getvalue()


def test_here_the_picture_is_fetched_by_the_engine_and_not_kept(
    desk: Desk, canvas: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def download(engine: Engine, page: Any, target: Path) -> str:
        asked.extend(page.addresses())
        target.write_bytes(jpeg())
        return asked[-1]

    monkeypatch.setattr(packing, "download_picture", download)
    told = read(desk, canvas, flavor="local", longest=256)
    assert (told["state"], told["landing"]["landed"]) == ("done", 1), told
    assert asked == ["https://example.org/1.jpg"]
    assert desk.rows("SELECT count(*) FROM rendition WHERE document_id = ?", canvas) == [(0,)]


def test_here_a_picture_that_cannot_be_had_is_skipped_with_the_reason(
    desk: Desk, canvas: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def download(*_: Any) -> str:
        raise Unavailable("The server is closed on Sundays.")

    monkeypatch.setattr(packing, "download_picture", download)
    told = read(desk, canvas, flavor="local")
    assert told["package"]["skipped"] == [{"document_id": canvas, "why": "The server is closed on Sundays."}]


def test_elsewhere_only_the_address_is_sent_and_the_size_comes_back_with_the_lines(
    desk: Desk, canvas: str
) -> None:
    told = read(desk, canvas, flavor="far:any", pages_may_leave=True)
    assert (told["state"], told["landing"]["landed"]) == ("done", 1), told
    ((shard),) = Far.sent
    (page,) = shard.manifest["pages"]
    assert page["urls"] == ["https://example.org/1.jpg"]
    assert [path.name for path in shard.folder.glob("*")] in ([], ["manifest.json"])
    ((left, width),) = desk.rows(
        "SELECT json_extract(anchor, '$.rect[0]'), json_extract(anchor, '$.rect[2]') FROM segment WHERE document_id = ?",
        canvas,
    )
    assert (left, width) == (pytest.approx(0.1), pytest.approx(0.5))


@pytest.mark.parametrize("size", [(0, 400), (300, "tall"), (None, None), (10**9, 1)])
def test_a_size_that_is_none_leaves_the_page_unread(desk: Desk, canvas: str, size: Any) -> None:
    Far.size = size
    told = read(desk, canvas, flavor="far:any", pages_may_leave=True)
    assert (told["state"], told["landing"]["unread"]) == ("failed", 1), told


def test_a_reader_that_finds_no_lines_skips_it(desk: Desk, canvas: str) -> None:
    told = read(desk, canvas, card="hand", flavor="local")
    assert "no lines" in told["package"]["skipped"][0]["why"]


@pytest.fixture
def publisher() -> Iterator[str]:
    """The address of a server on this machine that gives a picture, and sends `/away` on to it."""

    class Publisher(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/away":
                self.send_response(302)
                self.send_header("location", "http://10.0.0.1/1.jpg")
                self.end_headers()
                return
            self.send_response(200 if self.path == "/1.jpg" else 404)
            self.end_headers()
            if self.path == "/1.jpg":
                self.wfile.write(jpeg())

        def log_message(self, *_: Any) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Publisher) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def far_work(folder: Path, urls: list[str]) -> dict[str, Any]:
    """What a worker elsewhere answers for one page with these addresses."""
    (folder / "data").mkdir()
    (folder / "code").mkdir()
    source = Path(training_readers.__file__)
    (folder / "code" / source.name).symlink_to(source)
    (folder / "code" / "armarium_worker").symlink_to(Path(armarium_worker.__file__).parent)
    page = {"document_id": "p", "file": "p.picture", "urls": urls, "lines": None, "width": 0, "height": 0}
    manifest = {"number": 0, "pages": [page], "language": None}
    task = {"target": "training_readers:Careful", "packages": ["training_readers"], "manifest": manifest}
    found: dict[str, Any] = do_work(task, folder / "data", folder / "code", lambda _: None)["pages"]["p"]
    return found


def test_the_worker_elsewhere_fetches_what_is_public(
    tmp_path: Path, publisher: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    require = published.require_public
    monkeypatch.setattr(
        published, "require_public", lambda url: None if url.startswith(publisher) else require(url)
    )
    told = far_work(tmp_path, [f"{publisher}/gone.jpg", f"{publisher}/1.jpg"])
    assert (told["width"], told["height"], len(told["lines"])) == (300, 400, 2), told
    with pytest.raises(published.NoPicture, match="public"):
        published.fetch_picture([f"{publisher}/away"], tmp_path / "away")


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1/1.jpg", "http://169.254.169.254/x", "file:///etc/passwd", "http://"]
)
def test_the_worker_elsewhere_reaches_into_no_private_network(tmp_path: Path, url: str) -> None:
    told = far_work(tmp_path, [url])
    assert "could not be fetched" in told["error"]
    assert not (tmp_path / "data" / "p.picture").exists()


def test_a_name_that_leads_inside_once_it_was_checked_is_sent_nothing(
    tmp_path: Path, publisher: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name is public when it is looked at, and the server of this machine when it is connected to."""
    port = int(publisher.rpartition(":")[2])
    places = iter(["93.184.216.34"])
    real = socket.getaddrinfo

    def resolve(host: str, *given: Any, **more: Any) -> Any:
        return real(next(places, "127.0.0.1") if host == "pictures.example" else host, *given, **more)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    with pytest.raises(published.NoPicture, match=r"127\.0\.0\.1 is not a public address"):
        published.fetch_picture([f"http://pictures.example:{port}/1.jpg"], tmp_path / "picture")
    assert not (tmp_path / "picture").exists()
