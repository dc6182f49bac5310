"""The only way to the network: nothing else in the engine opens a connection to other machines.

A destination is checked when the connection is made, on the very address that is connected to, so neither a redirect
nor a name that changes its answer leads elsewhere. Sizes, times and redirects are bounded.
"""

from __future__ import annotations

import hashlib
import secrets
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from armarium.errors import BadRequest, Conflict, Forbidden, TooLarge, Unavailable
from armarium.network.addresses import Reach, may_reach, plain_address
from armarium.network.limits import Limits
from armarium.store.durable import flush

if TYPE_CHECKING:
    import httpx

    from armarium.network.transport import GuardedTransport

Resolver = Callable[[str, int], list[str]]

_WRITTEN = "%/:=&?~#+!$,;'@()*[]"
"""Characters that are not percent-encoded in an address."""

MAX_REDIRECTS = 5
_ELSEWHERE = (301, 302, 303, 307, 308)
_SECRETS = ("authorization", "cookie", "x-api-key")
MIB = 1024 * 1024


def resolve(host: str, port: int) -> list[str]:
    """Return the addresses of *host*, from the system's resolver."""
    entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


@dataclass
class Answer:
    """An answer from outside: status, headers (lower-case names), the address it came from, and its body in chunks."""

    status: int
    headers: dict[str, str]
    url: str
    chunks: Iterator[bytes]
    _read: bytes | None = field(default=None, repr=False)

    def read(self) -> bytes:
        """Return the whole body; raises TooLarge when it is longer than the request's limit."""
        if self._read is None:
            self._read = b"".join(self.chunks)
        return self._read


