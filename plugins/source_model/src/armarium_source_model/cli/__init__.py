"""Commands of the source model, one file per subject: passes, segments, readings, text, orders, links."""

from __future__ import annotations

import typer

from armarium_source_model.cli import links, orders, pages, readings


def commands() -> typer.Typer:
    """Return the commands."""
    program = typer.Typer()
    for part in (pages, readings, orders, links):
        part.register(program)
    return program
