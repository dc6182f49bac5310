"""An engine that a reverse proxy offers under an address of its own (SERVICE_PUBLIC_URL): what it then trusts, and what not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from armarium.engine import Engine
from armarium.settings import Settings
from armarium.web.app import create_app

from .conftest import AppClient

PUBLIC = "archive.example"
PAGE = {"Origin": f"https://{PUBLIC}"}


@pytest.fixture
def ask(make_engine: Callable[..., Engine]) -> AppClient:
    return AppClient(create_app(engine=make_engine(plugins=[], public_url=f"https://{PUBLIC}/")))


def signed_in(ask: AppClient) -> dict[str, str]:
    """Sign a browser in through the proxy; return the headers that it sends from then on."""
    code = ask("POST", "/api/pair/code", json={"role": "owner", "browser": True}).json["code"]
    reply = ask("POST", "/api/auth/session", token=None, host=PUBLIC, json={"code": code}, headers=PAGE)
    assert reply.status == 200
    words = reply.headers["set-cookie"].split("; ")
    assert {"HttpOnly", "Secure", "SameSite=strict"} <= set(words)
    return {**PAGE, "Cookie": words[0]}


def test_a_browser_works_under_the_public_address(ask: AppClient) -> None:
    browser = signed_in(ask)
    assert ask("GET", "/api/auth/session", token=None, host=PUBLIC, headers=browser).json["role"] == "owner"
    assert (
        ask("POST", "/api/pair/code", token=None, host=PUBLIC.upper(), headers=browser, json={}).status == 200
    )


@pytest.mark.parametrize("origin", [f"http://{PUBLIC}", "https://evil.example", f"https://{PUBLIC}:444"])
def test_no_other_origin_writes_there(ask: AppClient, origin: str) -> None:
    browser = {**signed_in(ask), "Origin": origin}
    reply = ask("POST", "/api/pair/code", token=None, host=PUBLIC, headers=browser, json={})
    assert (reply.status, reply.code) == (403, "origin_refused")


def test_other_hosts_are_refused_as_before(ask: AppClient) -> None:
    for host in ("evil.example", f"{PUBLIC}.evil.example", f"{PUBLIC}:8765"):
        assert ask("GET", "/api/health", token=None, host=host).code == "host_refused"
    assert ask("GET", "/api/health", token=None).status == 200
    # A page of the public address is another origin where the engine is asked directly.
    assert ask("GET", "/api/engine", headers=PAGE).code == "origin_refused"


def test_the_owners_own_token_works_on_this_machine_and_not_through_the_proxy(ask: AppClient) -> None:
    # Also where a proxy adds no header that would show it.
    assert ask("GET", "/api/engine", host=PUBLIC).code == "owner_token_local_only"
    assert ask("GET", "/api/engine").status == 200


def test_who_guesses_is_counted_by_the_address_that_the_proxy_adds(ask: AppClient) -> None:
    def guess(forwarded: str, host: str = PUBLIC) -> Any:
        headers = {"X-Forwarded-For": forwarded}
        body = {"code": "AAAA-AAAA", "device_name": "x"}
        return ask("POST", "/api/pair", token=None, host=host, headers=headers, json=body).status

    # What a client writes before it says nothing.
    assert [guess(f"10.0.0.{n}, 203.0.113.7") for n in range(6)] == [403] * 5 + [429]
    assert guess("203.0.113.8") == 403
    # Nobody is believed where the engine is asked directly.
    assert [guess(f"203.0.113.{n}", host="localhost") for n in range(6)] == [403] * 5 + [429]


@pytest.mark.parametrize(
    "url", ["archive.example", "https://archive.example/armarium", "ftp://archive.example"]
)
def test_a_public_address_is_a_scheme_and_a_name(url: str) -> None:
    with pytest.raises(ValidationError, match="scheme and name alone"):
        Settings(public_url=url)
