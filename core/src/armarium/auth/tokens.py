"""The tokens the engine knows, in memory by digest: their principal, expiry and last use.

The rows are in the database; the book is read from it at start and after every write to it.
"""

from __future__ import annotations

import hmac
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy import Row

from armarium.auth.budgets import Budget, Purse
from armarium.auth.models import owner_tokens, token_spending, token_uses, tokens
from armarium.auth.presence import moment, seconds_of
from armarium.auth.secret_files import digest_of
from armarium.errors import Unauthorized
from armarium.ids import now
from armarium.principals import Principal, Role
from armarium.store.database import Database
from armarium.store.tables import json_text

TokenKind = Literal["owner", "device", "session", "agent", "run", "panel"]

DAY = 86_400.0
LIFETIMES: dict[str, float] = {"device": 365 * DAY, "session": 30 * DAY, "agent": 90 * DAY}
"""Lifetime of each kind in seconds: of a device or agent since it was made or renewed, of a session since its last use.
"""

SEEN_EVERY = 60.0
"""Seconds between two writes of `last_seen` of one token."""

PRINCIPALS_KEPT = 64


@dataclass(slots=True)
class TokenEntry:
    """One token in the book; times in seconds since the epoch."""

    id: str
    kind: TokenKind
    name: str
    role: Role
    digest: str
    libraries: frozenset[str] | None = None
    folders: frozenset[str] | None = frozenset()
    parent_id: str | None = None
    expires: float | None = None
    revoked: bool = False
    last_seen: float | None = None
    written: float = 0.0
    person: bool = True
    routes: tuple[str, ...] | None = None
    model: str | None = None
    writes_to: Literal["branch", "project"] = "branch"
    purse: Purse | None = None
    """Of an agent: its budget, and what it has used."""
    principals: dict[tuple[str | None, str | None, str], Principal] = field(default_factory=dict)

    def principal(
        self, client: str | None, window: str | None, transport: Literal["uds", "tcp"]
    ) -> Principal:
        """Return the caller this token belongs to, under the names it gives (kept: most callers repeat them, and without
        it row 1 of the measurements, a write over HTTP, rises from 1.47 to 1.54).
        """
        key = (client, window, transport)
        principal = self.principals.get(key)
        if principal is None:
            if len(self.principals) >= PRINCIPALS_KEPT:
                self.principals.clear()
            principal = self.principals[key] = Principal(
                kind="person" if self.person else "machine",
                name=self.name,
                role=self.role,
                token_id=self.id,
                device_id=self.parent_id,
                token_kind=self.kind,
                libraries=self.libraries,
                folders=self.folders,
                routes=self.routes,
                # Said by the token and not by the caller, and so to be trusted.
                client=client if self.model is None else f"{client or transport} ({self.model})",
                origin_window=window,
                transport=transport,
            )
        return principal


def _folders_of(row: Row[Any], granted: Mapping[str, frozenset[str]]) -> frozenset[str] | None:
    """Return the folders a token may reach; for a session, those of the token it came from now; None for all."""
    if row.parent_id == "owner" and row.libraries is None:
        return None
    return granted.get(row.parent_id or row.id, frozenset())


