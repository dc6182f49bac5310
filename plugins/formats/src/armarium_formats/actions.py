"""Reading a layout file into a page as a new pass: the one write of this family so far (B 4.5)."""

from __future__ import annotations

import gc
import hashlib
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import select

from armarium.api import ActionContext, Example, Invalid, ServiceError, TooLarge, action
from armarium_documents.api import renditions, require_live
from armarium_formats.assembling import order_as_json
from armarium_formats.catalogue import reader
from armarium_formats.driver import FormatDriver, ReadContext
from armarium_formats.errors import AlreadyAPass, NoPageSize
from armarium_formats.models import format_imports
from armarium_formats.page_model import PageModel
from armarium_formats.placing import place
from armarium_formats.queries import pass_of_file
from armarium_formats.schemas import Imported, ImportFile
from armarium_source_model.api import NewReading, add_readings, add_segments, create_pass

log = logging.getLogger("armarium.formats")

MAX_FILE_BYTES = 64 * 1024 * 1024
"""Of a layout file: it is held in memory while it is read."""

_SAMPLE = """<?xml version="1.0" encoding="UTF-8"?>
<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">
  <Metadata><Creator>x</Creator><Created>2026-01-01T00:00:00</Created><LastChange>2026-01-01T00:00:00</LastChange></Metadata>
  <Page imageFilename="letter.jpg" imageWidth="1000" imageHeight="1400">
    <TextRegion id="r1"><Coords points="100,100 900,100 900,400 100,400"/>
      <TextLine id="l1"><Coords points="120,120 880,120 880,180 120,180"/><Baseline points="120,170 880,172"/>
        <TextEquiv conf="0.9"><Unicode>Dear Sir</Unicode></TextEquiv></TextLine>
    </TextRegion>
  </Page>
</PcGts>
"""


def _example(ex: Example) -> dict[str, Any]:
    page = ex.run("document.create", {"name": "Letter, first page", "doc_type": "page"})
    return {"document_id": page["id"], "file": _SAMPLE, "filename": "letter.xml"}


@action(
    "format.import",
    params=ImportFile,
    result=Imported,
    summary="Read a layout file into a page as a new pass with its segments and readings.",
    example=_example,
)
def import_file(ctx: ActionContext, p: ImportFile) -> dict[str, Any]:
    """One step. The original is kept byte for byte; the pass never becomes the working pass by itself.

    Raises NotFound (no such document), AlreadyAPass, NotRecognised, NotReadable, ShapesOutside, NoPageSize, Invalid for
    a file its driver refuses.
    """
    with _collector_waits():
        return _import(ctx, p)


def _import(ctx: ActionContext, p: ImportFile) -> dict[str, Any]:
    require_live(ctx.conn, p.document_id)
    data = p.file.encode() if isinstance(p.file, str) else p.file
    if not data:
        raise Invalid(f"{p.filename} is empty (0 bytes); a layout file was expected.", code="empty_file")
    if len(data) > MAX_FILE_BYTES:
        raise TooLarge(
            f"{p.filename} is longer than {MAX_FILE_BYTES >> 20} MiB, more than any page; split it into a file a page.",
            code="file_too_large",
        )
    digest = hashlib.sha256(data).hexdigest()
    known = pass_of_file(ctx.conn, p.document_id, digest)
    if known is not None:
        raise AlreadyAPass(p.filename, *known)
    driver = reader(ctx.engine, data, p.filename, p.format)
    rendition_id, picture = _picture(ctx, p.document_id)
    pages = _read(driver, data, ReadContext(p.filename, picture))
    page, left_out = _chosen(pages, p.pages)
    notes = list(page.notes)
    size = _size(page, picture, p.filename, notes)
    placed = place(page, size, p.filename, driver.name)
    notes += placed.notes

    ctx.project.objects.put_bytes(data)
    name = p.name or f"{driver.label}: {p.filename}"
    pass_id = create_pass(
        ctx,
        p.document_id,
        name,
        import_file=p.filename,
        import_checksum=digest,
        import_format=driver.name,
        has_original=True,
    )
    kept = [{"what": what, "count": count} for what, count in sorted(page.kept.items())]
    ctx.conn.execute(
        format_imports.insert().values(
            pass_id=pass_id,
            document_id=p.document_id,
            format=driver.name,
            version=page.version,
            filename=p.filename,
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
            notes=notes,
            created_at=ctx.now,
        )
    )
    ids = add_segments(
        ctx, pass_id, p.document_id, rendition_id, placed.segments, provenance_kind="external_import"
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
        "pages_in_file": len(pages),
        "pages_left_out": left_out,
        "unknown_classes": [],
        "kept": kept,
        "notes": notes,
    }


