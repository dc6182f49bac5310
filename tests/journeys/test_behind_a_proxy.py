"""The engine behind nginx and Caddy, as docs/server.md sets them up, with a certificate of its own: tried where one is installed."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from armarium_testing.fixtures import OWNER_TOKEN
from checkout import ROOT

NAME = "archive.example"
MEBIBYTE = 1024 * 1024

ENGINE = """
from armarium.web.app import create_app
from armarium.web.serving import serve
serve(app=create_app(plugins=[]), on_ready=lambda card: print(card.base_url, flush=True))
"""


COMMAND = f"""
import socket
look_up = socket.getaddrinfo
socket.getaddrinfo = lambda host, *more, **named: look_up("127.0.0.1" if host == "{NAME}" else host, *more, **named)
from armarium_cli import main
main()
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def make_certificate(folder: Path) -> tuple[Path, Path]:
    chain, secret = folder / "fullchain.pem", folder / "key.pem"
    kind = ("-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1")
    named = ("-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}")
    command = [_path_of("openssl"), "req", *kind, *named, "-keyout", str(secret), "-out", str(chain)]
    subprocess.run(command, check=True, capture_output=True)
    return chain, secret


def start_nginx(folder: Path, port: int, engine: int, chain: Path, secret: Path) -> subprocess.Popen[bytes]:
    site = (ROOT / "tools/server/armarium.nginx.conf").read_text()
    for ours, here in (
        ("127.0.0.1:8765", f"127.0.0.1:{engine}"),
        ("listen 443", f"listen 127.0.0.1:{port}"),
        ("/etc/ssl/archive.example/fullchain.pem", str(chain)),
        ("/etc/ssl/archive.example/key.pem", str(secret)),
        ("/var/log/nginx/armarium.log", str(folder / "access.log")),
    ):
        assert ours in site, ours
        site = site.replace(ours, here)
    places = "".join(
        f"{kind}_temp_path {folder}/{kind}; " for kind in ("proxy", "client_body", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/error.log; events {{}} http {{ {places} {site} }}"
    )
    return subprocess.Popen([_path_of("nginx"), "-p", folder, "-c", folder / "nginx.conf"])


def start_caddy(folder: Path, port: int, engine: int, chain: Path, secret: Path) -> subprocess.Popen[bytes]:
    site = (ROOT / "tools/server/armarium.Caddyfile").read_text()
    named = f"{NAME} {{\n"
    assert named in site
    site = site.replace(named, f"{NAME}:{port} {{\n\tbind 127.0.0.1\n\ttls {chain} {secret}\n")
    site = site.replace("127.0.0.1:8765", f"127.0.0.1:{engine}")
    (folder / "Caddyfile").write_text("{\n\tadmin off\n\tauto_https disable_redirects\n}\n" + site)
    command = [_path_of("caddy"), "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]
    return subprocess.Popen(command, env={**os.environ, "HOME": str(folder)}, stderr=subprocess.DEVNULL)


def _path_of(program: str) -> str:
    found = shutil.which(program) or shutil.which(program, path="/usr/sbin")
    if found is None:
        pytest.skip(f"{program} is not installed")
    return found


@pytest.fixture(scope="module", params=[start_nginx, start_caddy], ids=["nginx", "caddy"])
def proxy(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, int]]:
    """Return the public address and the engine's own port."""
    start: Callable[..., subprocess.Popen[bytes]] = request.param
    folder = tmp_path_factory.mktemp("proxy")
    port, engine = free_port(), free_port()
    front = start(folder, port, engine, *make_certificate(folder))
    given = {
        **os.environ,
        "SERVICE_STATE_DIR": str(folder / "state"),
        "SERVICE_OWNER_TOKEN": OWNER_TOKEN,
        "SERVICE_PUBLIC_URL": f"https://{NAME}:{port}",
        "SERVICE_PORT": str(engine),
    }
    served = subprocess.Popen([sys.executable, "-c", ENGINE], env=given, stdout=subprocess.PIPE)
    try:
        assert served.stdout is not None
        assert served.stdout.readline()
        yield f"https://{NAME}:{port}", engine
    finally:
        served.terminate()
        served.wait(30)
        # Caddy would wait for connections that are still open.
        front.kill()
        front.wait(30)


@pytest.fixture(scope="module")
def browser(proxy: tuple[str, int]) -> Iterator[httpx.Client]:
    """A browser that is signed in under the public address."""
    public, engine = proxy
    host = public.removeprefix("https://")
    own = {"Authorization": f"Bearer {OWNER_TOKEN}"}
    answer = httpx.post(
        f"http://127.0.0.1:{engine}/api/pair/code", headers=own, json={"role": "owner", "browser": True}
    )
    there = f"https://127.0.0.1:{host.rpartition(':')[2]}"
    named = {"request": [lambda request: request.extensions.update(sni_hostname=NAME)]}
    headers = {"Host": host, "Origin": public}
    with httpx.Client(base_url=there, verify=False, headers=headers, event_hooks=named, timeout=60) as client:
        deadline = time.monotonic() + 60
        while True:
            try:
                reply = client.post("/api/auth/session", json={"code": answer.json()["code"]})
                break
            except httpx.ConnectError:
                assert time.monotonic() < deadline
                time.sleep(0.05)
        assert reply.status_code == 200, reply.text
        cookie = reply.headers["set-cookie"]
        assert "; Secure" in cookie
        client.headers["Cookie"] = cookie.partition(";")[0]
        yield client


def test_a_browser_writes_through_the_proxy_and_the_owners_token_does_not_pass(browser: httpx.Client) -> None:
    assert browser.post("/api/pair/code", json={"role": "viewer"}).status_code == 200
    refused = browser.get("/api/engine", headers={"Authorization": f"Bearer {OWNER_TOKEN}"})
    assert (refused.status_code, refused.json()["code"]) == (403, "owner_token_local_only")
    elsewhere = browser.post("/api/pair/code", json={}, headers={"Origin": "https://evil.example"})
    assert elsewhere.json()["code"] == "origin_refused"


def test_a_change_arrives_while_its_stream_stays_open(browser: httpx.Client) -> None:
    with browser.stream("GET", "/api/changes/stream") as stream:
        lines = stream.iter_lines()
        assert next(lines) == ": alive"
        begun = time.monotonic()
        browser.put("/api/activity/jobs/mode", json={"mode": "started"}).raise_for_status()
        assert any("activity" in line or "change" in line for line in lines)
        # The engine sends a sign of life after ten seconds, which a buffer would pass on together with it.
        assert time.monotonic() - begun < 8


def test_who_guesses_is_told_apart_and_cannot_say_that_he_is_somebody_else(browser: httpx.Client) -> None:
    def guess(number: int) -> Any:
        body = {"code": "AAAA-AAAA", "device_name": "x"}
        return browser.post("/api/pair", json=body, headers={"X-Forwarded-For": f"203.0.113.{number}"})

    assert [guess(number).status_code for number in range(6)] == [403] * 5 + [429]


def test_large_bodies_reach_the_engine_and_metrics_stay_inside(
    browser: httpx.Client, proxy: tuple[str, int]
) -> None:
    reply = browser.post("/api/pair/code", json={"role": "x" * 3 * MEBIBYTE})
    assert (reply.status_code, reply.json()["code"]) == (422, "invalid_request")
    assert browser.get("/api/metrics").status_code == 404
    own = {"Authorization": f"Bearer {OWNER_TOKEN}"}
    text = httpx.get(f"http://127.0.0.1:{proxy[1]}/api/metrics", headers=own).text
    assert re.search(r"^armarium_requests_total\{.*/api/pair.code", text, re.MULTILINE)


def test_commands_ask_an_engine_elsewhere(proxy: tuple[str, int], tmp_path: Path) -> None:
    public, port = proxy
    own = {"Authorization": f"Bearer {OWNER_TOKEN}"}

    def ask(way: str, body: Any) -> Any:
        return httpx.post(f"http://127.0.0.1:{port}/api/{way}", headers=own, json=body).json()

    def run(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
        given = {**os.environ, "ARMARIUM_URL": public, "ARMARIUM_TOKEN": token, **more}
        command = [sys.executable, "-c", COMMAND, *words, "--json"]
        return subprocess.run(command, env=given, cwd=tmp_path, capture_output=True, text=True)

    place = str(tmp_path / "There.library")
    ask("actions/invoke", {"name": "library.create", "params": {"path": place}})
    token = ask("tokens", {"name": "desk", "role": "viewer"})["token"]
    newest = max(tmp_path.parent.glob("proxy*/fullchain.pem"), key=lambda chain: chain.stat().st_mtime)
    trusted = {"SSL_CERT_FILE": str(newest)}
    # What lies in the folder of the command is no project of that engine.
    (tmp_path / "Here.library").mkdir()
    listed = run("projects", **trusted)
    assert place in [library["path"] for library in json.loads(listed.stdout)["libraries"]], listed.stderr
    steps = run("history", "--library", place, **trusted)
    assert len(json.loads(steps.stdout)["items"]) == 1
    assert "certificate" in run("projects").stderr