class Egress:
    """Makes requests for one engine. While SERVICE_LOCAL_ONLY is set, everything but this machine itself is refused."""

    def __init__(
        self, *, local_only: bool, resolver: Resolver = resolve, user_agent: str = "armarium"
    ) -> None:
        self.local_only = local_only
        self._resolve = resolver
        self._user_agent = user_agent

    @contextmanager
    def open(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        content: bytes | Iterator[bytes] | None = None,
        reach: Reach = "public",
        limits: Limits | None = None,
    ) -> Iterator[Answer]:
        """Send a request and read its answer as it arrives; redirects of GET and HEAD are followed, each checked again."""
        import httpx

        headers_sent = {name.lower(): value for name, value in (headers or {}).items()}
        headers_sent.setdefault("user-agent", self._user_agent)
        with self._transport(reach, limits) as transport:
            for _ in range(MAX_REDIRECTS + 1):
                target = self.check_url(url, reach)
                if not url.isascii():
                    url = quote(url, safe=_WRITTEN)
                response = transport.handle_request(
                    httpx.Request(method, url, headers=headers_sent, content=content)
                )
                try:
                    if response.status_code in _ELSEWHERE and "location" in response.headers:
                        if method not in ("GET", "HEAD"):
                            raise Unavailable(
                                f"{target.hostname} redirected the request; use the new address itself."
                            )
                        url = urljoin(url, response.headers["location"])
                        if urlsplit(url).netloc != target.netloc:
                            # A secret for one host is not sent to another.
                            headers_sent = {
                                name: value for name, value in headers_sent.items() if name not in _SECRETS
                            }
                        continue
                    assert isinstance(response.stream, httpx.SyncByteStream)
                    headers_in = dict(response.headers)
                    yield Answer(response.status_code, headers_in, url, iter(response.stream))
                    return
                finally:
                    response.close()
            raise Unavailable(f"More than {MAX_REDIRECTS} redirects; the redirects form a loop.")

    def client(self, *, reach: Reach = "public", limits: Limits | None = None) -> httpx.Client:
        """Return an httpx client for libraries that need one, with all the refusals of `open`; it follows no redirects."""
        import httpx

        headers = {"user-agent": self._user_agent}
        return httpx.Client(transport=self._transport(reach, limits), trust_env=False, headers=headers)

    def fetch(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
        reach: Reach = "public",
        limits: Limits | None = None,
    ) -> Answer:
        """Like `open`, with the body read whole."""
        with self.open(method, url, headers=headers, content=content, reach=reach, limits=limits) as answer:
            answer.read()
            return answer

    def download(
        self,
        url: str,
        target: Path,
        *,
        sha256: str | None = None,
        headers: Mapping[str, str] | None = None,
        reach: Reach = "public",
        limits: Limits | None = None,
        on_progress: Callable[[int, int | None], None] | None = None,
        resume: Path | None = None,
    ) -> str:
        """Fetch *url* into *target* and return its SHA-256; the file appears only when it is complete and the digest
        fits.

        *on_progress* is called with the bytes so far and, if the server states it, the total; an exception from it ends
        the download. *resume*: a file of the same folder that keeps the received part when the download ends early. The
        next download resumes from it if the server still has the same file; `forget_partial` removes it.
        """
        digest = hashlib.sha256()
        temporary = resume or target.with_name(f".{target.name}.{secrets.token_hex(4)}")
        headers_sent = {name.lower(): value for name, value in (headers or {}).items()}
        bytes_done, validator = _partial_state(resume)
        if bytes_done:
            headers_sent |= {"range": f"bytes={bytes_done}-", "if-range": validator}
        keeps = False
        try:
            with self.open("GET", url, headers=headers_sent, reach=reach, limits=limits) as answer:
                if bytes_done and not (
                    answer.status == 206
                    and answer.headers.get("content-range", "").startswith(f"bytes {bytes_done}-")
                ):
                    bytes_done = 0
                if answer.status != (206 if bytes_done else 200):
                    raise Unavailable(f"{urlsplit(url).hostname} answers {answer.status}, not the file.")
                length = answer.headers.get("content-length", "")
                total = int(length) + bytes_done if length.isdigit() else None
                if bytes_done:
                    with temporary.open("rb") as file:
                        while block := file.read(MIB):
                            digest.update(block)
                elif resume is not None:
                    _note_beginning(resume, answer.headers)
                keeps = resume is not None
                with temporary.open("ab" if bytes_done else "wb" if resume else "xb") as file:
                    for chunk in answer.chunks:
                        file.write(chunk)
                        digest.update(chunk)
                        bytes_done += len(chunk)
                        if on_progress is not None:
                            on_progress(bytes_done, total)
                    file.flush()
                    flush(file.fileno())
            if total is not None and bytes_done != total:
                raise Unavailable(f"The file broke off after {bytes_done} of {total} bytes; try again.")
            keeps = False
            if sha256 is not None and digest.hexdigest() != sha256.lower():
                raise Conflict(
                    "The file is not the one expected: its SHA-256 differs. Nothing was kept.",
                    code="wrong_file",
                )
            temporary.replace(target)
        except TooLarge:
            keeps = False
            raise
        finally:
            if not keeps:
                forget_partial(temporary)
        return digest.hexdigest()

    def check_url(self, url: str, reach: Reach = "public", *, literal: bool = True) -> SplitResult:
        """Parse *url*; raises Forbidden or BadRequest where its spelling alone forbids it. Resolves no name.

        *literal* False: a numeric address is accepted wherever it leads.
        """
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            raise BadRequest("This is not a web address: it cannot be parsed.") from None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BadRequest("A web address begins with http:// or https:// and names a host.")
        if not parts.netloc.isascii():
            raise BadRequest(
                "The host of a web address is written in plain letters; write a name of other letters in its xn-- form."
            )
        if parts.username is not None or parts.password is not None:
            raise BadRequest("A web address with a name or password in it is refused; use a header or a key.")
        if port == 0:
            raise BadRequest("Port 0 leads nowhere; name the server's port.")
        if self.local_only and reach != "machine":
            raise Forbidden(
                "The engine is set to work offline (SERVICE_LOCAL_ONLY); unset it to reach the network.",
                code="offline",
            )
        address = plain_address(parts.hostname) if literal else None
        if address is not None and not may_reach(address, reach):
            raise _out_of_reach(parts.hostname)
        return parts

    def addresses(self, host: str, port: int, reach: Reach) -> list[str]:
        """Return the addresses of *host*, all within reach; one that is not refuses the host (a rebinding name)."""
        try:
            texts = self._resolve(host, port)
        except OSError as error:
            raise Unavailable(
                f"The name {host} cannot be found: {error.strerror or error}.", code="unreachable"
            ) from error
        for text in texts:
            address = plain_address(text)
            if address is None or not may_reach(address, reach):
                raise _out_of_reach(host)
        return texts

    def leads_here(self, url: str) -> bool:
        """Return whether *url* leads to this machine and nowhere else. Resolves a name, unless the engine is held
        offline.

        A request that must stay here is then made with the reach `machine`, which connects to nothing else, whatever
        the name resolves to by then. Raises as `check_url`, and Unavailable for a name that is not found.
        """
        parts = self.check_url(url, "network" if not self.local_only else "machine", literal=False)
        host = str(parts.hostname)
        literal = plain_address(host)
        if literal is not None:
            return literal.is_loopback
        if host == "localhost" or host.endswith(".localhost"):
            return True
        if self.local_only:
            return False
        try:
            addresses = [plain_address(text) for text in self._resolve(host, parts.port or 443)]
        except OSError as error:
            raise Unavailable(
                f"The name {host} cannot be found; try again later.", code="unreachable"
            ) from error
        return bool(addresses) and all(address is not None and address.is_loopback for address in addresses)

    def _transport(self, reach: Reach, limits: Limits | None) -> GuardedTransport:
        # Imported late: the engine starts without httpx.
        from armarium.network.transport import GuardedTransport

        return GuardedTransport(self, reach=reach, limits=limits)


def forget_partial(path: Path) -> None:
    """Remove what a download that ended early left for the next one."""
    for file in (path, _card_path(path)):
        with suppress(OSError):
            file.unlink()


def _card_path(partial: Path) -> Path:
    """Return the file that says of which file on the server a part is."""
    return partial.with_name(f"{partial.name}.etag")


def _partial_state(partial: Path | None) -> tuple[int, str]:
    """Return how many bytes of a download are here, and the server's ETag of their file; 0 where that is not known."""
    if partial is None:
        return 0, ""
    try:
        mark = _card_path(partial).read_text("utf-8").strip()
        return (partial.stat().st_size, mark) if mark.isprintable() and mark else (0, "")
    except (OSError, UnicodeDecodeError):
        return 0, ""


def _note_beginning(partial: Path, headers: Mapping[str, str]) -> None:
    """Record of which file a part is; without a strong ETag no later download resumes from it."""
    forget_partial(partial)
    mark = headers.get("etag", "")
    if mark.startswith('"'):
        _card_path(partial).write_text(mark, "utf-8")


_out_of_reach = Forbidden.saying(
    "out_of_reach",
    "{host} is not on the network this request may reach (this machine, a private network or a cloud's "
    "inner address); use a public address.",
)
