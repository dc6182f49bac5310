"""Commands of documents, one file per subject: import, the tree, the dataset table, the Trash, transfer."""

from __future__ import annotations

from armarium.commandline import Commands
from armarium_documents.cli import dataset, describing, transfer, trash, tree
from armarium_documents.cli.naming import DOCUMENT

commands = Commands(names=DOCUMENT)
commands.include(tree.commands, describing.commands, dataset.commands, trash.commands, transfer.commands)
