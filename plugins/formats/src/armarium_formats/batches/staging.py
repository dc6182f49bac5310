"""Examines a batch before anything is written: stores pictures, reads and pairs layout files, collects refusals."""

from __future__ import annotations

import os
import pickle
import stat
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO

from armarium.api import (
    FileUnreadable,
    Invalid,
    PathNotAllowed,
    ServiceError,
    TooLarge,
    image_kind,
    not_a_file,
    open_plain,
)
from armarium_documents.api import recording_type, taken_in
from armarium_formats.batches.by_mets import StagedMets, use_mets
from armarium_formats.batches.imported_pictures import companions_of
from armarium_formats.batches.names import Folder, called_picture, is_companion, printable_name
from armarium_formats.batches.pairing import (
    LayoutFile,
    LayoutPage,
    Pair,
    PictureFile,
    Pictures,
    UnpairedPage,
    pair_by_size,
)
from armarium_formats.driver import FormatDriver
from armarium_formats.mets.reader import Mets, read_mets, sniff_mets
from armarium_formats.opening import MAX_FILE_BYTES, OpenedFile, open_layout
from armarium_formats.page_model import PageModel

if TYPE_CHECKING:
    from armarium.api import Engine, IsClosed, Library

SPOOLED = 32 * 1024 * 1024
"""Bytes of pages that were read and wait in memory; more of them wait on disk."""

HANDS = 2
"""Pictures that are looked through at a time."""


@dataclass(frozen=True, slots=True)
class ReceivedFile:
    """An imported file: where its bytes are, its name, and the folders used for pairing.

    `kept_at`: its path on this machine, None if it was sent. `mirrored`: the folders it gets in the project.
    `scratch`: the engine's folder that received it, None if it is at its owner's place.
    """

    path: Path
    folder: Folder
    name: str
    kept_at: Path | None = None
    mirrored: Folder = ()
    scratch: Path | None = None
    notes: tuple[str, ...] = ()

    def open(self, is_closed: IsClosed) -> BinaryIO:
        """Open its bytes for reading; refuses as `open_plain` does."""
        return open_plain(self.path, is_closed, within=self.scratch)

    @property
    def place(self) -> str:
        """Return its name in reports."""
        return "/".join((*self.mirrored, self.name))


@dataclass(slots=True)
class StagedPicture:
    """A stored picture, with the nodes it will become (the file, then its pages)."""

    given: ReceivedFile
    nodes: list[dict[str, Any]]
    checksum: str
    notes: list[str]


@dataclass(slots=True)
class StagedPass:
    """A page of a layout file with its picture."""

    given: ReceivedFile
    driver: FormatDriver
    digest: str
    pair: Pair
    spooled: int

    @property
    def node_id(self) -> str:
        """Return the picture's node; `pair.part` names one of its pages."""
        return self.pair.picture.key


@dataclass(slots=True)
class BatchPlan:
    """Everything a batch will write, and what it leaves out and why."""

    pictures: list[StagedPicture] = field(default_factory=list)
    passes: list[StagedPass] = field(default_factory=list)
    mets: list[StagedMets] = field(default_factory=list)
    unpaired: list[dict[str, str]] = field(default_factory=list)
    refused: list[dict[str, str]] = field(default_factory=list)
    spool: IO[bytes] | None = None

    def refuse(self, what: str, why: str) -> None:
        """Record a refused file and the reason."""
        self.refused.append({"file": printable_name(what), "why": why})

    def page(self, staged: StagedPass) -> PageModel:
        """Return the page as it was read."""
        assert self.spool is not None
        self.spool.seek(staged.spooled)
        page = pickle.load(self.spool)
        assert isinstance(page, PageModel)
        return page

    def close(self) -> None:
        """Release what was read."""
        if self.spool is not None:
            self.spool.close()


def looks_like_picture(head: bytes) -> bool:
    """Return whether bytes begin like a picture, a PDF or a recording; opening it decides."""
    return bool(image_kind(head[:32]) or head.lstrip().startswith(b"%PDF") or recording_type(head))


