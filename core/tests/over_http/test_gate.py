"""The gate in tables: host, origin, content type and token, for every route of the whole app."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator

import pytest
from fastapi import FastAPI

from armarium.engine import Engine
from armarium.projects.libraries import Library
from armarium.store.database import raw_of
from armarium.web.app import create_app
from armarium.web.gate import is_open
from armarium.web.request_headers import is_loopback_host
from armarium.web.routing import routes_of
from armarium_testing.fixtures import OWNER_TOKEN

from .conftest import AppClient

GOOD_HOSTS = (
    *("127.0.0.1", "127.0.0.1:8765", "localhost", "LOCALHOST:1", "LocalHost:65535", "127.8.9.10:80"),
    *("[::1]", "[::1]:8765", "[0:0:0:0:0:0:0:1]:80", "[::ffff:127.0.0.1]:8765", "[::FFFF:127.0.0.1]"),
)
BAD_HOSTS = (
    *(
        "",
        "example.com",
        "localhost.evil.com",
        "evil.localhost.com",
        "127.0.0.1.evil.com",
        "localhost.",
        "xlocalhost",
    ),
    *("192.168.0.1:8765", "10.0.0.1", "0.0.0.0", "[::]", "[fe80::1]", "[::1", "::1", "::1:8765", "[::1]x"),
    *(
        "localhost:0",
        "localhost:65536",
        "localhost:x",
        "localhost:80:80",
        "localhost@evil.com",
        "evil.com@localhost",
    ),
    *(
        "localhost/evil",
        "localhost evil",
        "127.1",
        "2130706433",
        "0x7f.0.0.1",
        "127.0.0.01",
        "[::ffff:8.8.8.8]",
    ),
    *("localhost,evil.com", "ⓛocalhost".encode().decode("latin-1"), "[::1%25lo]", "169.254.169.254"),
)
FOREIGN_ORIGINS = (
    *(
        "http://evil.com",
        "https://evil.com",
        "null",
        "http://localhost.evil.com:8765",
        "http://127.0.0.1:9999",
    ),
    *(
        "http://localhost:8765",
        "file://",
        "http://127.0.0.1",
        "http://127.0.0.1:8765.evil.com",
        "",
        "127.0.0.1:8765",
    ),
)
"""Requests go to the host 127.0.0.1:8765, so another port or another name of the machine is another origin."""


def every_route(app: FastAPI) -> Iterator[tuple[str, str]]:
    """Return each method and path of the app, with path parameters filled in."""
    for path in ("/openapi.json", "/docs", "/redoc"):
        yield "GET", path
    for route in routes_of(app.routes):
        path = "/".join("x" if "{" in word else word for word in route.path.split("/"))
        for method in sorted(route.methods or ()):
            yield method, path


@pytest.fixture
def whole(make_engine: Callable[..., Engine]) -> AppClient:
    """The app with every installed plugin."""
    return AppClient(create_app(engine=make_engine()))


@pytest.mark.parametrize("host", GOOD_HOSTS)
def test_a_loopback_name_is_let_in(ask: AppClient, host: str) -> None:
    assert ask("GET", "/api/health", host=host).status == 200


@pytest.mark.parametrize("host", BAD_HOSTS)
def test_any_other_host_is_refused(ask: AppClient, host: str) -> None:
    reply = ask("GET", "/api/health", host=host)
    assert (reply.status, reply.code) == (403, "host_refused")
    assert not is_loopback_host(host)


def test_no_host_and_two_hosts_are_refused(ask: AppClient) -> None:
    assert ask("GET", "/api/health", host=None).code == "host_refused"
    assert ask("GET", "/api/health", headers={"Host": "127.0.0.1:8765"}).code == "host_refused"


def test_no_route_is_exempt_from_the_host_check(whole: AppClient) -> None:
    for method, path in every_route(whole.app):
        for host in ("evil.com", "localhost.evil.com", "[fe80::1]:8765"):
            assert whole(method, path, host=host).code == "host_refused", (method, path, host)


def is_linked(path: str) -> bool:
    """Whether the token stands in the path: then it is no credential that a browser would add, and needs no header."""
    return path.startswith("/api/reconcile/")


def test_no_route_serves_a_foreign_page(whole: AppClient) -> None:
    for method, path in every_route(whole.app):
        for origin in FOREIGN_ORIGINS:
            if origin == "null" and path.startswith("/panels/"):
                # The files of panels, which contain nothing of a project, are loaded by frames without an origin.
                continue
            if is_linked(path):
                continue
            reply = whole(method, path, headers={"Origin": origin})
            assert (reply.status, reply.code) == (403, "origin_refused"), (method, path, origin)
            assert not [name for name in reply.headers if name.startswith("access-control-")]


def test_no_write_takes_what_a_foreign_form_can_send(whole: AppClient) -> None:
    for method, path in every_route(whole.app):
        if method == "GET" or is_linked(path):
            continue
        for kind in ("text/plain", "TEXT/PLAIN; charset=utf-8", "application/x-www-form-urlencoded", None):
            reply = whole(method, path, body=b'{"path": "/x"}', content_type=kind)
            assert (reply.status, reply.code) == (422, "invalid_request"), (method, path, kind)


def test_only_the_listed_routes_answer_without_a_token(whole: AppClient) -> None:
    for method, path in every_route(whole.app):
        reply = whole(method, path, token=None, json={} if method != "GET" else None)
        if is_open(path):
            assert reply.status in (200, 404, 422), (method, path)
            continue
        expected = "invalid_token" if is_linked(path) else "missing_token"
        assert (reply.status, reply.code) == (401, expected), (method, path)
        whole.engine.auth.attempts._failures.clear()
        assert reply.headers["www-authenticate"] == "Bearer"


def test_no_route_takes_a_token_that_is_nearly_right(whole: AppClient) -> None:
    nearly = (OWNER_TOKEN[:-1], OWNER_TOKEN + "x", OWNER_TOKEN.swapcase(), f"{OWNER_TOKEN} {OWNER_TOKEN}")
    for method, path in every_route(whole.app):
        if is_open(path):
            continue
        for token in nearly:
            whole.engine.auth.attempts._failures.clear()
            reply = whole(method, path, token=token)
            assert (reply.status, reply.code) == (401, "invalid_token"), (method, path)


def test_a_refused_request_changes_nothing(whole: AppClient) -> None:
    def steps() -> int:
        with whole.engine.state.read() as conn:
            raw = raw_of(conn)
            return int(raw.execute("SELECT count(*) FROM audit").fetchone()[0])

    before = steps()
    for method, path in every_route(whole.app):
        body = {"json": {}} if method != "GET" else {}
        whole(method, path, host="evil.com", **body)
        whole(method, path, headers={"Origin": "http://evil.com"}, **body)
        whole(method, path, token=None, **body)
    assert steps() == before


@pytest.mark.parametrize("scheme", ["Basic", "Token", "bearertoken", ""])
def test_another_scheme_presents_no_token(ask: AppClient, scheme: str) -> None:
    reply = ask(
        "GET", "/api/clients", token=None, headers={"Authorization": f"{scheme} {OWNER_TOKEN}".strip()}
    )
    assert reply.code == "missing_token"


def test_the_scheme_is_read_in_any_case(ask: AppClient) -> None:
    reply = ask("GET", "/api/clients", token=None, headers={"Authorization": f"bEARER  {OWNER_TOKEN}"})
    assert reply.status == 200


def test_every_answer_forbids_sniffing_and_none_opens_cors(ask: AppClient) -> None:
    for reply in (
        ask("GET", "/api/health"),
        ask("GET", "/api/clients"),
        ask("GET", "/nowhere"),
        ask("GET", "/api/health", host="evil.com"),
        ask("GET", "/api/clients", headers={"Origin": "http://127.0.0.1:8765"}),
        ask("OPTIONS", "/api/clients", token=None),
    ):
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert not [name for name in reply.headers if name.startswith("access-control-")]


def test_a_preflight_is_refused_where_no_origin_was_named(ask: AppClient) -> None:
    reply = ask(
        "OPTIONS",
        "/api/clients",
        token=None,
        headers={"Origin": "http://evil.com", "Access-Control-Request-Method": "GET"},
    )
    assert (reply.status, reply.code) == (403, "origin_refused")


def test_named_origins_get_cors_and_no_other(make_engine: Callable[..., Engine]) -> None:
    ask = AppClient(create_app(engine=make_engine(plugins=[], cors_origins=["http://desk.test:3000"])))
    own = {"Origin": "http://desk.test:3000"}
    preflight = ask(
        "OPTIONS", "/api/clients", token=None, headers={**own, "Access-Control-Request-Method": "PUT"}
    )
    assert preflight.status == 204
    assert preflight.headers["access-control-allow-origin"] == "http://desk.test:3000"
    assert "authorization" in preflight.headers["access-control-allow-headers"]
    reply = ask("GET", "/api/clients", headers=own)
    assert (reply.status, reply.headers["access-control-allow-origin"]) == (200, "http://desk.test:3000")
    assert "access-control-allow-credentials" not in reply.headers
    assert ask("GET", "/api/clients", token=None, headers=own).status == 401
    assert ask("GET", "/api/clients", headers={"Origin": "http://desk.test:3001"}).code == "origin_refused"


def test_clients_are_counted_by_the_name_they_give_else_by_their_transport(ask: AppClient) -> None:
    ask("GET", "/api/health", headers={"X-Service-Client": "desk"})
    ask("GET", "/api/clients", headers={"X-Service-Client": "desk"})
    ask("GET", "/api/clients", headers={"X-Service-Client": "x" * 200})
    ask("GET", "/api/clients", client=None)
    ask("GET", "/api/clients", token="wrong", headers={"X-Service-Client": "stranger"})
    clients_by_client = {client["client"]: client for client in ask("GET", "/api/clients").json["clients"]}
    assert set(clients_by_client) == {"desk", "x" * 80, "uds", "tcp"}
    assert (clients_by_client["desk"]["requests"], clients_by_client["desk"]["transport"]) == (2, "tcp")
    assert clients_by_client["uds"]["transport"] == "uds"
    assert clients_by_client["desk"]["first_seen"] <= clients_by_client["desk"]["last_seen"]


def test_an_internal_error_is_reported_without_its_message(
    ask: AppClient, caplog: pytest.LogCaptureFixture
) -> None:
    @ask.app.get("/api/broken")
    async def fail() -> None:
        raise ValueError("a line of the source")

    reply = ask("GET", "/api/broken")
    assert (reply.status, reply.code) == (500, "internal_error")
    assert "a line of the source" not in caplog.text + reply.body.decode()
    assert "ValueError at fail" in caplog.text


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.ENOSPC, "disk_full"),
        (errno.EROFS, "read_only"),
        (errno.EACCES, "read_only"),
        (errno.EIO, "disk_error"),
        (errno.EMFILE, "too_many_files"),
    ],
)
def test_a_disk_that_refuses_a_file_is_refused_with_a_sentence(
    ask: AppClient, number: int, code: str
) -> None:
    @ask.app.get("/api/written")
    async def write() -> None:
        raise OSError(number, "no", "/a/path")

    reply = ask("GET", "/api/written")
    assert (reply.status, reply.code) == (503, code)
    assert "/a/path" not in reply.body.decode()


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nowhere", 404, "not_found"),
        ("PUT", "/api/health", 405, "method_not_allowed"),
        ("POST", "/api/actions/invoke", 422, "invalid_request"),
    ],
)
def test_what_no_route_takes_is_refused_with_a_sentence(
    ask: AppClient, method: str, path: str, status: int, code: str
) -> None:
    reply = ask(method, path, **({"json": {"nonsense": 1}} if method == "POST" else {}))
    assert (reply.status, reply.code) == (status, code)
    assert reply.json["detail"].endswith(".")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("OPTIONS", "/api/settings/compute", "GET, HEAD, PUT"),
        ("DELETE", "/api/tokens", "GET, HEAD, POST"),
        # A literal path takes precedence over a template that would match it too (OpenAPI, Path Templating).
        ("GET", "/api/actions/audit/undo", "POST"),
        ("DELETE", "/api/registry/open", "GET, HEAD"),
        ("POST", "/api/actions/audit/verify", "GET, HEAD"),
        ("PUT", "/api/actions/audit/an-id", "GET, HEAD"),
    ],
)
def test_a_wrong_method_is_refused_with_every_method_of_the_path(
    ask: AppClient, method: str, path: str, allowed: str
) -> None:
    reply = ask(method, path)
    assert (reply.status, reply.code, reply.headers["allow"]) == (405, "method_not_allowed", allowed)


@pytest.mark.parametrize("token", ["%C3%AB", "a%20b", "x" * 70, "%00"])
def test_a_malformed_id_in_a_path_is_answered_like_an_unknown_one(ask: AppClient, token: str) -> None:
    reply = ask("DELETE", f"/api/tokens/{token}")
    assert (reply.status, reply.code) in ((404, "not_found"), (404, "unknown_token"))
    assert reply.json["detail"].startswith("There is no token ")


def test_a_body_that_is_no_json_is_refused_without_echo(ask: AppClient) -> None:
    reply = ask("POST", "/api/actions/invoke", body=b'{"name": "secret-word', content_type="application/json")
    assert (reply.status, reply.code) == (422, "invalid_request")
    assert b"secret-word" not in reply.body
    assert reply.json["detail"] == "body.9: the body is no JSON from this character on."
    reply = ask("POST", "/api/actions/invoke", body=b"\xff\xfe\x00", content_type="application/json")
    assert reply.status == 400


@pytest.mark.parametrize(
    "params",
    [{"name": "\ud800"}, {"snapshot_retention_count": 10**30}, {"name": "x", "entity_types": ["\udfff"]}],
)
def test_what_a_database_cannot_hold_is_no_fault_inside(
    ask: AppClient, project: object, params: dict[str, object]
) -> None:
    import json

    library = str(project.path)  # type: ignore[attr-defined]
    body = json.dumps(params).encode()
    reply = ask("PATCH", "/api/library/settings", body=body, content_type="application/json", library=library)
    assert reply.status == 422
    assert reply.json["errors"]


@pytest.mark.parametrize(
    ("path", "body", "where"),
    [
        ("/api/activity/jobs/paused", {"paused": 0}, "paused"),
        ("/api/activity/jobs/paused", {"paused": "yes"}, "paused"),
        ("/api/library/settings", {"snapshot_interval_seconds": False}, "snapshot_interval_seconds"),
        ("/api/library/settings", {"snapshot_retention_count": "3"}, "snapshot_retention_count"),
        ("/api/library/settings", {"scripts": [{"script": "Latn", "declared": 1}]}, "scripts.0.declared"),
    ],
)
def test_one_kind_of_value_is_not_taken_for_another(
    ask: AppClient, project: Library, path: str, body: dict[str, object], where: str
) -> None:
    reply = ask("PATCH" if path.endswith("settings") else "PUT", path, json=body, library=project.path)
    assert (reply.status, reply.code) == (422, "invalid_request")
    assert where in [".".join(map(str, fault["loc"][1:])) for fault in reply.json["errors"]]
