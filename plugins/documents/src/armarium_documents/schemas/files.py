"""Renditions, artifacts and representations, and the requests of an import."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from armarium.api import (
    Checksum,
    MaterialPath,
    Message,
    Params,
    ShownPath,
    SourceText,
    Spelling,
    answer_of,
    listed,
)
from armarium_documents.models import artifacts, renditions, representations, revisions
from armarium_documents.schemas.fields import Id, JsonObject, Language, Name, ScriptCode


@answer_of(renditions)
class Rendition(Message):
    """One picture of a document in one pixel frame."""

    transform: list[float] | None


RenditionList = listed(
    Rendition, "RenditionList", "Renditions in canonical order: the primary, then by role, then by age."
)


class PrimaryParams(Params):
    document_id: Id
    rendition_id: Id


@answer_of(artifacts)
class Artifact(Message):
    """What a step made of a document."""


@answer_of(representations)
class Representation(Message):
    """A typed text of a document; with a segment it is a reading."""

    review_state: Literal["source", "draft", "reviewed"]


KINDS = (
    "transcription", "normalized_text", "translation", "transliteration", "markdown", "html", "svg",
    "as_read_aloud", "description", "coordinate", "world-point", "music", "drawing",
)  # fmt: skip
"""Kinds of representation."""


class RepresentationParams(Params):
    """A typed text of a whole document; readings of segments are made by the source model."""

    document_id: Id
    kind: Annotated[str, Field(max_length=100)]
    content: Annotated[SourceText, Field(max_length=4_000_000)]
    language: Language | None = None
    script: ScriptCode | None = None
    level: Annotated[str, Field(max_length=100)] | None = None
    parent_representation_id: Id | None = None
    derived_from_representation_id: Id | None = None
    producer_tool: Annotated[str, Field(max_length=200)] | None = None
    producer_model: Annotated[str, Field(max_length=200)] | None = None
    review_state: Literal["source", "draft", "reviewed"] = "source"


@answer_of(revisions)
class Revision(Message):
    """A reviewer's revision of a representation."""


class RevisionParams(Params):
    """RepresentationRevisionParams: what the text should say according to a reviewer."""

    representation_id: Id
    content: Annotated[SourceText, Field(max_length=4_000_000)]
    decision: Annotated[str, Field(max_length=200)] | None = None


class ImportParams(Params):
    """Files or one folder on the engine's own machine to copy into the project."""

    paths: Annotated[list[MaterialPath], Field(max_length=10_000)] = Field(default_factory=list)
    folder: MaterialPath | None = None
    parent_id: Id | None = None
    recursive: bool = True
    format: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    """Of the layout files beside the pictures; left out: each is recognised by its content."""
    again: bool = False
    """Also what is in its place already: the same bytes of the same name in the same folder of the target."""
    beyond: Literal["clip", "keep", "refuse"] = "clip"
    """Of layout files: what becomes of shapes that reach beyond their page."""

    @model_validator(mode="after")
    def _something(self) -> ImportParams:
        if not self.paths and self.folder is None:
            raise ValueError("say what to import: `folder`, or `paths` with at least one file")
        if self.paths and self.folder is not None:
            raise ValueError("either `folder` or `paths`, not both")
        return self


class ImportStarted(Message):
    """The job that imports; its steps share `set_id`, so the whole import is one undo."""

    job_id: str
    state: str
    set_id: str


class ImportJobArgs(Message):
    """The arguments of an import job: paths on this machine and a folder of the project."""

    paths: list[MaterialPath]
    folder: MaterialPath | None = None
    parent_id: str
    recursive: bool = True
    format: str | None = None
    again: bool = False
    beyond: Literal["clip", "keep", "refuse"] = "clip"
    mirrored: str | None = None
    """Name of the folder node that `folder` becomes beneath `parent_id`; null: its files come into the parent itself."""


class ThumbnailJobArgs(Message):
    document_ids: list[str]


class NewPicture(Message):
    """The picture (or recording) of a new node: bytes that are already in the object store, or, without a checksum,
    a picture that is still to be made."""

    checksum: Checksum | None = None
    mime_type: Annotated[
        str, Field(max_length=100), Spelling(r"^[a-z]+/[a-z0-9.+-]+$", "a media type, such as image/jpeg")
    ]
    size_bytes: Annotated[int, Field(ge=0)] | None = None
    pixel_width: Annotated[int, Field(gt=0)] | None = None
    pixel_height: Annotated[int, Field(gt=0)] | None = None
    role: Annotated[str, Field(min_length=1, max_length=64)] = "archival-original"
    made_by: Annotated[str, Field(max_length=200)] | None = None
    params: JsonObject = Field(default_factory=dict)


class MadePicture(NewPicture):
    """The picture that was made of a page: its bytes are in the object store."""

    document_id: Id
    checksum: Checksum
    size_bytes: Annotated[int, Field(ge=0)]
    pixel_width: Annotated[int, Field(gt=0)]
    pixel_height: Annotated[int, Field(gt=0)]


class PicturePages(Params):
    """Pictures of pages whose pictures were still to be made."""

    pictures: Annotated[list[MadePicture], Field(min_length=1, max_length=1000)]


class PagesPictured(Message):
    """How many pages got their picture; one that has its picture already, or is gone, is passed over."""

    count: int


class PageJobArgs(Message):
    """Files whose pages are still to be pictured, and the set that the steps belong to."""

    document_ids: list[str]
    parent_id: str
    set_id: str | None = None


class NewNode(Message):
    """One node of an import batch: `id` is made by the job, so that repeating a batch duplicates nothing."""

    id: Id
    parent_id: Id
    doc_type: Literal["folder", "file", "page"]
    name: Name
    file_type: Literal["image", "pdf", "audio"] | None = None
    path: ShownPath | None = None
    sequence: Annotated[int, Field(ge=1)] | None = None
    page_label: Annotated[str, Field(max_length=2000)] | None = None
    metadata: JsonObject = Field(default_factory=dict)
    picture: NewPicture | None = None


class AddParams(Params):
    """A bounded batch of new nodes with their pictures, parents before children."""

    nodes: Annotated[list[NewNode], Field(min_length=1, max_length=20_000)]


class AddResult(Message):
    """The new nodes, and the job that draws their thumbnails (null if none has a picture)."""

    ids: list[str]
    count: int
    job_id: str | None
