"""The writes of exports: one-time exports are recorded; kept ones are started, stopped and written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import select

from armarium.api import (
    ActionContext,
    Engine,
    Library,
    Outcome,
    Principal,
    Route,
    RowLaw,
    UndoContext,
    action,
    cancel_with_undo,
    is_among,
)
from armarium_documents.api import title_of_work
from armarium_exports.bundles import write_jsonl, write_parquet
from armarium_exports.download_writers import DownloadParams, check_asked
from armarium_exports.downloads import DownloadBegun, PreparedExport, prepare
from armarium_exports.errors import folder_kept, no_folder
from armarium_exports.folders import KeptFolder
from armarium_exports.keeping import JOB, note_all, queue_again
from armarium_exports.pdf_file import write_pdf_file
from armarium_exports.queries import kept_export, same_folder
from armarium_exports.receivers.writing import write_for
from armarium_exports.records import (
    Id,
    KeepParams,
    Kept,
    KeptExport,
    ParquetParams,
    ParquetWritten,
    PdfParams,
    PdfWritten,
    PublishedSite,
    PublishParams,
    ReceiverParams,
    ReceiverWritten,
    RecordsParams,
    RecordsWritten,
    SiteParams,
    SiteWritten,
    TrainingParams,
    TrainingWritten,
    Unkept,
    WriteBegun,
    kept_exports,
)
from armarium_exports.site.writing import publish as write_publication
from armarium_exports.site.writing import write_site
from armarium_exports.training import write_training

Write = Callable[[Engine, Library, Principal, Any], dict[str, Any]]


def _write_ahead(write: Write) -> Callable[[Any, Any], Outcome]:
    """Write the files before the step that records them, so that no writer of the project waits for a disk."""

    def conduct(conductor: Any, p: Any) -> Outcome:
        assert conductor.library is not None
        p._written = write(conductor.engine, conductor.library, conductor.principal, p)
        outcome: Outcome = conductor.step(p)
        return outcome

    return conduct


def _record_export(ctx: ActionContext, p: Any, write: Write) -> dict[str, Any]:
    """Record what was written, immediately if the export is part of another step."""
    record = p._written
    if record is None:
        record = write(ctx.engine, ctx.project, ctx.principal, p)
    if getattr(p, "target_id", None) is not None:
        ctx.target(p.target_id)
    answer: dict[str, Any] = record
    return answer


@action(
    "export.jsonl",
    result=RecordsWritten,
    summary="Write records as JSON Lines to a file on this machine.",
    route=Route("POST", "/api/export/jsonl", name="export_jsonl", refusals=(403, 404, 409, 503)),
    words="Exported records of {target_id|the project}",
    undoable=False,
    conduct=_write_ahead(write_jsonl),
)
def jsonl(ctx: ActionContext, p: RecordsParams) -> dict[str, Any]:
    """Write the manifest, then a line for each record. What rights withhold is left out and listed."""
    return _record_export(ctx, p, write_jsonl)


@action(
    "export.parquet",
    result=ParquetWritten,
    summary="Write records as Parquet, a file for each record type, to a folder on this machine.",
    route=Route("POST", "/api/export/parquet", name="export_parquet", refusals=(403, 404, 409, 503)),
    words="Exported records of {target_id|the project}",
    undoable=False,
    conduct=_write_ahead(write_parquet),
)
def parquet(ctx: ActionContext, p: ParquetParams) -> dict[str, Any]:
    """Write a folder with a typed file for each record type and a manifest; objects are JSON text."""
    return _record_export(ctx, p, write_parquet)


@action(
    "export.pdf",
    result=PdfWritten,
    summary="Write one searchable PDF of a document, a folder or the project to a file on this machine.",
    route=Route("POST", "/api/export/pdf", name="export_pdf", refusals=(403, 404, 409, 503)),
    words="Exported {target_id|the project} as PDF",
    undoable=False,
    conduct=_write_ahead(write_pdf_file),
)
def pdf(ctx: ActionContext, p: PdfParams) -> dict[str, Any]:
    """Write the pictures as they are with the text invisible behind them, each word where it stands; the tree of folders
    becomes bookmarks. What rights withhold is left out and listed.
    """
    return _record_export(ctx, p, write_pdf_file)


@action(
    "export.training",
    result=TrainingWritten,
    summary="Write training samples from the episode ledger.",
    route=Route("POST", "/api/export/training", name="export_training", refusals=(403, 404, 409, 503)),
    words="Exported training samples",
    undoable=False,
    conduct=_write_ahead(write_training),
)
def training(ctx: ActionContext, p: TrainingParams) -> dict[str, Any]:
    """Write a chat for each recorded call that was answered; gold if a person's correction of it is in force."""
    return _record_export(ctx, p, write_training)


