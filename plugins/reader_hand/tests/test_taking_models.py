"""Published models: offered, downloaded through the gate, taken from disk, chosen once they were measured."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from atr_models import LETTERS, publish, tiny_model, written

from armarium.api import Egress, Engine
from armarium_documents.plugin import armarium_plugin as documents_plugin
from armarium_reader_hand.atr.reader import AtrReader
from armarium_reading import local_models, taken_models
from armarium_reading.api import OfferedModel, RemoteFile, models_folder, note_calibration
from armarium_reading.fitting import fitting
from armarium_reading.plugin import armarium_plugin as reading_plugin
from armarium_source_model.plugin import armarium_plugin as source_model_plugin
from armarium_testing.fixtures import http_client

NAME, DOI = "tiny-base", "10.5281/zenodo.1"


class Publisher(ThreadingHTTPServer):
    """A publisher on this machine, which may answer wrongly."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answers)
        self.files: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.length: Callable[[int], int] = lambda size: size
        self.elsewhere: str | None = None


class Answers(BaseHTTPRequestHandler):
    """Serves the publisher's files."""

    server: Publisher

    def do_GET(self) -> None:
        """Answer with a file, shorter than stated if the publisher lies, or lead elsewhere."""
        self.server.asked.append(self.path)
        if self.server.elsewhere is not None:
            self.send_response(302)
            self.send_header("Location", self.server.elsewhere)
            self.end_headers()
            return
        data = self.server.files[self.path.rpartition("/")[2]]
        self.send_response(200)
        self.send_header("Content-Length", str(self.server.length(len(data))))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class Gate(Egress):
    """The engine's gate, which here may reach this machine only."""

    @contextmanager
    def open(self, method: str, url: str, **how: Any) -> Iterator[Any]:
        with super().open(method, url, **{**how, "reach": "machine"}) as answer:
            yield answer


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """An engine with reading and the readers that are installed."""
    return make_engine(plugins=[documents_plugin(), source_model_plugin(), reading_plugin()])


@pytest.fixture
def client(engine: Engine) -> Iterator[Any]:
    """A client of its owner."""
    yield from http_client(engine)


@pytest.fixture
def publisher(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Publisher]:
    """A publisher of a tiny model, which the reader offers."""
    server = Publisher()
    folder = publish(tmp_path / "published")
    server.files = {path.name: path.read_bytes() for path in folder.iterdir()}
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/m"
    offer = OfferedModel(
        model=NAME,
        title="Tiny",
        licence="Apache-2.0",
        authors="The tests",
        page="https://models.example/tiny",
        reads="four letters",
        size_bytes=sum(map(len, server.files.values())),
        files=tuple(RemoteFile(f"{address}/{name}", name) for name in ("inference.onnx", "dict.txt")),
        doi=DOI,
        languages=("la", "fr"),
        scripts=("Latn",),
        writing=("hand",),
        card={"height": 16},
    )
    monkeypatch.setattr(AtrReader, "offers", classmethod(lambda cls: (offer,)))
    monkeypatch.setattr(local_models, "gate", lambda engine: Gate(local_only=False))
    yield server
    server.shutdown()
    server.server_close()


def offer_of(client: Any) -> Any:
    """Return what is said of the one model that this reader offers."""
    items = client.get("/api/local-models/offers").json()["items"]
    (offer,) = (item for item in items if item["reader"] == "atr")
    return offer


def files_of(engine: Engine) -> set[str]:
    """Return every file among the engine's models."""
    place = engine.settings.state_dir / "models"
    return {path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file()}


def outcome(engine: Engine, client: Any, job_id: str) -> Any:
    assert engine.jobs.run_until_idle(None)
    return client.get(f"/api/activity/jobs/{job_id}").json()


def download(engine: Engine, client: Any, name: str = NAME) -> Any:
    answer = client.post(f"/api/local-models/download/atr/{name}").json()
    return outcome(engine, client, answer["job_id"])


def test_what_is_offered_is_told_without_a_request(client: Any, publisher: Publisher) -> None:
    offer = offer_of(client)
    assert (offer["model_id"], offer["doi"], offer["licence"], offer["authors"]) == (
        NAME,
        DOI,
        "Apache-2.0",
        "The tests",
    )
    assert (offer["reads"], offer["is_here"]) == ("four letters", False)
    assert [file["sha256"] for file in offer["files"]] == [None, None]
    assert publisher.asked == []


