"""Access control as a plugin like any other: its tables, actions and routes."""

from __future__ import annotations

from armarium.auth.actions import ACCESS_ACTIONS
from armarium.auth.models import auth_metadata
from armarium.auth.routes import router
from armarium.auth.sandbox import grant
from armarium.plugin import Plugin, hookimpl


@hookimpl
def armarium_plugin() -> Plugin:
    """Tokens, pairing, sessions and sandbox grants."""
    return Plugin(
        name="auth",
        summary="Tokens, pairing, sessions and sandbox grants",
        prefixes=("token", "pair", "session", "sandbox"),
        engine_metadata=auth_metadata,
        actions=(*ACCESS_ACTIONS, grant),
        routers=(router,),
    )
