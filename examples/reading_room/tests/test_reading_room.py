"""The example family keeps everything the engine promises, without a line about undo, audit or rights."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from armarium.api import Engine, Library
from armarium.principals import LOCAL_OWNER
from armarium_cli.declared import SESSIONS
from armarium_documents.plugin import armarium_plugin as documents_plugin
from armarium_testing.conformance import exercise_plugin
from armarium_testing.fixtures import http_client
from armarium_testing.recipe_jobs import exercise_recipe_job

VISIT = {"visitor": "Inés", "day": "2026-03-01", "remark": "looked for the seal"}


@pytest.fixture
def engine(make_engine: Callable[..., Engine], monkeypatch: pytest.MonkeyPatch) -> Engine:
    """An engine with documents and the reading room, which need not be installed."""
    monkeypatch.setattr(sys, "path", [str(Path(__file__).resolve().parents[1] / "src"), *sys.path])
    from armarium_reading_room import plugin

    return make_engine(plugins=[documents_plugin(), plugin])


@pytest.fixture
def library(engine: Engine, tmp_path: Path) -> Library:
    """An empty project."""
    engine.run(None, "library.create", {"path": str(tmp_path / "Room.library")}, LOCAL_OWNER)
    return engine.libraries.get(tmp_path / "Room.library")


@pytest.fixture
def client(engine: Engine, library: Library) -> Iterator[Any]:
    """The owner's client in the project."""
    yield from http_client(engine, library)


@pytest.fixture
def letter(engine: Engine, library: Library) -> str:
    """The id of a document."""
    return str((engine.run(library, "document.create", {"name": "A letter"}, LOCAL_OWNER).result or {})["id"])


def test_its_actions_conform(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "kit").mkdir()
    assert exercise_plugin(engine, "reading_room", tmp_path / "kit") == []


def test_its_visits_are_offered_to_exports(engine: Engine) -> None:
    answered = {point.name: point.answered_by for point in engine.points.describe()}
    assert "reading_room" in answered["armarium_exports_records"]


def test_its_recipe_job_conforms(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "kit").mkdir()
    assert exercise_recipe_job(engine, "reading_room-visit", tmp_path / "kit") == []


def test_a_visit_is_noted_listed_undone_and_redone(client: Any, letter: str) -> None:
    place = f"/api/documents/{letter}/visits"
    noted = client.post(place, json=VISIT).json()
    assert client.get(place).json()["items"][0]["visitor"] == "Inés"
    undone = client.post(f"/api/actions/audit/{noted['audit_id']}/undo").json()
    assert client.get(place).json() == {"items": [], "count": 0, "withheld": 0}
    client.post(f"/api/actions/audit/{undone['audit_ids'][0]}/undo")
    assert client.get(place).json()["items"] == [{"id": noted["id"], "document_id": letter, **VISIT}]


def test_undo_restores_a_struck_visit(client: Any, letter: str) -> None:
    place = f"/api/documents/{letter}/visits"
    noted = client.post(place, json=VISIT).json()
    body = {"name": "reading_room.strike_visit", "params": {"visit_id": noted["id"]}}
    struck = client.post("/api/actions/invoke", json=body).json()
    assert client.get(place).json()["count"] == 0
    client.post(f"/api/actions/audit/{struck['audit_id']}/undo")
    assert client.get(place).json()["items"][0]["remark"] == "looked for the seal"


def test_the_remark_is_not_in_the_audit_log(client: Any, letter: str) -> None:
    client.post(f"/api/documents/{letter}/visits", json=VISIT)
    assert "looked for the seal" not in client.get("/api/actions/audit").text


@pytest.mark.parametrize(("method", "path"), [("get", "visits"), ("post", "visits")])
def test_an_unknown_document_is_refused(client: Any, method: str, path: str) -> None:
    options = {"json": VISIT} if method == "post" else {}
    answer = client.request(method, f"/api/documents/{'0' * 32}/{path}", **options)
    assert answer.status_code == 404
    assert answer.json()["detail"]


def test_an_unknown_visit_is_refused(client: Any) -> None:
    body = {"name": "reading_room.strike_visit", "params": {"visit_id": "0" * 32}}
    answer = client.post("/api/actions/invoke", json=body)
    assert answer.status_code == 404
    assert "There is no visit" in answer.json()["detail"]


def test_the_visits_of_a_document_are_struck_in_the_background_and_restored_as_a_set(
    engine: Engine, library: Library, client: Any, letter: str
) -> None:
    place = f"/api/documents/{letter}/visits"
    for day in ("2026-03-01", "2026-03-02", "2026-03-03"):
        client.post(place, json={**VISIT, "day": day})
    started = (
        engine.run(library, "reading_room.strike_visits", {"document_id": letter}, LOCAL_OWNER).result or {}
    )
    engine.jobs.run_until_idle(library)
    job = client.get(f"/api/activity/jobs/{started['job_id']}").json()
    assert (job["state"], job["result"]) == ("done", {"struck": 3})
    assert client.get(place).json()["count"] == 0
    steps = client.get("/api/actions/audit", params={"set_id": started["job_id"]}).json()["items"]
    client.post("/api/actions/audit/undo", json={"audit_ids": [step["id"] for step in steps]})
    assert client.get(place).json()["count"] == 3


def test_its_command_lists_the_visits_of_a_document(
    engine: Engine,
    client: Any,
    letter: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from contextlib import contextmanager

    from armarium_reading_room import cli

    client.post(f"/api/documents/{letter}/visits", json=VISIT)

    class Questions:
        def get(self, path: str, **query: Any) -> Any:
            return client.get(path, params=query).json()

    @contextmanager
    def session() -> Iterator[Questions]:
        yield Questions()

    monkeypatch.setattr("armarium_cli.output.wants_json", lambda: False)
    monkeypatch.setitem(SESSIONS, "project", session)
    cli.visits(document=letter)
    output = capsys.readouterr().out
    assert "looked for the seal" in output
    assert "1 visit." in output