def test_a_model_is_downloaded_checked_and_read_with(
    engine: Engine, client: Any, publisher: Publisher, tmp_path: Path
) -> None:
    from PIL import Image

    from armarium_reading.api import LineShape

    done = download(engine, client, DOI)
    assert done["state"] == "done", done
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in publisher.files.items()}
    assert done["result"]["sha256"] == digests
    assert files_of(engine) == {f"atr/{NAME}.onnx", f"atr/{NAME}.onnx.source.json", "pins.json"}
    offer = offer_of(client)
    assert offer["is_here"]
    assert {file["name"]: file["sha256"] for file in offer["files"]} == digests
    (model,) = (
        item for item in client.get("/api/local-models").json()["items"] if item["model_type"] == "atr"
    )
    assert model["display_name"] == "Tiny"
    assert model["metadata"]["licence"] == "Apache-2.0"
    assert model["metadata"]["languages"] == ["la", "fr"]
    second_answer = client.post(f"/api/local-models/download/atr/{NAME}").json()
    assert (second_answer["status"], len(publisher.asked)) == ("present", 2)
    reader = AtrReader(model=model["path"])
    reader.load()
    Image.fromarray(written("ba")).save(tmp_path / "line.png")
    page = reader.open_page(tmp_path / "line.png", 10**6)
    (read,) = reader.read_lines(page, [LineShape((0, 0, page.width, page.height))])
    assert read.text == "ba"


