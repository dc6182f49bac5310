"""Access control as a plugin like any other: its tables, actions and routes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Column, Text

from armarium.actions import actions_in
from armarium.auth import actions, sandbox
from armarium.auth.models import auth_metadata
from armarium.auth.routes import router
from armarium.history.schema import alter_tracked
from armarium.plugin import Migration, Plugin, hookimpl
from armarium.store.tables import Json

if TYPE_CHECKING:
    from alembic.operations import Operations


def _add_session_of(operations: Operations) -> None:
    operations.add_column("pair_code", Column("session_of", Text))


def _add_agents_terms(operations: Operations) -> None:
    def add(name: str) -> None:
        for column in (Column("model", Text), Column("writes_to", Text), Column("budget", Json)):
            operations.add_column(name, column)

    alter_tracked(operations, "token", add)


@hookimpl
def armarium_plugin() -> Plugin:
    """Tokens, pairing, sessions and sandbox grants."""
    return Plugin(
        name="auth",
        summary="Tokens, pairing, sessions and sandbox grants",
        prefixes=("token", "pair", "session", "sandbox"),
        engine_metadata=auth_metadata,
        engine_version=3,
        engine_migrations=(
            Migration(2, "Pairing codes that open a browser session", _add_session_of),
            Migration(3, "The model and the budget of agents", _add_agents_terms),
        ),
        actions=actions_in(actions, sandbox),
        routers=(router,),
    )
