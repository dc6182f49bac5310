"""Commands of the source model, one file per subject: passes, segments, readings, text, orders, links."""

from __future__ import annotations

from armarium.commandline import Commands
from armarium_source_model.cli import links, orders, pages, readings

commands = Commands()
commands.include(pages.commands, readings.commands, orders.commands, links.commands)
