"""Imports files together: pictures become documents, layout files passes of the pictures they describe.

All of it is one step, so one undo reverses a batch. Pictures are decoded and layout files read before the
step takes the writer; the step itself only adds rows.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from sqlalchemy import Select, func, select

from armarium.api import (
    ActionContext,
    Conflict,
    Engine,
    Forbidden,
    Invalid,
    Library,
    Route,
    action,
    cancel_with_undo,
    new_id,
)
from armarium_documents.api import clean_name, documents, require_parent, sources_folder, title_of_work
from armarium_formats.actions.mets import use_mets_once
from armarium_formats.batches.batch_files import named_on_disk, received_files, unpack_archives
from armarium_formats.batches.by_mets import StagedMets, pass_name
from armarium_formats.batches.disk import disk_refuses, scratch
from armarium_formats.batches.names import Folder, printable_name
from armarium_formats.batches.staging import BatchPlan, ReceivedFile, StagedPass, StagedPicture, stage
from armarium_formats.errors import AlreadyAPass, already_here, nothing_came_in
from armarium_formats.keeping import ToKeep, keep_passes, make_ready
from armarium_formats.opening import OpenedFile, collector_waits
from armarium_formats.placing import Beyond
from armarium_formats.queries.exchange import pass_of_file, picture_of
from armarium_formats.schemas.batches import IngestBatch, Ingested, IngestFiles


def _stage_batch(engine: Engine, library: Library, p: IngestBatch | IngestFiles) -> BatchPlan:
    staged = BatchPlan()
    with ExitStack() as undone:
        undone.callback(staged.close)
        with scratch(library) as folder:
            files = _gather(p, folder, staged)
            files = unpack_archives(files, folder, staged, library.is_closed)
            stage(engine, library, files, staged, link=isinstance(p, IngestFiles) and p.link)
        undone.pop_all()
    return staged


def _gather(p: IngestBatch | IngestFiles, folder: Path, staged: BatchPlan) -> list[ReceivedFile]:
    """Return the files that were named, or those that were sent, laid in *folder*."""
    if isinstance(p, IngestFiles):
        return named_on_disk(p.paths, staged)
    try:
        return received_files((file.filename, file.lay_in(folder, at)) for at, file in enumerate(p.files))
    except OSError as error:
        raise disk_refuses(error) from error


def _look_through(engine: Engine, library: Library | None, p: IngestBatch | IngestFiles) -> None:
    """Read the files before the writer is taken; a parent that cannot hold documents is refused before any is read."""
    assert library is not None
    if p.parent_id is not None:
        with library.db.read() as conn:
            require_parent(conn, p.parent_id, "folder")
    p.hand_over(_stage_batch(engine, library, p))


@action(
    "ingest.batch",
    result=Ingested,
    summary="Import files that were dropped together: pictures as documents, layout files as passes of them.",
    words="Imported files: {|none}",
    prepare=_look_through,
    after_undo=cancel_with_undo,
)
def ingest_batch(ctx: ActionContext, p: IngestBatch) -> dict[str, Any]:
    """Raises NotFound for an unknown parent, Forbidden by a lock, nothing_came_in with the reasons, Unavailable
    when the disk is full. Folders in the files' names are mirrored where they contain pictures.
    """
    return _take_in(ctx, p)


@action(
    "ingest.files",
    result=Ingested,
    summary="Import files on this machine as one set: pictures as documents, layout files as passes of them.",
    route=Route("POST", "/api/ingest/files"),
    words="Imported files: {|none}",
    prepare=_look_through,
    after_undo=cancel_with_undo,
)
def ingest_files(ctx: ActionContext, p: IngestFiles) -> dict[str, Any]:
    """Raises what `ingest.batch` does; a path that is not allowed is refused by itself. With `link` a picture
    stays where it is and the project stores a link to it; layout files are always stored byte for byte.
    """
    return _take_in(ctx, p)


def _take_in(ctx: ActionContext, p: IngestBatch | IngestFiles) -> dict[str, Any]:
    staged = p.groundwork or _stage_batch(ctx.engine, ctx.project, p)
    try:
        with collector_waits():
            return _Step(ctx, staged, p.beyond).run(p.parent_id)
    finally:
        staged.close()


NODES_AT_ONCE = 20_000
"""As many as `document.add_files` takes."""


def _live_child(parent_id: str) -> Select[Any]:
    """Return the statement for the ids of the live children of a folder or file."""
    return select(documents.c.id).where(documents.c.parent_id == parent_id, documents.c.deleted_at.is_(None))


class _Step:
    def __init__(self, ctx: ActionContext, staged: BatchPlan, beyond: Beyond) -> None:
        self.ctx = ctx
        self.beyond = beyond
        self.staged = staged
        self.nodes: list[dict[str, Any]] = []
        self.folders: dict[Folder, str] = {}
        self.made: set[str] = set()
        self.pages: dict[str, list[str]] = {}
        """Node of each picture as it was staged to its documents: itself, then its pages."""
        self.documents: list[dict[str, Any]] = []
        self.passes: list[dict[str, Any]] = []
        self.mets: list[dict[str, Any]] = []
        self.to_picture: list[str] = []
        """Files of several pages, whose pages have no picture yet."""
        self.already = 0
        """How many files were refused because they are here."""

    def run(self, parent_id: str | None) -> dict[str, Any]:
        ctx = self.ctx
        parent = (
            sources_folder(ctx.conn) if parent_id is None else require_parent(ctx.conn, parent_id, "folder")
        )
        assert parent is not None
        self.folders[()] = parent.id
        for picture in self.staged.pictures:
            self._picture(picture)
        job_id = None
        for start in range(0, len(self.nodes), NODES_AT_ONCE):
            part = {"nodes": self.nodes[start : start + NODES_AT_ONCE]}
            added = ctx.run("document.add_files", part)
            job_id = job_id or added["job_id"]
        if self.to_picture:
            job_id = self._picture_later(parent.id)
        for staged in self.staged.passes:
            self._pass(staged)
        for mets in self.staged.mets:
            self._mets(mets)
        if not self.documents and not self.passes and not self.mets:
            if self.already and self.already == len(self.staged.refused) and not self.staged.unpaired:
                raise already_here(self.staged.refused)
            raise nothing_came_in(self.staged.refused, self.staged.unpaired)
        ctx.target(
            parent.id,
            *(document["id"] for document in self.documents),
            *(entry["pass_id"] for entry in self.passes),
        )
        return {
            "documents": self.documents,
            "passes": self.passes,
            "mets": self.mets,
            "unpaired": self.staged.unpaired,
            "refused": self.staged.refused,
            "job_id": job_id,
        }

    def _picture_later(self, parent_id: str) -> str:
        """Have the pages of files of several pages pictured after this step, which belongs to the set of that job."""
        job_id = self.ctx.enqueue(
            "page-pictures",
            {"document_ids": self.to_picture, "parent_id": parent_id, "set_id": self.ctx.set_id},
            title=title_of_work(self.ctx.conn, "Picture the pages of files", self.to_picture, "file"),
        )
        self.ctx.set_id = self.ctx.set_id or job_id
        self.ctx.target(job_id)
        return job_id

    def _picture(self, staged: StagedPicture) -> None:
        received_file, nodes, checksum = staged.given, staged.nodes, staged.checksum
        file = nodes[0]
        try:
            parent_id = self._folder(received_file.mirrored)
        except ValueError as error:
            self.staged.refuse(received_file.place, f"The name of its folder cannot be used: {error}.")
            return
        existing = self._existing_document(parent_id, file["name"], checksum)
        if existing:
            self.pages[file["id"]] = existing
            self.already += 1
            self.staged.refuse(
                received_file.place, f"It is already the document {file['name']!r} here ({existing[0]})."
            )
            return
        self.nodes += [{**file, "parent_id": parent_id}, *nodes[1:]]
        self.pages[file["id"]] = [node["id"] for node in nodes]
        if nodes[1:]:
            self.to_picture.append(file["id"])
        self.documents.append(
            {"id": file["id"], "name": file["name"], "path": file["path"], "notes": staged.notes}
        )

    def _existing_document(self, parent_id: str, name: str, checksum: str) -> list[str]:
        """Return the live document of this name and these bytes in a folder, with its pages, or nothing."""
        if parent_id in self.made:
            return []
        node = documents.c
        same_bytes = func.json_extract(node.metadata, "$.checksum") == checksum
        alike = _live_child(parent_id).where(node.name == name, same_bytes).order_by(node.id.desc())
        document_id = self.ctx.conn.execute(alike).scalar()
        if document_id is None:
            return []
        pages = _live_child(document_id).where(node.doc_type == "page").order_by(node.sequence)
        return [document_id, *self.ctx.conn.execute(pages).scalars()]

    def _folder(self, mirrored: Folder) -> str:
        """Return the folder for files of these folders: an existing one of that name, else a new one."""
        if mirrored not in self.folders:
            above = self._folder(mirrored[:-1])
            name = clean_name(mirrored[-1])
            folder_id = None
            if above not in self.made:
                alike = _live_child(above).where(documents.c.name == name, documents.c.doc_type == "folder")
                folder_id = self.ctx.conn.execute(alike.order_by(documents.c.id)).scalar()
            if folder_id is None:
                node = {"id": new_id(), "parent_id": above, "doc_type": "folder", "name": name}
                self.nodes.append(node)
                self.made.add(node["id"])
                self.folders[mirrored] = node["id"]
            else:
                self.folders[mirrored] = folder_id
        return self.folders[mirrored]

    def _mets(self, staged: StagedMets) -> None:
        """Use a METS file for the imported or existing pages; one that is stored already reports only what is
        new.
        """
        params = staged.params
        if params is None:
            return
        new = {document["id"] for document in self.documents}
        pages = [
            (
                page.number,
                [ids[0] for document_id in page.document_ids if (ids := self.pages.get(document_id))],
            )
            for page in params.pages
        ]
        try:
            answer = use_mets_once(self.ctx, params, pages, new.__contains__)
        except (Invalid, Conflict, Forbidden) as refusal:
            self.staged.refuse(staged.given.place, refusal.detail)
            return
        if answer is None:
            self.already += 1
            self.staged.refuse(staged.given.place, "It is already stored with the folder of its pages.")
        else:
            self.mets.append({**answer, "file": printable_name(staged.given.place)})

    def _pass(self, staged: StagedPass) -> None:
        pages = self.pages.get(staged.node_id)
        if pages is None:
            return
        part = 0 if staged.pair.part is None else staged.pair.part + 1
        if part >= len(pages):
            self.staged.refuse(staged.given.place, f"Page {part} of its document no longer exists.")
            return
        document_id = pages[part]
        conn = self.ctx.conn
        try:
            known_pass = pass_of_file(conn, document_id, staged.digest)
            if known_pass is not None:
                raise AlreadyAPass(staged.given.name, *known_pass)
            # What one file cannot contribute does not affect the others.
            picture = picture_of(conn, document_id)
            name = printable_name(staged.given.name)[:500]
            opened = OpenedFile(staged.driver, name, staged.digest, [self.staged.page(staged)])
            ready = make_ready(opened, picture, notes=staged.pair.notes, beyond=self.beyond)
            with conn.begin_nested():
                to_keep = ToKeep(
                    document_id, ready, picture, name, staged.digest, pass_name(staged.pair.group, name)
                )
                (answer,) = keep_passes(self.ctx, [to_keep])
        except (Invalid, Conflict) as refusal:
            self.already += isinstance(refusal, AlreadyAPass)
            self.staged.refuse(staged.given.place, refusal.detail)
            return
        self.passes.append(
            {
                "pass_id": answer["pass_id"],
                "document_id": document_id,
                "file": printable_name(staged.given.place),
                "paired_by": staged.pair.how,
                "notes": answer["notes"],
            }
        )
