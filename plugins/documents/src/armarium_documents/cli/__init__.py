"""Commands of documents: pages in, the tree and its table, the Trash. One file a subject; this one puts them together."""

from __future__ import annotations

import typer

from armarium_documents.cli import dataset, trash, tree


def commands() -> typer.Typer:
    """The commands."""
    program = typer.Typer()
    for part in (tree, dataset, trash):
        part.register(program)
    return program
