"""Commands about runtimes: the isolated environments of heavy engines."""

from __future__ import annotations

from typing import Annotated, Any

from armarium_cli.declared import Commands
from armarium_cli.options import Topic

commands = Commands(Topic.engine)
runtime = commands.group("runtime", "Isolated environments of heavy engines.")


@runtime.asks(
    "list",
    "GET /api/runtimes",
    of="engine",
    columns=(
        "name",
        ("", lambda row: "installed" if row["installed"] else ""),
        ("bytes", lambda row: row["size_bytes"] or ""),
        "what for=summary",
    ),
)
def list_runtimes() -> None:
    """The runtimes plugins declare, and which are installed."""


@runtime.asks(
    "install kraken",
    "act runtime.install",
    of="engine",
    follows="Install",
    says=lambda answer: f"The runtime {answer['name']} is installed{'' if answer['job_id'] else ' already'}.",
)
def install(name: Annotated[str, "Name of the runtime, kraken say."]) -> None:
    """Make a runtime: an environment of its own with pinned packages."""


def _say_freed(answer: dict[str, Any]) -> str:
    if not answer["freed_bytes"]:
        return f"The runtime {answer['name']} was not installed."
    return f"The runtime {answer['name']} is removed ({answer['freed_bytes'] / 1e6:.1f} MB freed)."


@runtime.asks("remove kraken", "act runtime.remove", of="engine", says=_say_freed)
def remove(name: Annotated[str, "Name of the runtime."]) -> None:
    """Remove a runtime from this machine."""
