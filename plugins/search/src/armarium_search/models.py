"""The tables of searching: the index of words, the names and contents of documents and artifacts, saved searches."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Integer, MetaData, Table, Text

from armarium.api import Json, Whole, derived, derived_index, provenance_columns, reference, tracked
from armarium_documents.api import documents
from armarium_source_model.api import page_texts

metadata = MetaData()

# Words are already folded and separated by blanks: this tokenizer splits them there and changes nothing.
_AS_THEY_ARE = ("tokenize='ascii'",)
# No lengths of texts are stored: the texts themselves are used for weighing, and each correction would
# rewrite the lengths.
_PAGES = (*_AS_THEY_ARE, "columnsize=0")

text_index = derived_index(
    "search_text",
    metadata,
    page_texts,
    module="fts5",
    values={"words": "{row}.words", "halves": "{row}.halves"},
    columns=("words", "halves"),
    options=_PAGES,
)
"""Which words occur on which pages; the database keeps it up to date with the counting texts."""

names = Table(
    "search_name",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("document_id", Text, nullable=False, unique=True),
    # The folded words of its name, and of its description: dates as written, attributes, a note's own text.
    Column("name", Text, nullable=False),
    Column("more", Text),
    # The first and last day that its date_iso may mean, if it has one (`armarium_documents.api.Span`).
    Column("first_day", Integer),
    Column("last_day", Integer),
    info=derived(document="document_id", whole=Whole(columns=("more",))),
)
"""The name and description of each document, in folded words; updated in every step that changes them."""

name_index = derived_index(
    "search_name_index",
    metadata,
    names,
    module="fts5",
    values={"name": "{row}.name", "more": "{row}.more"},
    columns=("name", "more"),
    options=_AS_THEY_ARE,
)

artifact_texts = Table(
    "search_artifact",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("artifact_id", Text, nullable=False, unique=True),
    Column("document_id", Text, nullable=False, index=True),
    Column("words", Text, nullable=False),
    info=derived(document="document_id", whole=Whole()),
)
"""The text of each artifact, in folded words."""

artifact_index = derived_index(
    "search_artifact_index",
    metadata,
    artifact_texts,
    module="fts5",
    values={"words": "{row}.words"},
    columns=("words",),
    options=_AS_THEY_ARE,
)

saved_searches = Table(
    "saved_search",
    metadata,
    # The node's own id: a saved search is a node.
    reference("id", documents.c.id, index=False, primary_key=True),
    Column("query", Text, nullable=False),
    Column("is_smart_search", Boolean, nullable=False),
    Column("filters", Json),
    Column("search_type", Text, nullable=False),
    Column("sort_by", Text, nullable=False),
    Column("sort_direction", Text, nullable=False),
    Column("folder_path", Text, nullable=False),
    *provenance_columns(),
    Column("updated_at", Text, nullable=False),
    info=tracked(label="saved search", document="id", monotonic=("updated_at",)),
)
"""The query of a node of the kind saved_search; its name, its position and the Trash belong to the node."""
