"""The engine-wide tables of access: tokens, pairing codes, sandbox grants.

They lie in the engine's own database (`engine.state`), never in a project. Secrets are stored as SHA-256 only.
"""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Index, MetaData, Table, Text

from armarium.store.tables import Json, operational, tracked

auth_metadata = MetaData()

tokens = Table(
    "token",
    auth_metadata,
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("libraries", Json),
    Column("folders", Json),
    Column("digest", Text, nullable=False, unique=True),
    Column("parent_id", Text, index=True),
    Column("created_at", Text, nullable=False),
    Column("created_by", Text),
    Column("expires_at", Text),
    Column("revoked", Boolean, nullable=False, default=False),
    Column("revoked_at", Text),
    Column("model", Text),
    Column("writes_to", Text),
    Column("budget", Json),
    info=tracked(label="token"),
)
"""Device, session and agent tokens. `libraries` null means all, `folders` null none; `parent_id` is the token a session
came from, whose folders it has. Of agents: the `model` it runs on, whether its work goes to a branch (null) or to the
project, and its `budget`.
"""

token_spending = Table(
    "token_spending",
    auth_metadata,
    Column("token_id", Text, primary_key=True),
    Column("spent", Json, nullable=False),
    info=operational(),
)
"""What the token of an agent has used, by kind (`auth.budgets`)."""

token_uses = Table(
    "token_use",
    auth_metadata,
    Column("token_id", Text, primary_key=True),
    Column("last_seen", Text, nullable=False),
    info=operational(),
)
"""When a token was last seen, written at most once a minute."""

owner_tokens = Table(
    "token_owner",
    auth_metadata,
    Column("digest", Text, primary_key=True),
    Column("since", Text, nullable=False),
    Column("superseded_at", Text),
    info=operational(),
)
"""Digests of the current and former owner tokens, so that a former one can be recognised."""

pairing_codes = Table(
    "pair_code",
    auth_metadata,
    Column("id", Text, primary_key=True),
    Column("digest", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("libraries", Json),
    Column("created_at", Text, nullable=False),
    Column("created_by", Text),
    Column("expires_at", Text, nullable=False),
    Column("used_at", Text),
    Column("session_of", Text),
    Index("ix_pair_code_digest", "digest"),
    info=operational(),
)
"""One-time pairing codes, valid for ten minutes. `session_of`: the code opens a browser session of that token, and pairs no
device.
"""

sandbox_grants = Table(
    "sandbox_grant",
    auth_metadata,
    Column("id", Text, primary_key=True),
    Column("path", Text, nullable=False, unique=True),
    Column("granted_at", Text, nullable=False),
    Column("granted_by", Text),
    info=tracked(label="sandbox grant"),
)
"""Folders the owner granted to the engine besides the roots it may always read."""
