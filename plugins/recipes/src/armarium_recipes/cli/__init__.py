"""The commands of recipes: set a project up, see the plan, choose models, start the recipe, follow its runs,
measure readers.
"""

from __future__ import annotations

import typer

from armarium.commandline import Topic
from armarium_recipes.cli.bakeoffs import bakeoff
from armarium_recipes.cli.candidates import candidates
from armarium_recipes.cli.following import runs
from armarium_recipes.cli.questions import setup
from armarium_recipes.cli.starting import plan, start


def commands() -> typer.Typer:
    """Return the commands."""
    program = typer.Typer()
    examples = (
        (setup, "armarium setup --purpose search --language es --material handwriting"),
        (plan, "armarium plan"),
        (candidates, "armarium candidates read"),
        (start, "armarium start"),
        (runs, "armarium runs --json"),
        (bakeoff, "armarium bakeoff --use 1"),
    )
    for command, example in examples:
        program.command(rich_help_panel=Topic.work, epilog=f"Example: {example}")(command)
    return program
