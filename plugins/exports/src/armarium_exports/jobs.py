"""The background work of exports: writing kept exports, and what recipes write and publish."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import select

from armarium.api import Engine, JobContext, JobKind, Library, Placement, RecipeJob
from armarium_exports.download_writers import DownloadParams
from armarium_exports.downloads import prepare
from armarium_exports.errors import folder_needed, no_folder
from armarium_exports.keeping import JOB, write_kept
from armarium_exports.records import (
    ExportArgs,
    ExportSettings,
    KeptJobArgs,
    PublishArgs,
    PublishSettings,
    kept_exports,
)
from armarium_exports.site.building import require_builder

WRITE_KEPT = JobKind(
    name=JOB, lane="database", summary="Write a kept export", run=write_kept, args=KeptJobArgs
)


def make_download(job: JobContext) -> dict[str, Any]:
    """Prepare an export to be saved; it may be stopped before each file."""

    def watch(done: int, total: int) -> None:
        job.check()
        job.progress(done, total)

    export = prepare(job.engine, job.library, job.principal, job.args, job.job_id, watch)
    job.progress(export["pages"], export["pages"])
    return {"download_id": export["id"]}


MAKE_DOWNLOAD = JobKind(
    name="export-download",
    lane="database",
    summary="Make an export to be saved",
    run=make_download,
    args=DownloadParams,
)


def keep_export(job: JobContext) -> dict[str, Any]:
    """Keep an export in the folder, or have the existing one written; once, however often this is run again."""
    args: ExportArgs = job.args
    output = dict(job.checkpoint)
    if "export_id" not in output:
        if args.folder is None:
            raise folder_needed("files")
        k = kept_exports.c
        with job.library.db.read() as conn:
            query = select(k.id).where(k.folder == str(args.folder.real), k.format == args.format)
            export_id = conn.execute(query).scalar()
        if export_id is None:
            name, params = "export.keep", {"folder": str(args.folder), "format": args.format, "per": "page"}
        else:
            name, params = "export.write_kept", {"export_id": export_id}
        page_count = len(args.page_ids)
        outcome = job.act(
            name, params, checkpoint=lambda answer: {"export_id": answer["id"]}, done=page_count
        )
        output = {"export_id": (outcome.result or {})["id"]}
    return {"pages": len(args.page_ids), "output": output}


def publish_site(job: JobContext) -> dict[str, Any]:
    """Publish the pages; once, however often this is run again."""
    args: PublishArgs = job.args
    output = dict(job.checkpoint)
    if "site_id" not in output:
        if args.folder is None:
            raise folder_needed("site")
        params = {"folder": str(args.folder), "page_ids": args.page_ids, "build": args.build}
        if args.site_title:
            params["site_title"] = args.site_title
        page_count = len(args.page_ids)
        outcome = job.act(
            "export.publish", params, checkpoint=lambda answer: {"site_id": answer["id"]}, done=page_count
        )
        output = {"site_id": (outcome.result or {})["id"]}
    return {"pages": len(args.page_ids), "output": output}


def _make_place(what: str, needed: Callable[[Path], Path]) -> Any:
    """Refuse a step without a folder, or one whose folder (with *needed* rights) is missing or not open to
    the caller.
    """

    def place(engine: Engine, _library: Library, settings: ExportSettings | PublishSettings) -> Placement:
        if settings.folder is None:
            raise folder_needed(what)
        engine.paths.check_for_caller(settings)
        folder = needed(settings.folder.real)
        if not folder.is_dir():
            raise no_folder(str(folder))
        if isinstance(settings, PublishSettings) and settings.build:
            require_builder(engine)
        return Placement()

    return place


EXPORT = RecipeJob(
    kind=JobKind(
        name="export", lane="database", summary="Keep an export in a folder", run=keep_export, args=ExportArgs
    ),
    name="Export",
    description="Keeps files of the pages in a folder up to date as the work changes.",
    layer="output",
    takes=("page_reading",),
    gives=("files",),
    settings=ExportSettings,
    writes=("export.keep", "export.write_kept"),
    each="scope",
    place=_make_place("files", lambda folder: folder),
)

PUBLISH = RecipeJob(
    kind=JobKind(name="publish", lane="images", summary="Publish a site", run=publish_site, args=PublishArgs),
    name="Publish",
    description="Writes a static site of the pages that any web host can serve, and builds it on request.",
    layer="output",
    takes=("files",),
    gives=("published",),
    settings=PublishSettings,
    writes=("export.publish",),
    each="scope",
    place=_make_place("site", lambda folder: folder.parent),
)
