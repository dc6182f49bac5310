"""Commands about who may reach the engine: tokens."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from armarium.cli.declared import BY_ID, Commands
from armarium.cli.options import Topic
from armarium.cli.output import answer, table
from armarium.cli.program import engine_session, named_projects
from armarium.cli.refusals import Refused
from armarium.cli.session import id_of
from armarium.principals import AgentRole, Role

commands = Commands(Topic.engine)
token = commands.group("token", "Who may reach this engine.")


@token.example("list")
def list_tokens() -> None:
    """List the devices, sessions and agents that hold a token."""
    with engine_session() as session:
        found = session.every("/api/tokens")
    rows = [
        (
            t["id"],
            t["kind"],
            t["name"],
            t["role"],
            "all" if t["folders"] is None else len(t["folders"]) or "",
            t.get("last_seen") or "",
            "revoked" if t["revoked"] else "",
        )
        for t in found["items"]
    ]
    answer(found, lambda: table("", ("id", "kind", "name", "role", "folders", "last seen", ""), rows))


@token.example("create bot --role viewer")
def create_token(
    name: Annotated[str, "What it is for."],
    role: Annotated[AgentRole, "What it may do."] = "editor",
    folder: Annotated[
        list[Path] | None,
        "A folder whose files it may read and write; repeatable. Without one it can only upload.",
    ] = None,
) -> None:
    """Make a token for an agent; it is shown once. With --library it reaches that project only."""
    with engine_session() as session:
        only = named_projects(session)
        body = {"name": name, "role": role, "libraries": only or "all", "folders": _full_paths(folder)}
        made = session.post("/api/tokens", body)
    answer(made, str(made["token"]))


@token.example("folders ID pages")
def folders(
    identity: Annotated[str, "ID: Id of the token."],
    folder: Annotated[
        list[Path] | None, "FOLDER: The folders it has from now on; they replace the former ones."
    ] = None,
    none: Annotated[bool, "Remove all of its folders."] = False,
) -> None:
    """Set the folders of this machine a token may read and write; without any, show those it has."""
    with engine_session() as session:
        if folder or none:
            found = session.ask(
                "PATCH",
                f"/api/tokens/{id_of(identity)}",
                body={"folders": [] if none else _full_paths(folder)},
            )
        else:
            known = [one for one in session.every("/api/tokens")["items"] if one["id"] == id_of(identity)]
            if not known:
                raise Refused(f"There is no token {identity}; armarium token list shows those there are.")
            (found,) = known
    granted = found["folders"]
    words = "every folder that the engine may use" if granted is None else "\n".join(granted) or "no folder"
    answer(found, words)


def _full_paths(folders: list[Path] | None) -> list[str]:
    """Return folders by their full paths: the engine runs in another folder than the command."""
    return [str(folder.expanduser().absolute()) for folder in folders or []]


@token.asks("revoke ID", "DELETE /api/tokens/{identity}", of="engine", says="Revoked {identity}.")
def revoke(identity: Annotated[str, "ID: Id of the token.", BY_ID]) -> None:
    """Revoke a token at once."""


@token.example("pair --role viewer")
def pair(role: Annotated[Role, "What the device may do."] = "editor") -> None:
    """Make a one-time code that lets a device in, valid for ten minutes; with --library, for that project only."""
    with engine_session() as session:
        only = named_projects(session)
        made = session.post("/api/pair/code", {"role": role, "libraries": only or "all"})
    answer(made, f"Code: {made['code']} (until {made['expires_at']})")
