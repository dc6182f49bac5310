"""What the engine fetches from an address leads only to the public network, whatever names, redirects and bodies say.

The test intercepts connections: every address that is about to be connected to is checked against a list of its own. A
connection to a public address ends at a server of this test, which redirects inward, never ends, or lies.
"""

from __future__ import annotations

import ipaddress
import itertools
import random
import ssl
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpcore
import pytest
from starlette.testclient import TestClient

from armarium.engine import Engine
from armarium.errors import ServiceError
from armarium.network import egress, transport
from armarium.network.egress import Egress, Limits
from armarium.projects.libraries import Library

FULL = 5_000

INNER = [
    ipaddress.ip_network(text)
    for text in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *(
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.168.0.0/16",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
        ),
        *(
            "224.0.0.0/4",
            "240.0.0.0/4",
            "::/128",
            "::1/128",
            "::ffff:0:0/96",
            "64:ff9b::/96",
            "fc00::/7",
            "fe80::/10",
            "fec0::/10",
            "3fff::/20",
            "192.88.99.0/24",
            "168.63.129.16/32",
        ),
        *(
            "ff00::/8",
            "2001:db8::/32",
            "2002:7f00::/24",
            "2002:a00::/24",
            "2002:c0a8::/32",
            "fd00:ec2::254/128",
        ),
    )
]
PUBLIC = ("93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946", "8.8.8.8")
PRIVATE = (
    "127.0.0.1", "127.8.8.8", "::1", "0.0.0.0", "::", "10.1.2.3", "172.20.0.1", "192.168.1.1", "169.254.169.254",
    "169.254.170.2", "100.100.100.200", "100.64.0.1", "fd00:ec2::254", "fe80::1", "fc00::1", "::ffff:127.0.0.1",
    "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2002:0a00:1::", "224.0.0.1", "255.255.255.255",
    "198.18.0.1", "192.0.0.192", "ff02::1", "fec0::1", "3fff::1", "192.88.99.1", "168.63.129.16", "not an address", "",
)  # fmt: skip
SPELLED = (
    "127.0.0.1", "127.1", "0x7f000001", "0x7f.1", "2130706433", "0177.0.0.1", "017700000001", "localhost", "localhost.",
    "LOCALHOST", "127.0.0.1.", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:0:0:1]", "[::127.0.0.1]",
    "[fe80::1%25eth0]", "169.254.169.254", "[fd00:ec2::254]", "metadata.google.internal", "0", "0.0.0.0", "10.0.0.1",
    "192.168.0.1", "①②⑦.⓪.⓪.①", "127。0。0。1", "１２７.0.0.1", "example.org@127.0.0.1", "127.0.0.1#example.org",
    "127.0.0.1\\@example.org", "inside.example", "turning.example", "public.example", "PUBLIC.example.",
    "public.example:80@127.0.0.1", "xn--e1afmkfd.example", "a" * 300, "", "%31%32%37.0.0.1", "127.0.0.1%00.example.org",
)  # fmt: skip


class PublicServer(ThreadingHTTPServer):
    """The public network: redirects to the address it is given, or answers endlessly."""

    daemon_threads = True
    inward: str = ""


class _Answers(BaseHTTPRequestHandler):
    server: PublicServer

    def do_GET(self) -> None:
        try:
            if self.path.startswith("/go"):
                self.send_response(random.choice([301, 302, 303, 307, 308]))
                self.send_header("Location", self.server.inward)
                self.end_headers()
            elif self.path.startswith("/endless"):
                self.send_response(200)
                self.end_headers()
                while True:
                    self.wfile.write(b" " * 65536)
            elif self.path.startswith("/long"):
                self.send_response(200)
                self.send_header("Content-Length", str(1 << 40))
                self.end_headers()
            else:
                self.send_response(200)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")
        except OSError:
            return

    def handle(self) -> None:
        # A client that hangs up is not a fault here.
        with suppress(OSError):
            super().handle()

    def log_message(self, *_: object) -> None:
        return