_waiting = threading.Lock()
_waiters = 0


@contextmanager
def _collector_waits() -> Iterator[None]:
    """Hold back Python's cycle collector while a file becomes rows.

    A page of some thousand segments makes so many objects (none of them in a cycle) that the collector would walk the
    whole engine once or twice in the middle of it: a fifth of the import. What another program switched off stays off.
    """
    global _waiters
    with _waiting:
        if _waiters == 0 and not gc.isenabled():
            held = False
        else:
            held = True
            _waiters += 1
            gc.disable()
    try:
        yield
    finally:
        if held:
            with _waiting:
                _waiters -= 1
                if _waiters == 0:
                    gc.enable()


def _picture(ctx: ActionContext, document_id: str) -> tuple[str | None, tuple[int, int] | None]:
    """The page's primary rendition and its size in pixels, where it has one."""
    row = ctx.conn.execute(
        select(renditions.c.id, renditions.c.pixel_width, renditions.c.pixel_height).where(
            renditions.c.document_id == document_id, renditions.c.is_primary
        )
    ).first()
    if row is None:
        return None, None
    return row[0], (row[1], row[2]) if row[1] and row[2] else None


def _read(driver: FormatDriver, data: bytes, context: ReadContext) -> list[PageModel]:
    """The pages of the file; a driver that breaks on it is a refusal, not an accident."""
    try:
        pages = driver.read(data, context)
    except ServiceError:
        raise
    except Exception as fault:
        log.exception("the format driver %s failed to read a file", driver.name)
        raise Invalid(
            f"{context.filename} could not be read as {driver.label}: the driver failed ({type(fault).__name__}).",
            code="driver_failed",
        ) from fault
    if not pages:
        raise Invalid(f"{context.filename} holds no page.", code="no_page")
    return pages


def _chosen(pages: list[PageModel], asked: str | None) -> tuple[PageModel, list[int]]:
    """The page to read (the first one asked for) and the numbers of those left out, from 1."""
    number = 1
    if asked:
        number = int(asked.replace("-", ",").split(",")[0])
        if not 1 <= number <= len(pages):
            raise Invalid(
                f"The file has {len(pages)} pages; page {number} was asked for.", code="no_such_page"
            )
    return pages[number - 1], [other for other in range(1, len(pages) + 1) if other != number]


def _size(
    page: PageModel, picture: tuple[int, int] | None, filename: str, notes: list[str]
) -> tuple[int, int]:
    """The pixel size the file's shapes count in: what it declares, else its picture's."""
    if page.width > 0 and page.height > 0:
        size = page.width, page.height
        if picture is not None and picture != size:
            same = abs(size[0] * picture[1] - size[1] * picture[0]) <= 0.01 * size[0] * picture[1]
            notes.append(
                f"The file counts in {size[0]} x {size[1]} pixels, the page's image has {picture[0]} x {picture[1]}; "
                + (
                    "shapes were scaled to it."
                    if same
                    else "the proportions differ, so look whether the shapes fit."
                )
            )
        return size
    if picture is None:
        raise NoPageSize(filename)
    notes.append(
        f"The file declares no size of its page; the image's is taken, {picture[0]} x {picture[1]} pixels."
    )
    return picture