def stage(
    engine: Engine, library: Library, files: Iterable[ReceivedFile], staged: BatchPlan, *, link: bool = False
) -> None:
    """Examine *files* and pair them, into *staged*, with the refusals of single files.

    Raises Unavailable when the project's disk is full; then none of it is used.
    """
    pictures: list[ReceivedFile] = []
    layouts: list[ReceivedFile] = []
    companions: dict[Folder, list[ReceivedFile]] = {}
    for file in files:
        try:
            head = _head(file, library)
        except (Invalid, PathNotAllowed) as refusal:
            staged.refuse(file.place, refusal.detail)
            continue
        # A file named like a picture that is none is refused when it is opened.
        if looks_like_picture(head) or called_picture(file.name):
            pictures.append(file)
        elif is_companion(file.name):
            companions.setdefault(file.folder, []).append(file)
        else:
            layouts.append(file)
    _take_pictures(engine, library, pictures, staged, link=link)
    _pair(engine, library, layouts, companions, staged)


def _head(received_file: ReceivedFile, library: Library) -> bytes:
    try:
        status = received_file.path.lstat()
        if not stat.S_ISREG(status.st_mode):
            raise not_a_file()
        if status.st_size == 0:
            raise Invalid("It is empty (0 bytes). Copy it again from the original.")
        with received_file.open(library.is_closed) as file:
            return file.read(1024)
    except OSError as error:
        raise FileUnreadable(error) from None


def _take_pictures(
    engine: Engine, library: Library, pictures: list[ReceivedFile], staged: BatchPlan, *, link: bool
) -> None:
    def take(file: ReceivedFile) -> StagedPicture | str:
        try:
            nodes, source = taken_in(
                library,
                file.path,
                file.name,
                shown_path=file.kept_at,
                max_pixels=engine.settings.max_image_pixels,
                call=engine.workers.call_light,
                link=link and file.kept_at is not None,
                within=file.scratch,
            )
            return StagedPicture(file, nodes, source.checksum, [*source.notes, *file.notes])
        except (Invalid, PathNotAllowed) as refusal:
            return refusal.detail
        except ValueError as error:
            return f"Its name cannot be used: {error}."
        except OSError as error:
            return f"It cannot be read: {error.strerror or error}."

    with ThreadPoolExecutor(min(HANDS, os.cpu_count() or 1), "ingest") as hands:
        for picture, outcome in zip(pictures, hands.map(take, pictures), strict=True):
            if isinstance(outcome, str):
                staged.refuse(picture.place, outcome)
            else:
                staged.pictures.append(outcome)


def read_layout(
    engine: Engine,
    file: BinaryIO,
    folder: Folder,
    name: str,
    pictures: Pictures,
    companions: dict[str, bytes],
    *,
    asked: str | None = None,
    likely: str | None = None,
) -> tuple[OpenedFile, bytes] | Mets:
    """Read a file that is not a picture: a layout file with its bytes, or a METS file. Refuses as
    `open_layout` does.

    *file* was opened at its beginning.
    """
    data = file.read(MAX_FILE_BYTES + 1)
    if sniff_mets(data):
        if len(data) > MAX_FILE_BYTES:
            raise TooLarge(
                f"{name} is a METS file of more than {MAX_FILE_BYTES >> 20} MiB, which is not read; split it by volumes.",
                code="file_too_large",
            )
        return read_mets(data, name)
    # Label files count in fractions or in pixels of a picture that they do not name: the one with their name.
    hint = pictures.hint(folder, name)
    size = hint.size if hint is not None else None
    opened = open_layout(
        engine, data, name, asked=asked, page_size=size, companions=companions, likely=likely
    )
    return opened, data


def as_layout(folder: Folder, name: str, opened: OpenedFile) -> LayoutFile:
    """Return what pairing needs to know of a file that was read."""
    return LayoutFile(
        folder,
        name,
        tuple(
            LayoutPage(page.image, (page.width, page.height) if page.width > 0 and page.height > 0 else None)
            for page in opened.pages
        ),
    )


@dataclass(slots=True)
class _Read:
    """A layout file that was read and waits to be paired."""

    given: ReceivedFile
    driver: FormatDriver
    digest: str
    layout: LayoutFile
    spooled: list[int]


