"""The job `import-files`: copies files into the project in batches, so that a kill neither loses nor
duplicates any.

Each batch is one `document.add_files` step with the checkpoint in its transaction; all steps share the job's
id as their set id. Files copied for a batch that was not committed are copied again, to the same name.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote, unquote_to_bytes

from armarium.api import (
    NAME_KEY,
    Conflict,
    Invalid,
    JobContext,
    JobKind,
    NewJob,
    NotFound,
    PathNotAllowed,
    ServiceError,
    new_id,
    tell_failed,
)
from armarium_documents.intake import file_node, page_node
from armarium_documents.jobs.present import ExistingFile, Place
from armarium_documents.pictures import SourceFile, open_source_pages, take_in
from armarium_documents.scan import (
    LAYOUT_SUFFIXES,
    TEXT_SUFFIXES,
    FoundEntry,
    Position,
    named_files,
    walk_folder,
)
from armarium_documents.schemas.fields import clean_name
from armarium_documents.schemas.files import ImportJobArgs

BATCH_NODES = 24
"""Nodes of one step; with the time limit it bounds what a kill makes the job do again."""

BATCH_SECONDS = 3.0

TEXT_LAYERS = "text-layers"
"""The stage of an import at which layout files beside pictures, and the text that PDFs have themselves, are read. A kind
of job of this stage is started once the pictures are in, with the import's own arguments, `set_id`, the set that its
steps belong to, and `document_ids`, the PDFs."""

MAX_LISTED = 1000
"""Refused and left files that are named in the job's result; all of them are in its log."""


@dataclass
class Progress:
    """The checkpoint: the position of the walk, and what it has counted so far."""

    after: list[str] = field(default_factory=list)
    """Position of the last file that is done with (a folder import); percent-encoded, for names that are not UTF-8."""
    order: str = ""
    """The order of the walk; empty in checkpoints that are older than that of names."""
    number: int = 0
    """How many of the named files are done with (a list import)."""
    folders: list[list[str]] = field(default_factory=list)
    """[name, node id] of the folders made for the present position, outermost first."""
    unfinished: dict[str, Any] | None = None
    """A file of several pages that is partly pictured: {source, node_id, next_page, position}."""
    pdfs: list[str] = field(default_factory=list)
    """Ids of the PDFs, whose own text another family reads."""
    files: int = 0
    documents: int = 0
    already: int = 0
    """Files that were in their place before this import."""
    refused: list[dict[str, str]] = field(default_factory=list)
    refused_count: int = 0
    left: list[str] = field(default_factory=list)
    left_count: int = 0


