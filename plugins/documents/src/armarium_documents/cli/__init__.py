"""Commands of documents: pages in, the tree and its table, the Trash, transfer. One file a subject; this one puts them together."""

from __future__ import annotations

import typer

from armarium_documents.cli import dataset, describing, transfer, trash, tree


def commands() -> typer.Typer:
    """The commands."""
    program = typer.Typer()
    for part in (tree, describing, dataset, trash, transfer):
        part.register(program)
    return program
