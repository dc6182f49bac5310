"""Scans a synced folder: the state of its known files, and what other files it contains. It changes nothing.

What a file is depends only on its bytes. How the disk describes it merely saves reading it again.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from sqlalchemy import Connection, Row, select

from armarium.api import Library, is_among
from armarium_documents.api import LAYOUT_SUFFIXES
from armarium_source_model.api import passes
from armarium_sync.disk import Disk, Entry, Unusable
from armarium_sync.identifiers import PLACES, lasting_id
from armarium_sync.names import lasting_id_of, maker_of
from armarium_sync.rows import DocumentFile, documents_in, files_of, find_owned, is_known

PICTURES = frozenset(
    {".jpg", ".jpeg", ".jpe", ".png", ".tif", ".tiff", ".pdf", ".webp", ".jp2", ".j2k", ".bmp", ".gif"}
)

SETTLED = 1.0
"""Seconds for which a file must not have changed before it is read."""

LEFT_ALONE = "it is left alone"


@dataclass(slots=True)
class StrangerFile:
    """A file that is not the project's, as far as it was examined."""

    entry: Entry
    kind: str
    """picture, layout or other."""
    digest: str | None = None
    carries: str | None = None
    """The lasting id in it."""
    why: str | None = None
    known: Row[Any] | None = None


@dataclass(slots=True)
class Sight:
    """What a scan found."""

    there: bool = True
    same: list[tuple[Row[Any], str, str]] = field(default_factory=list)
    """Files as the project knows them: (row, stamp, digest); the digest may be that of an older known version."""
    changed: list[tuple[Row[Any], str, str]] = field(default_factory=list)
    gone: list[Row[Any]] = field(default_factory=list)
    blocked: list[tuple[Row[Any], StrangerFile]] = field(default_factory=list)
    moved: list[tuple[Row[Any], StrangerFile]] = field(default_factory=list)
    adopted: list[tuple[StrangerFile, str, str]] = field(default_factory=list)
    """Layout files that a pass was read from: (file, document, format)."""
    images: list[StrangerFile] = field(default_factory=list)
    beside: list[StrangerFile] = field(default_factory=list)
    """Layout files of unknown origin, which may belong to one of the images."""
    followed: list[tuple[DocumentFile, StrangerFile]] = field(default_factory=list)
    """Pictures of documents that were moved by hand."""
    others: list[StrangerFile] = field(default_factory=list)
    left_over: list[str] = field(default_factory=list)
    """Working files of ours that a kill left behind."""
    in_place: set[str] = field(default_factory=set)
    """Where documents' own files are, as the project knows it."""
    restless: int = 0
    """Files that are still being written."""


def look(
    library: Library, conn: Connection, folder: Row[Any], disk: Disk, *, thorough: bool = False
) -> Sight:
    """Walk through the folder once. *thorough*: read every layout file of ours, whatever the disk says about it."""
    return _Look(conn, folder, disk, thorough).run()


