"""Commands of the source model: passes, segments, readings, text, orders, links. One file a subject; this one puts them together."""

from __future__ import annotations

import typer

from armarium_source_model.cli import links, orders, pages, readings


def commands() -> typer.Typer:
    """The commands."""
    program = typer.Typer()
    for part in (pages, readings, orders, links):
        part.register(program)
    return program
