"""Shapes of formats over HTTP and of its actions: files, passes of them, the text that PDFs have themselves."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import Annotated, Any

from pydantic import AfterValidator, Field, PrivateAttr

from armarium.api import MaterialPath, Message, Params, ProperName, SourceText, Spelling, listed, proper_name
from armarium_formats.placing import Beyond
from armarium_source_model.api import MadeLines


class Prepared(Params):
    """Parameters of which the slow part is done before the step takes the writer."""

    _groundwork: Any = PrivateAttr(default=None)

    def hand_over(self, groundwork: Any) -> None:
        """Pass on to the step what was made ready for it."""
        self._groundwork = groundwork

    @property
    def groundwork(self) -> Any:
        """Return what was made ready before the step, None if nothing was."""
        return self._groundwork


class FormatInfo(Message):
    """A format this build knows."""

    name: str
    label: str
    extensions: list[str]
    reads: bool
    writes: bool
    validated: bool
    versions: list[str]


FormatList = listed(FormatInfo, "FormatList")


class Companion(Params):
    """A file that belongs to another: class names of a label file, say."""

    filename: Annotated[str, Field(min_length=1, max_length=500), AfterValidator(proper_name)]
    file: SourceText | bytes

    @property
    def data(self) -> bytes:
        """Its bytes."""
        return self.file.encode() if isinstance(self.file, str) else self.file


PageNumbers = Annotated[
    str,
    Field(max_length=200),
    Spelling(r"^[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*$", "pages by number, such as 3 or 1-4,7"),
]


class ImportFile(Params):
    """`file` is the file itself: bytes, or UTF-8 text. `beyond`: how to treat shapes that reach beyond the
    page.
    """

    document_id: str
    file: SourceText | bytes
    filename: Annotated[str, Field(min_length=1, max_length=500), AfterValidator(proper_name)] = "file"
    format: Annotated[str, Field(max_length=100)] | None = None
    name: Annotated[str, Field(min_length=1, max_length=500), AfterValidator(proper_name)] | None = None
    pages: PageNumbers | None = None
    companions: Annotated[list[Companion], Field(max_length=20)] = Field(default_factory=list)
    beyond: Beyond = "clip"

    _ready: tuple[Any, Any] | None = PrivateAttr(default=None)

    @cached_property
    def data(self) -> bytes:
        """The file's bytes."""
        return self.file.encode() if isinstance(self.file, str) else self.file

    @cached_property
    def digest(self) -> str:
        """Their sha256."""
        return hashlib.sha256(self.data).hexdigest()

    def make_ready_for(self, picture: Any, ready: Any) -> None:
        """Store the file as it was read and placed on *picture*."""
        self._ready = (picture, ready)

    def ready_for(self, picture: Any) -> Any:
        """Return the file as read and placed, None if it was not or the page has another picture now."""
        return self._ready[1] if self._ready is not None and self._ready[0] == picture else None


class ImportSeveral(Params):
    """Layout files, each with the page it is of."""

    files: Annotated[list[ImportFile], Field(min_length=1, max_length=500)]


class Counts(Message):
    region: int = 0
    line: int = 0
    word: int = 0
    readings: int = 0


class Kept(Message):
    """Something the model has no field for, stored for export."""

    what: str
    count: int


class Imported(Message):
    pass_id: str
    name: str
    format: str
    counts: Counts
    pages_in_file: int
    pages_left_out: list[int]
    unknown_classes: list[str]
    kept: list[Kept]
    notes: list[str]


ImportedSeveral = listed(Imported, "ImportedSeveral")


class LossOut(Message):
    what: str
    count: int
    why: str


class PastMoment(Message):
    """A project after a step: the step's id and time, and the digest of the log of steps up to it."""

    step: str
    at: str
    digest: str


class Choices(Message):
    """What was exported, and by which rule it was chosen."""

    document_id: str
    pass_id: str
    pass_basis: str
    pass_name: str
    order_id: str | None
    order_name: str
    reading_kind: str
    segment_count: int
    as_of: Annotated[
        PastMoment, Field(description="The step the file says what the project said at, and the log's digest")
    ]
    made: Annotated[
        list[MadeLines], Field(description="Who stands behind the lines: persons, machines, files")
    ]
    notes: list[str]


class Exported(Message):
    format: str
    filename: str
    content: str
    choices: Choices
    losses: list[LossOut]


class CheckFile(Params):
    """A file on the engine's own machine; `format` forces one instead of recognising it."""

    path: MaterialPath
    format: Annotated[str, Field(max_length=100)] | None = None


class CheckedPage(Message):
    """A page of a file: `refused` says why an import would refuse it."""

    number: int
    image: str
    width: int
    height: int
    counts: Counts
    unknown_classes: list[str]
    kept: list[Kept]
    notes: list[str]
    refused: str | None


class FormatLosses(Message):
    """What a format would lose of the file, and what is wrong with what it writes."""

    format: str
    losses: list[LossOut]
    problems: list[str]


class CheckedFile(Message):
    """What a file is; `valid` is null where its version has no schema here."""

    filename: str
    format: str
    label: str
    version: str | None
    valid: bool | None
    problems: list[str]
    pages: list[CheckedPage]
    losses: list[FormatLosses]


class TakeOrder(Params):
    """name: of the new order; default: after the file."""

    pass_id: Annotated[str, Field(min_length=1, max_length=64)]
    name: ProperName | None = None


class TakenOrder(Message):
    order_id: str
    name: str
    entries: int


class ReadTextLayer(Prepared):
    """A PDF of the project, whose pages are pictured."""

    document_id: Annotated[str, Field(min_length=1, max_length=64)]


class TextLayerPass(Message):
    pass_id: str
    document_id: str


class TextLayerRead(Message):
    """The passes that were made, and whether the file has a text layer at all."""

    document_id: str
    passes: list[TextLayerPass]
    text_layer: bool
