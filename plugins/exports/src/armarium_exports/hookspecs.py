"""The extension point of exports: record types of other families."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from sqlalchemy import Connection, Table

from armarium.api import hookspec

Contribution = (
    Callable[[Connection, frozenset[str] | None, Collection[str]], Iterator[Mapping[str, Any]]] | Table
)
"""Records of one type. A function is given a connection, the ids of the documents that are exported (None: the whole
project) and those that rights exclude from it, and yields records as mappings of plain values, each with its `id`, in an
order of its own. Records are also left out by their `document_id`, `source_document_id` or `source_document_ids`; whatever
else a record reveals about excluded documents (an excerpt, a name that occurs only there) is for its family to remove.

A table stands for its visible columns: rows of the document to which they belong, without deleted ones; rows that belong to
no document are part of an export of the whole project.
"""


@hookspec
def armarium_exports_records() -> Mapping[str, Contribution]:
    """State the record types that the family adds, by name.

    Called once, when an engine is assembled. No name is taken from us, nor from a plugin loaded earlier.
    """
