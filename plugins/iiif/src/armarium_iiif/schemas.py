"""Models of IIIF over HTTP and of its actions. Fields that IIIF leaves open stay open here."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field

from armarium.api import Checksum, Message, Params, SourceText, proper_name

LanguageMap = dict[str, list[str]]
Resource = dict[str, Any]


class _Linked(Message):
    model_config = ConfigDict(extra="allow", populate_by_name=True)


class LineAnnotation(_Linked):
    """A line: its position on the canvas in pixels, and the text that counts."""

    id: str
    type: Literal["Annotation"]
    motivation: Literal["supplementing"]
    textGranularity: Literal["line"]
    body: Resource
    target: str
    creator: Resource | None = None
    created: str | None = None


class LinesPage(_Linked):
    """A W3C AnnotationPage of lines."""

    context: list[str] = Field(alias="@context")
    id: str
    type: Literal["AnnotationPage"]
    label: LanguageMap
    items: list[LineAnnotation]


class IiifCanvas(_Linked):
    """A canvas of Presentation 3."""

    context: str = Field(alias="@context")
    id: str
    type: Literal["Canvas"]
    label: LanguageMap
    width: int
    height: int
    items: list[Resource]


class IiifManifest(_Linked):
    """A manifest of Presentation 3."""

    context: str = Field(alias="@context")
    id: str
    type: Literal["Manifest"]
    label: LanguageMap
    items: list[Resource]


class SearchPage(_Linked):
    """Lines and words found by Content Search 2.0; `annotations` quotes each word with what stands around it."""

    context: str = Field(alias="@context")
    id: str
    type: Literal["AnnotationPage"]
    items: list[Resource]
    annotations: list[Resource]
    ignored: list[str] | None = None
    partOf: Resource | None = None
    next: Resource | None = None


class SearchList(_Linked):
    """The same as Content Search 1.0."""

    context: list[str] = Field(alias="@context")
    type: Literal["sc:AnnotationList"] = Field(alias="@type")
    resources: list[Resource]
    hits: list[Resource]
    within: Resource
    next: str | None = None


class TermPage(_Linked):
    """Terms that begin as asked, by Content Search 2.0: each with how often it occurs and the search for it."""

    context: str = Field(alias="@context")
    id: str
    type: Literal["TermPage"]
    items: list[Resource]
    ignored: list[str] | None = None


class TermList(_Linked):
    """The same as Content Search 1.0."""

    context: str = Field(alias="@context")
    type: Literal["search:TermList"] = Field(alias="@type")
    terms: list[Resource]
    ignored: list[str]


class ImageService(_Linked):
    """An image information document of Image API 3 (info.json)."""

    context: str = Field(alias="@context")
    id: str
    type: Literal["ImageService3"]
    protocol: str
    profile: Literal["level2"]
    width: int
    height: int
    maxArea: int
    sizes: list[Resource]
    tiles: list[Resource]


class ImportManifest(Params):
    """`file` is the manifest itself; `url` where it was fetched from, when it was."""

    file: SourceText | bytes
    filename: Annotated[str, Field(min_length=1, max_length=500), AfterValidator(proper_name)] = (
        "manifest.json"
    )
    url: Annotated[str, Field(max_length=4000)] | None = None
    parent_id: str | None = None
    name: Annotated[str, Field(min_length=1, max_length=500), AfterValidator(proper_name)] | None = None


class ManifestImported(Message):
    """The result of an import: a folder with a page for each canvas, none with a picture yet."""

    document_id: str
    name: str
    version: int
    canvases: int
    passes: int
    """Pages whose transcription the manifest itself contains."""
    notes: list[str]


class FetchManifest(Params):
    """The address of a manifest; the name is for the folder (default: the manifest's label)."""

    url: Annotated[str, Field(min_length=8, max_length=4000)]
    parent_id: str | None = None
    name: Annotated[str, Field(min_length=1, max_length=500), AfterValidator(proper_name)] | None = None


class FetchImages(Params):
    """Imported pages, or folders of them, whose pictures are to be fetched."""

    document_ids: Annotated[list[str], Field(min_length=1, max_length=10_000)]


class JobStarted(Message):
    """A job in the queue. Its steps share `set_id`, by which they are undone together."""

    job_id: str
    state: Literal["waiting"]
    set_id: str
    pages: int | None = None


class AttachImage(Params):
    """The picture of a referenced canvas, already stored in the project. Pixels as displayed."""

    document_id: str
    checksum: Checksum
    mime_type: Annotated[str, Field(max_length=100)]
    size_bytes: Annotated[int, Field(ge=1)]
    pixel_width: Annotated[int, Field(ge=1)]
    pixel_height: Annotated[int, Field(ge=1)]
    exif_orientation: Annotated[int, Field(ge=1, le=8)] = 1
    source_url: Annotated[str, Field(max_length=4500)]


class ImageAttached(Message):
    document_id: str
    rendition_id: str


class UpdateManifest(Params):
    """`file` is the manifest as it is published now, `document_id` the folder made of it."""

    document_id: str
    file: SourceText | bytes


class ManifestUpdated(Message):
    """Pages added, pages of which something was changed, and canvases that are no longer published, whose pages stay; passes
    of transcriptions that are new."""

    document_id: str
    added: int
    changed: int
    gone: int
    passes: int
    notes: list[str]


class CheckManifests(Params):
    """Folders of imported manifests, none for all of the project; *take*: take what changed at once."""

    document_ids: Annotated[list[str], Field(max_length=10_000)] = []
    take: bool = False


class ChangedManifest(Message):
    """An imported manifest that is published differently now."""

    document_id: str
    name: str
    url: str
    checked_at: str


class ChangedManifests(Message):
    """The imported manifests that changed where they are published, as of when they were last asked for."""

    items: list[ChangedManifest]
    count: int


class ChecksJobArgs(Message):
    document_ids: list[str]
    take: bool = False


class ManifestJobArgs(Message):
    url: str
    parent_id: str
    name: str | None = None


class ImagesJobArgs(Message):
    document_ids: list[str]
