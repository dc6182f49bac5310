"""The writes of reading: enqueue its jobs, and download or delete the models of this machine.

The results of a job are steps of their own, grouped by the job's id; undoing the step that started a job
cancels the part that has not been done yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from armarium.api import ActionContext, Route, action, cancel_with_undo
from armarium_documents.api import pages_under, title_of_work
from armarium_reading import errors, local_models
from armarium_reading.providers.served_reader import lane_of, who_reads_lines
from armarium_reading.readers import Choice, choose, models_folder, who_finds_lines
from armarium_reading.schemas.reading import (
    AddedModel,
    AddModelParams,
    DeleteResult,
    DownloadResult,
    FindLinesParams,
    ModelParams,
    ReadingArgs,
    ReadLinesParams,
    ReadPagesParams,
    StartedJob,
)
from armarium_reading.taken_models import find_offer, name_for, refuse_taken_name
from armarium_source_model.api import get_pass, working_pass


def _pages(ctx: ActionContext, scope: list[str]) -> list[str]:
    pages = pages_under(ctx.conn, scope, for_processing=True)
    if not pages:
        raise errors.no_pages(scope)
    ctx.target(*scope)
    return pages


@action(
    "reading.find_lines",
    result=StartedJob,
    summary="Find the lines of pages with a reader; each page gets a new pass.",
    route=Route("POST", "/api/reading/find-lines", status=202),
    words="Started to find the lines of {scope_ids|pages}",
    guards_targets=True,
    after_undo=cancel_with_undo,
)
def find_lines(ctx: ActionContext, params: FindLinesParams) -> dict[str, Any]:
    """Enqueue a find-lines job. Raises NotFound and Invalid for an unknown reader, model or page."""
    pages = _pages(ctx, params.scope_ids)
    choices = who_finds_lines(ctx.engine, ctx.library, params.reader, params.model)
    args = ReadingArgs(page_ids=pages, reader=params.reader, model=params.model, name=params.name)
    return _enqueue(ctx, "find-lines", args, "Find lines", choices)


@action(
    "reading.read_lines",
    result=StartedJob,
    summary="Read the lines of pages with a reader; each line gets a reading.",
    route=Route("POST", "/api/reading/read", status=202),
    words="Started to read the lines of {scope_ids|pages}",
    guards_targets=True,
    after_undo=cancel_with_undo,
)
def read_lines(ctx: ActionContext, params: ReadLinesParams) -> dict[str, Any]:
    """Enqueue a job that reads lines. Also raises Invalid if no page has lines or no reader fits, and
    Forbidden if the model of a provider on another machine is named without `pages_may_leave`.
    """
    pages = _pages(ctx, params.scope_ids)
    choices = who_reads_lines(ctx.engine, ctx.library, params)
    if params.pass_id is not None:
        document_id = get_pass(ctx.conn, params.pass_id).document_id
        if document_id not in pages:
            raise errors.other_pages_pass(params.pass_id)
        pages = [document_id]
    elif not any(working_pass(ctx.conn, page)[0] for page in pages):
        raise errors.no_lines()
    own = ("reader", "model", "language", "pass_id", "provider", "pages_may_leave", "own_readers", "lines")
    args = ReadingArgs(page_ids=pages, **{name: getattr(params, name) for name in (*own, "alternatives")})
    lane = lane_of(ctx.engine, params.provider) if params.provider else None
    return _enqueue(ctx, "read-a-line", args, "Read lines", choices, lane)


@action(
    "reading.read_pages",
    result=StartedJob,
    summary="Find and read the lines of pages in one go; each page gets a new pass with its readings.",
    route=Route("POST", "/api/reading/read-pages", status=202),
    words="Started to find and read the lines of {scope_ids|pages}",
    guards_targets=True,
    after_undo=cancel_with_undo,
)
def read_pages(ctx: ActionContext, params: ReadPagesParams) -> dict[str, Any]:
    """Enqueue a job that finds lines and reads them."""
    pages = _pages(ctx, params.scope_ids)
    reader_fields: dict[str, Any] = {
        "reader": params.reader,
        "model": params.model,
        "language": params.language,
    }
    choice = choose(ctx.engine, ctx.library, method="read_page", **reader_fields)
    args = ReadingArgs(page_ids=pages, name=params.name, **reader_fields)
    return _enqueue(ctx, "read-a-page", args, "Read pages", [choice])


def _enqueue(
    ctx: ActionContext,
    kind: str,
    args: ReadingArgs,
    what: str,
    choices: Sequence[Choice],
    lane: str | None = None,
) -> dict[str, Any]:
    count = len(args.page_ids)
    title = f"{what} with {' or '.join(choice.reader.label for choice in choices)}"
    job_id = ctx.enqueue(
        kind,
        args.model_dump(mode="json"),
        title=title_of_work(ctx.conn, title, args.page_ids),
        total=count,
        model=", ".join(f"{choice.reader.name}:{choice.model_name}" for choice in choices),
        subject={"kind": "document", "id": args.page_ids[0]} if count == 1 else None,
        lane=lane,
    )
    ctx.target(job_id)
    return {"job_id": job_id, "state": "waiting", "pages": count}


@action(
    "model.download",
    result=DownloadResult,
    summary="Download a model of a reader to this machine.",
    scope="engine",
    bound=True,
    undoable=False,
)
def download_model(ctx: ActionContext, params: ModelParams) -> dict[str, Any]:
    """Enqueue the download, unless the model is present or being downloaded."""
    reader = local_models.runner_of(ctx.engine, params.runtime)
    answer = {"model_type": params.runtime, "model_id": params.model}
    if local_models.is_present(ctx.engine, reader, params.model):
        return {**answer, "status": "present", "job_id": None}
    if find_offer(reader, params.model) is None:
        local_models.refuse_impossible(reader, params.model)
    going = local_models.going_download(ctx.conn, params.runtime, params.model)
    if going is not None:
        return {
            **answer,
            "status": "downloading" if going.state == "running" else "queued",
            "job_id": going.id,
        }
    if ctx.engine.settings.local_only:
        raise errors.offline()
    job_id = ctx.enqueue(
        "download-model", params.model_dump(), title=f"Download {params.model}", model=params.model
    )
    return {**answer, "status": "queued", "job_id": job_id}


@action(
    "model.add",
    result=AddedModel,
    summary="Take in a model of a reader from this machine's disk.",
    route=Route("POST", "/api/local-models/add", refusals=(400, 409)),
    scope="engine",
    undoable=False,
)
def add_model(ctx: ActionContext, params: AddModelParams) -> dict[str, Any]:
    """Enqueue what checks the model and keeps it as one file. 409 for a name that is taken, and for readers whose models are
    a single file.
    """
    reader = local_models.runner_of(ctx.engine, params.runtime)
    if not reader.model_parts:
        folder = models_folder(ctx.engine, params.runtime).name
        raise errors.takes_one_file(kind=params.runtime, folder=folder)
    if not params.path.real.exists():
        raise errors.no_model_file(name=params.path.real.name)
    name = params.name or name_for(params.path.real)
    refuse_taken_name(ctx.engine, reader, name)
    args = {"path": str(params.path.real), "runtime": params.runtime, "name": name}
    job_id = ctx.enqueue("add-model", args, title=f"Take in {name}", model=name)
    return {"model_type": params.runtime, "model_id": name, "job_id": job_id}


@action(
    "model.delete",
    result=DeleteResult,
    summary="Remove a model of a reader from this machine.",
    scope="engine",
    role="owner",
    undoable=False,
)
def delete_model(ctx: ActionContext, params: ModelParams) -> dict[str, Any]:
    """Remove the file once the step is on disk; refused while a worker uses it."""
    remove, size = local_models.removal(ctx.engine, params.runtime, params.model)
    ctx.on_commit(remove)
    return {"status": "deleted", "freed_bytes": size}
