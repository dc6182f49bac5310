"""The network gate: forbidden requests reach nothing; allowed ones are limited."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from armarium.errors import BadRequest, Conflict, Forbidden, ServiceError, TooLarge, Unavailable
from armarium.network.egress import Egress, Limits, Reach, may_reach, plain_address, resolve
from armarium.network.limits import LONGEST_WAIT, seconds_to_wait


class Server(ThreadingHTTPServer):
    """Counts the requests it receives."""

    daemon_threads = True
    reached: list[str]
    headers_seen: list[dict[str, str]]
    etag = '"first"'


LONG = bytes(range(100))


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.reached.append(self.path)
        self.server.headers_seen.append({name.lower(): value for name, value in self.headers.items()})
        base = f"http://127.0.0.1:{self.server.server_port}"
        places = {
            "/metadata": "http://169.254.169.254/latest",
            "/loop": f"{base}/loop",
            "/once": f"{base}/plain",
        }
        places |= {
            "/file": "file:///etc/passwd",
            "/else": f"http://localhost:{self.server.server_port}/plain",
        }
        if self.path in places:
            self.send_response(302)
            self.send_header("Location", places[self.path])
            self.end_headers()
        elif self.path == "/endless":
            self._endless()
        elif self.path == "/drip":
            self._drip()
        elif self.path == "/packed":
            self._answer(b"x", {"Content-Encoding": "gzip"})
        elif self.path == "/broken":
            self.send_response(200)
            self.send_header("Content-Length", "100")
            self.end_headers()
            self.wfile.write(b"only this")
        elif self.path == "/long":
            self._answer_range()
        elif self.path == "/missing":
            self.send_error(404)
        else:
            self._answer(b"a model", {})

    do_POST = do_GET

    def _answer_range(self) -> None:
        """Answer with a file of 100 bytes that breaks off after 60, unless the rest of the same file is requested."""
        begun = self.headers.get("Range", "bytes=0-")[6:-1]
        same = self.headers.get("If-Range") == self.server.etag
        start = int(begun) if same else 0
        body = LONG[start:]
        self.send_response(206 if start else 200)
        self.send_header("ETag", self.server.etag)
        self.send_header("Content-Length", str(len(body)))
        if start:
            self.send_header("Content-Range", f"bytes {start}-99/100")
        self.end_headers()
        self.wfile.write(body if start else body[:60])

    def _answer(self, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(200)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _endless(self) -> None:
        self.send_response(200)
        self.end_headers()
        try:
            while True:
                self.wfile.write(b"x" * 65536)
        except OSError:
            return

    def _drip(self) -> None:
        try:
            self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
            while True:
                self.wfile.write(b"x")
                time.sleep(0.05)
        except OSError:
            return

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def server() -> Iterator[Server]:
    new_server = Server(("127.0.0.1", 0), Handler)
    new_server.reached, new_server.headers_seen = [], []
    thread = threading.Thread(target=new_server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield new_server
    new_server.shutdown()
    new_server.server_close()


def url(server: Server, path: str = "/plain", host: str = "127.0.0.1") -> str:
    return f"http://{host}:{server.server_port}{path}"


INNER = (
    *(
        "127.0.0.1",
        "127.1.2.3",
        "localhost",
        "0.0.0.0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
    ),
    *(
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "100.64.0.1",
    ),
    *(
        "169.254.169.254",
        "[fd00:ec2::254]",
        "[fe80::1]",
        "[fc00::1]",
        "224.0.0.1",
        "255.255.255.255",
        "198.18.0.1",
    ),
    *("2130706433", "0x7f000001", "0177.0.0.1", "127.1", "localhost.", "ip6-localhost"),
)


@pytest.mark.parametrize("host", INNER)
def test_nothing_inner_is_reached(server: Server, host: str) -> None:
    egress = Egress(local_only=False, resolver=lambda name, port: ["127.0.0.1"])
    with pytest.raises(ServiceError):
        egress.fetch("GET", url(server, host=host), limits=Limits(seconds=3))
    assert server.reached == []


@pytest.mark.parametrize(
    "answers", [["127.0.0.1"], ["93.184.216.34", "127.0.0.1"], ["::1"], ["10.1.2.3"], ["junk"]]
)
def test_a_name_with_one_inner_address_is_refused(server: Server, answers: list[str]) -> None:
    egress = Egress(local_only=False, resolver=lambda host, port: answers)
    with pytest.raises(Forbidden) as refused:
        egress.fetch("GET", url(server, host="rebind.test"))
    assert refused.value.code == "out_of_reach"
    assert server.reached == []


def test_a_rebinding_name_is_resolved_once_and_connected_to_the_checked_address(
    server: Server,
) -> None:
    asked: list[str] = []

    def changing(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["93.184.216.34"] if len(asked) % 2 else ["127.0.0.1"]

    connected: list[str] = []
    egress = Egress(local_only=False, resolver=changing)
    import httpcore

    real = httpcore.SyncBackend.connect_tcp

    def note(self: object, host: str, *args: object, **kwargs: object) -> object:
        connected.append(host)
        raise httpcore.ConnectError("not from here")

    httpcore.SyncBackend.connect_tcp = note  # type: ignore[method-assign, assignment]
    try:
        with pytest.raises(Unavailable):
            egress.fetch("GET", url(server, host="rebind.test"))
    finally:
        httpcore.SyncBackend.connect_tcp = real  # type: ignore[method-assign]
    assert (asked, connected) == (["rebind.test"], ["93.184.216.34"])
    assert server.reached == []


@pytest.mark.parametrize(
    "address",
    [
        *(
            "ftp://example.org/x",
            "file:///etc/passwd",
            "gopher://x",
            "http://",
            "//example.org",
            "example.org",
            "",
        ),
        *(
            "http://user:pass@example.org",
            "http://user@127.0.0.1",
            "http://example.org:0/",
            "http://x:99999999/",
        ),
        *("http://[::1", "http://example.org:port/"),
    ],
)
def test_what_is_no_plain_web_address_is_400(address: str) -> None:
    with pytest.raises(BadRequest):
        Egress(local_only=False).check_url(address)


def test_other_letters_are_written_with_their_bytes_and_a_host_of_them_is_refused(server: Server) -> None:
    egress = Egress(local_only=False)
    answer = egress.fetch("GET", url(server, "/página?q=ñ"), reach="machine")
    assert (answer.status, server.reached) == (200, ["/p%C3%A1gina?q=%C3%B1"])
    for host in ("①②⑦.⓪.⓪.①", "bücher.example", "127。0。0。1"):
        with pytest.raises(BadRequest, match="xn--"):
            egress.fetch("GET", f"http://{host}/")


def test_a_redirect_inside_is_not_followed(server: Server) -> None:
    egress = Egress(local_only=False)
    for path in ("/metadata", "/file"):
        with pytest.raises((Forbidden, BadRequest)):
            egress.fetch("GET", url(server, path), reach="machine")
    with pytest.raises(Unavailable, match="redirects"):
        egress.fetch("GET", url(server, "/loop"), reach="machine")
    assert egress.fetch("GET", url(server, "/once"), reach="machine").read() == b"a model"
    with pytest.raises(Unavailable, match="redirected"):
        egress.fetch("POST", url(server, "/once"), content=b"x", reach="machine")


def test_a_redirect_does_not_send_a_secret_to_another_host(server: Server) -> None:
    headers = {"Authorization": "Bearer x", "X-Kept": "y"}
    Egress(local_only=False).fetch("GET", url(server, "/else"), headers=headers, reach="machine")
    first, second = server.headers_seen
    assert (first["authorization"], "authorization" in second, second["x-kept"]) == ("Bearer x", False, "y")
    assert second["host"].startswith("localhost:")


def test_an_endless_answer_ends(server: Server) -> None:
    with pytest.raises(TooLarge):
        Egress(local_only=False).fetch(
            "GET", url(server, "/endless"), reach="machine", limits=Limits(max_bytes=10**6)
        )


def test_a_declared_length_over_the_limit_is_not_read(server: Server) -> None:
    with pytest.raises(TooLarge):
        Egress(local_only=False).fetch("GET", url(server), reach="machine", limits=Limits(max_bytes=3))


def test_headers_that_drip_end_at_the_deadline(server: Server) -> None:
    with pytest.raises(Unavailable):
        Egress(local_only=False).fetch(
            "GET", url(server, "/drip"), reach="machine", limits=Limits(seconds=0.4)
        )


def test_an_answer_that_stays_packed_is_refused(server: Server) -> None:
    with pytest.raises(Unavailable, match="compressed"):
        Egress(local_only=False).fetch("GET", url(server, "/packed"), reach="machine")
    assert server.headers_seen[0]["accept-encoding"] == "identity"


def test_offline_nothing_leaves_and_this_machine_stays_reachable(server: Server) -> None:
    egress = Egress(local_only=True, resolver=lambda host, port: pytest.fail("a name was asked for"))
    for reach in ("public", "network"):
        with pytest.raises(Forbidden) as refused:
            egress.fetch("GET", "https://example.org/model", reach=reach)  # type: ignore[arg-type]
        assert refused.value.code == "offline"
    assert Egress(local_only=True).fetch("GET", url(server), reach="machine").status == 200


def test_this_machine_means_this_machine() -> None:
    for host in ("93.184.216.34", "10.0.0.1", "169.254.169.254"):
        with pytest.raises(Forbidden):
            Egress(local_only=False).check_url(f"http://{host}/", "machine")


@pytest.mark.parametrize(
    ("address", "public", "machine", "network"),
    [
        ("93.184.216.34", True, False, True),
        ("2606:2800:220:1::1", True, False, True),
        ("127.0.0.1", False, True, False),
        ("::1", False, True, False),
        ("192.168.1.20", False, False, True),
        ("fd12::1", False, False, True),
        ("169.254.169.254", False, False, False),
        ("100.100.100.200", False, False, False),
        ("fe80::1%eth0", False, False, False),
        ("0.0.0.0", False, False, False),
        ("240.0.0.1", False, False, False),
        ("ff02::1", False, False, False),
        ("fec0::1", False, False, False),
        ("3fff::1", False, False, False),
        ("5f00::1", False, False, False),
        ("100:0:0:1::1", False, False, False),
        ("64:ff9b:1::7f00:1", False, False, False),
        ("192.88.99.1", False, False, False),
        ("168.63.129.16", False, False, False),
        ("169.254.170.23", False, False, False),
    ],
)
def test_who_may_reach_what(address: str, public: bool, machine: bool, network: bool) -> None:
    plain = plain_address(address)
    assert plain is not None
    reaches: tuple[Reach, ...] = ("public", "machine", "network")
    assert [may_reach(plain, reach) for reach in reaches] == [public, machine, network]


def test_a_download_is_whole_or_not_there(server: Server, tmp_path: Path) -> None:
    egress = Egress(local_only=False)
    target = tmp_path / "model"
    good = hashlib.sha256(b"a model").hexdigest()
    told: list[tuple[int, int | None]] = []
    digest = egress.download(
        url(server),
        target,
        sha256=good,
        reach="machine",
        on_progress=lambda done, all_: told.append((done, all_)),
    )
    assert (digest, target.read_bytes(), told) == (good, b"a model", [(7, 7)])
    target.unlink()
    with pytest.raises(Conflict):
        egress.download(url(server), target, sha256="0" * 64, reach="machine")
    for path in ("/broken", "/missing"):
        with pytest.raises(Unavailable):
            egress.download(url(server, path), target, reach="machine")
    with pytest.raises(TooLarge):
        egress.download(url(server, "/endless"), target, reach="machine", limits=Limits(max_bytes=10**5))
    assert list(tmp_path.iterdir()) == []


def test_a_refusal_names_the_host_and_no_more_of_the_address() -> None:
    egress = Egress(local_only=False, resolver=lambda host, port: ["10.0.0.1"])
    with pytest.raises(Forbidden) as refused:
        egress.fetch("GET", "https://models.test/path?key=canary")
    assert "canary" not in str(refused.value)


def test_no_answer_is_refused_with_a_sentence(server: Server) -> None:
    server.shutdown()
    server.server_close()
    with pytest.raises(Unavailable) as refused:
        Egress(local_only=False).fetch("GET", url(server), reach="machine")
    assert refused.value.code == "unreachable"


def test_an_unknown_name_is_refused_with_a_sentence() -> None:
    def fails(host: str, port: int) -> list[str]:
        raise OSError("no such name")

    with pytest.raises(Unavailable, match="cannot be found"):
        Egress(local_only=False, resolver=fails).fetch("GET", "http://nobody.invalid/")


def test_this_machine_has_a_name() -> None:
    assert any(address.startswith("127.") or address == "::1" for address in resolve("localhost", 80))


def test_a_client_of_httpx_is_bound_by_the_same_refusals(server: Server) -> None:
    """Libraries with a protocol of their own can thus send all requests through the gate."""
    here = f"http://127.0.0.1:{server.server_port}"
    egress = Egress(local_only=False)
    with egress.client(reach="machine", limits=Limits(max_bytes=1000, seconds=1.0)) as client:
        assert client.get(f"{here}/plain").content == b"a model"
        # The connection is reused; each request has a time limit of its own.
        assert client.get(f"{here}/plain").status_code == 200
        assert client.get(f"{here}/metadata").status_code == 302
        with pytest.raises(TooLarge):
            client.get(f"{here}/endless")
        with pytest.raises(Unavailable, match="compressed"):
            client.get(f"{here}/packed")
        with pytest.raises(Unavailable):
            client.get(f"{here}/drip")
        with pytest.raises(Forbidden):
            client.get("http://10.0.0.1/")
    with egress.client() as client, pytest.raises(Forbidden):
        client.get(f"{here}/plain")
    assert all(seen["user-agent"] == "armarium" for seen in server.headers_seen)
    with Egress(local_only=True).client() as client, pytest.raises(Forbidden):
        client.get("https://example.org/")


def test_a_request_is_given_up_while_it_waits(server: Server) -> None:
    """`check` is called several times a second while a request waits; an exception from it ends the request."""
    here = f"http://127.0.0.1:{server.server_port}"
    began = time.monotonic()

    class GivenUp(BaseException):
        pass

    def check() -> None:
        if time.monotonic() - began > 0.3:
            raise GivenUp

    with Egress(local_only=False).client(reach="machine") as client:
        with pytest.raises(GivenUp):
            client.get(f"{here}/drip", extensions={"check": check})
        assert client.get(f"{here}/plain").content == b"a model"


@pytest.mark.parametrize(
    ("url", "answers", "here"),
    [
        ("http://127.0.0.1:11434/v1", [], True),
        ("http://[::1]/v1", [], True),
        ("http://127.1/v1", [], True),
        ("http://localhost:1234", [], True),
        ("http://ollama.example/v1", ["127.0.0.1", "::1"], True),
        ("http://ollama.example/v1", ["127.0.0.1", "10.0.0.8"], False),
        ("http://10.0.0.8/v1", [], False),
        ("https://models.example/v1", ["203.0.113.9"], False),
        ("https://localhost.example/v1", ["203.0.113.9"], False),
    ],
)
def test_whether_an_address_is_this_machine(url: str, answers: list[str], here: bool) -> None:
    egress = Egress(local_only=False, resolver=lambda _host, _port: answers)
    assert egress.leads_here(url) is here


def test_offline_no_name_is_resolved() -> None:
    def looked_up(host: str, port: int) -> list[str]:
        raise AssertionError(f"{host} was looked up")

    egress = Egress(local_only=True, resolver=looked_up)
    assert egress.leads_here("http://localhost:11434/v1")
    assert not egress.leads_here("https://models.example/v1")


def test_a_name_that_leads_nowhere_is_not_this_machine() -> None:
    def fails(host: str, port: int) -> list[str]:
        raise OSError("no such name")

    with pytest.raises(Unavailable, match="cannot be found"):
        Egress(local_only=False, resolver=fails).leads_here("http://nobody.invalid/")


def test_a_download_resumes_where_it_broke_off(server: Server, tmp_path: Path) -> None:
    egress, target, part = Egress(local_only=False), tmp_path / "model", tmp_path / ".part"
    told: list[tuple[int, int | None]] = []

    def fetch() -> str:
        return egress.download(
            url(server, "/long"),
            target,
            sha256=hashlib.sha256(LONG).hexdigest(),
            reach="machine",
            resume=part,
            on_progress=lambda done, total: told.append((done, total)),
        )

    with pytest.raises(Unavailable, match="broke off"):
        fetch()
    assert (part.read_bytes(), target.exists()) == (LONG[:60], False)
    fetch()
    assert (target.read_bytes(), told[-1]) == (LONG, (100, 100))
    assert server.headers_seen[-1]["range"] == "bytes=60-"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_part_of_another_file_is_not_gone_on_with(server: Server, tmp_path: Path) -> None:
    egress, target, part = Egress(local_only=False), tmp_path / "model", tmp_path / ".part"
    for mark in ('"first"', '"second"', 'W/"weak"', 'W/"weak"'):
        server.etag = mark
        with pytest.raises(Unavailable, match="broke off"):
            egress.download(url(server, "/long"), target, reach="machine", resume=part)
        assert part.read_bytes() == LONG[:60]
    assert "range" not in server.headers_seen[-1]
    part.write_bytes(b"x" * 60)
    server.etag = '"third"'
    with pytest.raises(Unavailable):
        egress.download(url(server, "/long"), target, reach="machine", resume=part)
    part.write_bytes(b"x" * 60)
    with pytest.raises(Conflict, match="SHA-256 differs"):
        egress.download(url(server, "/long"), target, sha256="0" * 64, reach="machine", resume=part)
    assert list(tmp_path.iterdir()) == []


def test_a_wait_is_asked_for_in_seconds_or_by_a_date_and_is_never_longer_than_an_hour() -> None:
    for stated, seconds in (("7", 7.0), (" 0.5 ", 0.5), ("86400", LONGEST_WAIT), ("inf", LONGEST_WAIT)):
        assert seconds_to_wait(stated, 60.0) == seconds
    for stated in (None, "", "soon", "0", "-5", "nan", "Wed, 21 Oct 2015 07:28:00 GMT"):
        assert seconds_to_wait(stated, 60.0) == 60.0, stated
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    assert 80 < seconds_to_wait(soon) <= 90
    assert seconds_to_wait(soon.removesuffix(" GMT")) > 80, "a date without a zone is in UTC"
    assert seconds_to_wait(soon.replace(soon[12:16], "9999")) == LONGEST_WAIT