class Network:
    """Every connection that the engine would make, and the names it looked up."""

    def __init__(self, server: PublicServer, chance: random.Random) -> None:
        self.server, self.chance = server, chance
        self.inside: list[str] = []
        self.outside = 0
        self.asked = 0

    def resolve(self, name: str, port: int) -> list[str]:
        """Return the addresses of a name; some names have others at each lookup."""
        self.asked += 1
        match name.casefold().rstrip("."):
            case "public.example":
                return [self.chance.choice(PUBLIC)]
            case "turning.example":
                pool = [PUBLIC, PRIVATE][self.asked % 2]
                return [self.chance.choice(pool) for _ in range(self.chance.choice([1, 1, 2]))]
            case "inside.example" | "metadata.google.internal" | "localhost":
                return [self.chance.choice(PRIVATE)]
        if self.chance.random() < 0.3:
            raise OSError("no such name")
        return [self.chance.choice([*PUBLIC, *PRIVATE]) for _ in range(2)]

    def connect(self, real: Any) -> Any:
        def connect_tcp(backend: Any, host: str, port: int, *how: Any, **more: Any) -> Any:
            if is_inside(host):
                self.inside.append(host)
                raise httpcore.ConnectError(f"{host} is inside")
            self.outside += 1
            return real(backend, "127.0.0.1", self.server.server_port, 2.0)

        return connect_tcp