@action(
    "export.eleventy",
    result=SiteWritten,
    summary="Write a static site of the project as an Eleventy project.",
    route=Route("POST", "/api/export/eleventy-site", name="export_site", refusals=(403, 404, 409, 503)),
    words="Wrote a site of {target_id|the project}",
    undoable=False,
    conduct=_write_ahead(write_site),
)
def eleventy(ctx: ActionContext, p: SiteParams) -> dict[str, Any]:
    """Write an Eleventy 3 project; once built, any web host can serve it. What rights withhold is left out
    and listed.
    """
    return _record_export(ctx, p, write_site)


@action(
    "export.receiver",
    result=ReceiverWritten,
    summary="Write pages in the form that a certain program opens.",
    route=Route("POST", "/api/export/receivers", name="export_for_receiver", refusals=(403, 404, 409, 503)),
    words="Wrote {scope_ids|pages} for another program",
    undoable=False,
    conduct=_write_ahead(write_for),
)
def receiver(ctx: ActionContext, p: ReceiverParams) -> dict[str, Any]:
    """Write pictures, layout files and, if the program needs one, a METS file; validated before they are put
    in place.
    """
    return _record_export(ctx, p, write_for)


@action(
    "export.download",
    result=PreparedExport,
    summary="Make an export as one file to be saved over HTTP, and say what it could not carry.",
    route=Route("POST", "/api/export/downloads", name="prepare_download", refusals=(403, 404, 409, 422, 503)),
    role="viewer",
    words="Exported {scope_ids|the project} to be saved elsewhere",
    undoable=False,
    conduct=_write_ahead(prepare),
)
def download(ctx: ActionContext, p: DownloadParams) -> dict[str, Any]:
    """Nothing is saved by this: `GET /api/export/downloads/{id}` answers the bytes to the same token for an hour. It
    contains what the caller may read, and so may be made by whoever may read it.
    """
    return _record_export(ctx, p, prepare)


@action(
    "export.start_download",
    result=DownloadBegun,
    summary="Have an export made in the background, to be saved over HTTP when it is done.",
    route=Route("POST", "/api/export/downloads/start", name="start_download", refusals=(403, 422)),
    role="viewer",
    words="Started to export {scope_ids|the project} to be saved elsewhere",
    undoable=False,
)
def start_download(ctx: ActionContext, p: DownloadParams) -> dict[str, Any]:
    """For many pages: a job, which can be paused and cancelled. `GET /api/export/downloads` then lists the file for an
    hour to the same token.
    """
    check_asked(ctx.engine, p)
    title = "Make an export to be saved"
    if len(p.scope_ids) == 1:
        title = title_of_work(ctx.conn, title, p.scope_ids)
    job_id = ctx.enqueue("export-download", p.model_dump(mode="json"), title=title)
    ctx.target(job_id)
    return {"job_id": job_id}


