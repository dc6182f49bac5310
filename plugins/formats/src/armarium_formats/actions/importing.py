"""Reading a layout file into a page as a new pass (B 4.5), and what every import of a pass writes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

from armarium.api import ActionContext, Engine, Example, Library, action, json_text
from armarium_documents.api import require_live
from armarium_formats.actions.samples import SAMPLE_PAGE
from armarium_formats.assembling import order_as_json
from armarium_formats.driver import FormatDriver
from armarium_formats.errors import AlreadyAPass
from armarium_formats.models import format_imports
from armarium_formats.opening import Opened, chosen, collector_waits, open_layout, sized
from armarium_formats.page_model import PageModel
from armarium_formats.placing import Placed, place
from armarium_formats.queries.exchange import Picture, pass_of_file, picture_of
from armarium_formats.schemas.exchange import Imported, ImportedSeveral, ImportFile, ImportSeveral
from armarium_source_model.api import NewReading, add_readings, add_segments, create_pass

HANDS = 4
"""Files whose bytes are put on disk at a time."""


def _example(ex: Example) -> dict[str, Any]:
    page = ex.run("document.create", {"name": "Letter, first page", "doc_type": "page"})
    return {"document_id": page["id"], "file": SAMPLE_PAGE, "filename": "letter.xml"}


@dataclass(slots=True)
class Ready:
    """A page of a file, read and placed: what is left to do is to write it. Its segments stand in `placed` alone."""

    driver: FormatDriver
    page: PageModel
    placed: Placed
    notes: list[str]
    pages_in_file: int = 1
    left_out: list[int] = field(default_factory=list)


def make_ready(
    opened: Opened, picture: Picture, asked: str | None = None, notes: tuple[str, ...] = ()
) -> Ready:
    """The page asked for, its shapes in fractions of the page's picture. Raises ShapesOutside, NoPageSize, Invalid."""
    page, left_out = chosen(opened.pages, asked)
    said = [*page.notes, *notes]
    size = sized(page, picture.size, opened.filename, said)
    placed = opened.placed or place(page, size, opened.filename, opened.driver.name)
    bare = replace(page, segments=[])
    return Ready(opened.driver, bare, placed, said + placed.notes, len(opened.pages), left_out)


def _read_ahead(engine: Engine, library: Library | None, p: ImportFile) -> None:
    """Read the file and keep its bytes before the writer is taken; what cannot be imported is refused here."""
    assert library is not None
    with library.db.read() as conn:
        require_live(conn, p.document_id)
        known = pass_of_file(conn, p.document_id, p.digest)
        picture = picture_of(conn, p.document_id)
    if known is not None:
        raise AlreadyAPass(p.filename, *known)
    if p.ready_for(picture) is None:
        p.make_ready_for(picture, _ready(engine, p, picture))
    library.objects.put_bytes(p.data)


def _ready(engine: Engine, p: ImportFile, picture: Picture, likely: str | None = None) -> Ready:
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
        return make_ready(opened, picture, p.pages)


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
        return _import(ctx, p)


def _import(ctx: ActionContext, p: ImportFile) -> dict[str, Any]:
    require_live(ctx.conn, p.document_id)
    known = pass_of_file(ctx.conn, p.document_id, p.digest)
    if known is not None:
        raise AlreadyAPass(p.filename, *known)
    picture = picture_of(ctx.conn, p.document_id)
    ready: Ready | None = p.ready_for(picture)
    if ready is None:
        ready = _ready(ctx.engine, p, picture)
        ctx.project.objects.put_bytes(p.data)
    made = keep_pass(ctx, p.document_id, ready, picture, filename=p.filename, digest=p.digest, name=p.name)
    return {**made, "pages_in_file": ready.pages_in_file, "pages_left_out": ready.left_out}


def _several_example(ex: Example) -> dict[str, Any]:
    return {"files": [_example(ex), _example(ex)]}


def _read_several_ahead(engine: Engine, library: Library | None, p: ImportSeveral) -> None:
    assert library is not None
    # Most of keeping a file is waiting for the disk.
    with ThreadPoolExecutor(HANDS, "keep") as hands, collector_waits():
        kept = [hands.submit(library.objects.put_bytes, one.data) for one in p.files]
        with library.db.read() as conn:
            for one in p.files:
                require_live(conn, one.document_id)
            pictures = [picture_of(conn, one.document_id) for one in p.files]
        likely: str | None = None
        for one, picture in zip(p.files, pictures, strict=True):
            ready = one.ready_for(picture) or _ready(engine, one, picture, likely)
            one.make_ready_for(picture, ready)
            likely = ready.driver.name
        for waiting in kept:
            waiting.result()


@action(
    "ingest.layouts",
    params=ImportSeveral,
    result=ImportedSeveral,
    summary="Read several layout files, each into its page, in one step: all of them or none.",
    example=_several_example,
    prepare=_read_several_ahead,
)
def import_several(ctx: ActionContext, p: ImportSeveral) -> dict[str, Any]:
    """A bounded batch of an import. Raises what `format.import` does, for the first file that is refused."""
    with collector_waits():
        items = [_import(ctx, one) for one in p.files]
    return {"items": items, "count": len(items)}


_COLUMNS = (
    "pass_id", "document_id", "format", "version", "filename", "original", "page_width", "page_height", "page",
    "kept_counts", "notes", "created_at",
)  # fmt: skip


def keep_pass(
    ctx: ActionContext,
    document_id: str,
    ready: Ready,
    picture: Picture,
    *,
    filename: str,
    digest: str,
    name: str | None = None,
) -> dict[str, Any]:
    """A page that is ready as a new pass with its segments and readings; the file's bytes are in the store already.

    Raises what `create_pass` does.
    """
    page, placed, driver = ready.page, ready.placed, ready.driver
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
    ctx.bulk_insert(
        format_imports,
        _COLUMNS,
        [
            (
                pass_id,
                document_id,
                driver.name,
                page.version,
                filename,
                digest,
                page.width or None,
                page.height or None,
                json_text(
                    {
                        "image": page.image,
                        "order": order_as_json(page.order),
                        "language": page.language,
                        "script": page.script,
                        "direction": page.direction,
                        "extras": page.extras,
                    }
                ),
                json_text(kept),
                json_text(ready.notes),
                ctx.now,
            )
        ],
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
        "notes": ready.notes,
    }
