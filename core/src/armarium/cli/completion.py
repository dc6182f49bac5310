"""Commands that install completion of commands, options and names in a shell."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from armarium.cli.options import Topic
from armarium.cli.output import answer
from armarium.cli.refusals import Refused

completion = typer.Typer(help="Have the shell complete commands, options and names.", no_args_is_help=True)


class Shell(StrEnum):
    """Shells for which completion can be installed."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"


Which = Annotated[Shell | None, typer.Argument(help="By default the shell in use.")]


def register(program: typer.Typer) -> None:
    """Add the commands."""
    program.add_typer(completion, name="completion", rich_help_panel=Topic.engine)


def _shell(named: Shell | None) -> Shell:
    if named is not None:
        return named
    from typer._completion_shared import _get_shell_name

    found = _get_shell_name()
    try:
        return Shell(found or "")
    except ValueError:
        raise Refused(
            f"The shell in use ({found or 'unknown'}) is none of {', '.join(Shell)}; name one."
        ) from None


@completion.command(epilog="Example: armarium completion install bash")
def install(shell: Which = None) -> None:
    """Install completion by a file in your home folder; it works in terminals opened from then on."""
    from typer._completion_shared import install as teach

    chosen = _shell(shell)
    _, place = teach(shell=chosen.value, prog_name="armarium")
    answer(
        {"shell": chosen.value, "path": str(place)},
        f"Completion for {chosen.value} is in {place}; open a new terminal, and Tab completes.",
    )


@completion.command(epilog="Example: armarium completion show zsh")
def show(shell: Which = None) -> None:
    """Print the completion script, to be installed where you like."""
    from typer._completion_shared import get_completion_script

    chosen = _shell(shell)
    script = get_completion_script(
        prog_name="armarium", complete_var="_ARMARIUM_COMPLETE", shell=chosen.value
    )
    answer({"shell": chosen.value, "script": script}, script)
