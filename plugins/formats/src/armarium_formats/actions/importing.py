"""Reads a layout file into a page as a new pass."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from sqlalchemy import Connection

from armarium.api import ActionContext, Engine, Example, Library, action, raw_of
from armarium_documents.api import require_all_live, require_live
from armarium_formats.actions.samples import SAMPLE_PAGE
from armarium_formats.errors import AlreadyAPass
from armarium_formats.keeping import PreparedPage, ToKeep, keep_passes, make_ready
from armarium_formats.opening import collector_waits, open_layout
from armarium_formats.queries.exchange import Picture, pass_of_file, passes_of_files, picture_of, pictures_of
from armarium_formats.retracing import retrace
from armarium_formats.schemas.exchange import Imported, ImportedSeveral, ImportFile, ImportSeveral
from armarium_source_model.api import ONE_PASS_A_FILE

HANDS = 4
"""Files whose bytes are put on disk at a time."""


def _example(ex: Example) -> dict[str, Any]:
    page = ex.run("document.create", {"name": "Letter, first page", "doc_type": "page"})
    return {"document_id": page["id"], "file": SAMPLE_PAGE, "filename": "letter.xml"}


def _read_ahead(engine: Engine, library: Library | None, p: ImportFile) -> None:
    """Read the file and store its bytes before the writer is taken; what cannot be imported is refused
    here.
    """
    assert library is not None
    with library.db.read() as conn:
        require_live(conn, p.document_id)
        known = pass_of_file(conn, p.document_id, p.digest)
        picture = picture_of(conn, p.document_id)
    if known is not None:
        raise AlreadyAPass(p.filename, *known)
    if p.ready_for(picture) is None:
        p.make_ready_for(picture, _prepare_page(engine, library, p, picture))
    library.objects.put_bytes(p.data)


def _prepare_page(
    engine: Engine,
    library: Library,
    p: ImportFile,
    picture: Picture,
    likely: str | None = None,
    conn: Connection | None = None,
) -> PreparedPage:
    with collector_waits():
        opened = open_layout(
            engine,
            p.data,
            p.filename,
            asked=p.format,
            page_size=picture.size,
            companions={one.filename: one.data for one in p.companions},
            likely=likely,
        )
        retrace(library, p.document_id, opened, p.pages, picture, conn)
        return make_ready(opened, picture, p.pages, beyond=p.beyond)


@action(
    "format.import",
    params=ImportFile,
    result=Imported,
    summary="Read a layout file into a page as a new pass with its segments and readings.",
    words="Read a layout file into {document_id|a page}",
    example=_example,
    laws=(ONE_PASS_A_FILE,),
    prepare=_read_ahead,
)
def import_file(ctx: ActionContext, p: ImportFile) -> dict[str, Any]:
    """One step. The original is stored byte for byte; the pass never becomes the working pass by itself.

    Raises NotFound (no such document), AlreadyAPass, not_recognised, not_readable, shapes_outside, NoPageSize,
    Invalid for a file its driver refuses.
    """
    with collector_waits():
        return _import(ctx, p)[0]


def _import(ctx: ActionContext, *files: ImportFile) -> list[dict[str, Any]]:
    require_all_live(ctx.conn, [one.document_id for one in files])
    raw = raw_of(ctx.conn)
    known = passes_of_files(raw, ((one.document_id, one.digest) for one in files))
    pictures = pictures_of(raw, (one.document_id for one in files))
    given: list[ToKeep] = []
    for one, there, picture in zip(files, known, pictures, strict=True):
        if there is not None:
            raise AlreadyAPass(one.filename, *there)
        ready: PreparedPage | None = one.ready_for(picture)
        if ready is None:
            ready = _prepare_page(ctx.engine, ctx.project, one, picture, conn=ctx.conn)
            ctx.project.objects.put_bytes(one.data)
        given.append(ToKeep(one.document_id, ready, picture, one.filename, one.digest, one.name))
    return [
        {**made, "pages_in_file": one.ready.pages_in_file, "pages_left_out": one.ready.left_out}
        for made, one in zip(keep_passes(ctx, given), given, strict=True)
    ]


def _several_example(ex: Example) -> dict[str, Any]:
    return {"files": [_example(ex), _example(ex)]}


def _read_several_ahead(engine: Engine, library: Library | None, p: ImportSeveral) -> None:
    assert library is not None
    objects = library.objects
    # Storing a file is mostly waiting for the disk; files read ahead are stored already.
    with ThreadPoolExecutor(HANDS, "keep") as hands, collector_waits():
        kept = [hands.submit(objects.put_bytes, one.data) for one in p.files if not objects.holds(one.digest)]
        with library.db.read() as conn:
            require_all_live(conn, [one.document_id for one in p.files])
            pictures = pictures_of(raw_of(conn), (one.document_id for one in p.files))
        likely: str | None = None
        for one, picture in zip(p.files, pictures, strict=True):
            ready = one.ready_for(picture) or _prepare_page(engine, library, one, picture, likely)
            one.make_ready_for(picture, ready)
            likely = ready.driver.name
        for waiting in kept:
            waiting.result()


@action(
    "ingest.layouts",
    params=ImportSeveral,
    result=ImportedSeveral,
    summary="Read several layout files, each into its page, in one step: all of them or none.",
    words="Read layout files into {|pages}",
    example=_several_example,
    laws=(ONE_PASS_A_FILE,),
    prepare=_read_several_ahead,
)
def import_several(ctx: ActionContext, p: ImportSeveral) -> dict[str, Any]:
    """Import a bounded batch. Raises what `format.import` does, for the first file that is refused."""
    with collector_waits():
        if len({(one.document_id, one.digest) for one in p.files}) == len(p.files):
            items = _import(ctx, *p.files)
        else:
            # The second of two identical files finds the pass of the first.
            items = [made for one in p.files for made in _import(ctx, one)]
    return {"items": items, "count": len(items)}
