"""Commands that install completion of commands, options and names in a shell."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from armarium_cli.declared import Commands
from armarium_cli.options import Topic
from armarium_cli.output import answer
from armarium_cli.refusals import Refused

commands = Commands(Topic.engine)
completion = commands.group("completion", "Have the shell complete commands, options and names.")


class Shell(StrEnum):
    """Shells for which completion can be installed."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"


Which = Annotated[Shell | None, "SHELL: By default the shell in use."]


def _shell(named: Shell | None) -> Shell:
    if named is not None:
        return named
    from typer._completion_shared import _get_shell_name

    name = _get_shell_name()
    try:
        return Shell(name or "")
    except ValueError:
        raise Refused(
            f"The shell in use ({name or 'unknown'}) is none of {', '.join(Shell)}; name one."
        ) from None


@completion.example("install bash")
def install(shell: Which = None) -> None:
    """Install completion by a file in your home folder; it works in terminals opened from then on."""
    from typer._completion_shared import install as teach

    chosen = _shell(shell)
    _, place = teach(shell=chosen.value, prog_name="armarium")
    answer(
        {"shell": chosen.value, "path": str(place)},
        f"Completion for {chosen.value} is in {place}; open a new terminal, and Tab completes.",
    )


@completion.example("show zsh")
def show(shell: Which = None) -> None:
    """Print the completion script, to be installed where you like."""
    from typer._completion_shared import get_completion_script

    chosen = _shell(shell)
    script = get_completion_script(
        prog_name="armarium", complete_var="_ARMARIUM_COMPLETE", shell=chosen.value
    )
    answer({"shell": chosen.value, "script": script}, script)
