"""The published description and the routing: every route is described, and the same route is found as by FastAPI."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi import APIRouter, Depends
from starlette.responses import FileResponse, StreamingResponse
from starlette.routing import Match

from armarium.engine import Engine
from armarium.plugin import Plugin
from armarium.web.app import create_app
from armarium.web.gate import CREDENTIAL_PATH, OPEN_PATHS
from armarium.web.http import json_response
from armarium.web.routing import Switch, routes_of

from .conftest import AppClient


@pytest.fixture
def whole(make_engine: Callable[..., Engine]) -> AppClient:
    return AppClient(create_app(engine=make_engine()))


def operations(document: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (path, method, operation)
        for path, found in document["paths"].items()
        for method, operation in found.items()
    ]


def test_every_route_has_a_summary_its_answer_and_its_refusals(whole: AppClient) -> None:
    document = whole("GET", "/openapi.json", token=None).json
    seen: set[str] = set()
    for path, method, operation in operations(document):
        where = f"{method} {path}"
        assert operation.get("summary"), where
        assert operation["operationId"] not in seen, where
        seen.add(operation["operationId"])
        answers = operation["responses"]
        assert any(status.startswith("2") or status == "303" for status in answers), where
        for status in ("401", "403", "422"):
            assert status in answers, where
            assert answers[status]["content"]["application/json"]["schema"] == {
                "$ref": "#/components/schemas/ErrorBody"
            }, where
        success = next(
            (answer for status, answer in answers.items() if status.startswith("2")), answers.get("303", {})
        )
        json = success.get("content", {}).get("application/json")
        assert json is None or json.get("schema"), f"{where} does not say what it answers"


def test_the_description_names_tokens_and_projects(whole: AppClient) -> None:
    document = whole("GET", "/openapi.json", token=None).json
    assert set(document["components"]["securitySchemes"]) == {"bearer", "session"}
    for path, method, operation in operations(document):
        free = path in OPEN_PATHS or path == CREDENTIAL_PATH
        assert ("security" in operation) != free, f"{method} {path}"
    headers = {
        path: [p["name"] for p in operation.get("parameters", []) if p["in"] == "header"]
        for path, method, operation in operations(document)
        if method == "get"
    }
    assert headers["/api/library/stats"] == ["X-Service-Library-Path"]
    assert headers["/api/actions/audit"] == ["X-Service-Library-Path"]
    assert headers["/api/registry"] == headers["/api/actions/registry"] == headers["/api/tokens"] == []


def test_the_switch_finds_the_most_literal_route_that_fits(whole: AppClient) -> None:
    switch = whole.app.router.middleware_stack
    assert isinstance(switch, Switch)
    routes = list(routes_of(whole.app.routes))
    assert len(routes) > 25
    paths = {"/".join("x" if "{" in word else word for word in route.path.split("/")) for route in routes}
    paths |= {f"{path}/more" for path in paths} | {
        "/api",
        "/",
        "//",
        "/api//x",
        "/api/registry/a/b/c.library",
    }
    for path in paths:
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
            scope = {"type": "http", "method": method, "path": path, "headers": []}
            fitting = [route for route in routes if route.matches(dict(scope))[0] == Match.FULL]
            # The most literal match; of two equal ones the first registered.
            plain = min(
                fitting, key=lambda r: [(":path" in w, "{" in w) for w in r.path.split("/")], default=None
            )
            quick = next(
                (
                    candidate
                    for candidate in switch.candidates(method, path)
                    if candidate.matches(dict(scope))[0] == Match.FULL
                ),
                None,
            )
            assert plain is quick, (method, path)


def test_routers_of_every_kind_still_answer(make_engine: Callable[..., Engine]) -> None:
    router, inner = APIRouter(prefix="/api/kind"), APIRouter()

    @router.get("/{name}.json")
    async def answer_with_suffix(name: str) -> Any:
        return json_response({"suffixed": name})

    @router.get("/{name}")
    async def plain(name: str) -> Any:
        return json_response({"plain": name})

    @inner.get("/deep/{rest:path}")
    async def deep(rest: str, word: str = Depends(lambda: "depended")) -> Any:
        return json_response({"deep": rest, "word": word})

    router.include_router(inner, prefix="/inner")
    ask = AppClient(
        create_app(engine=make_engine(plugins=[Plugin(name="kind", summary="kinds", routers=(router,))]))
    )
    assert ask("GET", "/api/kind/a.json").json == {"suffixed": "a"}
    assert ask("GET", "/api/kind/a").json == {"plain": "a"}
    assert ask("GET", "/api/kind/inner/deep/x/y/z").json == {"deep": "x/y/z", "word": "depended"}
    assert ask("POST", "/api/kind/a", json={}).status == 405
    assert ask("GET", "/api/kind/a/b").status == 404

    @ask.app.get("/api/later")
    async def later() -> Any:
        return json_response({"later": True})

    assert ask("GET", "/api/later").json == {"later": True}


def test_head_answers_wherever_get_does_with_its_headers_and_no_body(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    router, inner = APIRouter(prefix="/api/kind"), APIRouter()
    (tmp_path / "page.bin").write_bytes(b"\x00" * 300_000)
    drawn: list[int] = []

    @router.get("/file")
    async def file() -> Any:
        return FileResponse(tmp_path / "page.bin", media_type="application/octet-stream")

    @router.get("/stream")
    async def stream() -> Any:
        async def endless() -> AsyncIterator[bytes]:
            while True:
                drawn.append(1)
                yield b"more"

        return StreamingResponse(endless(), media_type="text/event-stream")

    @inner.get("/deep")
    async def deep() -> Any:
        return json_response({"deep": True})

    @router.post("/only")
    async def only() -> Any:
        return json_response({})

    router.include_router(inner, prefix="/inner")
    ask = AppClient(
        create_app(engine=make_engine(plugins=[Plugin(name="kind", summary="kinds", routers=(router,))]))
    )
    for path in ("/api/registry", "/api/health", "/openapi.json", "/docs", "/api/kind/inner/deep"):
        head, whole = ask("HEAD", path), ask("GET", path)
        assert (head.status, head.body) == (200, b""), path
        assert head.headers["content-type"] == whole.headers["content-type"]
        if path != "/api/health":
            assert int(head.headers["content-length"]) == len(whole.body), path
    file_head = ask("HEAD", "/api/kind/file", headers={"Range": "bytes=0-9"})
    assert (file_head.status, file_head.headers["content-length"], file_head.body) == (206, "10", b"")
    assert ask("HEAD", "/api/kind/file").headers["content-length"] == "300000"
    assert (ask("HEAD", "/api/kind/stream").status, len(drawn)) == (200, 1)
    # HEAD is refused as GET is; a route without GET has no HEAD.
    assert ask("HEAD", "/api/registry", token=None).status == 401
    assert ask("HEAD", "/api/library/stats").status == 400
    assert ask("HEAD", "/api/nowhere").status == 404
    refused = ask("HEAD", "/api/kind/only")
    assert (refused.status, refused.headers["allow"]) == (405, "POST")
    assert ask("DELETE", "/api/kind/file").headers["allow"] == "GET, HEAD"


def test_the_reference_pages_are_our_own_and_load_nothing_from_elsewhere(ask: AppClient) -> None:
    for path in ("/docs", "/redoc"):
        reply = ask("GET", path, token=None)
        text = reply.body.decode()
        assert (reply.status, reply.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert not re.findall(r"(?:src|href)\s*=\s*.?(?:https?:)?//", text)
        script = text.partition("<script>")[2].partition("</script>")[0]
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        policy = reply.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'")
        assert f"script-src 'sha256-{digest}'" in policy
        assert "innerHTML" not in script
    assert ask("GET", "/docs/oauth2-redirect").status == 404
