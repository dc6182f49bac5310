"""Commands about runtimes: the isolated environments of heavy engines."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from armarium.cli.options import Topic
from armarium.cli.output import answer, table
from armarium.cli.program import engine_session
from armarium.cli.session import in_process
from armarium.cli.user_settings import settings_of_this_user
from armarium.cli.work import follow_job

runtime = typer.Typer(help="Isolated environments of heavy engines.", no_args_is_help=True)


def register(program: typer.Typer) -> None:
    """Add the commands."""
    program.add_typer(runtime, name="runtime", rich_help_panel=Topic.engine)


@runtime.command("list", epilog="Example: armarium runtime list")
def list_runtimes() -> None:
    """The runtimes plugins declare, and which are installed."""
    found = [asdict(state) for state in in_process().Engine(settings_of_this_user()).runtimes.list()]
    rows = [
        (r["name"], "installed" if r["installed"] else "", r.get("size_bytes") or "", r["summary"])
        for r in found
    ]
    answer({"items": found, "count": len(found)}, lambda: table("", ("name", "", "bytes", "what for"), rows))


@runtime.command(epilog="Example: armarium runtime install kraken")
def install(name: Annotated[str, typer.Argument(help="Name of the runtime, kraken say.")]) -> None:
    """Make a runtime: an environment of its own with pinned packages."""
    with engine_session() as session:
        started = session.act("runtime.install", {"name": name})["result"]
        done = follow_job(session, started["job_id"], f"Install {name}") if started["job_id"] else started
    answer(done, f"The runtime {name} is installed{'' if started['job_id'] else ' already'}.")


@runtime.command(epilog="Example: armarium runtime remove kraken")
def remove(name: Annotated[str, typer.Argument(help="Name of the runtime.")]) -> None:
    """Remove a runtime from this machine."""
    with engine_session() as session:
        done = session.act("runtime.remove", {"name": name})["result"]
    freed = done["freed_bytes"]
    answer(
        done,
        f"The runtime {name} is removed ({freed / 1e6:.1f} MB freed)."
        if freed
        else f"The runtime {name} was not installed.",
    )