def shown_token(book: TokenBook, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of the table as the owner sees it, never with its secret."""
    entry = book.by_id(row["id"])
    folders = None if entry is not None and entry.folders is None else row["folders"] or []
    if row["parent_id"] is not None and entry is not None and entry.folders is not None:
        folders = sorted(entry.folders)
    last_seen = entry.last_seen if entry is not None else None
    expires = entry.expires if entry is not None else None
    return {
        "id": row["id"],
        "kind": row["kind"],
        "name": row["name"],
        "role": row["role"],
        "libraries": "all" if row["libraries"] is None else row["libraries"],
        "folders": folders,
        "created_at": row["created_at"],
        "created_by": row["created_by"],
        "last_seen": moment(last_seen) if last_seen is not None else None,
        "expires_at": moment(expires) if expires is not None else row["expires_at"],
        "revoked": entry.revoked if entry is not None else bool(row["revoked"]),
        **shown_terms(entry),
    }


def shown_budget(limits: Mapping[str, float] | None) -> dict[str, float | None] | None:
    """Return a budget as it is answered, with what it does not limit; None for none."""
    return Budget.model_validate(limits).model_dump() if limits else None


def shown_terms(entry: TokenEntry | None) -> dict[str, Any]:
    """Return what is shown of an agent's terms; nothing of any other token."""
    if entry is None or entry.purse is None:
        return {}
    return {
        "model": entry.model,
        "writes_to": entry.writes_to,
        "budget": shown_budget(entry.purse.limits),
        "spent": entry.purse.total,
    }


class TokenBook:
    """Every token by the SHA-256 of its secret; one dictionary lookup per request."""

    def __init__(self, state: Database, clock: Callable[[], float] = time.time) -> None:
        self.state = state
        self.clock = clock
        self._entries: dict[str, TokenEntry] = {}
        self._panels: dict[str, TokenEntry] = {}
        self._stale_owners: frozenset[str] = frozenset()
        self._purses: dict[str, Purse] = {}
        self._lock = threading.Lock()

    def settle_owner(self, token: str) -> None:
        """Make *token* the owner's; a former one is remembered, and sessions made from it end."""
        digest = digest_of(token)
        with self.state.read() as conn:
            superseded_by_digest = {
                row.digest: row.superseded_at for row in conn.execute(owner_tokens.select())
            }
        if superseded_by_digest.get(digest, "unknown") is None:
            return
        with self.state.write() as conn:
            conn.execute(
                owner_tokens.update()
                .where(owner_tokens.c.superseded_at.is_(None))
                .values(superseded_at=now())
            )
            conn.execute(owner_tokens.delete().where(owner_tokens.c.digest == digest))
            conn.execute(owner_tokens.insert().values(digest=digest, since=now(), superseded_at=None))

    def reload(self) -> None:
        """Read all tokens again; called at start and after each write."""
        with self._lock:
            with self.state.read() as conn:
                rows = conn.execute(tokens.select()).all()
                last_seen = {row.token_id: row.last_seen for row in conn.execute(token_uses.select())}
                owners = conn.execute(owner_tokens.select()).all()
                spent = {row.token_id: row.spent for row in conn.execute(token_spending.select())}
            granted = {row.id: frozenset(row.folders or ()) for row in rows}
            before = {entry.id: entry for entry in self._entries.values()}
            owner_since = next((row.since for row in owners if row.superseded_at is None), "")
            entries: dict[str, TokenEntry] = {}
            for row in rows:
                entry = TokenEntry(
                    id=row.id,
                    kind=row.kind,
                    name=row.name,
                    role=row.role,
                    digest=row.digest,
                    libraries=None if row.libraries is None else frozenset(row.libraries),
                    folders=_folders_of(row, granted),
                    parent_id=row.parent_id,
                    expires=None if row.expires_at is None else seconds_of(row.expires_at),
                    # A session made from a former owner token ends with it.
                    revoked=bool(row.revoked) or (row.parent_id == "owner" and row.created_at < owner_since),
                    last_seen=seconds_of(last_seen[row.id]) if row.id in last_seen else None,
                    person=row.kind != "agent",
                    model=row.model,
                    writes_to=row.writes_to or "branch",
                )
                if row.kind == "agent":
                    entry.purse = self._purses.setdefault(
                        row.id, Purse(row.id, row.name, spent=dict(spent.get(row.id, {})))
                    )
                    entry.purse.name, entry.purse.limits = row.name, row.budget or {}
                earlier_entry = before.get(row.id)
                if earlier_entry is not None:
                    entry.last_seen, entry.written = earlier_entry.last_seen, earlier_entry.written
                if entry.kind == "session":
                    entry.expires = (entry.last_seen or seconds_of(row.created_at)) + LIFETIMES["session"]
                entries[row.digest] = entry
            for row in owners:
                if row.superseded_at is None:
                    entries[row.digest] = before.get("owner") or TokenEntry(
                        "owner", "owner", "owner", "owner", row.digest, folders=None
                    )
                    entries[row.digest].digest = row.digest
            self._stale_owners = frozenset(row.digest for row in owners if row.superseded_at is not None)
            self._entries = entries

    def open_panel(self, entry: TokenEntry) -> None:
        """Add the token of a panel, which lives in memory as long as the session it is in, and replaces that panel's former one."""
        with self._lock:
            self._panels = {
                digest: panel
                for digest, panel in self._panels.items()
                if (panel.parent_id, panel.name) != (entry.parent_id, entry.name)
            } | {entry.digest: entry}

    def find(self, secret: str) -> TokenEntry:
        """Return the valid token with this secret. Raises Unauthorized with a code that gives the reason."""
        digest = digest_of(secret)
        entry = self._entries.get(digest) or self._panels.get(digest)
        if entry is None or not hmac.compare_digest(entry.digest, digest):
            if digest in self._stale_owners:
                raise Unauthorized(
                    "This is a former owner token; the one in force is in the owner-token file of the engine's "
                    "state folder.",
                    code="stale_owner_token",
                )
            raise Unauthorized(
                "This token is not known here. Pair this device again, or ask the owner for a token.",
                code="invalid_token",
            )
        if entry.kind == "panel" and not self.is_live(entry):
            raise Unauthorized(
                "The session in which this panel was shown is over. Sign in again.", code="token_revoked"
            )
        if entry.revoked:
            raise Unauthorized(
                "This token was revoked. Pair this device again, or ask the owner for a new token.",
                code="token_revoked",
            )
        if entry.expires is not None and entry.expires <= self.clock():
            raise Unauthorized(
                f"This token expired on {moment(entry.expires)[:10]}. Ask the owner to renew it, or pair again.",
                code="token_expired",
            )
        return entry

    def is_live(self, entry: TokenEntry) -> bool:
        """Return whether a token is valid now, and with it the session that a panel's is of."""
        if entry.revoked or (entry.expires is not None and entry.expires <= self.clock()):
            return False
        if entry.kind != "panel":
            return True
        session = self.by_id(entry.parent_id or "")
        return session is not None and self.is_live(session)

    def saw(self, entry: TokenEntry) -> bool:
        """Record that *entry* was used just now; return whether that is due to be written (once a minute)."""
        moment_ = self.clock()
        entry.last_seen = moment_
        if entry.kind == "session":
            entry.expires = moment_ + LIFETIMES["session"]
        if entry.kind in ("owner", "panel") or moment_ - entry.written < SEEN_EVERY:
            return False
        entry.written = moment_
        return True

    def write_seen(self, entry: TokenEntry) -> None:
        """Write the last use of *entry*."""
        at = moment(entry.last_seen or self.clock())
        with self.state.write() as conn:
            conn.exec_driver_sql(
                "INSERT INTO token_use (token_id, last_seen) VALUES (?, ?) "
                "ON CONFLICT (token_id) DO UPDATE SET last_seen = excluded.last_seen",
                (entry.id, at),
            )

    def purse(self, token_id: str | None) -> Purse | None:
        """Return the budget of an agent's token; None for any other."""
        return self._purses.get(token_id or "")

    def write_spent(self, purse: Purse) -> None:
        """Write what was used of a budget."""
        purse.unwritten, purse.written = False, self.clock()
        with self.state.write() as conn:
            conn.exec_driver_sql(
                "INSERT INTO token_spending (token_id, spent) VALUES (?, ?) "
                "ON CONFLICT (token_id) DO UPDATE SET spent = excluded.spent",
                (purse.token_id, json_text(dict(purse.spent))),
            )

    def unwritten(self) -> list[Purse]:
        """Return the budgets of which not everything used is written."""
        return [purse for purse in self._purses.values() if purse.unwritten]

    def by_id(self, token_id: str) -> TokenEntry | None:
        """Return the token with this id as the book holds it (its last use may not be written yet)."""
        entries = (*self._entries.values(), *self._panels.values())
        return next((entry for entry in entries if entry.id == token_id), None)
