"""Requests and answers of searching and of saved searches."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, Field, PrivateAttr

from armarium.api import Message, Params, ShownPath, SourceText, Spelling, answer_of, listed, time_span
from armarium_documents.api import DocType, FileType, SourceAuthority, with_flags
from armarium_search.models import saved_searches

Word = Annotated[str, Field(min_length=1, max_length=64)]
Id = Annotated[str, Field(min_length=1, max_length=64)]
Several = Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=1_000)]
Day = Annotated[str, Spelling(r"^-?\d{4}(-\d\d(-\d\d)?)?$", "a date such as 1750, 1750-03 or 1750-03-21")]


def _check_time(value: str) -> str:
    try:
        time_span(value)
    except (ValueError, OverflowError):
        example = "write it as 2026, 2026-01, 2026-01-31 or 2026-01-31T12:00:00Z"
        raise ValueError(f"{value!r} is not a time to compare with; {example}") from None
    return value


Moment = Annotated[str, Field(max_length=40), AfterValidator(_check_time)]
Query = Annotated[SourceText, Field(max_length=10_000)]
FolderPath = Annotated[
    ShownPath,
    Field(max_length=1_000),
    Spelling(r"^/[^\x00-\x1f\x7f]*$", "a folder path that begins with / and has no control characters"),
]


@with_flags(None)
class Filters(Params):
    """Conditions on a result; of a list, one word is enough."""

    parent_id: Annotated[Id | None, Field(description="Only at or below this node")] = None
    doc_types: Annotated[Several | None, Field(description=", ".join(get_args(DocType)))] = None
    file_types: Annotated[Several | None, Field(description=", ".join(get_args(FileType)))] = None
    prototype_keys: Several | None = None
    languages: Annotated[
        Several | None, Field(description="BCP 47 tags, of the page or stated above it; en finds en-GB too")
    ] = None
    source_authority: Annotated[Several | None, Field(description=", ".join(get_args(SourceAuthority)))] = (
        None
    )
    date_from: Annotated[Day | None, Field(description="Its date_iso does not end before this")] = None
    date_to: Annotated[Day | None, Field(description="Its date_iso does not begin after this")] = None
    created_from: Moment | None = None
    created_to: Moment | None = None
    has_reading: bool | None = None


class SearchParams(Params):
    """A query; an empty one returns the most recently changed documents."""

    query: Query
    limit: Annotated[int, Field(ge=1, le=100)] = 10
    offset: Annotated[int, Field(ge=0, le=10**12)] = 0
    include: Annotated[
        list[Word],
        Field(max_length=20, description="content, entities, claims; also artifacts, interpretations"),
    ] = ["content", "entities", "claims"]
    search_type: Annotated[Word, Field(description="hybrid, semantic or fulltext")] = "hybrid"
    min_score: Annotated[
        float, Field(ge=0, le=1, description="How similar a passage must be, if similarity is searched")
    ] = 0.55
    filters: Filters | None = None
    sort_by: Annotated[Word, Field(description="relevance, date, name or size")] = "relevance"
    sort_direction: Annotated[Word, Field(description="asc or desc")] = "desc"
    use_fuzzy_match: Annotated[
        bool,
        Field(
            description="Also find words one or two letters different, as they are misread or spelled differently"
        ),
    ] = False
    highlight_results: bool = True
    as_of: Annotated[
        Word | None,
        Field(
            description="A step or a time: pages are found by what they say now, and shown as they were then; of a page "
            "of which a part is restricted now, nothing is shown"
        ),
    ] = None
    compile: Annotated[bool, Field(description="Let a model turn the sentence into a query and filters")] = (
        False
    )
    provider: Annotated[
        Word | None,
        Field(description="The provider whose model does this; default: the first that may be asked"),
    ] = None
    model: Annotated[Word | None, Field(description="The model; default: the provider's default")] = None
    pages_may_leave: Annotated[
        bool,
        Field(
            description="Whether the sentence, or the words to be compared, may be sent to another machine"
        ),
    ] = False
    _vector: tuple[float, ...] | None = PrivateAttr(None)
    _why_no_vector: str | None = PrivateAttr(None)

    def note_vector(self, vector: tuple[float, ...] | None, why_not: str | None) -> None:
        """Record the vector that a provider computed for the query, or why there is none."""
        self._vector, self._why_no_vector = vector, why_not

    @property
    def vector(self) -> tuple[float, ...] | None:
        """Return the vector that a provider computed for the query."""
        return self._vector

    @property
    def why_no_vector(self) -> str | None:
        """Return why a provider computed none."""
        return self._why_no_vector


class Excerpt(Message):
    """A line in which something was found, and where it is on the picture of its page."""

    segment_id: str
    text: str
    ranges: list[tuple[int, int]]
    rect: tuple[float, float, float, float] | None


class Result(Message):
    """A document that was found."""

    document_id: str
    score: float
    content_preview: str
    metadata: dict[str, Any]
    highlights: list[str]
    transcript_excerpts: list[Excerpt]
    kg_claim_ids: list[str]
    kg_entity_ids: list[str]


class ArtifactHit(Message):
    """An artifact whose text contains the query."""

    document_id: str
    document_name: str
    artifact_id: str
    artifact_type: str
    snippet: str


class SemanticState(Message):
    """The state of the vectors searched: passages, pages whose text has changed since, and pages without a vector."""

    embedder: str | None
    pages: int
    stale: int
    missing: int
    min_score: float | None
    notice: str | None


class Answer(Message):
    """The results. `total_is_exact` false: there are at least this many, and has_more says whether another
    page follows.
    """

    query: str
    results: list[Result]
    entity_hits: list[dict[str, Any]]
    claim_hits: list[dict[str, Any]]
    artifact_hits: list[ArtifactHit]
    count: int
    total_results: int
    total_is_exact: bool
    has_more: bool
    search_type: str
    execution_time_ms: float
    filters_applied: dict[str, Any] | None
    suggestions: list[str]
    compiled_query: str | None
    compilation_error: str | None
    fuzzy_words: dict[str, list[str]]
    pages_behind: int
    semantic: SemanticState | None
    notice: str | None
    withheld: int
    """Documents of the folder, or of the project, that the caller may not see, whatever is searched for."""


class SavedSearchFields(Params):
    """The query of a saved search."""

    query: Query
    is_smart_search: bool = True
    filters: Filters | None = None
    search_type: Word = "hybrid"
    sort_by: Word = "relevance"
    sort_direction: Word = "desc"
    folder_path: FolderPath = "/"


class SavedSearchCreate(SavedSearchFields):
    """A search to save."""

    sort_order: Annotated[int, Field(ge=-(2**31), lt=2**31)] = 0


class SavedSearchUpdate(Params):
    """Changes of a saved search: a field left out does not change, null is what a new one has; the query cannot be cleared."""

    search_id: Id
    query: Query = ""
    is_smart_search: bool | None = None
    filters: Filters | None = None
    search_type: Word | None = None
    sort_by: Word | None = None
    sort_direction: Word | None = None
    folder_path: FolderPath | None = None


class SavedSearchId(Params):
    """Names a saved search."""

    search_id: Id


class ReorderParams(Params):
    """The saved searches of one folder in their new order; those left out follow in their previous order."""

    folder_path: FolderPath = "/"
    search_ids: Annotated[list[Id], Field(max_length=10_000)]


@answer_of(saved_searches)
class SavedSearch(Message):
    """A saved search as answered."""

    search_type: str
    sort_order: int


SavedSearchList = listed(SavedSearch, "SavedSearchList", "Saved searches, in their order.")


class DeletedSearch(Message):
    """A saved search that was sent to the Trash."""

    status: Literal["deleted"]
    id: str


class Reordered(Message):
    """How many saved searches of the folder were put in order."""

    status: Literal["reordered"]
    count: int


class EmbedParams(Params):
    """Which embedder to use, and how."""

    embedder: Annotated[
        Word,
        Field(
            description="project learns from the project's own pages; sentence-transformers runs a model of this machine; "
            "openai-compatible and ollama ask a provider"
        ),
    ] = "project"
    provider: Annotated[
        Word | None, Field(description="The provider of the model, if the embedder uses one")
    ] = None
    model: Annotated[
        Word | None, Field(description="The model, of the provider (default: its default) or on this machine")
    ] = None
    pages_may_leave: Annotated[
        bool, Field(description="Whether the words of pages may be sent to another machine for this")
    ] = False
    learn_anew: Annotated[
        bool,
        Field(description="Learn again, for instance after much was added; every passage gets a new vector"),
    ] = False


class StartedJob(Message):
    """A job that was enqueued."""

    job_id: str
    state: str
