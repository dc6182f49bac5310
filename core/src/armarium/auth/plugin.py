"""Access control as a plugin like any other: its tables, actions and routes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Column, Text

from armarium.actions import actions_in
from armarium.auth import actions, sandbox
from armarium.auth.models import auth_metadata
from armarium.auth.routes import router
from armarium.plugin import Migration, Plugin, hookimpl

if TYPE_CHECKING:
    from alembic.operations import Operations


def _add_session_of(operations: Operations) -> None:
    operations.add_column("pair_code", Column("session_of", Text))


@hookimpl
def armarium_plugin() -> Plugin:
    """Tokens, pairing, sessions and sandbox grants."""
    return Plugin(
        name="auth",
        summary="Tokens, pairing, sessions and sandbox grants",
        prefixes=("token", "pair", "session", "sandbox"),
        engine_metadata=auth_metadata,
        engine_version=2,
        engine_migrations=(Migration(2, "Pairing codes that open a browser session", _add_session_of),),
        actions=actions_in(actions, sandbox),
        routers=(router,),
    )
