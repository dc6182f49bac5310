"""Commands of documents, one file per subject: import, the tree, the dataset table, the Trash, transfer."""

from __future__ import annotations

from armarium.commandline import Commands
from armarium_documents.cli import dataset, describing, transfer, trash, tree
from armarium_documents.cli.naming import document_id, document_names


def commands() -> Commands:
    """Return the commands."""
    program = Commands(find=document_id, complete=document_names)
    for part in (tree, describing, dataset, trash, transfer):
        part.register(program)
    return program
