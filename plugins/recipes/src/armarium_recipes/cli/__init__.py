"""The commands of recipes: set a project up, see the plan, choose models, start the recipe, follow its runs,
measure readers.
"""

from __future__ import annotations

from armarium_cli.api import Commands
from armarium_recipes.cli import bakeoffs, candidates, following, questions, starting

commands = Commands()
commands.include(
    questions.commands, starting.commands, candidates.commands, following.commands, bakeoffs.commands
)
