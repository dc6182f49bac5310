"""Writes the pages of a scope as one file, and says what it could not carry and what was not read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO

from sqlalchemy import Connection, select

from armarium.api import Engine, Library, NotFound, ServiceError, is_among
from armarium_documents.api import PageImage, documents, page_image, still_image
from armarium_exports.errors import no_facsimile, no_volume, nothing_to_export
from armarium_exports.pages import Unit, readable_page
from armarium_exports.rendering.pdf.document import write_pdf
from armarium_exports.rendering.units import PDF, RenderedUnit, losses_of, sum_losses
from armarium_exports.rendering.volume.parts import Heading, PagePlace, VolumeWriter, place_pages
from armarium_exports.rendering.volume.texts import MarkdownVolume, PlainVolume, TeiVolume
from armarium_exports.rendering.volume.word import WordVolume
from armarium_formats.api import export_page
from armarium_source_model.api import LineMaker, join_made, page_text, reading_rule, sum_makers

Watch = Callable[[int, int], None]
VOLUMES = ("word", "pdf", "plain-text", "markdown", "tei")


def check_volume(format_name: str, *, facsimile: bool) -> None:
    """Refuse (422) a format of which no file has many pages, and a facsimile where none has a place."""
    if format_name not in VOLUMES:
        raise no_volume(format_name, list(VOLUMES))
    if facsimile and format_name not in ("word", PDF):
        raise no_facsimile(format_name)


def write_volume(
    engine: Engine,
    library: Library,
    page_ids: Sequence[str],
    format_name: str,
    into: BinaryIO,
    *,
    facsimile: bool,
    watch: Watch,
) -> tuple[RenderedUnit, list[dict[str, str]]]:
    """Write the pages in this order; return what was lost, whose the lines are, and which pages have no text."""
    with library.db.read() as conn:
        name, placed = place_pages(conn, page_ids)
    title = name or library.name
    if format_name == PDF:
        rendered = RenderedUnit(*write_pdf(engine, library, Unit("", title, tuple(page_ids)), into, watch))
        with library.db.read() as conn:
            rule = reading_rule(conn)
            empty = [
                place.page_id
                for place in placed
                if not page_text(conn, place.page_id, rule=rule).text.strip()
            ]
            return rendered, _name_unread(conn, empty)
    if format_name == "tei":
        return _write_tei(engine, library, title, placed, into, watch)
    writer: VolumeWriter
    if format_name == "word":
        writer = WordVolume(title, into, facsimile=facsimile)
    else:
        writer = PlainVolume(title, into) if format_name == "plain-text" else MarkdownVolume(title, into)
    makers, lost, pages = Counter[LineMaker](), list[list[dict[str, Any]]](), 0
    unread: list[dict[str, str]] = []
    for number, place in enumerate(placed):
        watch(number, len(placed))
        with library.db.read() as conn:
            try:
                page = readable_page(engine, conn, place.page_id)
            except NotFound:
                # It was removed since the file was begun.
                continue
            picture = _picture_of(library, conn, place.page_id) if facsimile else None
        for heading in place.headings:
            writer.heading(heading)
        if picture is None:
            writer.page(page, place.depth, None)
        else:
            with still_image(library, picture) as path:
                writer.page(page, place.depth, picture._replace(path=path))
        makers.update(page.makers)
        lost.append(losses_of([page]))
        if not page.has_text:
            unread.append({"document_id": place.page_id, "name": page.title})
        pages += 1
    sums = sum_makers(makers.elements())
    writer.finish(_describe_pages(pages, sums, unread))
    return RenderedUnit(sum_losses(lost), sums), unread


def _write_tei(
    engine: Engine, library: Library, title: str, placed: Sequence[PagePlace], into: BinaryIO, watch: Watch
) -> tuple[RenderedUnit, list[dict[str, str]]]:
    writer, unread, pages = TeiVolume(title, into), list[str](), 0
    losses: list[list[dict[str, Any]]] = []
    makers: list[dict[str, Any]] = []
    waiting: list[Heading] = []
    for number, place in enumerate(placed):
        watch(number, len(placed))
        # A corpus needs a text: headings wait for the first page that has one.
        level = place.headings[0].level - 1 if place.headings else place.depth
        waiting = [*(heading for heading in waiting if heading.level <= level), *place.headings]
        try:
            exported = export_page(engine, library, place.page_id, "tei")
        except NotFound:
            unread.append(place.page_id)
            continue
        for heading in waiting:
            writer.heading(heading)
        waiting = []
        writer.page(exported["content"], place.depth)
        losses.append(exported["losses"])
        makers = join_made([makers, exported["choices"]["made"]])
        pages += 1
        if not exported["choices"]["made"]:
            unread.append(place.page_id)
    with library.db.read() as conn:
        page_names = _name_unread(conn, unread)
    if not pages:
        raise nothing_to_export()
    writer.finish(_describe_pages(len(placed), makers, page_names))
    return RenderedUnit(sum_losses(losses), makers), page_names


def _describe_pages(
    pages: int, makers: Sequence[dict[str, Any]], unread: Sequence[dict[str, str]]
) -> list[str]:
    """Return in sentences how many pages there are, who stands behind their lines, and which were not read."""
    total = sum(maker["lines"] for maker in makers)
    counted = ", ".join(f"{maker['lines']:,} {maker['words']}" for maker in makers)
    sentences = [
        f"{pages:,} {'page' if pages == 1 else 'pages'}; {total:,} {'line' if total == 1 else 'lines'}{': ' if counted else ''}{counted}."
    ]
    if unread:
        sentences.append(f"Not read: {', '.join(page['name'] for page in unread)}.")
    return sentences


def _picture_of(library: Library, conn: Connection, page_id: str) -> PageImage | None:
    try:
        return page_image(library, conn, page_id)
    except ServiceError:
        return None


def _name_unread(conn: Connection, ids: Sequence[str]) -> list[dict[str, str]]:
    document = documents.c
    names = {
        row.id: row.name
        for row in conn.execute(select(document.id, document.name).where(is_among(document.id, ids)))
    }
    return [{"document_id": identity, "name": names[identity]} for identity in ids if identity in names]
