"""Exports, kept exports and sites: what is sent, stored and answered."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, PrivateAttr, WithJsonSchema
from sqlalchemy import Column, Integer, MetaData, Table, Text

from armarium.api import (
    Computed,
    MaterialPath,
    Message,
    Params,
    Record,
    listed,
    operational,
    paged,
    proper_name,
    provenance_columns,
    record,
    tracked,
)
from armarium_exports.errors import unknown_export
from armarium_exports.folders import KeptFolder
from armarium_source_model.api import MadeLines

metadata = MetaData()

Id = Annotated[str, Field(min_length=1, max_length=200)]
KeptFormat = Annotated[
    str,
    Field(min_length=1, max_length=100),
    WithJsonSchema(
        {
            "enum": ["word", "markdown", "plain-text", "alto", "hocr", "pagexml", "pdf", "tei"],
            "type": "string",
        }
    ),
]
"""The interface names what this release writes; a format driver that is installed beside it adds its own."""
Title = Annotated[str, Field(min_length=1, max_length=500), AfterValidator(proper_name)]
Per = Literal["page", "document", "folder"]
MANY = 10_000


class _Written(Params):
    """An export whose files are made before the step that records it."""

    output_path: Annotated[MaterialPath, Field(description="Full path on the engine's own machine")]
    overwrite: Annotated[bool, Field(description="Overwrite what an export wrote there")] = False
    _written: dict[str, Any] | None = PrivateAttr(default=None)


class RecordsParams(_Written):
    """Records of a project, or of a document with everything below it."""

    target_id: Annotated[Id | None, Field(description="Left out: the whole project")] = None
    recursive: bool = True


class ParquetParams(RecordsParams):
    line_pictures: Annotated[
        bool,
        Field(
            description="One more file, with a row for each line that has a reading: its picture and its text"
        ),
    ] = False


class TrainingParams(_Written):
    """Samples in chat format from the episode ledger, one per recorded call of a model."""

    use_case: Annotated[
        str | None, Field(max_length=200, description="Only the calls of this step of a workflow")
    ] = None
    gold_only: Annotated[bool, Field(description="Only pairs that a person corrected")] = False


class SiteParams(RecordsParams):
    site_title: Annotated[Title | None, Field(description="Left out: the root folder's name")] = None
    include_unreviewed: Annotated[
        bool, Field(description="Include statements and entities that nobody has reviewed")
    ] = False
    build: Annotated[
        bool, Field(description="Also build it, into its folder _site; needs the runtime site-builder")
    ] = False


class ReceiverParams(_Written):
    """Pages in the form that a certain program opens."""

    receiver: Annotated[str, Field(min_length=1, max_length=100)]
    scope_ids: Annotated[list[Id], Field(min_length=1, max_length=MANY)]


class PdfParams(_Written):
    """A searchable PDF of a document or folder with everything below it, or of the project."""

    target_id: Annotated[Id | None, Field(description="Left out: the whole project")] = None


class KeepParams(Params):
    folder: Annotated[KeptFolder, Field(description="Full path of a folder outside the project")]
    format: KeptFormat
    per: Per = "page"


class WithheldSource(Message):
    """A source that rights exclude."""

    document_id: str
    why: str


class _Answer(Message):
    output_path: str
    withheld: list[WithheldSource]


class RecordsWritten(_Answer):
    document_count: int
    entity_count: int
    claim_count: int
    bytes_written: int
    record_counts: Annotated[dict[str, int], Field(description="How many records of each type were written")]


class LeftOut(Message):
    document_id: str
    why: str


class LostInFile(Message):
    what: str
    count: int
    why: str


class PdfWritten(_Answer):
    pages: int
    bytes_written: int
    made: list[MadeLines]
    losses: list[LostInFile]
    left_out: list[LeftOut]


class ParquetWritten(RecordsWritten):
    files: list[str]
    manifest_path: str


class TrainingWritten(_Answer):
    sample_count: int
    gold_count: int
    bytes_written: int


class Asset(Message):
    path: str
    kind: str
    document_id: str | None


class SiteWritten(_Answer):
    document_count: int
    collection_count: int
    files: list[str]
    assets: list[Asset]
    made: Annotated[
        list[MadeLines],
        Field(description="Who stands behind the lines of the site, in sum; each page says it too"),
    ]
    left_out: list[LeftOut]
    left_behind: Annotated[
        list[str], Field(description="Files of an earlier export there that could not be removed")
    ]
    built: Annotated[str | None, Field(description="The folder of the built site")]
    earlier_build: Annotated[
        str | None, Field(description="A site that was built there before this export: build it again")
    ]


class Lost(Message):
    what: str
    count: int
    why: str


class PageLosses(Message):
    document_id: str
    filename: str
    losses: list[Lost]


class ReceiverReport(Message):
    """What would be written for a receiver, and what its format cannot express."""

    receiver: str
    pages: int
    made: Annotated[list[MadeLines], Field(description="Who stands behind the lines, in sum")]
    losses: list[PageLosses]
    left_out: list[LeftOut]
    withheld: list[WithheldSource]
    problems: list[str]


class ReceiverWritten(ReceiverReport):
    output_path: str
    files: list[str]


class ReceiverAsked(Message):
    receiver: Annotated[str, Field(min_length=1, max_length=100)]
    scope_ids: Annotated[list[Id], Field(min_length=1, max_length=MANY)]


class Receiver(Message):
    """A program for which pages are written, and the rules of its profile."""

    name: str
    label: str
    format: str
    layout: str
    rules: list[str]
    source: Annotated[str, Field(description="Where the rules are documented")]


Receivers = listed(Receiver, "Receivers")


class KeptFile(Message):
    path: str
    document_id: str
    written_at: str


class InTheWay(Message):
    path: str
    document_id: str
    why: str


@record(
    metadata,
    "export_kept",
    tracked(label="kept export", stays_here=True),
    last=provenance_columns(),
    refusal=unknown_export,
)
class KeptExport(Record):
    """A kept export, and what it wrote."""

    folder: str
    format: KeptFormat
    per: Per
    files: Computed[list[KeptFile]]
    in_the_way: Computed[
        Annotated[
            list[InTheWay],
            Field(description="Files of others, or changed since they were written: not touched"),
        ]
    ]
    left_behind: Computed[
        Annotated[
            list[KeptFile],
            Field(
                description="Written before their source was withheld or moved to the Trash; remove them by hand"
            ),
        ]
    ]
    withheld: Computed[list[WithheldSource]]
    pending: Computed[
        Annotated[int, Field(description="Files to be written again, because their source has changed")]
    ]
    last_written: Computed[str | None]


kept_exports = KeptExport.table
"""An export that is updated as the work changes."""

kept_files = Table(
    "export_file",
    metadata,
    Column("export_id", Text, primary_key=True),
    Column("document_id", Text, primary_key=True),
    Column("path", Text, nullable=False),
    # SHA-256 of the bytes as written: a file with other bytes belongs to somebody else and is left alone.
    # None: nothing was written, because something else is there.
    Column("checksum", Text),
    Column("written_at", Text),
    Column("in_the_way", Text),
    info=operational(stays_here=True),
)
"""The file of each page or document of a kept export; its rows remain when keeping it is undone and redone."""

changed_pages = Table(
    "export_changed",
    metadata,
    Column("export_id", Text, primary_key=True),
    Column("document_id", Text, primary_key=True),
    # The step that changed it last: what changes again while it is being written remains recorded.
    Column("seq", Integer, nullable=False),
    info=operational(stays_here=True),
)
"""The documents that have changed since a kept export was last written."""


class KeptExports(Message):
    exports: list[KeptExport]
    count: int


class Kept(Message):
    """A kept export that was started."""

    id: str
    folder: str
    format: KeptFormat
    per: Per
    job_id: str


class WriteBegun(Message):
    id: str
    job_id: str


class Unkept(Message):
    status: Literal["deleted"]
    id: str


class KeptJobArgs(Params):
    """The arguments of the job that writes a kept export."""

    export_id: str


class ExportSettings(Params):
    """An export of the project that is kept up to date in a folder."""

    folder: Annotated[
        KeptFolder | None, Field(description="Full path of the folder to write to; required")
    ] = None
    format: Annotated[KeptFormat, Field(description="The format of the files")] = "pagexml"


class ExportArgs(ExportSettings):
    """Which pages, and the settings."""

    page_ids: Annotated[list[str], Field(max_length=100_000)]


class PublishSettings(Params):
    """A site of the pages."""

    folder: Annotated[
        MaterialPath | None, Field(description="Full path of the folder of the site; required")
    ] = None
    site_title: Annotated[
        str | None, Field(max_length=500, description="Left out: the name of the project")
    ] = None
    build: Annotated[
        bool, Field(description="Also build it, into its folder _site; needs the runtime site-builder")
    ] = False


class PublishArgs(PublishSettings):
    """Which pages, and the settings."""

    page_ids: Annotated[list[str], Field(max_length=100_000)]


class PublishParams(Params):
    """Pages to be published as a site in a folder that is empty, or contains an earlier site."""

    folder: Annotated[MaterialPath, Field(description="Full path of the folder of the site")]
    page_ids: Annotated[list[Id], Field(min_length=1, max_length=100_000)]
    site_title: Title | None = None
    build: bool = False
    _written: dict[str, Any] | None = PrivateAttr(default=None)


@record(metadata, "export_site", tracked(label="published site", stays_here=True), last=provenance_columns())
class PublishedSite(Record):
    """A site that was published."""

    folder: str
    site_title: str
    document_count: int


sites = PublishedSite.table
"""A site that was published to a folder; an undo does not delete its files."""

PublishedSites = paged(PublishedSite)