class Import:
    """One run of the job: entries are gathered into a batch, and a batch is committed with the checkpoint."""

    def __init__(self, ctx: JobContext) -> None:
        self.ctx = ctx
        self.args: ImportJobArgs = ctx.args
        # A copy: what is added later must not change what was stored.
        self.kept = Progress(**deepcopy(ctx.checkpoint) or {"order": NAME_KEY})
        self.nodes: list[dict[str, Any]] = []
        self.copied: dict[str, Path] = {}
        self.lines: list[tuple[Literal["info", "warning"], str]] = []
        self.since = time.monotonic()
        self.seen = 0
        self.max_pixels = ctx.engine.settings.max_image_pixels
        self.root = Path(self.args.folder) if self.args.folder is not None else None
        self.above: Position = (self.args.mirrored,) if self.args.mirrored else ()
        self.place = Place(ctx.library, self.args.parent_id, ctx.job_id, again=self.args.again)
        # Layout files are read by another family: its job belongs to this stage.
        self.readers = ctx.engine.kinds.of_stage(TEXT_LAYERS)
        self.left = LAYOUT_SUFFIXES | TEXT_SUFFIXES if self.readers else LAYOUT_SUFFIXES

    def run(self) -> dict[str, Any]:
        """Import everything; returns the counts and the files that were refused or left."""
        if self.kept.unfinished is not None:
            self._resume_pages()
        for entry in self._scan():
            if entry.kind == "left":
                self.kept.left_count += 1
                if len(self.kept.left) < MAX_LISTED:
                    self.kept.left.append("/".join(entry.position))
            elif entry.kind == "refused":
                self._refuse("/".join(entry.position), entry.why or "It cannot be imported.")
            else:
                self._import(entry)
            self._move_past(entry)
            self._commit_when_full()
        self._commit()
        self.ctx.check()
        progress = self.kept
        if progress.left_count or progress.pdfs:
            args = {**self.args.model_dump(), "set_id": self.ctx.job_id, "document_ids": progress.pdfs}
            for kind in self.readers:
                self.ctx.spawn(NewJob(kind, args, "Layout files and text layers", progress.left_count))
        if progress.refused:
            named = [{"name": refusal["file"], "why": refusal["why"]} for refusal in progress.refused]
            files = progress.files + progress.already + progress.left_count + progress.refused_count
            self.ctx.remark = tell_failed(progress.refused_count, files, named, "file")
        return {
            "files": progress.files,
            "documents": progress.documents,
            "already": progress.already,
            "refused": progress.refused,
            "refused_count": progress.refused_count,
            # Files left for another family are reported by its job.
            "left": [] if self.readers else progress.left,
            "left_count": 0 if self.readers else progress.left_count,
        }

    def _scan(self) -> Iterator[FoundEntry]:
        if self.root is None:
            for number, entry in named_files(self.args.paths, after=self.kept.number, left=self.left):
                self._tell(number, len(self.args.paths))
                yield entry
            return
        if not self.root.is_dir():
            raise NotFound(
                f"The folder {self.root.name} no longer exists; what was imported before stays.",
                code="path_not_found",
            )
        if self.kept.after and self.kept.order != NAME_KEY:
            raise Conflict(
                "Files are imported in another order since this import was interrupted. Import the folder again: what is in"
                " the project already is left as it is.",
                code="import_out_of_order",
            )
        total = self._count()
        after: Position = tuple(os.fsdecode(unquote_to_bytes(name)) for name in self.kept.after)
        for entry in walk_folder(self.root, recursive=self.args.recursive, after=after, left=self.left):
            self._tell(self._count_done(), total)
            yield entry

    def _count(self) -> int:
        """Return the number of files in the walk, for the progress bar."""
        assert self.root is not None
        return sum(
            1
            for entry in walk_folder(self.root, recursive=self.args.recursive, left=self.left)
            if entry.kind != "left"
        )

    def _count_done(self) -> int:
        return self.kept.files + self.kept.already + self.kept.refused_count

    def _tell(self, done: int, total: int) -> None:
        self.seen = max(total, 1)
        self.ctx.progress(min(done, self.seen), self.seen)

    def _refuse(self, name: str, why: str) -> None:
        name = name.encode("utf-8", "replace").decode()
        self.kept.refused_count += 1
        if len(self.kept.refused) < MAX_LISTED:
            self.kept.refused.append({"file": name, "why": why})
        self.lines.append(("warning", f"{name}: {why}"))

    def _move_past(self, entry: FoundEntry) -> None:
        if self.root is None:
            self.kept.number += 1
        else:
            self.kept.after = [quote(os.fsencode(name)) for name in entry.position]

    def _import(self, entry: FoundEntry) -> None:
        try:
            name = clean_name(entry.position[-1])
            existing = self.place.holds((*self.above, *entry.position[:-1]), name, entry.source)
            if existing is not None and existing.pages is None:
                self.kept.already += 1
                if name.casefold().endswith(".pdf"):
                    self.kept.pdfs.append(existing.id)  # an import before may not have read its text
                return
            source = take_in(self.ctx.library, entry.source, max_pixels=self.max_pixels)
        except ValueError as error:
            self._refuse("/".join(entry.position), f"Its name cannot be used: {error}.")
            return
        except (Invalid, PathNotAllowed) as refusal:
            self._refuse("/".join(entry.position), refusal.detail)
            return
        except OSError as error:
            self._refuse("/".join(entry.position), f"It cannot be read: {error.strerror or error}.")
            return
        self.lines += [("info", f"{'/'.join(entry.position)}: {note}") for note in source.notes]
        if existing is not None:
            self._picture_missing(entry.position, name, existing, source)
            return
        parent_id = self._folder_of((*self.above, *entry.position[:-1]))
        node_id = new_id()
        self.copied[source.checksum] = entry.source
        self.nodes.append(file_node(node_id, parent_id, name, entry.path, source))
        self.kept.files += 1
        if source.pages:
            self._picture_pages(entry.position, name, node_id, source, 0)

    def _folder_of(self, names: Position) -> str:
        """Return the id of the folder node for *names*; folders are created with their first file."""
        position = list(names)
        folders = self.kept.folders
        same_count = 0
        while (
            same_count < len(folders)
            and same_count < len(position)
            and folders[same_count][0] == position[same_count]
        ):
            same_count += 1
        del folders[same_count:]
        parent_id = folders[-1][1] if folders else self.args.parent_id
        for number, name in enumerate(position[same_count:], same_count + 1):
            folder_id = self.place.folder(names[:number])
            if folder_id is None:
                folder_id = new_id()
                self.nodes.append(
                    {"id": folder_id, "parent_id": parent_id, "doc_type": "folder", "name": clean_name(name)}
                )
            folders.append([name, folder_id])
            parent_id = folder_id
        return parent_id

    def _picture_missing(
        self, position: Position, name: str, existing: ExistingFile, source: SourceFile
    ) -> None:
        """Add the pages that an interrupted import did not reach, to a file that already exists."""
        before = self.kept.documents + len(self.nodes)
        self._picture_pages(position, name, existing.id, source, 0, existing.pages or frozenset())
        if self.kept.documents + len(self.nodes) > before:
            self.kept.files += 1
        else:
            self.kept.already += 1

    def _picture_pages(
        self,
        position: Position,
        name: str,
        node_id: str,
        source: SourceFile,
        start: int,
        existing: frozenset[int] = frozenset(),
    ) -> None:
        """Add a page node with its picture for each page of a file, from *start* on; a batch may end between
        two.

        *existing*: the numbers, from 1, of the pages that the file has already.
        """
        try:
            with open_source_pages(self.ctx.library, source, max_pixels=self.max_pixels) as pages:
                for index in range(start, source.pages):
                    if index + 1 in existing:
                        continue
                    try:
                        page = pages.picture(self.ctx.library, index, self.ctx.call_worker)
                    except Invalid as refusal:
                        self._refuse(f"{'/'.join(position)}, page {index + 1}", refusal.detail)
                        continue
                    finally:
                        self.kept.unfinished = {
                            "source": asdict(source),
                            "position": list(position),
                            "name": name,
                            "node_id": node_id,
                            "next_page": index + 1,
                            "there": sorted(existing),
                        }
                    self.nodes.append(page_node(node_id, index, page))
                    self._commit_when_full()
        except Invalid as refusal:
            self._refuse("/".join(position), refusal.detail)
        self.kept.unfinished = None
        if source.is_pdf:
            self.kept.pdfs.append(node_id)

    def _resume_pages(self) -> None:
        half = self.kept.unfinished
        assert half is not None
        position: Position = tuple(half["position"])
        source = SourceFile(**half["source"])
        existing = frozenset(half.get("there", ()))
        self._picture_pages(position, half["name"], half["node_id"], source, half["next_page"], existing)
        self._move_past(FoundEntry("file", position, Path(half["name"])))

    def _commit_when_full(self) -> None:
        late = time.monotonic() - self.since > BATCH_SECONDS and (self.nodes or self.lines)
        # A pause or cancellation waits for the current file, not for a batch.
        if len(self.nodes) >= BATCH_NODES or late or self.ctx.stop is not None:
            self._commit()
            self.ctx.check()

    def _commit(self) -> None:
        progress = asdict(self.kept)
        progress["documents"] += len(self.nodes)
        if self.nodes:
            try:
                self.ctx.act("document.add_files", {"nodes": self.nodes}, checkpoint=progress)
            except ServiceError as refusal:
                # Empty Trash may have removed a file that this batch saw as already stored.
                if refusal.code != "object_missing":
                    raise
                for path in self.copied.values():
                    self.ctx.library.objects.put_file(path)
                self.ctx.act("document.add_files", {"nodes": self.nodes}, checkpoint=progress)
        else:
            self.ctx.save(progress)
        self.kept.documents = progress["documents"]
        for level, line in self.lines:
            self.ctx.log(level, line)
        self.nodes, self.lines, self.copied = [], [], {}
        self.since = time.monotonic()


def run_import(ctx: JobContext) -> dict[str, Any]:
    """Run the job."""
    return Import(ctx).run()


import_files = JobKind(
    name="import-files",
    history="pictures",
    lane="images",
    summary="Copy files into the project: pictures, and the pages of TIFFs and PDFs",
    run=run_import,
    args=ImportJobArgs,
    stage="read-files",
)
