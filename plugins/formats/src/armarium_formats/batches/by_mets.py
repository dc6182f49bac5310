"""METS files in a batch: the documents of their pages, and the files that are missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO

from armarium.api import ServiceError
from armarium_formats.batches.names import Folder, plain, printable_name
from armarium_formats.batches.pairing import Pictures, locate_path
from armarium_formats.mets.reader import Mets, MetsPage, read_mets, sniff_mets
from armarium_formats.opening import MAX_FILE_BYTES
from armarium_formats.schemas.mets import PlacedPage, UseMets

if TYPE_CHECKING:
    from armarium.api import IsClosed
    from armarium_formats.batches.staging import BatchPlan, ReceivedFile


MARK_BYTES = 8192
"""Of a file, within which METS says what it is."""


@dataclass(slots=True)
class StagedMets:
    """A METS file that was read, and what to do with it, by the pictures' documents."""

    given: ReceivedFile
    mets: Mets
    params: UseMets | None = None


@dataclass(slots=True)
class MetsPages:
    """The pages of METS files matched with imported pictures, each picture in the first page that names
    it.
    """

    pictures: Pictures
    delivered: Iterable[tuple[Folder, str]]
    """Folders and names of all layout files that came in."""
    _claimed: set[str] = field(default_factory=set)
    _there: set[tuple[Folder, str]] | None = None

    def pages(self, folder: Folder, mets: Mets) -> list[tuple[MetsPage, list[str]]]:
        """Return each page that has pictures here, with their keys, best first."""
        placed = []
        for page in mets.pages:
            keys = [
                picture.key
                for picture in self.pictures.of_page(folder, page)
                if picture.key not in self._claimed
            ]
            if keys:
                self._claimed.update(keys)
                placed.append((page, keys))
        return placed

    def missing(self, folder: Folder, mets: Mets) -> list[str]:
        """Return the files that its pages name and that were not imported: compared by path, or by name if
        none of them is in the folder named.
        """
        if self._there is None:
            pictures = ((picture.folder, picture.name) for picture in self.pictures.items)
            self._there = {
                (tuple(map(plain, above)), plain(name)) for above, name in (*self.delivered, *pictures)
            }
        places_by_path = {
            path: locate_path(folder, path) for page in mets.pages for path in (*page.images, *page.layouts)
        }
        lacking = [path for path, place in places_by_path.items() if place not in self._there]
        if len(lacking) < len(places_by_path):
            return lacking
        names = {name for _, name in self._there}
        return [path for path, (_, name) in places_by_path.items() if name not in names]

    def as_params(
        self, folder: Folder, name: str, data: bytes, mets: Mets, document: Callable[[str], str | None]
    ) -> UseMets | None:
        """Return the parameters of `ingest.mets`; None if no page has a picture here. *document* returns a
        picture's document.
        """
        here: list[dict[str, Any]] = []
        for page, keys in self.pages(folder, mets):
            ids = [document_id for document_id in map(document, keys) if document_id is not None]
            if ids:
                here.append({"number": page.order, "document_ids": ids[:100]})
        if not here:
            return None
        params = UseMets(
            file=data,
            filename=name[:500],
            pages=[PlacedPage(**page) for page in here],
            missing=[path[:4096] for path in self.missing(folder, mets)],
        )
        params.hand_over(mets)
        return params


def mets_at(open_file: Callable[[], BinaryIO], name: str) -> Mets | None:
    """Return the METS file that *open_file* opens; None for any other, judged by its first bytes, and for an
    unreadable one, which is reported later.
    """
    try:
        with open_file() as file:
            head = file.read(MARK_BYTES)
            return read_mets(head + file.read(MAX_FILE_BYTES), name) if sniff_mets(head) else None
    except (ServiceError, OSError):
        return None


def pass_name(group: str, filename: str) -> str | None:
    """Return the pass name for a layout file in *group* of a METS file, so that passes of a page are
    distinguishable.
    """
    return f"{group}: {filename}"[:500] if group else None


def without_pages(mets: Mets) -> str:
    """Return in words why a METS file is of no use to the batch."""
    pages = f"{len(mets.pages)} pages" if len(mets.pages) != 1 else "one page"
    remote = (
        f" {mets.elsewhere:,} of the files it names are not below its own folder (nothing is fetched, and no other folder "
        "is read)."
        if mets.elsewhere
        else ""
    )
    return (
        f"It is a METS file of {pages}, and none of their pictures was included.{remote} Import it together "
        "with the pictures and layout files that it names."
    )


def use_mets(
    staged: BatchPlan, pictures: Pictures, delivered: Iterable[tuple[Folder, str]], is_closed: IsClosed
) -> None:
    """Plan what the METS files of a batch do; one without a page here is reported as unused."""
    pages = MetsPages(pictures, delivered)
    for staged_mets in staged.mets:
        with staged_mets.given.open(is_closed) as file:
            data = file.read(MAX_FILE_BYTES)
        staged_mets.params = pages.as_params(
            staged_mets.given.folder, printable_name(staged_mets.given.name), data, staged_mets.mets, str
        )
        if staged_mets.params is None:
            staged.unpaired.append(
                {"file": printable_name(staged_mets.given.place), "why": without_pages(staged_mets.mets)}
            )
            continue
        for href in staged_mets.mets.refused:
            staged.refuse(f"{staged_mets.given.place}: {href.href[:200]}", f"It is not imported: {href.why}.")
