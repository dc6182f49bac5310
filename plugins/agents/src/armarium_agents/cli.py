"""The command by which programs that run agents start a server of their own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Literal

from armarium_cli.api import Commands, Refused, Session, Topic, project_session

commands = Commands(Topic.engine)

TOKEN = "ARMARIUM_AGENT_TOKEN"
"""The environment variable in which a client hands over the token of its agent."""


@commands.example("mcp")
def mcp(
    name: Annotated[str, "What the agent is called in the history, without a token of its own."] = "agent",
    role: Annotated[Literal["editor", "viewer"], "What it may do, without a token of its own."] = "editor",
    model: Annotated[str | None, "The model it runs on, for the history."] = None,
) -> None:
    """Offer this project to an agent over the Model Context Protocol, on standard input and output.

    The agent is a machine and never you: it works with the token in ARMARIUM_AGENT_TOKEN or, without one, with one made
    for this project and this connection, which ends with it.
    """
    with project_session() as session:
        library = session.library
        assert library is not None
        with _token(session, library, name, role, model) as secret:
            # Loaded only here: a command that is listed or completed needs none of it.
            from importlib.metadata import version

            from armarium_agents.mcp.over_stdio import serve

            session.library = None
            serve(session, library, secret, version("armarium-agents"))


@contextmanager
def _token(session: Session, library: str, name: str, role: str, model: str | None) -> Iterator[str]:
    """Lend a token of an agent: the one it brings, else one for the time of the block."""
    token_given = os.environ.get(TOKEN, "").strip()
    if token_given:
        if not token_given.isascii() or not token_given.isprintable():
            raise Refused(f"{TOKEN} holds no token: it has letters that no token has.")
        yield token_given
        return
    body = {"name": name, "role": role, "libraries": [library], "model": model}
    token = session.post("/api/tokens", {key: value for key, value in body.items() if value is not None})
    try:
        yield str(token["token"])
    finally:
        session.delete(f"/api/tokens/{token['id']}")
