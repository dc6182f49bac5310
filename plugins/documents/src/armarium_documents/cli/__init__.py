"""Commands of documents: pages in, the tree and its table, the Trash, transfer. One file a subject; this one puts them together."""

from __future__ import annotations

from armarium.commandline import Commands
from armarium_documents.cli import dataset, describing, transfer, trash, tree
from armarium_documents.cli.naming import document_id, document_names


def commands() -> Commands:
    """The commands."""
    program = Commands(find=document_id, complete=document_names)
    for part in (tree, describing, dataset, trash, transfer):
        part.register(program)
    return program