@action(
    "export.publish",
    result=PublishedSite,
    summary="Publish pages as a site in a folder, replacing an earlier site there.",
    words="Published a site of {page_ids|pages}",
    conduct=_write_ahead(write_publication),
)
def publish(ctx: ActionContext, p: PublishParams) -> dict[str, Any]:
    """Publish only what was reviewed. An undo removes the record of the publication; the files stay."""
    export = _record_export(ctx, p, write_publication)
    site = {
        "folder": export["output_path"],
        "site_title": p.site_title or ctx.project.name,
        "document_count": export["document_count"],
        **ctx.provenance(),
    }
    row = PublishedSite.rows.insert(ctx.conn, site)
    ctx.target(row["id"])
    return row


KEPT_ONCE = RowLaw.one(
    kept_exports.name, ("folder", "format"), lambda row, _: folder_kept(row["format"], row["folder"])
)
"""No two kept exports of a format write to one folder, however they came to be."""


def _keep_again(undo: UndoContext) -> None:
    """After an undo or redo by which an export is kept again: everything is written, since what changed meanwhile was
    not recorded. Refused to a caller who could not keep it there. After one by which it ends: its job is cancelled.
    """
    ctx = undo.step
    rows = ctx.conn.execute(select(kept_exports).where(is_among(kept_exports.c.id, undo.target_ids))).all()
    for row in rows:
        ctx.engine.paths.check(KeptFolder(row.folder), ctx.principal)
        note_all(ctx.conn, row.id, ctx.audit_seq)
        queue_again(ctx, row.id)
    if not rows:
        cancel_with_undo(undo)


@action(
    "export.keep",
    result=Kept,
    summary="Keep an export in a folder, which is updated as the work changes.",
    route=Route("POST", "/api/export/kept", name="keep_export", refusals=(403, 409)),
    words="Started to keep an export",
    laws=(KEPT_ONCE,),
    after_undo=_keep_again,
)
def keep(ctx: ActionContext, p: KeepParams) -> dict[str, Any]:
    """Keep it one-way: the folder is written and never read back; nothing in it is deleted, and no other file
    is touched.
    """
    from armarium_exports.rendering.units import check_format

    check_format(ctx.engine, p.format, p.per)
    folder = p.folder.real
    if not folder.is_dir():
        raise no_folder(str(folder))
    if same_folder(ctx.conn, p.folder, p.format):
        raise folder_kept(p.format, str(folder))
    fields = {"folder": str(folder), "format": p.format, "per": p.per}
    row = KeptExport.rows.insert(ctx.conn, {**fields, **ctx.provenance()})
    return {"id": row["id"], **fields, "job_id": _begin(ctx, row["id"])}


@action(
    "export.unkeep",
    result=Unkept,
    summary="Stop keeping an export; its files stay.",
    route=Route("DELETE", "/api/export/kept/{export_id}", name="unkeep_export"),
    words="Stopped keeping an export",
    laws=(KEPT_ONCE,),
    after_undo=_keep_again,
)
def unkeep(ctx: ActionContext, export_id: Id) -> dict[str, Any]:
    """Stop it; the files stay where they are."""
    KeptExport.rows.delete(ctx.conn, export_id)
    ctx.target(export_id)
    return {"status": "deleted", "id": export_id}


@action(
    "export.write_kept",
    result=WriteBegun,
    summary="Write all of a kept export now.",
    route=Route(
        "POST", "/api/export/kept/{export_id}/write", name="write_kept_export", refusals=(403, 404, 409)
    ),
    words="Started to write a kept export",
    undoable=False,
)
def write_kept(ctx: ActionContext, export_id: Id) -> dict[str, Any]:
    """Enqueue one background job, listed with the others. Refused (403) to a caller who may not write to its folder."""
    ctx.engine.paths.check(KeptFolder(kept_export(ctx.conn, export_id).folder), ctx.principal)
    return {"id": export_id, "job_id": _begin(ctx, export_id)}


def _begin(ctx: ActionContext, export_id: str) -> str:
    note_all(ctx.conn, export_id, ctx.audit_seq)
    title = f"Write a kept export: {Path(kept_export(ctx.conn, export_id).folder).name}"
    job_id = ctx.enqueue(JOB, {"export_id": export_id}, title=title)
    ctx.target(export_id, job_id)
    return job_id
