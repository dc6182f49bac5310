"""The command of the reading room: it asks the engine over HTTP, like any client."""

from __future__ import annotations

from typing import Annotated

from armarium_cli.api import Commands, Topic
from armarium_documents.commandline import DOCUMENT

commands = Commands(Topic.pages)


@commands.asks(
    "visits 0001.jpg",
    "GET /api/documents/{document}/visits",
    columns=("day", "visitor", "remark"),
    says="{count:visit}.",
)
def visits(document: Annotated[str, "The document by name, path or id.", DOCUMENT]) -> None:
    """List who looked at the original, the newest visit first."""
