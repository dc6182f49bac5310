"""Commands about runtimes: the isolated environments of heavy engines."""

from __future__ import annotations

from typing import Annotated, Any

from armarium.cli.declared import Commands
from armarium.cli.options import Topic
from armarium.cli.output import answer, table
from armarium.cli.session import in_process
from armarium.cli.user_settings import settings_of_this_user

commands = Commands(Topic.engine)
runtime = commands.group("runtime", "Isolated environments of heavy engines.")


@runtime.example("list")
def list_runtimes() -> None:
    """The runtimes plugins declare, and which are installed."""
    found = [state.model_dump() for state in in_process().Engine(settings_of_this_user()).runtimes.list()]
    rows = [
        (r["name"], "installed" if r["installed"] else "", r.get("size_bytes") or "", r["summary"])
        for r in found
    ]
    answer({"items": found, "count": len(found)}, lambda: table("", ("name", "", "bytes", "what for"), rows))


@runtime.asks(
    "install kraken",
    "act runtime.install",
    of="engine",
    follows="Install",
    says=lambda done: f"The runtime {done['name']} is installed{'' if done['job_id'] else ' already'}.",
)
def install(name: Annotated[str, "Name of the runtime, kraken say."]) -> None:
    """Make a runtime: an environment of its own with pinned packages."""


def _say_freed(done: dict[str, Any]) -> str:
    if not done["freed_bytes"]:
        return f"The runtime {done['name']} was not installed."
    return f"The runtime {done['name']} is removed ({done['freed_bytes'] / 1e6:.1f} MB freed)."


@runtime.asks("remove kraken", "act runtime.remove", of="engine", says=_say_freed)
def remove(name: Annotated[str, "Name of the runtime."]) -> None:
    """Remove a runtime from this machine."""
