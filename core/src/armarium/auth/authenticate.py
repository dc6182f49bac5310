"""Who is asking: the engine's one authority on tokens, pairing secrets, presence and failed attempts."""

from __future__ import annotations

import hmac
import ipaddress
import logging
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, Literal

from armarium.auth.attempts import FailedAttempts
from armarium.auth.budgets import Purse
from armarium.auth.models import sandbox_grants
from armarium.auth.presence import ConnectedClients
from armarium.auth.secret_files import (
    digest_of,
    enrollment_secret,
    make_private_folder,
    new_secret,
    settle_owner_token,
)
from armarium.auth.tokens import TokenBook, TokenEntry
from armarium.errors import Forbidden, Unauthorized
from armarium.ids import new_id
from armarium.principals import Principal
from armarium.settings import Settings
from armarium.store.database import Database

log = logging.getLogger("armarium.auth")

COOKIE = "service_session"

WRITTEN_EVERY = 1.0
"""Seconds between two writes of what an agent has used."""

PAIRING = Principal("person", "pairing", "owner", token_kind="none")
"""Runs the pairing actions for a caller who has no token yet and identifies by the code or the secret."""


class Auth:
    """Tokens, pairing, presence and rate limit of one engine. `start` before the first request, `close` at the end."""

    def __init__(self, settings: Settings, state: Database, clock: Callable[[], float] = time.time) -> None:
        self.settings = settings
        self.state = state
        self.clock = clock
        self.book = TokenBook(state, clock)
        self.attempts = FailedAttempts()
        self.clients = ConnectedClients(clock)
        self._writer: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()
        self._granted: list[str] | None = None

    def start(self) -> None:
        """Make the state folder private, determine the owner token and read all tokens."""
        make_private_folder(self.settings.state_dir)
        token = settle_owner_token(
            self.settings.state_dir, self.settings.owner_token, self.settings.rotate_token
        )
        enrollment_secret(self.settings.state_dir)
        self.book.settle_owner(token)
        self.book.reload()

    def close(self) -> None:
        """Write the pending times of last use, and what agents have used."""
        for purse in self.book.unwritten():
            self._write_later(self.book.write_spent, purse)
        with self._lock:
            writer, self._writer = self._writer, None
        if writer is not None:
            writer.shutdown(wait=True)

    def authenticate(
        self,
        secret: str,
        *,
        caller: str,
        local: bool,
        proxied: bool,
        transport: Literal["uds", "tcp"],
        client: str | None = None,
        window: str | None = None,
        counted: bool = True,
        spends: bool = True,
    ) -> Principal:
        """Return the principal that *secret* belongs to.

        Failures are counted for *caller* where *counted* says so; *spends*: the request counts towards an agent's budget. *local* means the connection comes from this machine, *proxied* that
        something forwarded it. Raises Unauthorized, Forbidden (owner token from elsewhere) or RateLimited. A valid
        token is never blocked by somebody else's failures: 256 random bits cannot be guessed.
        """
        try:
            entry = self.book.find(secret)
        except Unauthorized as refusal:
            if refusal.code == "invalid_token" and counted:
                self.attempts.check(caller)
                self.attempts.note_failure(caller)
            raise
        if entry.kind == "owner" and (proxied or not local):
            raise Forbidden(
                "The owner token is taken only from this machine itself, never through a proxy. "
                "Pair this device and use its own token.",
                code="owner_token_local_only",
            )
        if self.book.saw(entry):
            self._write_later(self.book.write_seen, entry)
        if entry.purse is not None and spends:
            entry.purse.take("calls")
            self.note_spent(entry.purse)
        return entry.principal(client, window, transport)

    def purse_of(self, principal: Principal) -> Purse | None:
        """Return the budget that *principal* works on: an agent's own, and that of the agent who started a job; else None."""
        return self.book.purse(principal.token_id)

    def note_spent(self, purse: Purse) -> None:
        """Have what was used written, at most once a second."""
        if self.clock() - purse.written >= WRITTEN_EVERY:
            purse.written = self.clock()
            self._write_later(self.book.write_spent, purse)

    def _write_later(self, write: Callable[[Any], None], what: object) -> None:
        with self._lock:
            if self._writer is None:
                self._writer = ThreadPoolExecutor(1, thread_name_prefix="token-uses")
            self._writer.submit(self._write, write, what)

    @staticmethod
    def _write(write: Callable[[Any], None], what: object) -> None:
        try:
            write(what)
        except Exception as error:
            # Failing to write it (on a full disk, say) must not fail the request.
            log.warning("the use of a token was not recorded: %s", type(error).__name__)

    def check_enrollment_secret(self, secret: str) -> None:
        """Raise Forbidden unless *secret* is the owner's enrollment secret."""
        expected = digest_of(enrollment_secret(self.settings.state_dir))
        if not hmac.compare_digest(expected, digest_of(secret)):
            raise Forbidden(
                "This is not the owner's enrollment secret. Read it on a device that is paired already "
                "and try again.",
                code="wrong_secret",
            )

    def make_panel_token(self, principal: Principal, name: str, library: str, routes: tuple[str, ...]) -> str:
        """Return a machine token for the panel *name* in the session of *principal*, for one project and these routes.

        An editor's rights at most: what only the owner may see or do, code of others may not.
        """
        secret = new_secret()
        self.book.open_panel(
            TokenEntry(
                id=new_id(),
                kind="panel",
                name=name,
                role="editor" if principal.role == "owner" else principal.role,
                digest=digest_of(secret),
                libraries=frozenset({library}),
                parent_id=principal.token_id,
                person=False,
                routes=routes,
            )
        )
        return secret

    def folders_of_run(self, started_by: Mapping[str, Any]) -> frozenset[str] | None:
        """Return the folders that a job started by the principal *started_by* may reach: those its token is granted
        now.

        None for all that the engine may use: jobs of the owner and of the engine itself, which nobody started.
        """
        if not started_by:
            return None
        if "folders" not in started_by:
            # A job queued before tokens had folders.
            return None if started_by.get("role") == "owner" else frozenset()
        folders = started_by["folders"]
        entry = self.book.by_id(started_by.get("token_id") or "")
        if folders is None or entry is None:
            return None if folders is None else frozenset(folders)
        return frozenset() if entry.revoked else entry.folders

    def still_valid(self, principal: Principal) -> bool:
        """Return whether the token behind *principal* is still valid: checked by answers that stay open for long."""
        if principal.token_id is None or principal.token_kind == "owner":
            return True
        entry = self.book.by_id(principal.token_id)
        return entry is not None and self.book.is_live(entry)

    def granted_roots(self) -> list[str]:
        """Return the folders the owner granted besides the usual roots (sandbox grants)."""
        if self._granted is None:
            with self.state.read() as conn:
                self._granted = [row.path for row in conn.execute(sandbox_grants.select())]
        return self._granted

    def forget_grants(self) -> None:
        """Have the sandbox grants read again on next use."""
        self._granted = None


def is_local(client: tuple[str, int] | None) -> bool:
    """Return whether a connection comes from this machine: a Unix socket (no address) or a loopback address."""
    return client is None or _is_loopback(client[0])


@lru_cache(maxsize=256)
def _is_loopback(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return address.is_loopback
