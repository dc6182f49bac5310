"""The checks that every request passes: host, origin, content type, token, presence, body size and headers.

A plain ASGI middleware, so that it costs microseconds; nothing behind it runs before all checks passed.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, MutableMapping
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote

from fastapi.exceptions import ResponseValidationError
from starlette.exceptions import HTTPException

from armarium.auth.authenticate import is_local
from armarium.errors import (
    Forbidden,
    Invalid,
    ServiceError,
    TooLarge,
    Unauthorized,
    place_of,
    refused_by_disk,
)
from armarium.principals import Principal, asking
from armarium.web.addresses import OPEN, principal_by_address, principal_without_token
from armarium.web.early_answers import answer_preflight, refuse
from armarium.web.panels import PANELS, panel_may_ask
from armarium.web.request_counts import REFUSED, RequestCounts
from armarium.web.request_headers import (
    PublicAddress,
    client_name,
    forwarded_for,
    is_loopback_host,
    is_proxied,
    read_secret,
)
from armarium.web.request_limits import READING
from armarium.web.site import ASSETS

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from armarium.engine import Engine

log = logging.getLogger("armarium.http")

OPEN_PATHS = frozenset(
    {"/", "/api/health", "/api/pair", "/api/pair/enroll", "/openapi.json", "/docs", "/redoc"}
)
"""The paths that answer without a token."""

CREDENTIAL_PATH = "/api/auth/session"
"""Takes its credential from the header or from the body, and refuses where there is none."""

OPAQUE = b"null"
"""The origin that a sandboxed frame states: that of a panel, or of anything else that hides its own."""

origin_refused = Forbidden.saying(
    "origin_refused",
    "A page of another origin may not use this engine. Add its origin to SERVICE_CORS_ORIGINS to let it.",
)

FORM_TYPES = ("text/plain", "application/x-www-form-urlencoded")
"""Content types that a foreign page can send without a preflight request; only routes with a token in the path take one."""

PRINCIPAL = "armarium.principal"
LIBRARY = "armarium.library"
CLIENT = "armarium.client"
CALLER = "armarium.caller"
LOCAL = "armarium.local"
PROXIED = "armarium.proxied"
FRAMED = "armarium.framed"
"""Whether the answer may be read by a page of any origin: the frame of a panel, and who has the token in an address."""

_HOSTS_KEPT = 256


def is_open(path: str) -> bool:
    """Return whether *path* answers without a token."""
    return path in OPEN_PATHS or path.startswith((ASSETS, PANELS))


class Gate:
    """Checks each request in turn: Host, Origin, content type, token, body size; then adds the response headers."""

    def __init__(
        self,
        app: ASGIApp,
        engine: Engine,
        uploads: Callable[[], list[re.Pattern[str]]],
        counts: RequestCounts,
    ) -> None:
        self.app = app
        self.engine = engine
        self.counts = counts
        self.origins = frozenset(origin.encode() for origin in engine.settings.cors_origins)
        self.public = PublicAddress.of(engine.settings.public_url)
        self.max_body = engine.settings.max_body_bytes
        self.max_upload = engine.settings.max_upload_bytes
        self.endpoints = frozenset(path for plugin in engine.plugins.loaded for path in plugin.endpoints)
        self.linked = tuple(path for plugin in engine.plugins.loaded for path in plugin.linked)
        self.open_project = engine.settings.open_project
        # Nothing in these addresses is secret, so pages of other origins are checked as everywhere else.
        self.open_paths = tuple(f"{path}{OPEN}/" for path in self.linked) if self.open_project else ()
        self._uploads = uploads
        self._hosts: dict[bytes, bool] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                # No route speaks WebSocket; refused so that no unchecked entry opens by accident.
                await send({"type": "websocket.close", "code": 1008})
                return
            await self.app(scope, receive, send)
            return
        origin: bytes | None = None
        started = False
        began = time.perf_counter()

        async def answer(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                self.counts.note(scope, message["status"], began)
                message["headers"] = [*message["headers"], (b"x-content-type-options", b"nosniff")]
                if origin is not None and (origin in self.origins or scope.get(FRAMED, False)):
                    message["headers"] += [
                        (b"access-control-allow-origin", origin),
                        (b"access-control-expose-headers", b"x-service-audit-id"),
                        (b"vary", b"origin"),
                    ]
            await send(message)

        try:
            headers: dict[bytes, bytes] = {}
            hosts = 0
            for name, value in scope["headers"]:
                if name == b"host":
                    hosts += 1
                headers.setdefault(name, value)
            self._check_host(headers, hosts)
            origin = headers.get(b"origin")
            method = scope["method"]
            linked = scope["path"].startswith(self.linked)
            if linked and origin is not None and not scope["path"].startswith(self.open_paths):
                scope[FRAMED] = True
                if method == "OPTIONS":
                    await answer_preflight(answer)
                    return
            elif origin is not None:
                self._check_origin(origin, headers[b"host"])
                if (
                    method == "OPTIONS"
                    and (origin in self.origins or origin == OPAQUE)
                    and b"access-control-request-method" in headers
                ):
                    scope[FRAMED] = origin == OPAQUE
                    await answer_preflight(answer)
                    return
            if method not in READING:
                self._check_content_type(headers, linked)
                receive = self._limit_body(scope, headers, receive)
            self._identify_caller(scope, headers, method, origin)
            with asking(scope[PRINCIPAL]):
                await self.app(scope, receive, answer)
        except ServiceError as refusal:
            scope[REFUSED] = refusal.code
            await refuse(answer, refusal)
        except (Exception, SystemExit) as error:
            # The message of an exception may quote page text, so the log names only its type and place.
            what = f"{scope['method']} {getattr(scope.get('route'), 'path', '(no route)')}"
            log.error("%s failed: %s", what, place_of(error))
            if not started:
                unexpected = refused_by_disk(error) or self._note_unexpected(scope, what, error)
                scope[REFUSED] = unexpected.code
                await refuse(answer, unexpected)

    def _note_unexpected(self, scope: Scope, what: str, error: BaseException) -> ServiceError:
        part = getattr(scope.get("route"), "endpoint", None)
        place, spot = self.engine.plugins.note_error(what, error, part)
        if isinstance(error, ResponseValidationError):
            # The route came to its end: whatever it wrote is there.
            return ServiceError(
                f"What {place} answered is not what its route declares. What was done stays; report it: {what}.",
                code="internal_error",
            )
        return ServiceError(
            f"Something went wrong inside {place} ({spot}); nothing was changed. Report it with this message.",
            code="internal_error",
        )

    def _check_host(self, headers: MutableMapping[bytes, bytes], hosts: int) -> None:
        host = headers.get(b"host", b"")
        is_allowed = self._hosts.get(host)
        if is_allowed is None:
            is_allowed = is_loopback_host(host.decode("latin-1")) or self._is_public(host)
            if len(self._hosts) >= _HOSTS_KEPT:
                self._hosts.clear()
            self._hosts[host] = is_allowed
        if not is_allowed or hosts != 1:
            raise Forbidden(
                "The Host header must be a name of this machine (localhost, 127.0.0.1 or [::1]) or that of "
                "SERVICE_PUBLIC_URL; open the engine under one of those.",
                code="host_refused",
            )

    def _check_origin(self, origin: bytes, host: bytes) -> None:
        if self._is_own(origin, host) or origin in self.origins:
            return
        # What sends no origin of its own is let in with a panel's token and with nothing else (`_identify_caller`).
        if origin != OPAQUE:
            raise origin_refused()

    @staticmethod
    def _check_content_type(headers: MutableMapping[bytes, bytes], linked: bool) -> None:
        declared = headers.get(b"content-type")
        if declared is None:
            if headers.get(b"content-length", b"0") == b"0" and b"transfer-encoding" not in headers:
                return
            word = "none"
        else:
            word = declared.decode("latin-1").partition(";")[0].strip().lower()
            if word not in FORM_TYPES or (linked and word != "text/plain"):
                return
        raise Invalid(
            f"The body's content type is {word[:60]}; send JSON with Content-Type: application/json.",
            code="invalid_request",
            errors=[
                {
                    "loc": ["header", "content-type"],
                    "msg": "not a type any route takes",
                    "type": "content_type",
                }
            ],
        )

    def _limit_body(self, scope: Scope, headers: MutableMapping[bytes, bytes], receive: Receive) -> Receive:
        """Return a *receive* that stops a body at its limit; a body whose stated length is too large is not read at
        all.
        """
        declared = headers.get(b"content-length")
        if declared is not None:
            try:
                length = int(declared)
            except ValueError:
                length = self.max_upload + 1
            if length <= self.max_body:
                return receive
            if length > self._limit(scope, headers):
                raise self._too_large(scope, headers)
            return receive
        if b"transfer-encoding" not in headers:
            return receive
        read = 0

        async def receive_counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self.max_body and read > self._limit(scope, headers):
                refusal = self._too_large(scope, headers)
                raise HTTPException(413, refusal.detail)
            return message

        return receive_counted

    def _limit(self, scope: Scope, headers: MutableMapping[bytes, bytes]) -> int:
        """Return the bytes this request may carry: an upload's limit only where a route takes an upload that is not
        JSON.
        """
        if b"json" in headers.get(b"content-type", b""):
            return self.max_body
        path = scope["path"]
        return (
            self.max_upload if any(pattern.fullmatch(path) for pattern in self._uploads()) else self.max_body
        )

    def _too_large(self, scope: Scope, headers: MutableMapping[bytes, bytes]) -> TooLarge:
        limit = self._limit(scope, headers)
        return TooLarge(
            f"The body is larger than the {limit} bytes one request may carry here; send it in parts.",
            code="too_large",
            limit=limit,
        )

    def _identify_caller(
        self, scope: Scope, headers: MutableMapping[bytes, bytes], method: str, origin: bytes | None
    ) -> None:
        address = scope.get("client")
        transport: Literal["uds", "tcp"] = "tcp" if address else "uds"
        client = client_name(headers.get(b"x-service-client"))
        auth = self.engine.auth
        scope[PRINCIPAL] = None
        scope[LIBRARY] = headers.get(b"x-service-library-path")
        scope[CALLER] = address[0] if address else "uds"
        scope[CLIENT] = (client, client_name(headers.get(b"x-service-origin-window")), transport)
        secret, by_cookie = read_secret(headers)
        scope[LOCAL] = is_local(address or None)
        scope[PROXIED] = is_proxied(headers)
        if self.public is not None and self._is_public(headers[b"host"]):
            scope[PROXIED] = True
            scope["scheme"] = self.public.scheme
            scope[CALLER] = forwarded_for(headers) or scope[CALLER]
        path = scope["path"]
        if path.startswith(self.linked):
            state = {
                "caller": scope[CALLER],
                "local": scope[LOCAL],
                "proxied": scope[PROXIED],
                "client": client,
            }
            if self.open_project is not None and path.startswith(self.open_paths):
                if origin == OPAQUE:
                    raise origin_refused()
                identified = principal_without_token(auth, self.open_project, transport=transport, **state)
            else:
                identified = principal_by_address(auth, path, self.linked, transport=transport, **state)
            scope[PRINCIPAL], project = identified
            scope[LIBRARY] = quote(project).encode()
            return
        if is_open(path):
            scope[FRAMED] = origin == OPAQUE and path.startswith(PANELS)
            if origin == OPAQUE and not scope[FRAMED]:
                raise origin_refused()
            auth.clients.saw(client or transport, transport)
            return
        if secret is not None:
            try:
                principal = auth.authenticate(
                    secret,
                    caller=scope[CALLER],
                    local=scope[LOCAL],
                    proxied=scope[PROXIED],
                    transport=transport,
                    client=client,
                    window=scope[CLIENT][1],
                    # A browser sends the cookie of a former session with every request; that is not a guess.
                    counted=not by_cookie,
                    # What is asked on behalf of such a request counts, not its envelope.
                    spends=path not in self.endpoints,
                )
            except Unauthorized:
                # A page cannot drop that cookie either, and must be able to sign in all the same.
                if not (by_cookie and path == CREDENTIAL_PATH and method == "POST"):
                    raise
            else:
                scope[FRAMED] = origin == OPAQUE and principal.token_kind == "panel"
                if origin == OPAQUE and not scope[FRAMED]:
                    raise origin_refused()
                panel_may_ask(principal, method, path)
                if by_cookie:
                    self._check_cookie(principal, method, origin, headers[b"host"])
                scope[PRINCIPAL] = principal
                if principal.token_kind == "agent":
                    auth.clients.saw(principal.client or transport, transport, principal.name)
                    return
        elif origin == OPAQUE:
            raise origin_refused()
        elif path != CREDENTIAL_PATH:
            raise Unauthorized(
                "This route needs a token: send Authorization: Bearer <token>. The owner's is in the file "
                "owner-token of the engine's state folder.",
                code="missing_token",
            )
        auth.clients.saw(client or transport, transport)

    def _is_public(self, host: bytes) -> bool:
        return self.public is not None and host.lower() == self.public.host

    def _is_own(self, origin: bytes, host: bytes) -> bool:
        """Return whether *origin* is that of the engine's own page, as the browser sees it."""
        own = host.lower()
        if self.public is not None and own == self.public.host:
            return origin.lower() == self.public.origin
        return origin.lower() in (b"http://" + own, b"https://" + own)

    def _check_cookie(self, principal: Principal, method: str, origin: bytes | None, host: bytes) -> None:
        if principal.token_kind != "session":
            raise Unauthorized("The cookie holds no session; sign in again.", code="invalid_token")
        if method not in READING and (origin is None or not self._is_own(origin, host)):
            raise Forbidden(
                "A write with the session cookie must come from the engine's own page (Origin header).",
                code="origin_refused",
            )
