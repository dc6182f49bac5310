"""Access control as a plugin on the one road: its tables, actions and nothing else (the routes are the core's)."""

from __future__ import annotations

from armarium.auth.actions import ACCESS_ACTIONS
from armarium.auth.compute import set_compute
from armarium.auth.models import auth_metadata
from armarium.auth.sandbox import grant
from armarium.plugins import Plugin


def core_auth_plugin() -> Plugin:
    """Tokens, pairing, sessions, compute settings and sandbox grants."""
    return Plugin(
        name="auth",
        summary="Tokens, pairing, sessions, compute settings and sandbox grants",
        prefixes=("token", "pair", "session", "compute", "sandbox"),
        engine_metadata=auth_metadata,
        actions=(*ACCESS_ACTIONS, set_compute, grant),
    )
