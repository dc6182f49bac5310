"""Reads of formats: the formats there are, a page as a file, the original of an imported pass."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Connection, Row, select

from armarium.api import NotFound, json_text, moment_read, now, plain_name, raw_of
from armarium_documents.api import PICTURE_SUFFIXES, renditions, require_document
from armarium_formats.assembling import AssembledPage, assemble, assemble_provisional
from armarium_formats.catalogue import drivers, writer
from armarium_formats.citing import cite_page
from armarium_formats.driver import WriteContext
from armarium_formats.errors import NoPageSize, not_of_a_file, order_of_other_pass, schema_invalid
from armarium_formats.left_out import losses_beside
from armarium_formats.marks import mark_page, statements_about
from armarium_formats.models import format_imports
from armarium_formats.opening import NO_SHAPES
from armarium_formats.placed_words import give_words
from armarium_source_model.api import (
    IS_PROVISIONAL,
    get_pass,
    is_provisional,
    line_makers,
    notice_of_text_elsewhere,
    order_walk,
    page_facts,
    pass_sequence,
    passes,
    provisional_pass,
    reading_kind_keys,
    reading_rule,
    segments,
    standing_order,
    sum_makers,
    unknown_kind,
    working_pass,
    written_order,
)

if TYPE_CHECKING:
    from armarium.api import Engine, Library

AS_WRITTEN = "as written"


def list_formats(engine: Engine) -> dict[str, Any]:
    """List every format of this build, by name."""
    items = [
        {
            "name": driver.name,
            "label": driver.label,
            "extensions": list(driver.extensions),
            "reads": driver.reads,
            "writes": driver.writes,
            "validated": driver.validated,
            "versions": list(driver.versions),
        }
        for driver in drivers(engine)
    ]
    return {"items": items, "count": len(items)}


def pass_of_file(conn: Connection, document_id: str, checksum: str) -> tuple[str, str] | None:
    """Return id and name of the live pass of a page that was read from these exact bytes."""
    return passes_of_files(raw_of(conn), [(document_id, checksum)])[0]


def passes_of_files(
    raw: sqlite3.Connection, files: Iterable[tuple[str, str]]
) -> list[tuple[str, str] | None]:
    """For pages and checksums, in order, return what `pass_of_file` does."""
    rows = raw.execute(
        f"SELECT p.id, p.name FROM json_each(?) j LEFT JOIN {passes} p"
        " ON p.document_id = j.value ->> 0 AND p.import_checksum = j.value ->> 1 AND p.deleted_at IS NULL"
        " GROUP BY j.key ORDER BY j.key",
        (json_text(list(files)),),
    )
    return [None if row[0] is None else (row[0], row[1]) for row in rows]


class Picture(NamedTuple):
    """A page's primary rendition and its displayed size in pixels, each None if missing, and the EXIF
    orientation of the file (1: as stored).
    """

    rendition_id: str | None = None
    size: tuple[int, int] | None = None
    orientation: int = 1


def picture_of(conn: Connection, document_id: str) -> Picture:
    """Return the primary rendition of a page."""
    return pictures_of(raw_of(conn), [document_id])[0]


def pictures_of(raw: sqlite3.Connection, document_ids: Iterable[str]) -> list[Picture]:
    """Return the primary renditions of pages, in order."""
    rows = raw.execute(
        "SELECT r.id, r.pixel_width, r.pixel_height, json_extract(r.params, '$.exif_orientation') FROM json_each(?) j"
        f" LEFT JOIN {renditions} r ON r.document_id = j.value AND r.is_primary ORDER BY j.key",
        (json_text(list(document_ids)),),
    )
    return [
        Picture(rendition_id, (width, height) if width and height else None, orientation or 1)
        for rendition_id, width, height, orientation in rows
    ]


class Original(NamedTuple):
    """The file that a pass was read from."""

    path: Path
    filename: str
    checksum: str
    format: str


def original_of(library: Library, pass_id: str) -> Original:
    """Return the original of an imported pass; NotFound for an unknown pass and for one that no file made."""
    with library.db.read() as conn:
        row = conn.execute(
            select(format_imports.c.original, format_imports.c.filename, format_imports.c.format).where(
                format_imports.c.pass_id == pass_id
            )
        ).first()
        if row is None:
            raise not_of_a_file(get_pass(conn, pass_id).name)
    library.objects.size(row[0])
    return Original(library.objects.path(row[0]), row[1], row[0], row[2])


def export_page(
    engine: Engine,
    library: Library,
    document_id: str,
    format_name: str,
    *,
    pass_id: str | None = None,
    order_id: str | None = None,
    reading_kind: str = "transcription",
    created: str | None = None,
    cites: bool = True,
) -> dict[str, Any]:
    """Export a page as `{format, filename, content, choices, losses}`; *created* is the time it states, default now.
    *cites*: the file says of which page at which step it is a copy, where its format has a place for that.

    Default pass: that of the order named, else the one the page is read by. Default order: the as-written one
    of the pass, else the file's own, else that of the boxes. Raises NotFound for an unknown format, document,
    pass or order and for a page without a pass; Conflict for a format that is not written; OrderDeleted; Invalid for an order of another pass; Broken if
    the driver's own schema refuses the result.
    """
    driver = writer(engine, format_name)
    with library.db.read() as conn:
        moment = moment_read(library.db, conn)
        document = require_document(conn, document_id)
        chosen = {"pass_id": pass_id, "order_id": order_id, "reading_kind": reading_kind}
        if reading_kind not in (kinds := reading_kind_keys(conn)):
            raise unknown_kind(reading_kind, kinds)
        rule = reading_rule(conn)
        basis: str = "named"
        order = None if order_id is None else standing_order(conn, order_id)
        if pass_id is None and order is not None:
            pass_id = str(order.pass_id)
        elif pass_id is None:
            pass_id, basis = working_pass(conn, document_id, rule)
            if pass_id is None:
                raise NotFound(
                    f"{document.name} has no pass yet: find its lines or import a layout file first.",
                    code="no_pass",
                )
        if order is not None and order.pass_id != pass_id:
            raise order_of_other_pass(order.name, order.pass_id, pass_id)
        if is_provisional(pass_id):
            old = provisional_pass(library, conn, document_id, pass_id)
            pass_name = old.name
            frame, notes = _frame(conn, document_id, [old.rendition_id], None, document.name)
            notes.append(IS_PROVISIONAL)
            assembled = assemble_provisional(conn, document_id, old, kind=reading_kind, size=frame.size)
        else:
            pass_name = _standing_pass(conn, document_id, pass_id, document.name).name
            order = order or written_order(conn, pass_id)
            row = conn.execute(select(format_imports).where(format_imports.c.pass_id == pass_id)).first()
            frame, notes = _frame(conn, document_id, _measured_on(conn, pass_id), row, document.name)
            assembled = _assemble(conn, document_id, pass_id, frame, row, order, reading_kind)
        elsewhere = None if basis == "named" else notice_of_text_elsewhere(conn, document_id, pass_id)
        beside = losses_beside(conn, document_id, pass_id, reading_kind, assembled, driver.name)
        assembled.state_makers(line_makers(engine, conn, assembled.counting))
        assembled.page.statements = statements_about(engine, conn, document_id)
        beside += mark_page(engine, conn, assembled.page, assembled.rows, assembled.reading_of, driver)
    page = assembled.page
    page.image = page.image or frame.image
    if frame.is_nominal and not any(segment.points or segment.baseline for segment in page.walk()):
        # Nothing in it was ever measured: no size is made up for it.
        page.width = page.height = 0
    if not assembled.readings:
        notes.append(
            f"No reading of the kind {reading_kind} counts on this pass, so the file contains only shapes."
        )
    if elsewhere is not None and reading_kind == "transcription":
        notes.append(elsewhere)
    if getattr(driver, "places_words", False):
        give_words(page)
    created = created or now()
    cited = cite_page(library, document_id, moment, driver.name, created, chosen) if cites else ""
    exported = driver.write(page, WriteContext(created, _creator(), cited))
    problems = driver.validate(exported.content) if driver.validated else []
    if problems:
        raise schema_invalid(driver.label, problems[0], problems)
    return {
        "format": driver.name,
        "filename": _filename(document.name, driver.extensions[0] if driver.extensions else ""),
        "content": exported.content,
        "choices": {
            "document_id": document_id,
            "pass_id": pass_id,
            "pass_basis": basis,
            "pass_name": pass_name,
            "order_id": None if order is None else order.id,
            "order_name": AS_WRITTEN if order is None else order.name,
            "reading_kind": reading_kind,
            "segment_count": assembled.segment_count,
            "as_of": moment.answer(),
            "made": sum_makers(page.makers()),
            "notes": notes,
        },
        "losses": [asdict(loss) for loss in (*assembled.losses, *exported.losses, *beside)],
    }


def _sequence(conn: Connection, document_id: str, pass_id: str, order: Row[Any] | None) -> list[str] | None:
    """Return the segments of the order named; else, if somebody stated the columns, in that order; else None."""
    if order is not None:
        return [segment for _, segment, _ in order_walk(conn, order.id)]
    if page_facts(conn, document_id, pass_id).columns is None:
        return None
    return pass_sequence(conn, document_id, pass_id, reading_rule(conn))


def _standing_pass(conn: Connection, document_id: str, pass_id: str, name: str) -> Row[Any]:
    """Return the row of a live pass of the page; NotFound."""
    row = get_pass(conn, pass_id)
    if row.document_id != document_id:
        raise NotFound(
            f"The pass {pass_id} belongs to another page; name one of {name}.", code="other_document"
        )
    if row.deleted_at is not None:
        raise NotFound(f"The pass {row.name!r} is withdrawn; restore it to export it.", code="pass_deleted")
    return row


def page_of_pass(
    conn: Connection, document_id: str, pass_id: str, *, engine: Engine | None = None
) -> tuple[AssembledPage, tuple[int, int] | None]:
    """Return a pass as it would be exported, and its size in pixels; None if nothing in it was measured.

    With *engine*, each line says who stands behind its text.
    """
    row = conn.execute(select(format_imports).where(format_imports.c.pass_id == pass_id)).first()
    try:
        frame, _ = _frame(conn, document_id, _measured_on(conn, pass_id), row, "page")
    except NoPageSize:
        frame = _Frame(NOMINAL, "page", is_nominal=True)
    assembled = _assemble(conn, document_id, pass_id, frame, row, written_order(conn, pass_id))
    if engine is not None:
        assembled.state_makers(line_makers(engine, conn, assembled.counting))
    return assembled, None if frame.is_nominal else frame.size


def _assemble(
    conn: Connection,
    document_id: str,
    pass_id: str,
    frame: _Frame,
    imported: Row[Any] | None,
    order: Row[Any] | None,
    kind: str = "transcription",
) -> AssembledPage:
    return assemble(
        conn,
        document_id,
        pass_id,
        kind=kind,
        rule=reading_rule(conn),
        size=frame.size,
        imported=imported.page if imported else None,
        sequence=_sequence(conn, document_id, pass_id, order),
    )


def pass_as_filed(
    conn: Connection, document_id: str, pass_id: str, imported: Mapping[str, Any]
) -> AssembledPage:
    """Return an imported pass as exported without a named order; its shapes in nominal pixels."""
    return assemble(
        conn, document_id, pass_id, kind="transcription", rule="strict", size=NOMINAL, imported=imported
    )


NOMINAL = (1000, 1000)
"""Pixels of a page that has neither a picture nor a shape: a text that was read without either."""


class _Frame(NamedTuple):
    """The pixels an export counts in, and the image they belong to."""

    size: tuple[int, int]
    image: str
    is_nominal: bool = False


_MEASURED_ON = f"""
SELECT json_extract(anchor, '$.rendition_id'), count(*) FROM {segments}
WHERE pass_id = ? AND deleted_at IS NULL GROUP BY 1 ORDER BY 2 DESC
"""

_EXTENSIONS = {
    "image/jpeg": ".jpg", "image/png": ".png", "image/tiff": ".tif", "image/webp": ".webp",
    "image/jp2": ".jp2", "image/avif": ".avif", "image/heic": ".heic",
}  # fmt: skip


def _measured_on(conn: Connection, pass_id: str) -> list[str | None]:
    """Return the renditions that the segments of a pass were measured on, the most frequent first."""
    return [rendition_id for rendition_id, _ in conn.exec_driver_sql(_MEASURED_ON, (pass_id,))]


def _frame(
    conn: Connection, document_id: str, measured: Sequence[str | None], imported: Any, name: str
) -> tuple[_Frame, list[str]]:
    """Return the rendition the shapes were measured on, else the primary one, else the import's declared
    size.
    """
    columns = (
        renditions.c.id,
        renditions.c.pixel_width,
        renditions.c.pixel_height,
        renditions.c.mime_type,
        renditions.c.is_primary,
    )
    rows = conn.execute(select(*columns).where(renditions.c.document_id == document_id)).all()
    sized = {row.id: row for row in rows if row.pixel_width and row.pixel_height}
    chosen = next((sized[rendition_id] for rendition_id in measured if rendition_id in sized), None) or next(
        (row for row in sized.values() if row.is_primary), None
    )
    notes: list[str] = []
    if len([rendition_id for rendition_id in measured if rendition_id in sized]) > 1:
        notes.append(
            "The segments were measured on several images of the page; pixels are those of the most used one."
        )
    if chosen is None:
        if imported is not None and NO_SHAPES in imported.notes:
            notes.append(
                "The page has neither a picture nor a shape, so the file states neither its size nor outlines."
            )
            return _Frame(NOMINAL, name, is_nominal=True), notes
        if imported is None or not imported.page_width or not imported.page_height:
            raise NoPageSize(name)
        return _Frame((imported.page_width, imported.page_height), name), notes
    size = chosen.pixel_width, chosen.pixel_height
    if imported is not None and imported.page_width and (imported.page_width, imported.page_height) != size:
        notes.append(
            f"The imported file's page had {imported.page_width} x {imported.page_height} pixels; this one "
            f"uses those of the page's image, {size[0]} x {size[1]}."
        )
    is_picture = PurePath(name).suffix.lower() in _PICTURE_NAMES
    return _Frame(size, name if is_picture else name + _EXTENSIONS.get(chosen.mime_type, "")), notes


_PICTURE_NAMES = frozenset([".jpg", ".jpeg", ".png", ".tif", ".tiff", ".webp", ".jp2", ".gif", ".bmp"])


def _creator() -> str:
    from importlib.metadata import version

    return f"Armarium {version('armarium-core')}"


def _filename(name: str, extension: str) -> str:
    """Return a file name that every system accepts: the document's, without its image's extension."""
    stem = PurePath(name).stem if PurePath(name).suffix.lower() in _IMAGE_ENDINGS else name
    return plain_name(stem, longest=200) + extension


_IMAGE_ENDINGS = frozenset({*PICTURE_SUFFIXES, ".xml"})
