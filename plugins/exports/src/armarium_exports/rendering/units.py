"""One file of a unit: its bytes and its extension."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, BinaryIO, NamedTuple

from sqlalchemy import select

from armarium.api import Engine, Library, NotFound, is_among
from armarium_documents.api import documents
from armarium_exports.errors import no_pages, pages_only
from armarium_exports.pages import ReadablePage, Unit, readable_page
from armarium_exports.rendering.corpus import tei_corpus
from armarium_exports.rendering.pdf.document import write_pdf
from armarium_exports.rendering.texts import markdown, plain_text
from armarium_exports.rendering.word import word
from armarium_formats.api import export_page, file_ending, kept_driver
from armarium_source_model.api import join_made, sum_makers

TEXTS = {"word": ".docx", "markdown": ".md", "plain-text": ".txt"}
"""Formats written here from readable pages, with the ends of their files."""
PDF = "pdf"
OURS = {**TEXTS, PDF: ".pdf"}
"""Formats written here; every other is a format driver's."""
_Content = tuple[bytes, list[dict[str, Any]], list[dict[str, Any]]]
JOINED = {"tei": tei_corpus}
"""Formats of drivers of which one file can have many pages."""


def check_format(engine: Engine, format_name: str, per: str) -> None:
    """Refuse a format that nobody here writes, and one of single pages per document; both Invalid."""
    driver = None if format_name in OURS else kept_driver(engine, format_name, *OURS)
    if driver is not None and per != "page" and format_name not in JOINED:
        raise pages_only(driver.label)


def ending_of(engine: Engine, format_name: str) -> str:
    """Return how the files of a format end."""
    return OURS.get(format_name) or file_ending(kept_driver(engine, format_name))


class RenderedUnit(NamedTuple):
    """What the format of a unit's file could not express, and who stands behind its lines, in sum."""

    losses: list[dict[str, Any]]
    made: list[dict[str, Any]]


def render(engine: Engine, library: Library, unit: Unit, format_name: str, into: BinaryIO) -> RenderedUnit:
    """Write the file of *unit* to *into*; NotFound (no_pass) if none of its pages can be written."""
    if format_name == PDF:
        return RenderedUnit(*write_pdf(engine, library, unit, into))
    content, losses, makers = _content(engine, library, unit, format_name)
    into.write(content)
    return RenderedUnit(losses, makers)


def _content(engine: Engine, library: Library, unit: Unit, format_name: str) -> _Content:
    if format_name not in TEXTS:
        return _layout(engine, library, unit, format_name)
    with library.db.read() as conn:
        # A page may have been deleted since the unit was assembled: the step that did so has this file
        # written again.
        live = set(
            conn.execute(select(documents.c.id).where(is_among(documents.c.id, unit.page_ids))).scalars()
        )
        pages: list[ReadablePage] = [
            readable_page(engine, conn, page_id) for page_id in unit.page_ids if page_id in live
        ]
    if not pages:
        raise no_pages(unit.title)
    makers = sum_makers(maker for page in pages for maker in page.makers)
    if format_name == "word":
        return word(unit.title, pages), losses_of(pages), makers
    text = markdown(unit.title, pages) if format_name == "markdown" else plain_text(pages)
    return text.encode("utf-8", "replace"), losses_of(pages), makers


def losses_of(pages: Sequence[ReadablePage]) -> list[dict[str, Any]]:
    """Return what a format of text has no place for: the shapes of lines, and furniture."""
    losses = [
        {
            "what": "shapes of lines",
            "count": sum(line.segment_id is not None for page in pages for line in page.lines),
            "why": "the format has lines of text and no picture on which they would have a place",
        },
        {
            "what": "headers, folios and other furniture",
            "count": sum(page.furniture for page in pages),
            "why": "the format has the running text of the page alone",
        },
    ]
    return [loss for loss in losses if loss["count"]]


def sum_losses(losses: Iterable[Sequence[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Return the losses of many files or pages by what is lost and why, each with the number of those it is in."""
    by_loss: dict[tuple[str, str], dict[str, Any]] = {}
    for of_file in losses:
        for here in {(loss["what"], loss["why"]) for loss in of_file}:
            by_loss.setdefault(here, {"what": here[0], "why": here[1], "count": 0, "pages": 0})["pages"] += 1
        for loss in of_file:
            by_loss[loss["what"], loss["why"]]["count"] += loss["count"]
    return sorted(by_loss.values(), key=lambda loss: (-loss["pages"], loss["what"]))


def _layout(engine: Engine, library: Library, unit: Unit, format_name: str) -> _Content:
    contents: list[str] = []
    losses: list[dict[str, Any]] = []
    makers: list[list[dict[str, Any]]] = []
    refused: NotFound | None = None
    for page_id in unit.page_ids:
        try:
            exported = export_page(engine, library, page_id, format_name)
        except NotFound as refusal:
            refused = refusal
            continue
        contents.append(exported["content"])
        losses += exported["losses"]
        makers.append(exported["choices"]["made"])
    if not contents:
        assert refused is not None
        raise refused
    whole = contents[0] if len(contents) == 1 else JOINED[format_name](unit.title, contents)
    return whole.encode(), losses, join_made(makers)
