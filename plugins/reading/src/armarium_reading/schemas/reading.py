"""Request and response models of reading."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from armarium.api import MaterialPath, Message, NameOrMaterialPath, Params, ProperName, Sent, Spelling
from armarium_source_model.api import shortest_tag

Id = Annotated[str, Field(min_length=1, max_length=64)]
ScopeIds = Annotated[
    list[Id],
    Field(min_length=1, max_length=10_000, description="Pages, or folders whose pages are meant, in order."),
]
ReaderName = Annotated[str, Field(min_length=1, max_length=80, description="Name of an installed reader.")]
ModelName = Annotated[
    NameOrMaterialPath, Field(description="A model of this machine by name, or a file's full path.")
]
MODEL_FILE_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}"
MODEL_FILE_WORDS = "at most 80 letters, digits, . _ and -, of which the first is a letter or digit"
LANGUAGE_PATTERN = r"^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*$"


def check_language(tag: str) -> str:
    """Return *tag* with the shortest code of its language; ValueError explaining what a language tag is if it is none."""
    if re.match(LANGUAGE_PATTERN, tag) is None or tag.endswith("\n"):
        raise ValueError(f"{tag!r} is not a language tag; write one such as es, la or de-Latf")
    return shortest_tag(tag)


Language = Annotated[
    str, Field(max_length=40, json_schema_extra={"pattern": LANGUAGE_PATTERN}), AfterValidator(check_language)
]
WhichLines = Literal["all", "unread", "unchecked"]
PassName = ProperName


class FindLinesSettings(Params):
    """How lines are found."""

    reader: ReaderName | None = None
    """Left out: the reader that leaves out less of the writing on a few pages of each folder."""
    model: ModelName | None = None
    name: PassName | None = Field(default=None, description="Name of the new passes; left out: the reader's.")


class FindLinesParams(FindLinesSettings):
    """The pages whose lines to find, and by which reader."""

    scope_ids: ScopeIds


class ReadLinesSettings(Params):
    """How lines are read: by which reader, or by which model of a provider."""

    reader: ReaderName | None = None
    """Left out: the reader that expects most of a few lines of a folder's pages; pages and lines depart from it where another is
    clearly better.
    """
    model: ModelName | None = None
    language: Language | None = None
    provider: Annotated[str, Field(min_length=1, max_length=80)] | None = None
    """A provider by name or id, whose *model* reads instead of a reader on this machine."""
    pages_may_leave: bool = False
    """Whether pictures of lines may be sent to a provider on another machine."""
    own_readers: bool | None = None
    """Whether lines that have a reader of their own (that of their hand) are read by it. Left out: only if no
    reader is named.
    """
    lines: WhichLines = "all"
    """`unread`: only the lines that have no text; `unchecked`: those too whose text is a machine's that no person has
    chosen or confirmed.
    """
    alternatives: Annotated[int, Field(ge=0, le=10)] = 0
    """How many alternative readings of each line are stored besides the likeliest, which counts; for readers
    that provide some.
    """


class ReadLinesParams(ReadLinesSettings):
    """Which lines to read, and by which reader."""

    scope_ids: ScopeIds
    pass_id: Id | None = None
    """Read the lines of this pass; left out: of each page's working pass."""


class ReadPagesSettings(FindLinesSettings):
    """How lines are found and read in one go."""

    reader: ReaderName = "rapidocr"
    language: Language | None = None


class ReadPagesParams(ReadPagesSettings):
    """Which pages to read in one go (find and read), and by which reader."""

    scope_ids: ScopeIds


class TranscribeSettings(Params):
    """How recordings are transcribed."""

    transcriber: Annotated[
        str, Field(min_length=1, max_length=80, description="Name of an installed transcriber.")
    ] = "whisper"
    model: ModelName | None = None
    language: Language | None = None
    name: PassName | None = Field(
        default=None, description="Name of the new passes; left out: the transcriber's."
    )


class StartedJob(Message):
    """A job that was enqueued."""

    job_id: str
    state: Literal["waiting"] = "waiting"
    pages: int


class ReadingArgs(Message):
    """Arguments of the three jobs; the pages are settled when the job is created, so its checkpoint can count them."""

    page_ids: list[str]
    reader: str | None
    model: ModelName | None = None
    language: str | None = None
    pass_id: str | None = None
    name: str | None = None
    provider: str | None = None
    pages_may_leave: bool = False
    own_readers: bool | None = None
    lines: WhichLines = "all"
    alternatives: int = 0


class ModelParams(Params):
    """Names a model of a runtime (`linereader`, `tesseract`, …)."""

    runtime: str = Field(min_length=1, max_length=80)
    model: str = Field(min_length=1, max_length=300)


