"""Secrets and page text are never logged, and tokens are never stored in clear."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from armarium.engine import Engine
from armarium.principals import LOCAL_OWNER
from armarium.web.app import create_app
from armarium_testing.fixtures import OWNER_TOKEN

WORDS = "canarywordsofapage"
FALSE_TOKEN = "canaryfalsetoken0123456789abcdef"


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> Callable[[], str]:
    caplog.set_level(logging.DEBUG)
    return lambda: "\n".join(f"{record.getMessage()} {record.exc_text or ''}" for record in caplog.records)


def everything_in(folder: Path, *but: str) -> bytes:
    """Return the content of all files beneath *folder*, except those with these names."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name not in but)
    return b"".join(path.read_bytes() for path in files)


def test_page_text_and_tokens_stay_out_of_logs_and_audit(
    make_engine: Callable[..., Engine], tmp_path: Path, logged: Callable[[], str]
) -> None:
    from PIL import Image

    engine = make_engine()
    place = tmp_path / "Quiet.library"
    engine.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER)
    library = engine.libraries.get(place)
    Image.new("L", (40, 40), 200).save(tmp_path / "page.png")
    engine.run(library, "document.import", {"paths": [str(tmp_path / "page.png")]}, LOCAL_OWNER)
    engine.jobs.run_until_idle(library)
    client = TestClient(
        create_app(engine=engine),
        base_url="http://127.0.0.1",
        client=("127.0.0.1", 50000),
        raise_server_exceptions=False,
    )
    named = {"X-Service-Library-Path": quote(str(place))}
    owner = {**named, "Authorization": f"Bearer {OWNER_TOKEN}"}
    agent = client.post("/api/tokens", json={"name": "a"}, headers=owner).json()["token"]
    page = library.db
    with page.read() as conn:
        document_id, rendition_id = conn.exec_driver_sql("SELECT document_id, id FROM rendition").one()
    line = {"key": "1", "rect": [0.1, 0.1, 0.5, 0.2], "kind": "line"}
    result = engine.run(
        library,
        "segment.take_lines",
        {
            "document_id": document_id,
            "rendition_id": rendition_id,
            "name": "p",
            "provider": "t",
            "lines": [line],
        },
        LOCAL_OWNER,
    ).result
    assert result is not None
    segment = result["segment_ids"][0]
    answer = client.post(f"/api/segments/{segment}/correct", json={"text": WORDS}, headers=owner)
    assert answer.status_code == 200
    client.get(
        f"/api/segments/document/{document_id}/text", headers={**named, "Authorization": f"Bearer {agent}"}
    )
    client.get("/api/documents", headers={**named, "Authorization": f"Bearer {FALSE_TOKEN}"})
    client.post(f"/api/segments/{segment}/correct", json={"text": WORDS, "odd": WORDS}, headers=owner)
    client.post("/api/pair", json={"code": "WRNG-CODE", "device_name": "d"})
    library.db.backup(tmp_path / "copy.sqlite")
    engine.state.backup(tmp_path / "state.sqlite")
    log = logged()
    for secret in (OWNER_TOKEN, agent, FALSE_TOKEN, WORDS):
        assert secret not in log
    state = (tmp_path / "state.sqlite").read_bytes()
    for secret in (OWNER_TOKEN, agent, FALSE_TOKEN):
        assert secret.encode() not in state
        assert secret.encode() not in (tmp_path / "copy.sqlite").read_bytes()
    # Nor are there secrets in files: in the state folder only the two private ones have any, in a project none does.
    kept = everything_in(engine.settings.state_dir, "owner-token", "enrollment-secret") + everything_in(place)
    assert kept.count(b"SQLite format 3") >= 2
    for secret in (OWNER_TOKEN, agent, FALSE_TOKEN):
        assert secret.encode() not in kept
    with library.db.read() as conn:
        audit = conn.exec_driver_sql(
            "SELECT group_concat(params || target_ids || changed) FROM audit"
        ).scalar()
    assert WORDS not in audit


def test_a_logged_token_would_be_detected(logged: Callable[[], str]) -> None:
    logging.getLogger("armarium.anything").debug("token %s", FALSE_TOKEN)
    assert FALSE_TOKEN in logged()
