"""The routes of reading: jobs queued with 202, models listed, downloaded and removed."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
from reading_project import ReadingProject, register_fake_readers

from armarium.api import Conflict, Egress, Engine, Library, raw_of
from armarium_reading import local_models
from armarium_reading.api import RemoteFile
from armarium_reading.readers import models_folder, name_of
from armarium_testing.fixtures import http_client

MODEL = b"the weights of a model"


class FakeNetwork:
    """A fake network gate that answers two URLs and records the requests."""

    def __init__(self, checksum: str | None = None) -> None:
        self.asked: list[str] = []
        self.checksum = checksum or hashlib.md5(MODEL).hexdigest()

    def fetch(self, method: str, url: str) -> Any:
        self.asked.append(url)
        checksum = self.checksum

        class Answer:
            def read(self) -> bytes:
                return checksum.encode()

        return Answer()

    def download(self, url: str, target: Path, *, on_progress: Any = None, **_: Any) -> str:
        self.asked.append(url)
        target.write_bytes(MODEL)
        on_progress(len(MODEL), len(MODEL))
        return hashlib.sha256(MODEL).hexdigest()


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> FakeNetwork:
    """The fake network gate, in place of the real one."""
    double = FakeNetwork()
    monkeypatch.setattr(local_models, "gate", lambda _engine: double)
    return double


def store_model(engine: Engine, name: str = "hand.fake", data: bytes = MODEL) -> Path:
    folder = models_folder(engine, "fakes")
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)
    return folder / name


def test_jobs_are_started_with_202(client: Any, project: ReadingProject) -> None:
    page = project.page()
    response = client.post("/api/reading/find-lines", json={"scope_ids": [page], "reader": "fake"})
    assert (response.status_code, response.json()["state"], response.json()["pages"]) == (202, "waiting", 1)
    assert response.headers["X-Service-Audit-Id"] == response.json()["audit_id"]
    assert project.engine.jobs.run_until_idle(project.library)
    read = client.post("/api/reading/read", json={"scope_ids": [page], "reader": "fake"})
    assert read.status_code == 202
    both = client.post("/api/reading/read-pages", json={"scope_ids": [page], "reader": "fake"})
    assert both.status_code == 202
    assert project.engine.jobs.run_until_idle(project.library)
    answer = client.get("/api/reading/episodes", params={"job_id": read.json()["job_id"]}).json()
    assert (answer["job_id"], answer["count"]) == (read.json()["job_id"], 1)
    assert answer["episodes"][0]["exchange"]["output"].startswith("height 20")
    assert client.get("/api/reading/episodes", params={"document_id": page}).json()["count"] == 3
    assert client.get("/api/reading/episodes", params={"limit": 1}).json()["count"] == 1
    assert client.get("/api/reading/episodes", params={"limit": 0}).status_code == 422


def test_a_body_is_refused_in_words(client: Any, project: ReadingProject) -> None:
    unknown = client.post("/api/reading/find-lines", json={"scope_ids": [project.page()], "colour": "red"})
    assert (unknown.status_code, unknown.json()["code"]) == (422, "invalid_request")
    none = client.post("/api/reading/find-lines", json={"scope_ids": []})
    assert none.status_code == 422


def test_the_readers_say_what_they_do(client: Any) -> None:
    answer = client.get("/api/reading/readers").json()
    by_name = {reader["name"]: reader for reader in answer["items"]}
    assert by_name["fake"]["can"] == ["find_lines", "read_lines", "read_page"]
    assert by_name["fake"]["installed"] is True
    assert (by_name["heavy"]["runtime"], by_name["heavy"]["installed"]) == ("absent", False)
    assert "broken" not in by_name


def test_the_models_of_this_machine_are_listed(client: Any, engine: Engine) -> None:
    path = store_model(engine)
    answer = client.get("/api/local-models").json()
    models = {model["model_id"]: model for model in answer["items"]}
    assert models["hand.fake"] == {
        "model_id": "hand.fake",
        "model_type": "fakes",
        "display_name": "hand",
        "size_bytes": len(MODEL),
        "is_downloaded": True,
        "expected_size_mb": None,
        "path": str(path),
        "metadata": {"readers": ["fake", "needy"], "shipped": False},
    }
    assert models["inside"]["metadata"]["shipped"] is True
    assert answer["disk_bytes"] >= len(MODEL)
    assert answer["count"] == len(answer["items"])


def test_a_model_is_downloaded_once(client: Any, engine: Engine, network: FakeNetwork) -> None:
    first = client.post("/api/local-models/download/fakes/10.1/known")
    assert (first.status_code, first.json()["status"]) == (200, "queued")
    assert (first.json()["model_type"], first.json()["model_id"]) == ("fakes", "10.1/known")
    second = client.post("/api/local-models/download/fakes/10.1/known")
    assert (second.json()["status"], second.json()["job_id"]) == ("queued", first.json()["job_id"])
    assert engine.jobs.run_until_idle(None)
    third = client.post("/api/local-models/download/fakes/10.1/known")
    assert (third.json()["status"], third.json()["job_id"]) == ("present", None)
    assert (models_folder(engine, "fakes") / "known.fake").read_bytes() == MODEL
    (item,) = (m for m in client.get("/api/local-models").json()["items"] if m["model_id"] == "known.fake")
    assert (item["display_name"], item["metadata"]["licence"]) == ("Known", "CC0-1.0")
    assert network.asked == ["https://models.example/10.1/known", "https://models.example/file"]


def test_a_damaged_download_is_discarded(engine: Engine, network: FakeNetwork) -> None:
    network.checksum = "0" * 32
    with pytest.raises(Exception, match="damaged on the way"):
        local_models.download(engine, "fakes", "10.1/known", lambda *_: None)
    assert list(models_folder(engine, "fakes").iterdir()) == []


def test_an_id_that_names_no_model(engine: Engine, network: FakeNetwork) -> None:
    with pytest.raises(Exception, match="There is no model 'nothing'"):
        local_models.download(engine, "fakes", "nothing")


def test_an_id_that_names_no_model_is_refused_before_anything_is_queued(
    client: Any, engine: Engine, network: FakeNetwork
) -> None:
    for path in ("fakes/nothing", "tesseract/foo", "tesseract/script/Nowhere"):
        answer = client.post(f"/api/local-models/download/{path}")
        assert (answer.status_code, answer.json()["code"]) == (404, "unknown_model"), answer.text
    assert network.asked == []
    with engine.state.read() as conn:
        raw = raw_of(conn)
        assert raw.execute("SELECT count(*) FROM job").fetchone() == (0,)


def test_downloads_that_are_refused(client: Any) -> None:
    unknown = client.post("/api/local-models/download/abacus/x")
    assert (unknown.status_code, unknown.json()["code"]) == (400, "unknown_runtime")
    nobody = client.post("/api/local-models/download/whisper/large")
    assert (nobody.status_code, nobody.json()["code"]) == (409, "no_runner")
    not_installed = client.post("/api/local-models/download/heavies/x")
    assert not_installed.status_code == 409
    assert "armarium runtime install absent" in not_installed.json()["detail"]


def test_offline_nothing_is_downloaded(make_engine: Any) -> None:
    from armarium_documents.plugin import armarium_plugin as documents_plugin
    from armarium_reading.plugin import armarium_plugin as reading_plugin
    from armarium_source_model.plugin import armarium_plugin as source_model_plugin

    plugins = [documents_plugin(), source_model_plugin(), reading_plugin()]
    engine = make_engine(plugins=plugins, local_only=True)
    register_fake_readers(engine)
    for client in http_client(engine):
        answer = client.post("/api/local-models/download/fakes/10.1/known")
        assert (answer.status_code, answer.json()["code"]) == (409, "offline")


def test_the_gate_is_the_engines_own(engine: Engine) -> None:
    assert isinstance(local_models.gate(engine), Egress)
    assert local_models.gate(engine).local_only is False


def test_a_model_is_removed(client: Any, engine: Engine) -> None:
    path = store_model(engine)
    answer = client.delete("/api/local-models/fakes/hand.fake")
    assert (answer.status_code, answer.json()["status"], answer.json()["freed_bytes"]) == (
        200,
        "deleted",
        len(MODEL),
    )
    assert not path.exists()
    second_answer = client.delete("/api/local-models/fakes/hand.fake")
    assert (second_answer.status_code, second_answer.json()["code"]) == (404, "unknown_model")


def test_models_of_a_runtime_or_an_unknown_kind_cannot_be_removed(client: Any, engine: Engine) -> None:
    assert client.delete("/api/local-models/heavies/inside").status_code == 409
    assert client.delete("/api/local-models/abacus/x").status_code == 400


def test_a_model_in_use_cannot_be_removed(
    engine: Engine, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = store_model(engine)
    monkeypatch.setattr(engine.workers, "in_use", lambda **_: True)
    with pytest.raises(Conflict, match="is in use"):
        local_models.removal(engine, "fakes", "hand")
    assert path.exists()


def test_a_model_that_a_waiting_job_needs_cannot_be_removed(client: Any, project: ReadingProject) -> None:
    store_model(project.engine)
    pause = "/api/activity/jobs/paused"
    assert client.put(pause, json={"paused": True}).status_code == 200
    started = {"scope_ids": [project.page()], "reader": "fake", "model": "hand.fake"}
    job_id = client.post("/api/reading/read-pages", json=started).json()["job_id"]
    one = "/api/local-models/fakes/hand.fake"
    refused = client.delete(one)
    assert (refused.status_code, refused.json()["code"]) == (409, "in_use")
    assert client.post(f"/api/activity/jobs/{job_id}/cancel").status_code == 200
    assert client.delete(one).status_code == 200


def test_a_model_that_is_a_folder_goes_by_its_name_and_is_removed_whole(
    client: Any, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fake_readers

    monkeypatch.setattr(fake_readers.FakeReader, "model_is_folder", True)
    path = store_model(engine, "hand/config.fake")
    (path.parent / "weights").write_bytes(MODEL)
    assert name_of(fake_readers.FakeReader, path) == "hand"
    assert name_of(fake_readers.FakeReader, None) == "fake"
    assert client.delete("/api/local-models/fakes/hand/config.fake").status_code == 200
    assert not path.parent.exists()


def test_a_source_that_names_another_kind_of_file_is_refused(
    engine: Engine, network: FakeNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fake_readers

    for name in ("notes.pdf", "../../known.fake"):
        remote = RemoteFile("https://models.example/file", name, None)
        monkeypatch.setattr(fake_readers.FakeReader, "remote", lambda *_, file=remote: file)
        with pytest.raises(Conflict, match="names a file this reader cannot use"):
            local_models.download(engine, "fakes", "10.1/known")
    assert network.asked == []
