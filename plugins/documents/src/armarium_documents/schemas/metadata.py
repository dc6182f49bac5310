"""Descriptions of many documents as a table: what is asked, and what an import would do with each row."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from armarium.api import Message, Params, SourceText
from armarium_documents.flags import FLAGS
from armarium_documents.schemas.fields import Id, Key

OWN = "document."
"""Before the name of a document's own field; every other column is an attribute."""
SETTABLE = (
    *("name", "prototype_key", "page_label", "date_original", "date_iso", "language", "script", "direction"),
    *("case_id", "source_authority", *FLAGS),
)
"""A document's own fields that a table may change."""
KEYS = ("id", "path", "name")
"""Own fields that say which document a row is about."""
SHOWN = ("id", "path", "doc_type")
"""Own fields that are written into a table and never read from it as values."""

MOST_TABLE_BYTES = 22 * 1024 * 1024
"""Of a file, which is sent in base 64 within a request of 32 MB."""


def _check_base64(text: str) -> str:
    try:
        size = len(base64.b64decode(text, validate=True))
    except binascii.Error as fault:
        raise ValueError("the table is sent as the bytes of its file in base 64") from fault
    if size > MOST_TABLE_BYTES:
        raise ValueError(f"a table has at most {MOST_TABLE_BYTES // 2**20} MB; split it")
    return text


class MetadataParams(Params):
    """A table of descriptions, a row a document; a column it does not have, and an empty cell, leave what is there."""

    table: Annotated[
        SourceText,
        Field(max_length=32 * 1024 * 1024, description="The bytes of a CSV or XLSX file, in base 64"),
        AfterValidator(_check_base64),
    ]
    parent_id: Annotated[
        Id | None, Field(description="Rows are about documents in this folder; left out: in the project")
    ] = None
    match: Annotated[
        Key | None,
        Field(
            description="What says which document a row is about: document.id, document.path, document.name or an attribute;"
            " left out: the first of these three that the table has"
        ),
    ] = None
    columns: Annotated[
        dict[str, str],
        Field(
            max_length=500,
            description="What columns are, by heading: document.date_iso, an attribute, or nothing",
        ),
    ] = Field(default_factory=dict)
    many: Annotated[
        list[Key],
        Field(max_length=500, description="Attributes of several values; separated by |, ; or lines"),
    ] = Field(default_factory=lambda: ["tags"])
    clear_empty: Annotated[bool, Field(description="An empty cell clears the value")] = False
    skip: Annotated[
        bool, Field(description="Leave out what cannot be taken, instead of refusing the table")
    ] = False


ColumnUse = Literal["match", "attribute", "field", "shown", "skipped", "refused"]
RowState = Literal["new", "changed", "equal", "unmatched", "ambiguous"]


class TableColumn(Message):
    heading: str
    use: ColumnUse
    target: str | None
    why: str | None


class PlannedValue(Message):
    column: str
    before: Any
    after: Any


class PlannedRow(Message):
    """A row of the table that changes something, or is about no document, or about several."""

    line: int
    state: RowState
    document_id: str | None
    name: str | None
    key: Annotated[str, Field(description="The cell that names the document")]
    values: list[PlannedValue]
    why: str | None


class RefusedValue(Message):
    line: int
    column: str
    value: str
    why: str


class RowCounts(Message):
    """Rows by what becomes of them, and values that cannot be taken."""

    new: Annotated[int, Field(description="About documents that have nothing in these columns yet")]
    changed: int
    equal: int
    unmatched: Annotated[int, Field(description="About no document that the caller may see")]
    ambiguous: Annotated[
        int, Field(description="About several documents, or about one that another row is about")
    ]
    refused_values: int


class MetadataPlan(Message):
    """What an import of a table does: counted over all rows; of rows and refused values the first are listed."""

    counts: RowCounts
    note: str | None
    columns: list[TableColumn]
    rows: list[PlannedRow]
    refused: list[RefusedValue]