def _pair(
    engine: Engine,
    library: Library,
    files: list[ReceivedFile],
    companions: Mapping[Folder, Sequence[ReceivedFile]],
    staged: BatchPlan,
) -> None:
    index = Pictures([_picture(picture) for picture in staged.pictures])
    read: list[_Read] = []
    for received_file in files:
        try:
            with received_file.open(library.is_closed) as file:
                parsed = read_layout(
                    engine,
                    file,
                    received_file.folder,
                    received_file.name,
                    index,
                    companions_of(
                        companions, received_file.folder, lambda companion: companion.open(library.is_closed)
                    ),
                    likely=read[-1].driver.name if read else None,
                )
        except OSError as error:
            staged.refuse(received_file.place, f"It cannot be read: {error.strerror or error}.")
            continue
        except ServiceError as refusal:
            if refusal.status >= 500:
                raise
            staged.refuse(received_file.place, refusal.detail)
            continue
        if isinstance(parsed, Mets):
            index.take_mets(received_file.folder, parsed.pages)
            staged.mets.append(StagedMets(received_file, parsed))
            continue
        opened, _ = parsed
        layout = as_layout(received_file.folder, received_file.name, opened)
        read.append(_Read(received_file, opened.driver, opened.digest, layout, _keep(staged, opened.pages)))
    use_mets(staged, index, [(file.folder, file.name) for file in files], library.is_closed)
    alone: list[tuple[str, UnpairedPage]] = []
    waiting: dict[str, _Read] = {}
    for read_file in read:
        for result in index.pair(read_file.layout):
            if isinstance(result, Pair):
                _add(library, staged, read_file, result)
            else:
                key = f"{len(waiting)}"
                waiting[key] = read_file
                alone.append((key, result))
    paired_ids = {staged_pass.node_id for staged_pass in staged.passes}
    sized = pair_by_size(alone, (picture for picture in index.items if picture.key not in paired_ids))
    for key, result in alone:
        read_file, picture = waiting[key], sized[key]
        if isinstance(picture, PictureFile):
            pair = Pair(result.page, picture, None, "size", (paired_by_size(picture),))
            _add(library, staged, read_file, pair)
        else:
            place = page_place(read_file.layout, result.page, read_file.given.place)
            staged.unpaired.append({"file": printable_name(place), "why": picture})
    if not any(is_label(read_file) for read_file in read):
        staged.unpaired += [
            {"file": printable_name(companion.place), "why": NO_LABELS}
            for beside in companions.values()
            for companion in beside
        ]


NO_LABELS = "It names classes of layout-detection labels, and no label file was included."


def is_label(read_file: _Read) -> bool:
    """Return whether a file is of the kind that has class names beside it."""
    return read_file.given.path.suffix.casefold() in (".txt", ".json")


def paired_by_size(picture: PictureFile) -> str:
    """Return the note for a file paired by size alone."""
    assert picture.size is not None
    return (
        f"Its picture could not be found by name; {picture.name} is the only one of exactly its size, "
        f"{picture.size[0]} x {picture.size[1]} pixels."
    )


def page_place(layout: LayoutFile, page: int, place: str) -> str:
    """Return the name of a page of the layout file at *place* in a report."""
    return place if len(layout.pages) == 1 else f"{place}, page {page + 1}"


def _picture(staged: StagedPicture) -> PictureFile:
    node = staged.nodes[0]
    picture = node["picture"]
    size = (picture["pixel_width"], picture["pixel_height"])
    return PictureFile(
        node["id"],
        staged.given.folder,
        staged.given.name,
        size if size[0] and size[1] else None,
        len(staged.nodes) - 1,
    )


def _keep(staged: BatchPlan, pages: list[PageModel]) -> list[int]:
    """Spool pages that were read; return their positions."""
    if staged.spool is None:
        staged.spool = tempfile.SpooledTemporaryFile(max_size=SPOOLED)  # noqa: SIM115 (closed with the batch)
    places = []
    staged.spool.seek(0, os.SEEK_END)
    for page in pages:
        places.append(staged.spool.tell())
        pickle.dump(page, staged.spool, pickle.HIGHEST_PROTOCOL)
    return places


def _add(library: Library, staged: BatchPlan, read_file: _Read, pair: Pair) -> None:
    try:
        with read_file.given.open(library.is_closed) as file:
            digest = library.objects.put_file(Path(f"/dev/fd/{file.fileno()}"))
    except (OSError, Invalid, PathNotAllowed):
        digest = None
    if digest != read_file.digest:
        staged.refuse(
            read_file.given.place, "It changed while it was being read. Import it again when it is complete."
        )
        return
    staged.passes.append(
        StagedPass(read_file.given, read_file.driver, read_file.digest, pair, read_file.spooled[pair.page])
    )