class AddModelParams(Params):
    """Names a model's file on this machine, or the folder that contains it (`inference.onnx`, `dict.txt`, `card.json`)."""

    path: Annotated[MaterialPath, Field(description="Full path on the engine's own machine")]
    runtime: str = Field(default="atr", min_length=1, max_length=80)
    name: Annotated[str, Spelling(rf"^{MODEL_FILE_NAME}$", MODEL_FILE_WORDS)] | None = Field(
        default=None, description="Under which it is kept; left out: that of its file or folder."
    )


class AddedModel(Message):
    """A model that is being taken in."""

    model_type: str
    model_id: str
    job_id: str


class OfferedFile(Message):
    """A file of a published model; its SHA-256 if it was stated, or pinned when it was first downloaded."""

    name: str
    url: str
    sha256: str | None


class OfferedModelOut(Message):
    """A published model that can be downloaded by its name, and what a person is told before."""

    model_id: str
    model_type: str
    reader: str
    title: str
    doi: str
    licence: str
    authors: str
    page: str
    reads: str
    size_bytes: int
    """As stated by its authors, of all its files."""
    languages: list[str]
    scripts: list[str]
    writing: list[Literal["hand", "print"]]
    cer: float | None
    """The share of wrong characters that its authors state."""
    is_here: bool
    files: list[OfferedFile]


class OfferedModels(Message):
    """The published models that can be downloaded by name."""

    items: list[OfferedModelOut]
    count: int


class DownloadResult(Message):
    """The outcome of requesting a model."""

    status: Literal["queued", "downloading", "present"]
    model_type: str
    model_id: str
    job_id: str | None = None


class DeleteResult(Message):
    """A model that was removed."""

    status: Literal["deleted"]
    freed_bytes: int


class LocalModel(Message):
    """A model on this machine."""

    model_id: str
    model_type: str
    display_name: str
    size_bytes: int | None = None
    is_downloaded: bool = True
    expected_size_mb: int | None = None
    path: str | None = None
    metadata: dict[str, Any] = {}


class LocalModels(Message):
    """The models and runtimes on this machine and the disk space they use."""

    items: list[LocalModel]
    count: int
    disk_bytes: int
    runtimes: list[dict[str, Any]]


class ReaderOut(Message):
    """An installed reader."""

    name: str
    label: str
    can: list[str]
    languages: list[str]
    scripts: list[str]
    writing: list[Literal["hand", "print"]]
    runtime: str | None
    installed: bool
    """Whether what it needs (its runtime, its weights) is on this machine."""
    model_kind: str | None
    model_suffixes: list[str]
    reading_needs_model: bool


class Readers(Message):
    """The installed readers, and those that failed to load with the reason."""

    items: list[ReaderOut]
    count: int
    refused: dict[str, str]


class Episode(Message):
    """One call of a model."""

    episode_id: str
    at: str
    kind: Literal["model_call", "correction", "invalidation"]
    use_case: str
    node: str | None
    run: dict[str, Any]
    subject: dict[str, Any]
    model: dict[str, Any]
    exchange: dict[str, Any]
    timing: dict[str, Any]
    cost: dict[str, Any]
    corrects_episode_id: str | None
    caused_by_episode_id: str | None
    stale_artifact_ids: list[str]
    actor: str


class Episodes(Message):
    """Episodes of a job, oldest first."""

    job_id: str | None
    count: int
    episodes: list[Episode]


class OtherLetter(Message):
    text: str
    probability: Annotated[float | None, Field(description="None where the file that names it does not say")]


class EvidentWord(Message):
    """A stretch of text (code points of it) and where it stands: corners, beginning at the top left of the line, and the
    upright box around them, in fractions of the picture.
    """

    text: str
    char_start: int
    char_end: int
    rect: Annotated[list[float], Field(min_length=4, max_length=4)]
    corners: list[tuple[float, float]]
    probability: float | None
    others: Annotated[
        list[OtherLetter],
        Field(
            description="What else the reader sees there, the likeliest first; of a word, its other readings"
        ),
    ]


class EvidentCharacter(EvidentWord):
    """A character as a person counts it (a grapheme cluster). probability: None if the reader does not know it."""


class EvidenceOfText(Sent):
    """A text of which it is asked where its letters would stand on a line."""

    text: Annotated[str, Field(max_length=20_000)]


class Evidence(Message):
    """Where the letters of a line stand.

    source: reader (its reader said so, or the glyphs of its file), words (the line's own words, nothing of their letters), aligned (worked out with the hand reader),
    estimate (shares of the line), none. fit: how well text and ink agree, 0 to 1.
    """

    segment_id: str
    document_id: str
    representation_id: str | None
    rendition_id: str
    text: str
    source: Literal["reader", "words", "aligned", "estimate", "none"]
    model: str | None
    fit: float | None
    notice: str | None
    frame: Annotated[
        list[tuple[float, float]] | None,
        Field(description="Corners of the line's area, level with it: what its straightened picture shows"),
    ]
    characters: list[EvidentCharacter]
    words: list[EvidentWord]
