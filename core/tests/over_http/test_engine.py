"""The engine over HTTP: its state, its end, and the page at the root."""

from __future__ import annotations

import os
from collections.abc import Callable

from armarium.projects.libraries import Library

from .conftest import AppClient


def test_the_root_leads_a_browser_to_the_reference_without_a_token(ask: AppClient) -> None:
    reply = ask("GET", "/", token=None)
    assert reply.status == 200
    assert reply.headers["content-type"].startswith("text/html")
    assert b'href="/docs"' in reply.body
    assert ask("GET", "/docs", token=None).status == 200
    assert ask("GET", "/", token=None, host="evil.com").code == "host_refused"


def test_the_owner_sees_the_state_of_the_engine(ask: AppClient, project: Library) -> None:
    answer = ask("GET", "/api/engine").json
    assert (answer["pid"], answer["mode"], answer["stopping"]) == (os.getpid(), "embedded", False)
    assert answer["projects"] == [str(project.path)]
    assert {queue["path"] for queue in answer["queues"]} <= {None, str(project.path)}


def test_an_engine_that_does_not_serve_by_itself_is_not_stopped(ask: AppClient) -> None:
    reply = ask("POST", "/api/engine/stop", json={})
    assert (reply.status, reply.code) == (409, "not_serving")
    assert ask("GET", "/api/health").status == 200


def test_only_an_owner_of_the_whole_engine_sees_and_stops_it(
    ask: AppClient, project: Library, device: Callable[..., str]
) -> None:
    ask.engine.stay.serving = True
    for token in (device("editor"), device("viewer"), device("owner", [str(project.path)])):
        for method, path in (("GET", "/api/engine"), ("POST", "/api/engine/stop")):
            reply = ask(method, path, token=token, json={} if method == "POST" else None)
            assert reply.status == 403, (path, reply.json)
    assert not ask.engine.stay.asked_to_go
    answer = ask("POST", "/api/engine/stop", token=device("owner"), json={"only_when_idle": True})
    assert (answer.status, answer.json) == (200, {"stopping": True, "in_hand": [], "carry_on": []})
    assert ask.engine.stay.asked_to_go
