"""Reads the text that a PDF has itself, visible or not, into a pass of each of its pages, with the box of each word.

Such a pass has the basis `text-layer`: until a person reads the page, it is the one the page is read by.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from armarium.api import ActionContext, Engine, Invalid, Library, action, raw_of
from armarium_documents.api import (
    CallWorker,
    OpenedPdf,
    TextLine,
    documents,
    renditions,
    replace_metadata,
    require_live,
)
from armarium_formats.driver import Format
from armarium_formats.errors import no_text_layer
from armarium_formats.keeping import PreparedPage, ToKeep, keep_passes, make_ready
from armarium_formats.opening import OpenedFile
from armarium_formats.page_model import PageModel, PageSegment, PageText
from armarium_formats.queries.exchange import Picture, passes_of_files, pictures_of
from armarium_formats.schemas.exchange import ReadTextLayer, TextLayerRead
from armarium_formats.shapes import corners
from armarium_source_model.api import ONE_PASS_A_FILE, TEXT_LAYER

PRESENT = "pdf_text_layer_present"
"""The key of a PDF's metadata that says whether a page of it has a text of its own."""


class TextLayer(Format):
    """What a PDF says itself; no format of a file, so it is not among the drivers."""

    name = "pdf-text-layer"
    label = "Text layer"
    extensions: ClassVar[tuple[str, ...]] = (".pdf",)


class PdfPages(NamedTuple):
    """A PDF of the project and its live pages: (id, index in the file)."""

    name: str
    checksum: str
    metadata: dict[str, Any]
    pages: list[tuple[str, int]]


class ReadPage(NamedTuple):
    """A page whose text was read."""

    document_id: str
    picture: Picture
    ready: PreparedPage


def pdf_pages(library: Library, document_id: str) -> PdfPages:
    """Return a PDF and its pages. Raises NotFound, no_text_layer for any other document."""
    with library.db.read() as conn:
        node = require_live(conn, document_id)
        raw = raw_of(conn)
        file = raw.execute(
            f"SELECT r.checksum FROM {renditions} r WHERE r.document_id = ? AND r.is_primary"
            " AND r.mime_type = 'application/pdf' AND r.checksum IS NOT NULL",
            (document_id,),
        ).fetchone()
        if file is None:
            raise no_text_layer(node.name)
        pages = raw.execute(
            f"SELECT id, sequence - 1 FROM {documents} WHERE parent_id = ? AND doc_type = 'page'"
            " AND deleted_at IS NULL AND sequence IS NOT NULL ORDER BY sequence",
            (document_id,),
        ).fetchall()
        metadata = conn.execute(
            documents.select().with_only_columns(documents.c.metadata).where(documents.c.id == document_id)
        ).scalar_one()
    return PdfPages(node.name, file[0], metadata, pages)


def read_pages(
    library: Library, pdf: OpenedPdf, file: PdfPages, pages: Iterable[tuple[str, int]], call: CallWorker
) -> list[ReadPage]:
    """Return those of *pages* that have a text and no pass of it yet, ready to be written."""
    pairs = list(pages)
    with library.db.read() as conn:
        raw = raw_of(conn)
        known_passes = passes_of_files(raw, [(page_id, file.checksum) for page_id, _ in pairs])
        pictures = pictures_of(raw, [page_id for page_id, _ in pairs])
    ready = []
    for (page_id, index), known_pass, picture in zip(pairs, known_passes, pictures, strict=True):
        if known_pass is not None or not 0 <= index < pdf.pages:
            continue
        try:
            lines, size = pdf.text_layer(index, call), pdf.size(index)
        except Invalid:
            continue  # a page that cannot be drawn, which was refused when it was pictured
        if lines:
            opened = OpenedFile(TextLayer(), file.name, file.checksum, [_page_model(lines, size)])
            ready.append(ReadPage(page_id, picture, make_ready(opened, picture)))
    return ready


def _page_model(lines: Sequence[TextLine], size: tuple[int, int]) -> PageModel:
    page = PageModel(*size)
    for number, line in enumerate(lines, 1):
        words = [
            PageSegment(f"w{number}.{place}", "word", points=corners(word.box), texts=[PageText(word.text)])
            for place, word in enumerate(line.words, 1)
        ]
        page.segments.append(
            PageSegment(
                f"l{number}", "line", points=corners(line.box), texts=[PageText(line.text)], children=words
            )
        )
    return page


def _read(engine: Engine, library: Library | None, p: ReadTextLayer) -> None:
    """Read the text before the writer is taken."""
    assert library is not None
    if p.groundwork is None:
        file = pdf_pages(library, p.document_id)
        with OpenedPdf(Path(library.objects.path(file.checksum))) as pdf:
            p.hand_over((file, read_pages(library, pdf, file, file.pages, engine.workers.call_light)))


@action(
    "format.read_text_layer",
    result=TextLayerRead,
    summary="Read the text that a PDF has itself into a pass of each of its pages.",
    words="Read the text layer of {document_id|a PDF}",
    laws=(ONE_PASS_A_FILE,),
    prepare=_read,
)
def read_text_layer(ctx: ActionContext, p: ReadTextLayer) -> dict[str, Any]:
    """A page that has such a pass, or no text, is passed over. Raises NotFound, no_text_layer for anything but a PDF, Invalid
    for a damaged one.
    """
    if p.groundwork is None:
        _read(ctx.engine, ctx.project, p)
    assert p.groundwork is not None
    file, pages = p.groundwork
    require_live(ctx.conn, p.document_id)
    answers = keep_passes(
        ctx,
        [
            ToKeep(page.document_id, page.ready, page.picture, file.name, file.checksum, provider=TEXT_LAYER)
            for page in pages
        ],
    )
    metadata = ctx.conn.execute(
        documents.select().with_only_columns(documents.c.metadata).where(documents.c.id == p.document_id)
    ).scalar_one()
    present = bool(metadata.get(PRESENT)) or bool(pages)
    if metadata.get(PRESENT) is not present:
        replace_metadata(ctx, p.document_id, {**metadata, PRESENT: present})
    ctx.target(p.document_id)
    ctx.note_changes(document_ids=[p.document_id])
    return {
        "document_id": p.document_id,
        "passes": [
            {"pass_id": answer["pass_id"], "document_id": page.document_id}
            for answer, page in zip(answers, pages, strict=True)
        ],
        "text_layer": present,
    }