class _Look:
    def __init__(self, conn: Connection, folder: Row[Any], disk: Disk, thorough: bool) -> None:
        self.conn, self.folder, self.disk, self.thorough = conn, folder, disk, thorough
        self.sight = Sight()
        self.suffixes: set[str] = set()
        """Of the layout files that were written here."""

    def run(self) -> Sight:
        if not self.disk.is_there():
            self.sight.there = False
            return self.sight
        rows = {row.path: row for row in files_of(self.conn, self.folder.id)}
        self.suffixes = {
            PurePosixPath(row.path).suffix.casefold() for row in rows.values() if row.role == "layout"
        }
        documents_held = documents_in(self.conn, self.folder.path)
        pictures = {document.path: document for document in documents_held}
        paths: set[str] = set()
        strangers: list[StrangerFile] = []
        for entry in self.disk.walk(time.time_ns()):
            row = rows.get(entry.path)
            if entry.why is not None:
                stranger = StrangerFile(entry, "other", why=entry.why)
                if row is None or row.role == "other":
                    strangers.append(stranger)
                else:
                    self.sight.blocked.append((row, stranger))
                    paths.add(entry.path)
                continue
            if self.disk.is_own_name(entry.path):
                if not entry.path.endswith(self.disk.marker):
                    self.sight.left_over.append(entry.path)
                continue
            paths.add(entry.path)
            if row is not None and row.role in ("layout", "loss"):
                self._of_ours(row, entry)
            elif entry.path not in pictures:
                other = self._of_others(entry, row)
                if other is not None:
                    strangers.append(other)
        for row in rows.values():
            if row.role in ("layout", "loss") and row.path not in paths:
                # A folder that cannot be listed hides its files; only what certainly does not exist is gone.
                try:
                    if self.disk.stamp(row.path) is None:
                        self.sight.gone.append(row)
                except Unusable as error:
                    strangers.append(StrangerFile(Entry(row.path, "", 0.0), "other", why=str(error)))
        self.sight.in_place = {document.path for document in documents_held if document.path in paths}
        self._match(strangers, self.sight.in_place, documents_held)
        return self.sight

    def _at_rest(self, entry: Entry) -> bool:
        # If a clock was set back, a file seems to come from the future: that does not show whether it still
        # changes.
        if 0 <= entry.age < SETTLED:
            self.sight.restless += 1
            return False
        return True

    def _of_ours(self, row: Row[Any], entry: Entry) -> None:
        if entry.stamp == row.stamp and row.seen is not None and not self.thorough:
            if row.seen != row.digest:
                self.sight.changed.append((row, entry.stamp, row.seen))
            return
        try:
            digest = self.disk.digest(row.path)
        except Unusable as error:
            self.sight.others.append(StrangerFile(entry, "other", why=str(error)))
            return
        if digest is None:
            self.sight.gone.append(row)
        elif digest != row.digest and (why := self._of_another_page(row)) is not None:
            self.sight.blocked.append((row, StrangerFile(entry, "other", digest, why=why)))
        elif digest == row.digest or is_known(self.conn, self.folder.id, digest):
            self.sight.same.append((row, entry.stamp, digest))
        elif row.digest is None:
            # It was to be written here, and never was: the file here is somebody else's.
            self.sight.blocked.append(
                (row, StrangerFile(entry, "other", digest, why="It is where a file of the project would be."))
            )
        elif self._at_rest(entry):
            self.sight.changed.append((row, entry.stamp, digest))

    def _of_another_page(self, row: Row[Any]) -> str | None:
        """Return why a file is none of its page: it carries the id of another, as where two files were swapped."""
        try:
            carries = lasting_id(self.disk.read(row.path), "") if row.role == "layout" else None
        except (Unusable, FileNotFoundError):
            return None
        if carries is None or carries == row.document_id:
            return None
        return "It carries the id of another page; put the file of this page back, or remove it."

    def _of_others(self, entry: Entry, row: Row[Any] | None) -> StrangerFile | None:
        """Return what a file of others is; None while it is being written."""
        name = PurePosixPath(entry.path).name
        suffix = PurePosixPath(name).suffix.casefold()
        maker = maker_of(name)
        # A file in a format that somebody else's driver writes is known by the id in its name.
        carries_id = suffix in LAYOUT_SUFFIXES or (
            suffix in self.suffixes and lasting_id_of(name) is not None
        )
        kind = "picture" if suffix in PICTURES else "layout" if carries_id else "other"
        if maker is not None:
            return StrangerFile(entry, "other", why=f"It is {maker}; {LEFT_ALONE}.", known=row)
        if kind == "other":
            return StrangerFile(
                entry, kind, why=f"It is neither a picture nor a layout file; {LEFT_ALONE}.", known=row
            )
        if row is not None and row.stamp == entry.stamp and row.seen is not None:
            return StrangerFile(entry, kind, row.seen, row.document_id, known=row)
        if not self._at_rest(entry):
            return None
        try:
            if kind == "picture":
                return StrangerFile(entry, kind, self.disk.digest(entry.path), known=row)
            data = self.disk.read(entry.path)
        except FileNotFoundError:
            return None
        except Unusable as error:
            return StrangerFile(entry, "other", why=str(error), known=row)
        import hashlib

        return StrangerFile(entry, kind, hashlib.sha256(data).hexdigest(), lasting_id(data, name), known=row)

    def _match(
        self, strangers: list[StrangerFile], in_place: set[str], documents_held: list[DocumentFile]
    ) -> None:
        layouts = [stranger for stranger in strangers if stranger.kind == "layout"]
        images = [stranger for stranger in strangers if stranger.kind == "picture"]
        self.sight.others += [stranger for stranger in strangers if stranger.kind == "other"]
        self._match_moved(layouts)
        self._match_adopted(layouts)
        self._match_images(images, in_place, documents_held)
        waiting = {
            id(stranger)
            for image in self.sight.images
            for stranger in beside_image(image.entry.path, layouts)
        }
        for stranger in self.sight.beside:
            if stranger.why is None and id(stranger) not in waiting:
                stranger.why = f"There is no new picture of its name here; {LEFT_ALONE}."

    def _match_moved(self, layouts: list[StrangerFile]) -> None:
        """Match a missing file of ours with the one file that carries its id: it was moved. Copies do not count."""
        layouts_gone = {row.id: row for row in self.sight.gone if row.role == "layout"}
        for row in list(layouts_gone.values()):
            suffix = PurePosixPath(row.path).suffix.casefold()
            same_id = [
                layout
                for layout in layouts
                if layout.carries == row.document_id
                and PurePosixPath(layout.entry.path).suffix.casefold() == suffix
            ]
            exact = [stranger for stranger in same_id if stranger.digest in (row.digest, row.seen)] or [
                layout for layout in layouts if layout.digest == row.digest
            ]
            # With several formats in one project, each has its own subfolder or extension; the bytes
            # distinguish them.
            candidates = exact or same_id
            if len(candidates) == 1:
                self.sight.moved.append((row, candidates[0]))
                layouts.remove(candidates[0])
                self.sight.gone.remove(row)

    def _match_adopted(self, layouts: list[StrangerFile]) -> None:
        """Adopt layout files from which a pass of the project was read: from now on they are the project's."""
        query = select(passes.c.import_checksum, passes.c.document_id, passes.c.import_format).where(
            is_among(passes.c.import_checksum, {layout.digest for layout in layouts}),
            passes.c.deleted_at.is_(None),
        )
        sources: dict[str, list[tuple[str, str]]] = {}
        for checksum, document_id, format_name in self.conn.execute(query):
            sources.setdefault(checksum, []).append((document_id, format_name))
        rows = files_of(self.conn, self.folder.id, ("layout",))
        pairs = {(row.document_id, row.format) for row in rows}
        formats = {*PLACES, *self.folder.formats}
        for layout in list(layouts):
            of = sources.get(layout.digest or "", [])
            if len(of) == 1 and of[0] not in pairs and layout.carries is None and of[0][1] in formats:
                self.sight.adopted.append((layout, *of[0]))
                pairs.add(of[0])
                layouts.remove(layout)
        ours = {row.document_id for row in rows}
        for layout in layouts:
            if layout.carries is None:
                if sources.get(layout.digest or ""):
                    layout.why = f"A pass has already been read from these bytes; {LEFT_ALONE}."
                self.sight.beside.append(layout)
            else:
                is_copy = layout.carries in ours
                why = "It carries the id of a page that this project does not keep here"
                if is_copy:
                    why = "It carries the id of a page whose own file also exists, so it is a copy"
                layout.why = f"{why}; {LEFT_ALONE}."
                self.sight.others.append(layout)

    def _match_images(
        self, images: list[StrangerFile], in_place: set[str], documents_held: list[DocumentFile]
    ) -> None:
        owned = find_owned(self.conn, [image.digest for image in images if image.digest])
        missing: dict[str, list[DocumentFile]] = {}
        for document in documents_held:
            if document.live and document.path not in in_place and document.checksum:
                missing.setdefault(document.checksum, []).append(document)
        counts = Counter(image.digest or "" for image in images)
        for image in images:
            away = missing.get(image.digest or "", [])
            if len(away) == 1 and counts[image.digest or ""] == 1:
                self.sight.followed.append((away[0], image))
            elif image.digest in owned:
                image.why = (
                    "It is already the file of a document (perhaps in the Trash); it is not imported again."
                )
                self.sight.others.append(image)
            elif (
                image.known is not None and image.known.state == "tried" and image.known.seen == image.digest
            ):
                image.why = "An import refused it, or it has been removed from the project since; the job of the import says why."
                self.sight.others.append(image)
            else:
                self.sight.images.append(image)


def beside_image(path: str, layouts: list[StrangerFile]) -> list[StrangerFile]:
    """Return the layout files of unknown origin that belong to an image by their name: in its folder or one
    below or next to it.

    An exported file has part of an id after the name of its page, and contains the text of that page only.
    """
    stem = PurePosixPath(path).stem.split(".")[0]
    beside = []
    for layout in layouts:
        first, _, endings = PurePosixPath(layout.entry.path).name.partition(".")
        if first == stem and "--" not in endings:
            beside.append(layout)
    return beside
