"""Panels of plugins: a frame with a policy of its own, and a token that reaches what was declared and ends with the session."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from armarium.engine import Engine
from armarium.plugin import Panel, Plugin
from armarium.plugins.faults import faults_of
from armarium.web.app import create_app

from .conftest import AppClient

FRAME = {"Origin": "null"}
"""What the browser says of a sandboxed frame."""


@pytest.fixture
def panel(tmp_path: Path) -> Panel:
    folder = tmp_path / "panel"
    folder.mkdir()
    (folder / "panel.js").write_text("document.title = 'Here'")
    (tmp_path / "secret.txt").write_text("not for browsers")
    return Panel(
        "here", "<b>Here</b>", "page", folder, ("GET /api/library/settings", "GET /api/activity/jobs/{job}")
    )


@pytest.fixture
def ask(make_engine: Callable[..., Engine], panel: Panel) -> AppClient:
    engine = make_engine(plugins=[Plugin(name="seer", summary="A seer", panels=(panel,))])
    return AppClient(create_app(engine=engine))


@pytest.fixture
def project(ask: AppClient, tmp_path: Path) -> str:
    place = str(tmp_path / "P.library")
    assert ask("POST", "/api/library", json={"path": place, "name": "P"}).status == 200
    return place


def token_in(ask: AppClient, project: str, secret: str) -> str:
    headers = {"Cookie": f"service_session={secret}", "Origin": "http://127.0.0.1:8765"}
    answer = ask("POST", "/api/panels/seer/here/token", token=None, headers=headers, library=project)
    assert answer.status == 200, answer.body
    assert answer.json["routes"] == ["GET /api/library/settings", "GET /api/activity/jobs/{job}"]
    return str(answer.json["token"])


def sign_in(ask: AppClient) -> str:
    code = ask("POST", "/api/pair/code", json={"role": "owner", "browser": True}).json["code"]
    answer = ask("POST", "/api/auth/session", token=None, json={"code": code})
    return answer.headers["set-cookie"].partition(";")[0].partition("=")[2]


def test_a_panel_is_listed_and_its_frame_may_load_its_own_files_and_ask_the_engine_alone(
    ask: AppClient,
) -> None:
    (item,) = ask("GET", "/api/panels").json["items"]
    assert (item["plugin"], item["title"], item["place"]) == ("seer", "<b>Here</b>", "page")
    frame = ask("GET", item["address"], token=None)
    assert b"&lt;b&gt;Here" in frame.body
    policy = dict(part.split(" ", 1) for part in frame.headers["content-security-policy"].split("; "))
    own = "http://127.0.0.1:8765"
    assert policy["sandbox"] == "allow-scripts"
    assert policy["default-src"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert policy["script-src"] == f"{own}/panels/seer/here/"
    assert policy["connect-src"] == f"{own}/api/"
    assert policy["frame-ancestors"] == own
    script = ask("GET", "/panels/seer/here/panel.js", token=None, headers=FRAME)
    assert (script.status, script.headers["access-control-allow-origin"]) == (200, "null")
    for path in ("/panels/seer/here/..%2fsecret.txt", "/panels/seer/here/none.js", "/panels/seer/other/"):
        assert ask("GET", path, token=None).status == 404


def test_its_token_reaches_what_it_declared_in_this_project_alone(
    ask: AppClient, project: str, tmp_path: Path
) -> None:
    token = token_in(ask, project, sign_in(ask))
    headers = {**FRAME, "Access-Control-Request-Method": "GET"}
    before = ask("OPTIONS", "/api/library/settings", token=None, headers=headers)
    assert (before.status, before.headers["access-control-allow-origin"]) == (204, "null")
    assert "authorization" in before.headers["access-control-allow-headers"]
    settings = ask("GET", "/api/library/settings", token=token, headers=FRAME, library=project)
    assert settings.status == 200, settings.body
    assert settings.headers["access-control-allow-origin"] == "null"
    for method, path in (
        ("GET", "/api/registry"),
        ("GET", "/api/tokens"),
        ("PUT", "/api/library/settings"),
        ("POST", "/api/panels/seer/here/token"),
        ("POST", "/api/actions/invoke"),
        # It fits what was declared, and is a route of its own.
        ("GET", "/api/activity/jobs/derivatives"),
    ):
        refused = ask(method, path, token=token, headers=FRAME, library=project)
        assert (refused.status, refused.code) == (403, "undeclared_route"), path
    unknown = ask("GET", "/api/activity/jobs/none", token=token, headers=FRAME, library=project)
    assert unknown.status == 404
    other_path = str(tmp_path / "Q.library")
    ask("POST", "/api/library", json={"path": other_path, "name": "Q"})
    refused = ask("GET", "/api/library/settings", token=token, headers=FRAME, library=other_path)
    assert (refused.status, refused.code) == (403, "library_access_denied")


def test_its_token_has_an_editors_rights_at_most_and_is_a_machine(ask: AppClient, project: str) -> None:
    token = token_in(ask, project, sign_in(ask))
    entry = ask.engine.auth.book.find(token)
    assert (entry.role, entry.person, entry.name) == ("editor", False, "seer/here")
    assert entry.libraries == frozenset({project})


def test_its_token_ends_with_the_session_and_with_the_next_one(ask: AppClient, project: str) -> None:
    secret = sign_in(ask)
    first = token_in(ask, project, secret)
    token = token_in(ask, project, secret)
    assert ask("GET", "/api/library/settings", token=first, library=project).code == "invalid_token"
    headers = {"Cookie": f"service_session={secret}", "Origin": "http://127.0.0.1:8765"}
    assert ask("DELETE", "/api/auth/session", token=None, headers=headers).status == 200
    ended = ask("GET", "/api/library/settings", token=token, headers=FRAME, library=project)
    assert (ended.status, ended.code) == (401, "token_revoked")


def test_a_frame_without_a_panels_token_is_refused_as_before(ask: AppClient, project: str) -> None:
    secret = sign_in(ask)
    for given in (
        {"token": None},
        {},
        {"token": None, "headers": {**FRAME, "Cookie": f"service_session={secret}"}},
    ):
        refused = ask("GET", "/api/library/settings", library=project, **{"headers": FRAME, **given})
        assert (refused.status, refused.code) == (403, "origin_refused"), given
    assert ask("GET", "/", token=None, headers=FRAME).code == "origin_refused"
    assert ask("POST", "/api/pair", token=None, headers=FRAME, json={"code": "x"}).code == "origin_refused"


def test_a_machine_gets_no_panel_and_an_unknown_one_is_named(ask: AppClient, project: str) -> None:
    assert ask("POST", "/api/panels/seer/none/token", library=project).code == "unknown_panel"
    answer = ask("POST", "/api/actions/invoke", json={"name": "token.create", "params": {"name": "agent"}})
    agent = answer.json["result"]["token"]
    assert ask("POST", "/api/panels/seer/here/token", token=agent, library=project).code == "person_only"


def test_a_panel_that_is_declared_wrongly_refuses_the_plugin_with_a_sentence(
    panel: Panel, tmp_path: Path
) -> None:
    def faults(**change: Any) -> str:
        return " ".join(faults_of(Plugin(name="seer", summary="A seer", panels=(replace(panel, **change),))))

    assert faults() == ""
    assert "places are page, entity, work, figures" in faults(place="ceiling")
    assert "no panel.js" in faults(folder=tmp_path)
    assert "write a route as its method" in faults(routes=("/api/library",))
    assert "no title" in faults(title=" ")
    assert "not allowed" in faults(name="../x")
