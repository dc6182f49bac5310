"""Commands about who may reach the engine: tokens."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from armarium.cli.options import AgentRole, Role, Topic
from armarium.cli.output import answer, table
from armarium.cli.program import engine_session, named_projects
from armarium.cli.refusals import Refused
from armarium.cli.session import Session, id_of

token = typer.Typer(help="Who may reach this engine.", no_args_is_help=True)


def register(program: typer.Typer) -> None:
    """Add the commands."""
    program.add_typer(token, name="token", rich_help_panel=Topic.engine)


@token.command("list", epilog="Example: armarium token list")
def list_tokens() -> None:
    """List the devices, sessions and agents that hold a token."""
    with engine_session() as session:
        found = _every_token(session)
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


def _every_token(session: Session) -> dict[str, Any]:
    """Return all pages of the list of tokens."""
    found: dict[str, Any] = session.get("/api/tokens", limit=1000)
    while len(found["items"]) < found["total"]:
        more = session.get("/api/tokens", limit=1000, offset=len(found["items"]))
        if not more["items"]:
            break
        found["items"] += more["items"]
    found["count"] = len(found["items"])
    return found


@token.command("create", epilog="Example: armarium token create bot --role viewer")
def create_token(
    name: Annotated[str, typer.Argument(help="What it is for.")],
    role: Annotated[AgentRole, typer.Option(help="What it may do.")] = AgentRole.editor,
    folder: Annotated[
        list[Path] | None,
        typer.Option(
            help="A folder whose files it may read and write; repeatable. Without one it can only upload."
        ),
    ] = None,
) -> None:
    """Make a token for an agent; it is shown once. With --library it reaches that project only."""
    with engine_session() as session:
        only = named_projects(session)
        body = {"name": name, "role": role.value, "libraries": only or "all", "folders": _full_paths(folder)}
        made = session.post("/api/tokens", body)
    answer(made, str(made["token"]))


@token.command(epilog="Example: armarium token folders ID pages")
def folders(
    identity: Annotated[str, typer.Argument(metavar="ID", help="Id of the token.")],
    folder: Annotated[
        list[Path] | None,
        typer.Argument(help="The folders it has from now on; they replace the former ones."),
    ] = None,
    none: Annotated[bool, typer.Option("--none", help="Remove all of its folders.")] = False,
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
            known = [one for one in _every_token(session)["items"] if one["id"] == id_of(identity)]
            if not known:
                raise Refused(f"There is no token {identity}; armarium token list shows those there are.")
            (found,) = known
    granted = found["folders"]
    words = "every folder that the engine may use" if granted is None else "\n".join(granted) or "no folder"
    answer(found, words)


def _full_paths(folders: list[Path] | None) -> list[str]:
    """Return folders by their full paths: the engine runs in another folder than the command."""
    return [str(folder.expanduser().absolute()) for folder in folders or []]


@token.command(epilog="Example: armarium token revoke ID")
def revoke(identity: Annotated[str, typer.Argument(metavar="ID", help="Id of the token.")]) -> None:
    """Revoke a token at once."""
    with engine_session() as session:
        done = session.delete(f"/api/tokens/{id_of(identity)}")
    answer(done, f"Revoked {identity}.")


@token.command(epilog="Example: armarium token pair --role viewer")
def pair(role: Annotated[Role, typer.Option(help="What the device may do.")] = Role.editor) -> None:
    """Make a one-time code that lets a device in, valid for ten minutes; with --library, for that project only."""
    with engine_session() as session:
        only = named_projects(session)
        made = session.post("/api/pair/code", {"role": role.value, "libraries": only or "all"})
    answer(made, f"Code: {made['code']} (until {made['expires_at']})")
