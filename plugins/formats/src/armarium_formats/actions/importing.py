"""Reading a layout file into a page as a new pass (B 4.5), and what every import of a pass writes."""

from __future__ import annotations

from typing import Any

from armarium.api import ActionContext, Engine, Example, Library, action
from armarium_documents.api import require_live
from armarium_formats.actions.samples import SAMPLE_PAGE
from armarium_formats.assembling import order_as_json
from armarium_formats.driver import FormatDriver
from armarium_formats.errors import AlreadyAPass
from armarium_formats.models import format_imports
from armarium_formats.opening import Opened, chosen, collector_waits, open_layout, sized
from armarium_formats.page_model import PageModel
from armarium_formats.placing import place
from armarium_formats.queries.exchange import Picture, pass_of_file, picture_of
from armarium_formats.schemas.exchange import Imported, ImportFile
from armarium_source_model.api import NewReading, add_readings, add_segments, create_pass


def _example(ex: Example) -> dict[str, Any]:
    page = ex.run("document.create", {"name": "Letter, first page", "doc_type": "page"})
    return {"document_id": page["id"], "file": SAMPLE_PAGE, "filename": "letter.xml"}


def _read_ahead(engine: Engine, library: Library | None, p: ImportFile) -> None:
    """Read the file and keep its bytes before the writer is taken; what cannot be imported is refused here."""
    assert library is not None
    with library.db.read() as conn:
        require_live(conn, p.document_id)
        known = pass_of_file(conn, p.document_id, p.digest)
        picture = picture_of(conn, p.document_id)
    if known is not None:
        raise AlreadyAPass(p.filename, *known)
    if p.found(picture) is None:
        p.read_for(picture, _opened(engine, p, picture), p.more_notes)
    library.objects.put_bytes(p.data)


def _opened(engine: Engine, p: ImportFile, picture: Picture) -> Opened:
    return open_layout(
        engine,
        p.data,
        p.filename,
        asked=p.format,
        page_size=picture.size,
        companions={one.filename: one.data for one in p.companions},
    )


@action(
    "format.import",
    params=ImportFile,
    result=Imported,
    summary="Read a layout file into a page as a new pass with its segments and readings.",
    example=_example,
    prepare=_read_ahead,
)
def import_file(ctx: ActionContext, p: ImportFile) -> dict[str, Any]:
    """One step. The original is kept byte for byte; the pass never becomes the working pass by itself.

    Raises NotFound (no such document), AlreadyAPass, NotRecognised, NotReadable, ShapesOutside, NoPageSize, Invalid for
    a file its driver refuses.
    """
    with collector_waits():
        require_live(ctx.conn, p.document_id)
        known = pass_of_file(ctx.conn, p.document_id, p.digest)
        if known is not None:
            raise AlreadyAPass(p.filename, *known)
        picture = picture_of(ctx.conn, p.document_id)
        opened = p.found(picture)
        if opened is None:
            opened = _opened(ctx.engine, p, picture)
            ctx.project.objects.put_bytes(p.data)
        page, left_out = chosen(opened.pages, p.pages)
        made = keep_pass(
            ctx,
            p.document_id,
            page,
            picture,
            driver=opened.driver,
            filename=p.filename,
            digest=p.digest,
            name=p.name,
            notes=p.more_notes,
        )
    return {**made, "pages_in_file": len(opened.pages), "pages_left_out": left_out}


def keep_pass(
    ctx: ActionContext,
    document_id: str,
    page: PageModel,
    picture: Picture,
    *,
    driver: FormatDriver,
    filename: str,
    digest: str,
    name: str | None = None,
    notes: tuple[str, ...] = (),
) -> dict[str, Any]:
    """A page of a file as a new pass with its segments and readings; the file's bytes are in the store already.

    Raises ShapesOutside, NoPageSize, and what `create_pass` does.
    """
    said = [*page.notes, *notes]
    size = sized(page, picture.size, filename, said)
    placed = place(page, size, filename, driver.name)
    said += placed.notes
    name = name or f"{driver.label}: {filename}"
    pass_id = create_pass(
        ctx,
        document_id,
        name,
        import_file=filename,
        import_checksum=digest,
        import_format=driver.name,
        has_original=True,
    )
    kept = [{"what": what, "count": count} for what, count in sorted(page.kept.items())]
    ctx.conn.execute(
        format_imports.insert().values(
            pass_id=pass_id,
            document_id=document_id,
            format=driver.name,
            version=page.version,
            filename=filename,
            original=digest,
            page_width=page.width or None,
            page_height=page.height or None,
            page={
                "image": page.image,
                "order": order_as_json(page.order),
                "language": page.language,
                "script": page.script,
                "direction": page.direction,
                "extras": page.extras,
            },
            kept_counts=kept,
            notes=said,
            created_at=ctx.now,
        )
    )
    ids = add_segments(
        ctx, pass_id, document_id, picture.rendition_id, placed.segments, provenance_kind="external_import"
    )
    by_key = {segment.key: identity for segment, identity in zip(placed.segments, ids, strict=True)}
    add_readings(
        ctx,
        [
            NewReading(
                by_key[key], text.text, text.kind, confidence=text.confidence, producer_tool=driver.name
            )
            for key, text in placed.texts
        ],
        provenance_kind="external_import",
    )
    return {
        "pass_id": pass_id,
        "name": name,
        "format": driver.name,
        "counts": {
            "region": placed.counts["region"],
            "line": placed.counts["line"],
            "word": placed.counts["word"],
            "readings": len(placed.texts),
        },
        "unknown_classes": list(page.unknown_classes),
        "kept": kept,
        "notes": said,
    }
