"""Reads a layout file into a page as a new pass, and copies the order of one into a reading order that can be edited."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from sqlalchemy import Connection, select

from armarium.api import ActionContext, Conflict, Engine, Library, action, raw_of
from armarium_documents.api import require_all_live, require_live
from armarium_formats.errors import AlreadyAPass, not_of_a_file
from armarium_formats.keeping import PreparedPage, ToKeep, keep_passes, make_ready
from armarium_formats.models import format_imports
from armarium_formats.opening import collector_waits, open_layout
from armarium_formats.queries.exchange import (
    Picture,
    pass_as_filed,
    pass_of_file,
    passes_of_files,
    picture_of,
    pictures_of,
)
from armarium_formats.retracing import retrace
from armarium_formats.schemas.exchange import (
    Imported,
    ImportedSeveral,
    ImportFile,
    ImportSeveral,
    TakenOrder,
    TakeOrder,
)
from armarium_source_model.api import ONE_PASS_A_FILE, get_pass, written_order

HANDS = 4
"""Files whose bytes are put on disk at a time."""


def _read_ahead(engine: Engine, library: Library | None, p: ImportFile) -> None:
    """Read the file and store its bytes before the writer is taken; what cannot be imported is refused
    here.
    """
    assert library is not None
    with library.db.read() as conn:
        require_live(conn, p.document_id)
        known_pass = pass_of_file(conn, p.document_id, p.digest)
        picture = picture_of(conn, p.document_id)
    if known_pass is not None:
        raise AlreadyAPass(p.filename, *known_pass)
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
            companions={companion.filename: companion.data for companion in p.companions},
            likely=likely,
        )
        retrace(library, p.document_id, opened, p.pages, picture, conn)
        return make_ready(opened, picture, p.pages, beyond=p.beyond)


@action(
    "format.import",
    result=Imported,
    summary="Read a layout file into a page as a new pass with its segments and readings.",
    words="Read a layout file into {document_id|a page}",
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
    require_all_live(ctx.conn, [file.document_id for file in files])
    raw = raw_of(ctx.conn)
    known_passes = passes_of_files(raw, ((file.document_id, file.digest) for file in files))
    pictures = pictures_of(raw, (file.document_id for file in files))
    to_keep: list[ToKeep] = []
    for file, known_pass, picture in zip(files, known_passes, pictures, strict=True):
        if known_pass is not None:
            raise AlreadyAPass(file.filename, *known_pass)
        ready: PreparedPage | None = file.ready_for(picture)
        if ready is None:
            ready = _prepare_page(ctx.engine, ctx.project, file, picture, conn=ctx.conn)
            ctx.project.objects.put_bytes(file.data)
        to_keep.append(ToKeep(file.document_id, ready, picture, file.filename, file.digest, file.name))
    return [
        {**answer, "pages_in_file": file.ready.pages_in_file, "pages_left_out": file.ready.left_out}
        for answer, file in zip(keep_passes(ctx, to_keep), to_keep, strict=True)
    ]


def _read_several_ahead(engine: Engine, library: Library | None, p: ImportSeveral) -> None:
    assert library is not None
    objects = library.objects
    # Storing a file is mostly waiting for the disk; files read ahead are stored already.
    with ThreadPoolExecutor(HANDS, "keep") as hands, collector_waits():
        storing = [
            hands.submit(objects.put_bytes, file.data) for file in p.files if not objects.holds(file.digest)
        ]
        with library.db.read() as conn:
            require_all_live(conn, [file.document_id for file in p.files])
            pictures = pictures_of(raw_of(conn), (file.document_id for file in p.files))
        likely: str | None = None
        for file, picture in zip(p.files, pictures, strict=True):
            ready = file.ready_for(picture) or _prepare_page(engine, library, file, picture, likely)
            file.make_ready_for(picture, ready)
            likely = ready.driver.name
        for waiting in storing:
            waiting.result()


@action(
    "ingest.layouts",
    result=ImportedSeveral,
    summary="Read several layout files, each into its page, in one step: all of them or none.",
    words="Read layout files into {|pages}",
    laws=(ONE_PASS_A_FILE,),
    prepare=_read_several_ahead,
)
def import_several(ctx: ActionContext, p: ImportSeveral) -> dict[str, Any]:
    """Import a bounded batch. Raises what `format.import` does, for the first file that is refused."""
    with collector_waits():
        if len({(file.document_id, file.digest) for file in p.files}) == len(p.files):
            items = _import(ctx, *p.files)
        else:
            # The second of two identical files finds the pass of the first.
            items = [item for file in p.files for item in _import(ctx, file)]
    return {"items": items, "count": len(items)}


AT_ONCE = 10_000
"""Lines that are put into an order by one call."""


@action(
    "format.take_order",
    result=TakenOrder,
    summary="Make the order of the lines in an imported file a reading order of its pass, as written.",
    words="Used the order of an imported file for {}",
)
def take_order(ctx: ActionContext, p: TakeOrder) -> dict[str, Any]:
    """Adds regions with their contents, in the order of exports; words follow their lines and have no
    entries.

    Raises NotFound for an unknown pass and one that no file made, Conflict if the pass has an as-written
    order.
    """
    pass_row = get_pass(ctx.conn, p.pass_id)
    row = ctx.conn.execute(select(format_imports).where(format_imports.c.pass_id == p.pass_id)).first()
    if row is None:
        raise not_of_a_file(pass_row.name)
    written_lines = written_order(ctx.conn, p.pass_id)
    if written_lines is not None:
        raise Conflict(
            f"The pass {pass_row.name!r} already has an order as written ({written_lines.name!r}); withdraw it first.",
            code="order_exists",
            order_id=written_lines.id,
        )
    name = p.name or f"As in {row.filename}"
    about = {
        "document_id": pass_row.document_id,
        "pass_id": p.pass_id,
        "name": name[:200],
        "kind": "as-written",
    }
    order = ctx.run("reading_order.create", about)
    assembled = pass_as_filed(ctx.conn, pass_row.document_id, p.pass_id, row.page)
    above = {part.id: segment.id for segment in assembled.page.walk() for part in segment.children}
    places: dict[str, dict[str, str | None]] = {}
    for segment in assembled.page.in_order():
        if segment.kind != "word":
            outer = places.get(above.get(segment.id, ""))
            places[segment.id] = {
                "segment_id": assembled.rows[segment.id],
                "parent_segment_id": outer["segment_id"] if outer else None,
            }
    listed = list(places.values())
    for begin in range(0, len(listed), AT_ONCE):
        fields = {"order_id": order["id"], "segments": listed[begin : begin + AT_ONCE]}
        ctx.run("reading_order.fill", fields)
    return {"order_id": order["id"], "name": order["name"], "entries": len(listed)}
