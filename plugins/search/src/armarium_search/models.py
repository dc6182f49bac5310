"""The tables of searching: the index of words, what documents and artifacts are called and say, saved searches."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Integer, MetaData, Table, Text

from armarium.api import Json, Whole, derived, derived_index, provenance_columns, reference, tracked
from armarium_documents.api import documents
from armarium_source_model.api import page_texts

metadata = MetaData()

# Words come folded, each parted by a blank: this tokenizer parts them there and changes nothing.
_AS_THEY_ARE = ("tokenize='ascii'",)
# No lengths of texts are kept: they are weighed by the texts themselves, and each correction would write them again.
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
"""In which pages which words stand; the database keeps it in step with the texts that count."""

names = Table(
    "search_name",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("document_id", Text, nullable=False, unique=True),
    # The folded words of its name, and of what describes it: dates as written, attributes, a note's own text.
    Column("name", Text, nullable=False),
    Column("more", Text),
    # The first and last day that its date_iso may mean, where it has one.
    Column("first_day", Text),
    Column("last_day", Text),
    info=derived(document="document_id", whole=Whole(columns=("more",))),
)
"""What each document is called and described by, in folded words; kept in every step that changes it."""

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
"""What each artifact says, in folded words."""

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
"""What a node of the kind saved_search asks; its name, its place among the others and the Trash are the node's."""
