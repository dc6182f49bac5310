"""The page at `/`: a plugin's web application, its files, and what takes its place."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from armarium.engine import Engine
from armarium.plugin import Plugin, Site
from armarium.web.app import create_app

from .conftest import AppClient, Reply

SCRIPT = b"document.title = 'Pages'"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A small application, built."""
    folder = tmp_path / "app"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>Pages</title>")
    (folder / "assets" / "main-3f2a.js").write_bytes(SCRIPT)
    (folder / "assets" / "main-3f2a.js.gz").write_bytes(gzip.compress(SCRIPT))
    (tmp_path / "secret.txt").write_text("not for browsers")
    return Site(folder, "Run make base to build it.")


class Patient(AppClient):
    """Stays until a file was sent whole."""

    async def _ask(self, scope: dict[str, Any], parts: list[bytes]) -> Reply:
        return await super()._ask({**scope, "asgi": {"version": "3.0", "spec_version": "2.4"}}, parts)


@pytest.fixture
def ask(make_engine: Callable[..., Engine], site: Site) -> AppClient:
    """Sends requests to an engine with that application, without a token."""
    plugins = [Plugin(name="desk", summary="A desk", site=site), Plugin(name="other", summary="Another")]
    return Patient(create_app(engine=make_engine(plugins=plugins)))


def test_the_application_is_answered_to_anybody_here_and_may_load_only_itself(ask: AppClient) -> None:
    page = ask("GET", "/", token=None)
    assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert b"<title>Pages</title>" in page.body
    assert page.headers["cache-control"] == "no-cache"
    policy = dict(part.split(" ", 1) for part in page.headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert ask("GET", "/", token=None, host="evil.com").code == "host_refused"
    assert ask("GET", "/api/engine").json["application"] is True


def test_a_file_named_by_its_content_is_kept_for_ever(ask: AppClient) -> None:
    answer = ask("GET", "/assets/main-3f2a.js", token=None)
    assert (answer.status, answer.body) == (200, SCRIPT)
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "immutable" in answer.headers["cache-control"]
    second_answer = ask(
        "GET", "/assets/main-3f2a.js", token=None, headers={"If-None-Match": answer.headers["etag"]}
    )
    assert (second_answer.status, second_answer.body) == (304, b"")


def test_a_packed_copy_is_sent_to_those_who_take_it(ask: AppClient) -> None:
    packed = ask("GET", "/assets/main-3f2a.js", token=None, headers={"Accept-Encoding": "gzip, br"})
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.body) == SCRIPT
    assert packed.headers["content-type"].startswith("text/javascript")
    assert packed.headers["vary"] == "Accept-Encoding"
    assert ask("GET", "/", token=None, headers={"Accept-Encoding": "gzip"}).status == 200


@pytest.mark.parametrize("name", ["nothing.js", "../secret.txt", "..%2f..%2fsecret.txt", ".."])
def test_what_is_no_file_of_the_application_is_not_found(ask: AppClient, name: str) -> None:
    answer = ask("GET", f"/assets/{name}", token=None)
    assert answer.status == 404
    assert b"not for browsers" not in answer.body


def test_only_the_files_are_open_and_only_to_be_read(ask: AppClient) -> None:
    assert ask("POST", "/assets/main-3f2a.js", token=None, json={}).status == 405
    for path in ("/index.html", "/page/1", "/api/registry", "/api/engine"):
        assert ask("GET", path, token=None).code == "missing_token", path
    assert ask("GET", "/docs", token=None).status == 200


def test_an_application_that_is_not_built_says_how_to_build_it(ask: AppClient, site: Site) -> None:
    (site.folder / "index.html").unlink()
    page = ask("GET", "/", token=None)
    assert page.status == 200
    assert b"Run make base to build it." in page.body
    assert b'href="/docs"' in page.body
    assert ask("GET", "/api/engine").json["application"] is False


def test_a_site_that_is_none_refuses_its_plugin(make_engine: Callable[..., Engine]) -> None:
    engine = make_engine(plugins=[Plugin(name="desk", summary="A desk", site="app")])  # type: ignore[arg-type]
    (refused,) = engine.plugins.refused
    assert "Its site is" in refused.why
