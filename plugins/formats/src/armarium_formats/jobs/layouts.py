"""The job `ingest-layouts`: after a folder's pictures were imported, its layout files become their passes.

Files are written in batches, each one step with the checkpoint in its transaction; all steps belong to the
import's own set, so the whole import is one undo. Files that no name pairs wait for the end, when their size
may decide.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from sqlalchemy import select

from armarium.api import JobContext, JobKind, ServiceError, open_plain, raw_of
from armarium_documents.api import (
    LAYOUT_SUFFIXES,
    TEXT_SUFFIXES,
    FoundEntry,
    documents,
    named_files,
    walk_folder,
)
from armarium_formats.batches.by_mets import MetsPages, mets_at, pass_name, without_pages
from armarium_formats.batches.imported_pictures import brought_in, companions_of, known_among
from armarium_formats.batches.names import Folder, is_companion, printable_name
from armarium_formats.batches.pairing import Pair, PictureFile, Pictures, UnpairedPage, pair_by_size
from armarium_formats.batches.staging import as_layout, page_place, paired_by_size, read_layout
from armarium_formats.errors import AlreadyAPass
from armarium_formats.jobs.layout_progress import LayoutJobArgs, Pace, Progress
from armarium_formats.jobs.reading_ahead import FileToRead, ReadAhead
from armarium_formats.jobs.text_layers import read_text_layers
from armarium_formats.keeping import make_ready
from armarium_formats.mets.reader import Mets
from armarium_formats.opening import MAX_FILE_BYTES, OpenedFile, collector_waits, digest_of, open_layout
from armarium_formats.queries.exchange import passes_of_files, pictures_of
from armarium_formats.queries.mets import says_nothing_new
from armarium_formats.retracing import retrace
from armarium_formats.schemas.exchange import ImportFile, ImportSeveral
from armarium_formats.turning import wants_turning
from armarium_source_model.api import passes

BATCH_BYTES = 4 * 1024 * 1024
BATCH_SECONDS = 3.0
"""What one step takes at most, which bounds what a kill makes the job do again."""

SAVED_EVERY = 50
"""Files after which the checkpoint is kept although no step was made."""

_LEFT = LAYOUT_SUFFIXES | TEXT_SUFFIXES


class Layouts:
    """One run of the job."""

    def __init__(self, ctx: JobContext) -> None:
        self.ctx = ctx
        self.args: LayoutJobArgs = ctx.args
        self.kept = Progress(**deepcopy(ctx.checkpoint))
        self.root = Path(self.args.folder) if self.args.folder is not None else None
        self.files: list[tuple[Folder, str, Path]] = []
        self.companions: dict[Folder, list[Path]] = {}
        self.pictures = Pictures([])
        self.batch: list[tuple[str, ImportFile, list[str]]] = []
        self.bytes = 0
        self.since = time.monotonic()
        self.pace = Pace()
        self.ahead: ReadAhead | None = None
        self.likely: str | None = None
        """The driver of the file before."""

    def run(self) -> dict[str, Any]:
        """Read and pair everything; return the counts and what was left."""
        self._look()
        total = len(self.files) or 1
        self.ahead = self._reading_ahead()
        try:
            for number, (folder, name, path) in enumerate(self.files):
                if number < self.kept.number:
                    continue
                self.ctx.progress(number, total)
                self._file(folder, name, path)
                if self.kept.page == 0:
                    self._commit_when_full()
                self.ctx.check()
        finally:
            self.ahead.close()
        self._commit()
        self._by_size()
        self._commit()
        read_text_layers(self.ctx, self.kept)
        progress = self.kept
        self.ctx.save(asdict(progress), done=total, total=total)
        return progress.answer()

    def _look(self) -> None:
        """Find the imported pictures and the layout files beside them; METS files are read here."""
        places: list[tuple[FoundEntry, Folder]] = []
        found_mets: list[tuple[Folder, Mets]] = []
        for entry in self._walk():
            folder = self._folder(entry)
            if entry.kind == "file":
                places.append((entry, folder))
            elif entry.kind == "left":
                if is_companion(entry.path.name):
                    self.companions.setdefault(folder, []).append(entry.source)
                else:
                    self.files.append((folder, entry.path.name, entry.source))
        with self.ctx.library.db.read() as conn:
            raw = raw_of(conn)
            above = (self.args.mirrored,) if self.args.mirrored else ()
            self.pictures = Pictures(brought_in(raw, self.args.parent_id, above, places))
        for folder, name, path in self.files:
            if (mets := mets_at(partial(self._open, path), name)) is not None:
                found_mets.append((folder, mets))
        for folder, mets in found_mets:
            self.pictures.take_mets(folder, mets.pages)
        self.mets_pages = MetsPages(self.pictures, [(folder, name) for folder, name, _ in self.files])

    def _reading_ahead(self) -> ReadAhead:
        """Return the reader ahead; inactive if files need others, or a format was requested."""

        def describe_file(number: int) -> FileToRead:
            folder, name, path = self.files[number]
            hint = self.pictures.hint(folder, name)
            return FileToRead(path, name, None if hint is None else hint.size)

        files = 0 if self.companions or self.args.format else len(self.files)
        return ReadAhead(self.ctx, files, describe_file, self.args.beyond)

    def _walk(self) -> Iterator[FoundEntry]:
        if self.root is None:
            for _, entry in named_files(self.args.paths, left=_LEFT):
                yield entry
        elif self.root.is_dir():
            yield from walk_folder(self.root, recursive=self.args.recursive, left=_LEFT)

    def _folder(self, entry: FoundEntry) -> Folder:
        return entry.path.parent.parts[1:] if self.root is None else entry.position[:-1]

    def _open(self, path: Path) -> BinaryIO:
        return open_plain(path, self.ctx.library.is_closed)

    def _read_before(self, digest: str) -> bool:
        """Return whether a file that no name pairs is already a pass of one of these pictures."""
        with self.ctx.library.db.read() as conn:
            raw = raw_of(conn)
            return not self.args.again and known_among(
                raw, digest, (picture.key for picture in self.pictures.items), self.args.set_id
            )

    def _file(self, folder: Folder, name: str, path: Path) -> None:
        """Read one file and import its paired pages; the rest waits or is reported."""
        place = printable_name("/".join((*folder, name)) if self.root is not None else str(path))
        number = self.kept.number
        try:
            parsed = (self.ahead and self.ahead.take(number)) or self._read(folder, name, path)
        except OSError as error:
            self._refuse(place, f"It cannot be read: {error.strerror or error}.")
        except ServiceError as refusal:
            if refusal.status >= 500:
                raise
            self._refuse(place, refusal.detail)
        else:
            if isinstance(parsed, Mets):
                self._use_mets(place, folder, name, path, parsed)
            else:
                self._pages(folder, name, *parsed)
        self.kept.number, self.kept.page = number + 1, 0
        if self.kept.number % SAVED_EVERY == 0 and not self.batch:
            self.ctx.save(asdict(self.kept))

    def _use_mets(self, place: str, folder: Folder, name: str, path: Path, mets: Mets) -> None:
        """Order and label the pages of a METS file, in a step of its own, when no batch is pending."""
        self._commit()
        with self._open(path) as file:
            params = self.mets_pages.as_params(
                folder, printable_name(name), file.read(MAX_FILE_BYTES), mets, str
            )
        if params is None:
            self._note_unpaired(place, without_pages(mets))
            return
        for href in mets.refused:
            self._refuse(f"{place}: {printable_name(href.href[:200])}", f"It is not imported: {href.why}.")
        ids = [identity for page in params.pages for identity in page.document_ids]
        with self.ctx.library.db.read() as conn:
            if says_nothing_new(conn, digest_of(params.data), ids, lambda key: key > self.args.set_id):
                self.kept.already += 1
                return
        try:
            # Without a checkpoint: repeated after a kill, it finds its work done.
            outcome = self.ctx.act("ingest.mets", params, set_id=self.args.set_id)
        except ServiceError as refusal:
            if refusal.status >= 500:
                raise
            self._refuse(place, refusal.detail)
            return
        used = {**(outcome.result or {}), "file": place}
        self.kept.mets.append(used)
        for note in used["notes"]:
            self.ctx.log("info", f"{place}: {note}")

    def _read(self, folder: Folder, name: str, path: Path) -> tuple[OpenedFile, bytes] | Mets:
        with self._open(path) as file:
            layout = read_layout(
                self.ctx.engine,
                file,
                folder,
                name,
                self.pictures,
                companions_of(self.companions, folder, self._open),
                asked=self.args.format,
                likely=self.likely,
            )
        if not isinstance(layout, Mets):
            self.likely = layout[0].driver.name
            if self.ahead is not None:
                self.ahead.is_of(layout[0].driver)
        return layout

    def _pages(self, folder: Folder, name: str, opened: OpenedFile, data: bytes) -> None:
        layout = as_layout(folder, name, opened)
        number = self.kept.number
        results = self.pictures.pair(layout)
        for index, result in enumerate(results):
            if index < self.kept.page:
                continue
            place = printable_name(page_place(layout, result.page, layout.place))
            if isinstance(result, Pair):
                self._import(place, name, opened, data, result)
            elif self._read_before(opened.digest):
                self.kept.already += 1
            elif result.size is None:
                self._note_unpaired(place, result.why)
            else:
                waits = {"file": number, "page": result.page, "why": result.why, "place": place}
                self.kept.waiting.append({**waits, "size": list(result.size)})
            self.kept.page = index + 1
            # A file of many pages may exceed a batch.
            if index + 1 < len(results):
                self._commit_when_full()

    def _import(self, place: str, name: str, opened: OpenedFile, data: bytes, pair: Pair) -> None:
        """Add a page of a file to the batch; refusals are found here."""
        document_id = self._document(pair)
        if document_id is None:
            self._refuse(place, "The page it belongs to no longer exists.")
            return
        params = ImportFile(
            document_id=document_id,
            file=data,
            filename=printable_name(name)[:500],
            name=pass_name(pair.group, printable_name(name)),
            pages=str(pair.page + 1),
            beyond=self.args.beyond,
        )
        with self.ctx.library.db.read() as conn:
            raw = raw_of(conn)
            (picture,) = pictures_of(raw, [document_id])
            (known_pass,) = passes_of_files(raw, [(document_id, params.digest)])
        if known_pass is not None and not self.args.again and known_pass[0] < self.args.set_id:
            self.kept.already += 1
            return
        try:
            if known_pass is not None:
                raise AlreadyAPass(params.filename, *known_pass)
            if opened.placed and wants_turning(opened.pages[0], picture.size, picture.orientation):
                opened = open_layout(self.ctx.engine, data, name, likely=opened.driver.name)
            with collector_waits():
                # Not those of this import: which of them are written by now depends on its batches.
                retrace(self.ctx.library, document_id, opened, params.pages, picture, before=self.args.set_id)
                ready = make_ready(opened, picture, params.pages, pair.notes, beyond=params.beyond)
                params.make_ready_for(picture, ready)
        except ServiceError as refusal:
            self._refuse(place, refusal.detail)
            return
        self.kept.note(place, ready.notes, ready.page.unknown_classes)
        if ready.notes:
            self.ctx.log("info", f"{place}: {' '.join(ready.notes)}")
        self.batch.append((place, params, ready.notes))
        self.bytes += len(data)
        self.kept.passes += 1

    def _commit(self) -> None:
        """Write the batch as one step with the checkpoint; file by file if one of it is refused after all."""
        batch, self.batch, self.bytes = self.batch, [], 0
        self.since = time.monotonic()
        if not batch:
            return
        try:
            outcome = self.ctx.act(
                "ingest.layouts",
                ImportSeveral(files=[params for _, params, _ in batch]),
                checkpoint=asdict(self.kept),
                set_id=self.args.set_id,
            )
            self.pace.note_step(len(batch), time.monotonic() - self.since)
            for (place, _, known_notes), item in zip(batch, (outcome.result or {})["items"], strict=True):
                # What the families that take a file's contents said of them.
                self.kept.note(place, [note for note in item["notes"] if note not in known_notes], ())
            return
        except ServiceError as refusal:
            if refusal.status >= 500:
                raise
        for place, params, _ in batch:
            try:
                self.ctx.act("format.import", params, set_id=self.args.set_id)
            except ServiceError as refusal:
                if refusal.status >= 500:
                    raise
                self.kept.passes -= 1
                self._refuse(place, refusal.detail)
        self.ctx.save(asdict(self.kept))

    def _commit_when_full(self) -> None:
        full = len(self.batch) >= self.pace.files or self.bytes >= BATCH_BYTES
        if full or (self.batch and time.monotonic() - self.since > BATCH_SECONDS):
            self._commit()

    def _document(self, pair: Pair) -> str | None:
        if pair.part is None:
            return pair.picture.key
        with self.ctx.library.db.read() as conn:
            page = documents.c
            pages = select(page.id).where(
                page.parent_id == pair.picture.key, page.doc_type == "page", page.deleted_at.is_(None)
            )
            return conn.execute(pages.order_by(page.sequence).limit(1).offset(pair.part)).scalar()

    def _by_size(self) -> None:
        """Pair the waiting files with unpaired pictures, by size alone."""
        if not self.kept.waiting:
            return
        with self.ctx.library.db.read() as conn:
            live = select(passes.c.document_id).where(passes.c.deleted_at.is_(None)).distinct()
            paired_ids = set(conn.execute(live).scalars())
        waiting = [
            (str(number), UnpairedPage(entry["page"], entry["why"], (entry["size"][0], entry["size"][1])))
            for number, entry in enumerate(self.kept.waiting)
        ]
        # What an earlier run of this job settled stays settled: its picture counts as unpaired.
        paired_ids -= {entry.get("document_id") for entry in self.kept.waiting}
        free = [picture for picture in self.pictures.items if picture.key not in paired_ids]
        paired = pair_by_size(waiting, free)
        for number, (key, alone) in enumerate(waiting):
            if number < self.kept.settled:
                continue
            entry, picture = self.kept.waiting[number], paired[key]
            if isinstance(picture, PictureFile):
                entry["document_id"] = picture.key
                self._set_size(entry, alone, picture)
            else:
                self._note_unpaired(entry["place"], picture)
            self.kept.settled = number + 1
            self._commit_when_full()
            self.ctx.check()

    def _set_size(self, entry: dict[str, Any], alone: UnpairedPage, picture: PictureFile) -> None:
        folder, name, path = self.files[entry["file"]]
        try:
            parsed = self._read(folder, name, path)
            with self._open(path) as file:
                data = file.read(MAX_FILE_BYTES + 1)
        except OSError as error:
            self._refuse(entry["place"], f"It cannot be read: {error.strerror or error}.")
            return
        assert not isinstance(parsed, Mets)
        note = (paired_by_size(picture),)
        self._import(entry["place"], name, parsed[0], data, Pair(alone.page, picture, None, "size", note))

    def _refuse(self, place: str, why: str) -> None:
        self.kept.refuse(place, why)
        self.ctx.log("warning", f"{place}: {why}")

    def _note_unpaired(self, place: str, why: str) -> None:
        self.kept.leave(place, why)
        self.ctx.log("info", f"{place}: {why}")


def run_layouts(ctx: JobContext) -> dict[str, Any]:
    """Run the job."""
    return Layouts(ctx).run()


ingest_layouts = JobKind(
    name="ingest-layouts",
    lane="images",
    summary="Read the layout files next to imported pictures, and the text layers of PDFs, each into its page",
    run=run_layouts,
    args=LayoutJobArgs,
    stage="text-layers",
)