def is_inside(host: str) -> bool:
    """Return whether an address is not public; a name that the system would look up itself counts as inside."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return True
    return any(address in network for network in INNER if network.version == address.version)


class NoCertificates(ssl.SSLContext):
    """Certificates are not tested here, and loading them for each request takes most of the time."""

    def load_verify_locations(self, *_: Any, **__: Any) -> None:
        return


@pytest.fixture
def observed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Network]:
    server = PublicServer(("127.0.0.1", 0), _Answers)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    network = Network(server, random.Random(19))
    context = NoCertificates(ssl.PROTOCOL_TLS_CLIENT)
    monkeypatch.setattr(ssl, "create_default_context", lambda: context)
    monkeypatch.setattr(
        httpcore.SyncBackend, "connect_tcp", network.connect(httpcore.SyncBackend.connect_tcp)
    )
    yield network
    server.shutdown()
    server.server_close()


def address(chance: random.Random) -> str:
    scheme = chance.choice(
        ["http"] * 16 + ["HTTP", "https", "ftp", "file", "gopher", "dict", "javascript", "//", ""]
    )
    host = chance.choice(SPELLED)
    port = chance.choice(["", "", ":80", ":8765", ":0", ":99999", ":80x"])
    path = chance.choice(
        ["/plain", "/go", "/go", "/endless", "/long", "/latest/meta-data", "/../x", "?x=http://127.0.0.1"]
    )
    return f"{scheme}://{host}{port}{path}"


def find_reached(observed: Network, gate: Egress, chance: random.Random) -> list[str]:
    """Request one address that redirects inward; return what was reached and should not have been."""
    observed.server.inward = address(chance) if chance.random() < 0.8 else "http://turning.example/go"
    url = chance.choice(
        [
            address(chance),
            "http://public.example/go",
            "http://turning.example/go",
            "http://public.example/endless",
        ]
    )
    before, read = len(observed.inside), 0
    limits = Limits(max_bytes=200_000, seconds=1.5, silence=0.25)
    try:
        with gate.open("GET", url, limits=limits) as answer:
            for chunk in answer.chunks:
                read += len(chunk)
    except ServiceError:
        pass
    except Exception as fault:
        return [f"{url!r} then {observed.server.inward!r}: {type(fault).__name__}: {fault}"]
    wrong = [f"{url!r} then {observed.server.inward!r} reached {one}" for one in observed.inside[before:]]
    if read > limits.max_bytes + 65_536:
        wrong.append(f"{url!r}: {read} bytes were read")
    return wrong


def faults(observed: Network, number: int, seed: int) -> list[str]:
    chance, gate = random.Random(seed), Egress(local_only=False, resolver=observed.resolve)
    observed.chance = chance
    found: list[str] = []
    for _ in range(number):
        found += find_reached(observed, gate, chance)
        if len(found) > 20:
            break
    return found


def test_nothing_inside_is_reached(observed: Network) -> None:
    assert faults(observed, 250, 1) == []
    # If nothing were allowed, the test would prove nothing.
    assert observed.outside > 60


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_five_thousand_addresses(observed: Network) -> None:
    assert faults(observed, FULL, 2) == []
    print(f"{observed.outside} connections to public addresses, {len(observed.inside)} inside")


def test_manifests_and_pictures_are_fetched_by_that_gate(
    observed: Network, engine: Engine, library: Library, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The routes that fetch, with the addresses that a manifest names: they use the same gate and answer alike."""
    import orjson

    from armarium_iiif import downloads, jobs, publisher

    chance = random.Random(7)
    observed.chance = chance
    for module in (jobs, downloads):
        monkeypatch.setattr(
            module, "gate", lambda engine: Egress(local_only=False, resolver=observed.resolve)
        )
    for module in (publisher, downloads):
        monkeypatch.setattr(module, "SECONDS", 2.0)
    monkeypatch.setattr(jobs, "PAUSE_SECONDS", 0)
    monkeypatch.setattr(publisher, "MAX_BYTES", 200_000)
    monkeypatch.setattr(downloads, "MAX_IMAGE_BYTES", 200_000)
    for _ in range(40):
        observed.server.inward = address(chance)
        answer = client.post("/api/iiif/manifests/fetch", json={"url": address(chance)})
        assert answer.status_code < 500, answer.text
        engine.jobs.run_until_idle(library, 60)
    canvases = [
        {
            "id": f"https://example.org/c/{number}",
            "type": "Canvas",
            "width": 80,
            "height": 60,
            "items": [
                {
                    "type": "AnnotationPage",
                    "items": [{"motivation": "painting", "body": {"id": url, "type": "Image"}}],
                }
            ],
        }
        for number, url in enumerate(
            [f"http://{host}/go" for host in SPELLED if host] + ["http://public.example/go"] * 5
        )
    ]
    manifest = {
        "id": "https://example.org/m",
        "type": "Manifest",
        "label": {"none": ["m"]},
        "items": canvases,
    }
    sent_answer = client.post(
        "/api/iiif/manifests", files={"file": ("m.json", orjson.dumps(manifest), "application/json")}
    )
    if sent_answer.status_code == 200:
        pages = client.get(
            "/api/documents", params={"parent_id": sent_answer.json()["document_id"], "limit": 1000}
        ).json()
        ids = [item["id"] for item in pages["items"]]
        observed.server.inward = "http://169.254.169.254/latest/meta-data"
        client.post("/api/iiif/images/fetch", json={"document_ids": ids})
        engine.jobs.run_until_idle(library, 60)
    assert observed.inside == []


# ---------------------------------------------------------------------------- faults that the proof must notice


def test_a_gate_that_lets_anything_through_is_caught(
    observed: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(egress, "may_reach", lambda address, reach: True)
    assert faults(observed, 100, 1)


def test_a_name_that_is_looked_up_again_is_caught(observed: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where an address is checked first, and then connected to by its name."""
    real = Egress.addresses

    def again(self: Egress, host: str, port: int, reach: Any) -> list[str]:
        real(self, host, port, reach)
        return observed.resolve(host, port)

    monkeypatch.setattr(Egress, "addresses", again)
    assert faults(observed, 200, 1)


def test_a_body_without_end_is_caught(observed: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_unbounded(body: transport._Body) -> Iterator[bytes]:
        return itertools.islice(body._stream, 40)

    monkeypatch.setattr(transport._Body, "__iter__", read_unbounded)
    assert faults(observed, 150, 1)
