"""Commands of documents, one file per subject: import, the tree, the dataset table, the Trash, transfer."""

from __future__ import annotations

from armarium_cli.api import Commands
from armarium_documents.cli import dataset, describing, metadata, transfer, trash, tree
from armarium_documents.cli.naming import DOCUMENT

commands = Commands(names=DOCUMENT)
for module in (tree, describing, dataset, metadata, trash, transfer):
    commands.include(module.commands)