def test_an_offer_without_files_is_fetched_from_where_its_reader_says_and_its_checksum_is_checked(
    engine: Engine, client: Any, publisher: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    (offer,) = AtrReader.offers()
    data, stated = publisher.files["inference.onnx"], hashlib.md5(b"other").hexdigest()

    def remote(cls: type[AtrReader], model: str, fetch: Any) -> RemoteFile:
        name = f"{NAME}.onnx"
        return RemoteFile(offer.files[0].url, name, checksum=stated, algorithm="md5", licence=offer.licence)

    monkeypatch.setattr(AtrReader, "offers", classmethod(lambda cls: (replace(offer, files=()),)))
    monkeypatch.setattr(AtrReader, "remote", classmethod(remote))
    assert offer_of(client)["files"] == []
    assert "checksum differs" in download(engine, client)["reason"]
    assert files_of(engine) == set()
    stated = hashlib.md5(data).hexdigest()
    assert download(engine, client)["state"] == "done"
    assert offer_of(client)["is_here"]
    assert (models_folder(engine, "atr") / f"{NAME}.onnx").read_bytes() == data


def test_what_was_first_downloaded_is_pinned(engine: Engine, client: Any, publisher: Publisher) -> None:
    assert download(engine, client)["state"] == "done"
    assert client.delete(f"/api/local-models/atr/{NAME}.onnx").status_code == 200
    publisher.files["inference.onnx"] += b"\x0a\x00"
    failed = download(engine, client)
    assert failed["state"] == "failed"
    assert "not the file that was first downloaded" in failed["reason"]
    assert files_of(engine) == {"pins.json"}


def test_a_download_that_lies_about_its_size_is_cut_or_leads_inward_changes_nothing(
    engine: Engine, client: Any, publisher: Publisher
) -> None:
    whole = dict(publisher.files)

    def cut() -> None:
        publisher.length = lambda size: size + 7

    def larger() -> None:
        publisher.length = lambda size: size
        publisher.files = {**whole, "inference.onnx": whole["inference.onnx"] * 9}

    def inward() -> None:
        publisher.elsewhere = "http://10.0.0.1/inference.onnx"

    for wrong, why in (
        (cut, "broke off|ended|closed"),
        (larger, "larger|longer|limit"),
        (inward, "10.0.0.1"),
    ):
        wrong()
        failed = download(engine, client)
        assert failed["state"] == "failed", wrong
        assert re.search(why, failed["reason"]), failed["reason"]
        assert not {name for name in files_of(engine) if name.startswith("atr/")}
    publisher.elsewhere, publisher.files = None, whole
    assert download(engine, client)["state"] == "done"


def test_a_published_model_that_is_not_safe_leaves_nothing(
    engine: Engine, client: Any, publisher: Publisher
) -> None:
    publisher.files["dict.txt"] = b"a\nb\n"
    failed = download(engine, client)
    assert failed["state"] == "failed"
    assert "do not belong together" in failed["reason"]
    assert files_of(engine) == set()


def test_offline_and_unknown_names_are_refused(make_engine: Any, client: Any, publisher: Publisher) -> None:
    unknown = client.post("/api/local-models/download/atr/other")
    assert (unknown.status_code, unknown.json()["code"]) == (404, "unknown_model")
    assert "armarium models get" in unknown.json()["detail"]
    offline = make_engine(
        plugins=[documents_plugin(), source_model_plugin(), reading_plugin()], local_only=True
    )
    for other in http_client(offline):
        refused = other.post(f"/api/local-models/download/atr/{NAME}")
        assert (refused.status_code, refused.json()["code"]) == (409, "offline")
        assert offer_of(other)["model_id"] == NAME
    assert publisher.asked == []


def test_a_model_is_taken_from_disk(engine: Engine, client: Any, tmp_path: Path) -> None:
    folder = publish(tmp_path / "My model (2)")
    (folder / "card.json").write_text(json.dumps({"title": "Mine", "languages": ["es"]}))
    started = client.post("/api/local-models/add", json={"path": str(folder)}).json()
    assert started["model_id"] == "My-model-2"
    assert outcome(engine, client, started["job_id"])["state"] == "done"
    assert files_of(engine) == {"atr/My-model-2.onnx", "atr/My-model-2.onnx.source.json"}
    response = client.post(
        "/api/local-models/add", json={"path": str(folder / "inference.onnx"), "name": "My-model-2"}
    )
    assert (response.status_code, response.json()["code"]) == (409, "name_taken")
    other_answer = client.post(
        "/api/local-models/add", json={"path": str(folder / "inference.onnx"), "name": "other"}
    )
    assert outcome(engine, client, other_answer.json()["job_id"])["state"] == "done"


def fail_to_read() -> None:
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def test_what_cannot_be_taken_from_disk_is_refused_and_changes_nothing(
    engine: Engine, client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = publish(tmp_path / "published", tiny_model([255, 0, 60]), LETTERS)
    (folder / "linked").symlink_to(folder / "inference.onnx")
    (folder / "large.onnx").touch()
    with (folder / "large.onnx").open("r+b") as file:
        file.truncate(2 << 30)
    (tmp_path / "empty").mkdir()
    jobs = {"": "do not belong together", "large.onnx": "larger than 512 MiB"}
    for name, why in jobs.items():
        started = client.post("/api/local-models/add", json={"path": str(folder / name), "name": "x"}).json()
        failed = outcome(engine, client, started["job_id"])
        assert failed["state"] == "failed"
        assert why in failed["reason"]
    empty = client.post("/api/local-models/add", json={"path": str(tmp_path / "empty")}).json()
    assert "There is no file" in outcome(engine, client, empty["job_id"])["reason"]
    with monkeypatch.context() as patched:
        patched.setattr(taken_models, "open_plain", lambda *_: fail_to_read())
        broken = client.post("/api/local-models/add", json={"path": str(folder), "name": "x"}).json()
        assert "cannot be copied: Input/output error." in outcome(engine, client, broken["job_id"])["reason"]
    for body, status in (
        ({"path": str(tmp_path / "nothing.onnx")}, 422),
        ({"path": str(folder), "name": "../x"}, 422),
        ({"path": str(engine.settings.state_dir)}, 403),
        ({"path": str(folder), "runtime": "tesseract"}, 409),
        ({"path": str(folder), "runtime": "abacus"}, 400),
    ):
        answer = client.post("/api/local-models/add", json=body)
        assert answer.status_code == status, answer.text
    assert files_of(engine) == set()


def test_a_model_takes_part_in_the_automatic_choice_once_it_was_measured(
    engine: Engine, client: Any, publisher: Publisher
) -> None:
    def choices(language: str | None = None) -> dict[str, str]:
        return {one.reader.name: one.model_name for one in fitting(engine, None, language)}

    assert download(engine, client)["state"] == "done"
    assert "atr" not in choices()
    path = models_folder(engine, "atr") / f"{NAME}.onnx"
    note_calibration(path, {"table": [[0.0, 0.1], [1.0, 0.9]], "lines": 60, "cer": 0.1})
    assert choices()["atr"] == f"{NAME}.onnx"
    assert choices("fr-CA")["atr"] == f"{NAME}.onnx"
    assert "atr" not in choices("es")
    (choice,) = (one for one in fitting(engine, None, None) if one.reader.name == "atr")
    assert list(choice.calibration) == [(0.0, 0.1), (1.0, 0.9)]
    note_calibration(path, {"table": "damaged"})
    assert "atr" not in choices()
