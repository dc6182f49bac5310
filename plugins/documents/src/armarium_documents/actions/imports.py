"""Starts an import, and adds a batch of imported nodes with their pictures as one step (document.import)."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from armarium.api import (
    ActionContext,
    Conflict,
    Invalid,
    MaterialPath,
    NotFound,
    Route,
    action,
    cancel_with_undo,
    json_text,
    new_id,
    raw_of,
)
from armarium_documents.api import documents, renditions, sources_folder
from armarium_documents.errors import not_a_container
from armarium_documents.flags import FLAGS
from armarium_documents.frames import IDENTITY
from armarium_documents.queries.documents import title_of_work
from armarium_documents.queries.tree import (
    STEP,
    Node,
    next_sort_order,
    require_depth,
    require_live,
    require_parent,
)
from armarium_documents.scan import name_fault
from armarium_documents.schemas.files import (
    AddParams,
    AddResult,
    ImportParams,
    ImportStarted,
    MadePicture,
    NewNode,
    NewPicture,
    PagesPictured,
    PicturePages,
)


@action(
    "document.import",
    result=ImportStarted,
    summary="Copy a folder or files of pictures and PDFs into the project, as a background job.",
    route=Route("POST", "/api/documents/import"),
    words="Started an import into {|Sources}",
    guards_targets=True,
    after_undo=cancel_with_undo,
)
def start_import(ctx: ActionContext, p: ImportParams) -> dict[str, Any]:
    """Enqueue the import job; the steps it writes share the job's id as their set id.

    A folder is imported as a folder: its contents go into the folder of that name below the parent, which is
    made if it does not exist. Raises NotFound for a path or parent that does not exist, Invalid for a folder
    given as a file or the other way round.
    """
    parent = (
        sources_folder(ctx.conn) if p.parent_id is None else require_parent(ctx.conn, p.parent_id, "folder")
    )
    assert parent is not None
    folder = str(_existing_place(p.folder, folder=True)) if p.folder is not None else None
    paths = [str(_existing_place(path, folder=False)) for path in p.paths]
    title = f"Import {Path(folder).name if folder else f'{len(paths)} files'}"
    job_id = ctx.enqueue(
        "import-files",
        {
            "folder": folder,
            "paths": paths,
            "parent_id": parent.id,
            "recursive": p.recursive,
            "format": p.format,
            "again": p.again,
            "beyond": p.beyond,
            "mirrored": _mirror_name(folder),
        },
        title=title,
        subject={"kind": "document", "id": parent.id},
    )
    ctx.target(parent.id, job_id)
    return {"job_id": job_id, "state": "waiting", "set_id": job_id}


def _mirror_name(folder: str | None) -> str | None:
    """Return the name that a folder keeps in the project; None for files and for the root of a disk."""
    name = Path(folder).name if folder is not None else ""
    if name and (why := name_fault(name)) is not None:
        raise Invalid(f"The folder {name!r} cannot be imported. {why}", code="bad_path")
    return name or None


def _existing_place(path: MaterialPath, *, folder: bool) -> Path:
    """Return the place that *path* leads to, a file or (with *folder*) a folder; else refuse it."""
    try:
        is_folder = stat.S_ISDIR(path.real.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound(
            f"There is nothing at {path}. Check the path.", code="path_not_found", path=path
        ) from None
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error}.", code="bad_path", path=path) from None
    if folder and not is_folder:
        raise Invalid(f"{path} is a file. Give it in `paths`, or name its folder.", code="not_a_folder")
    if not folder and is_folder:
        raise Invalid(f"{path} is a folder. Give it as `folder`.", code="not_a_file")
    return path.real


@action(
    "document.add_files",
    result=AddResult,
    summary="Add a batch of nodes whose pictures are already stored in the project: a step of an import.",
    words="Imported {|files}",
)
def add_files(ctx: ActionContext, p: AddParams) -> dict[str, Any]:
    """Add nodes after the last child of their parent, in the order given, each with its picture as primary.

    Raises NotFound for an unknown parent, Conflict for an id that exists or an object that does not,
    Forbidden by a lock.
    """
    new_ids = {node.id for node in p.nodes}
    if len(new_ids) != len(p.nodes):
        raise Invalid("Two nodes of the batch have the same id.", code="already_exists")
    for row in raw_of(ctx.conn).execute(
        "SELECT id FROM document WHERE id IN (SELECT value FROM json_each(?))", (json_text(list(new_ids)),)
    ):
        raise Conflict(f"There is already a document {row[0]}.", code="already_exists", id=row[0])
    _check_parents(ctx, p.nodes, new_ids)
    _add_documents(ctx, p.nodes)
    pictures = [(node.id, node.picture) for node in p.nodes if node.picture is not None]
    _add_renditions(ctx, pictures)
    job_id = _draw_thumbnails(
        ctx,
        [
            node_id
            for node_id, picture in pictures
            if picture.checksum is not None and picture.pixel_width is not None
        ],
    )
    ids = [node.id for node in p.nodes]
    ctx.target(*ids)
    ctx.note_changes(document_ids=ids)
    return {"ids": ids, "count": len(ids), "job_id": job_id}


def _draw_thumbnails(ctx: ActionContext, ids: list[str]) -> str | None:
    if not ids:
        return None
    return ctx.enqueue(
        "thumbnails",
        {"document_ids": ids},
        title=title_of_work(ctx.conn, "Thumbnails", ids),
        total=len(ids),
    )


@action(
    "document.picture_pages",
    result=PagesPictured,
    summary="Give pages of a PDF or TIFF the pictures that were made of them: a step of an import.",
    words="Pictured {|pages}",
)
def picture_pages(ctx: ActionContext, p: PicturePages) -> dict[str, Any]:
    """Raises Conflict for an object that does not exist, Forbidden by a lock."""
    _check_stored(ctx, p.pictures)
    ids = []
    for picture in p.pictures:
        row = renditions.c
        waiting = (row.document_id == picture.document_id, row.is_primary, row.materialized.is_(False))
        picture_facts = {
            name: getattr(picture, name)
            for name in MadePicture.model_fields
            if name in row and name != "role"
        }
        if ctx.conn.execute(
            renditions.update().where(*waiting).values({**picture_facts, "materialized": True})
        ).rowcount:
            ids.append(picture.document_id)
    _draw_thumbnails(ctx, ids)
    ctx.target(*ids)
    ctx.note_changes(document_ids=ids)
    return {"count": len(ids)}


def _check_parents(ctx: ActionContext, nodes: list[NewNode], new_ids: set[str]) -> None:
    checked: dict[str, Node] = {}
    earlier: dict[str, NewNode] = {}
    for node in nodes:
        if node.parent_id in new_ids:
            parent = earlier.get(node.parent_id)
            if parent is None:
                raise Invalid(f"The parent of {node.name!r} comes after it in the batch.", code="bad_order")
            if node.doc_type == "folder" and parent.doc_type != "folder":
                raise not_a_container(parent.name, parent.doc_type, parent.id)
        elif node.parent_id not in checked:
            container = require_live(ctx.conn, node.parent_id)
            require_depth(ctx.conn, container.id)
            checked[node.parent_id] = container
        if node.parent_id in checked:
            require_parent(ctx.conn, node.parent_id, node.doc_type)
        earlier[node.id] = node


_DOCUMENT_COLUMNS = (
    "id", "node_kind", "doc_type", "file_type", "name", "path", "parent_id", "sequence", "page_label", "sort_order",
    "attributes", "metadata", "source_metadata", "source_authority", "provenance_chain", "status", "is_locked",
    "created_at", "updated_at", *FLAGS,
)  # fmt: skip


def _add_documents(ctx: ActionContext, nodes: list[NewNode]) -> None:
    following: dict[str, int] = {}
    rows: list[tuple[object, ...]] = []
    for node in nodes:
        if node.parent_id not in following:
            following[node.parent_id] = next_sort_order(ctx.conn, node.parent_id)
        order = following[node.parent_id]
        following[node.parent_id] += STEP
        rows.append(
            (
                node.id,
                "document",
                node.doc_type,
                node.file_type,
                node.name,
                node.path,
                node.parent_id,
                node.sequence,
                node.page_label,
                order,
                "{}",
                json_text(node.metadata),
                "{}",
                "unknown",
                "[]",
                "active",
                0,
                ctx.now,
                ctx.now,
                *(0 for _ in FLAGS),
            )
        )
    ctx.bulk_insert(documents, _DOCUMENT_COLUMNS, rows)


_RENDITION_COLUMNS = (
    "id", "document_id", "role", "is_primary", "materialized", "mime_type", "pixel_width", "pixel_height",
    "size_bytes", "checksum", "transform", "made_by", "params", "created_at",
)  # fmt: skip


def _check_stored(ctx: ActionContext, pictures: Sequence[NewPicture]) -> None:
    for checksum in dict.fromkeys(picture.checksum for picture in pictures):
        if checksum is not None and not ctx.project.objects.has(checksum):
            raise Conflict(
                f"The file {checksum[:12]}… is not among the project's files. Store it first.",
                code="object_missing",
                checksum=checksum,
            )


def _add_renditions(ctx: ActionContext, pictures: list[tuple[str, NewPicture]]) -> None:
    _check_stored(ctx, [picture for _, picture in pictures])
    rows = [
        (
            new_id(),
            node_id,
            picture.role,
            1,
            int(picture.checksum is not None),
            picture.mime_type,
            picture.pixel_width,
            picture.pixel_height,
            picture.size_bytes,
            picture.checksum,
            json_text(IDENTITY),
            picture.made_by,
            json_text(picture.params),
            ctx.now,
        )
        for node_id, picture in pictures
    ]
    ctx.bulk_insert(renditions, _RENDITION_COLUMNS, rows)
