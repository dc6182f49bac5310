"""Commands about who may reach the engine: tokens."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from armarium.client import AgentRole, Role
from armarium_cli.declared import BY_ID, Commands
from armarium_cli.options import Topic
from armarium_cli.output import answer, table
from armarium_cli.program import engine_session, named_projects
from armarium_cli.refusals import Refused
from armarium_cli.session import Session, id_of

Calls = Annotated[int | None, "How many requests an agent may send."]
Writes = Annotated[int | None, "How many steps it may make itself."]
Pages = Annotated[int | None, "How many pages its work may go through."]
Minutes = Annotated[float | None, "How many minutes its work may take."]
Dollars = Annotated[float | None, "How much models of providers may cost it."]

commands = Commands(Topic.engine)
token = commands.group("token", "Who may reach this engine.")


@token.asks(
    "list",
    "GET /api/tokens",
    of="engine",
    every=True,
    columns=(
        *("id", "kind", "name", "role"),
        ("folders", lambda row: "all" if row["folders"] is None else len(row["folders"]) or ""),
        ("last seen", lambda row: row["last_seen"] or ""),
        ("", lambda row: "revoked" if row["revoked"] else ""),
    ),
)
def list_tokens() -> None:
    """List the devices, sessions and agents that hold a token."""


@token.example("create bot --role viewer")
def create_token(
    name: Annotated[str, "What it is for."],
    role: Annotated[AgentRole, "What it may do."] = "editor",
    folder: Annotated[
        list[Path] | None,
        "A folder whose files it may read and write; repeatable. Without one it can only upload.",
    ] = None,
    model: Annotated[str | None, "The model it runs on, for the history."] = None,
    in_project: Annotated[bool, "Let it write to the project itself, not to a branch."] = False,
    calls: Calls = None,
    writes: Writes = None,
    pages: Pages = None,
    minutes: Minutes = None,
    dollars: Dollars = None,
) -> None:
    """Make a token for an agent; it is shown once. With --library it reaches that project only."""
    with engine_session() as session:
        only = named_projects(session)
        body: dict[str, Any] = {"name": name, "role": role, "libraries": only or "all"}
        body |= {"folders": _full_paths(folder), "model": model}
        body |= {"writes_to": "project" if in_project else "branch"}
        body["budget"] = _budget(calls, writes, pages, minutes, dollars)
        created = session.post("/api/tokens", body)
    answer(created, str(created["token"]))


@token.example("budget ID --writes 500 --dollars 5")
def budget(
    identity: Annotated[str, "ID: Id of an agent's token."],
    calls: Calls = None,
    writes: Writes = None,
    pages: Pages = None,
    minutes: Minutes = None,
    dollars: Dollars = None,
    none: Annotated[bool, "Limit it no longer."] = False,
) -> None:
    """Set what an agent may use from when it was made; what is not named is not limited. Without any, show what it used."""
    new_limits = _budget(calls, writes, pages, minutes, dollars)
    with engine_session() as session:
        if new_limits or none:
            entry = session.ask("PATCH", f"/api/tokens/{id_of(identity)}", body={"budget": new_limits})
        else:
            entry = _find_token(session, identity)
    if entry.get("spent") is None:
        raise Refused("Only an agent has a budget; armarium token list says which tokens are agents'.")
    limits = entry["budget"] or {}
    rows = [
        (kind, used, "" if limits.get(kind) is None else limits[kind])
        for kind, used in entry["spent"].items()
    ]
    answer(entry, lambda: table("", ("", "used", "of"), rows))


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
            entry = session.ask(
                "PATCH",
                f"/api/tokens/{id_of(identity)}",
                body={"folders": [] if none else _full_paths(folder)},
            )
        else:
            entry = _find_token(session, identity)
    granted = entry["folders"]
    words = "every folder that the engine may use" if granted is None else "\n".join(granted) or "no folder"
    answer(entry, words)


def _find_token(session: Session, identity: str) -> dict[str, Any]:
    matches = [row for row in session.every("/api/tokens")["items"] if row["id"] == id_of(identity)]
    if not matches:
        raise Refused(f"There is no token {identity}; armarium token list shows those there are.")
    first: dict[str, Any] = matches[0]
    return first


def _budget(
    calls: int | None, writes: int | None, pages: int | None, minutes: float | None, dollars: float | None
) -> dict[str, Any] | None:
    """Return the limits that were named; None where none was."""
    limits = {"calls": calls, "writes": writes, "pages": pages, "minutes": minutes, "cost_usd": dollars}
    return {kind: limit for kind, limit in limits.items() if limit is not None} or None


def _full_paths(folders: list[Path] | None) -> list[str]:
    """Return folders by their full paths: the engine runs in another folder than the command."""
    return [str(folder.expanduser().absolute()) for folder in folders or []]


@token.asks("revoke ID", "DELETE /api/tokens/{identity}", of="engine", says="Revoked {identity}.")
def revoke(identity: Annotated[str, "ID: Id of the token.", BY_ID]) -> None:
    """Revoke a token at once."""


@token.asks(
    "pair --role viewer",
    "POST /api/pair/code",
    of="engine",
    fixed={"libraries": lambda session: named_projects(session) or "all"},
    says="Code: {code} (until {expires_at})",
)
def pair(role: Annotated[Role, "What the device may do."] = "editor") -> None:
    """Make a one-time code that lets a device in, valid for ten minutes; with --library, for that project only."""
