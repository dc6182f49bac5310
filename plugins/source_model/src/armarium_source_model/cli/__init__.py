"""Commands of the source model, one file per subject: passes, segments, readings, text, citations, orders, links."""

from __future__ import annotations

from armarium_cli.api import Commands
from armarium_source_model.cli import citing, links, orders, pages, readings

commands = Commands()
commands.include(pages.commands, readings.commands, citing.commands, orders.commands, links.commands)
