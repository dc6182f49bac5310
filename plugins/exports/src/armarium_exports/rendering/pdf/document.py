"""A unit as one PDF: a page at a time is read and written, so that a document of thousands of pages needs no more memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, BinaryIO

from sqlalchemy import Connection, select

from armarium.api import Engine, Library, ServiceError
from armarium_documents.api import PageImage, documents, page_image, primary_row, still_image
from armarium_exports.errors import no_pages
from armarium_exports.pages import Unit
from armarium_exports.rendering.pdf.lettering import XY, InvisibleFont, text_layer
from armarium_exports.rendering.pdf.objects import PdfFile, dictionary, number, text
from armarium_exports.rendering.pdf.outputs import (
    Bookmark,
    write_information,
    write_intent,
    write_metadata,
    write_outline,
)
from armarium_exports.rendering.pdf.pictures import PlacedPicture, place_picture
from armarium_exports.rendering.volume.parts import nodes_above
from armarium_formats.api import PageModel, page_to_place, statements_about, words_of_page
from armarium_source_model.api import join_made, sum_makers

_CORE = (
    "creator", "date", "publisher", "language", "identifier", "source", "rights", "description", "subject",
)  # fmt: skip
"""What a document's own description says, by the names of Dublin Core."""


@dataclass
class _FileSoFar:
    """What is known of the file when its pages are written."""

    kids: list[int] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    losses: Counter[tuple[str, str]] = field(default_factory=Counter)
    spread: Counter[tuple[str, str]] = field(default_factory=Counter)
    """On how many pages each of the losses is."""
    made: list[list[dict[str, Any]]] = field(default_factory=list)
    statements: dict[str, None] = field(default_factory=dict)
    not_archival: set[str] = field(default_factory=set)
    languages: Counter[str] = field(default_factory=Counter)


def write_pdf(
    engine: Engine,
    library: Library,
    unit: Unit,
    into: BinaryIO,
    watch: Callable[[int, int], None] | None = None,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Write the pages of *unit*, *watch* told before each; return what was lost, and who stands behind the lines. NotFound (no_pages) if none of
    them is there, or has a picture or text.
    """
    file = PdfFile(into)
    font, so_far, tree = InvisibleFont(file), _FileSoFar(), file.reserve()
    for place, page_id in enumerate(unit.page_ids):
        if watch is not None:
            watch(place, len(unit.page_ids))
        before = so_far.losses.copy()
        _write_page(engine, library, page_id, file, font, so_far, tree)
        so_far.spread.update(loss for loss, count in so_far.losses.items() if count != before[loss])
    if not so_far.kids:
        raise no_pages(unit.title)
    font.write()
    kids = " ".join(f"{kid} 0 R" for kid in so_far.kids)
    file.add(f"<< /Type /Pages /Count {len(so_far.kids)} /Kids [{kids}] >>", tree)
    creator = f"Armarium {version('armarium-core')}"
    with library.db.read() as conn:
        facts = _facts(conn, unit, so_far)
        bookmarks = _bookmarks(conn, unit, so_far)
    archival = not so_far.not_archival
    entries = {
        "Type": "/Catalog",
        "Pages": f"{tree} 0 R",
        "Metadata": f"{write_metadata(file, facts, creator, archival=archival)} 0 R",
        "OutputIntents": f"[{write_intent(file)} 0 R]",
        "ViewerPreferences": "<< /DisplayDocTitle true >>",
        "PageLabels": _labels(so_far.labels),
    }
    if so_far.languages:
        entries["Lang"] = text(so_far.languages.most_common(1)[0][0])
    if bookmarks:
        entries |= {"Outlines": f"{write_outline(file, bookmarks)} 0 R", "PageMode": "/UseOutlines"}
    file.finish(file.add(dictionary(entries)), write_information(file, facts, creator))
    for why in sorted(so_far.not_archival):
        of_all = "PDF/A-2b", f"a picture does not allow it: {why}; it is a PDF like any other"
        so_far.losses[of_all] = so_far.spread[of_all] = 1
    losses = [
        {"what": loss[0], "why": loss[1], "count": count, "pages": so_far.spread[loss]}
        for loss, count in so_far.losses.items()
    ]
    return losses, join_made(so_far.made)


def _write_page(
    engine: Engine,
    library: Library,
    page_id: str,
    file: PdfFile,
    font: InvisibleFont,
    written: _FileSoFar,
    tree: int,
) -> None:
    with library.db.read() as conn:
        # A page may have been deleted since the unit was assembled: the step that did so has this file written again.
        query = select(documents.c.name, documents.c.page_label).where(documents.c.id == page_id)
        row = conn.execute(query).first()
        if row is None:
            return
        try:
            picture, original = _picture_of(library, conn, page_id)
        except ServiceError:
            written.losses["pages", "they have no picture, on which their text would stand"] += 1
            return
        page, losses = page_to_place(engine, library, conn, page_id)
        if page is not None:
            written.statements |= {
                statement.sentence: None for statement in statements_about(engine, conn, page_id)
            }
    with still_image(library, picture) as path:
        placed = place_picture(file, picture._replace(path=path), original)
    words = _words(page, placed, written) if page is not None else ()
    written.losses.update({(loss.what, loss.why): loss.count for loss in losses})
    layer = text_layer(words, font)
    matrix = " ".join(number(value) for value in placed.matrix())
    contents = file.stream(f"q {matrix} cm /P Do Q\n{layer}".encode(), {})
    width, height = (number(value) for value in placed.points)
    resources = f"<< /XObject << /P {placed.number} 0 R >> /Font {font.resources()} >>"
    own = file.add(
        f"<< /Type /Page /Parent {tree} 0 R /MediaBox [0 0 {width} {height}] /Contents {contents} 0 R"
        f" /Resources {resources} >>"
    )
    written.kids.append(own)
    written.ids.append(page_id)
    written.labels.append(row.page_label or row.name)
    if placed.why_not_archival:
        written.not_archival.add(placed.why_not_archival)
    if page is not None:
        written.made.append(sum_makers(page.makers()))
        if page.language:
            written.languages[page.language] += 1


def _picture_of(
    library: Library, conn: Connection, page_id: str
) -> tuple[PageImage, tuple[Any, str, int] | None]:
    """Return the picture of a page, and its file as stored where that is a JPEG which is only turned."""
    row = primary_row(conn, page_id)
    if row.exif_orientation != 1 and row.mime_type == "image/jpeg":
        stored = library.objects.path(row.checksum)
        library.objects.size(row.checksum)
        picture = PageImage(
            stored, row.pixel_width, row.pixel_height, row.rendition_id, row.mime_type, row.checksum
        )
        return picture, (stored, row.mime_type, row.exif_orientation)
    return page_image(library, conn, page_id), None


def _words(page: PageModel, placed: PlacedPicture, so_far: _FileSoFar) -> Iterator[tuple[str, Sequence[XY]]]:
    """Yield the words of a page in reading order, their corners in points from its lower left corner."""
    if not page.width or not page.height:
        # Nothing of it was measured on a picture.
        if lines := len(page.of_kind("line")):
            so_far.losses["lines", "they have no place on the page"] += lines
        return
    across, down = placed.points[0] / page.width, placed.points[1] / page.height
    height = placed.points[1]
    words, unplaced = words_of_page(page)
    estimates = sum(word.is_estimate for word in words)
    for what, why, count in (
        ("places of words", "nothing says where they stand; each has its share of its line", estimates),
        ("lines", "they have no place on the page", unplaced),
    ):
        if count:
            so_far.losses[what, why] += count
    for word in words:
        yield word.text, [(x * across, height - y * down) for x, y in word.corners]


def _facts(conn: Connection, unit: Unit, so_far: _FileSoFar) -> dict[str, str]:
    """Return what is said of the file: its title, what its document's description has, who made the text, and what families state of
    it as a whole.
    """
    document = documents.c
    metadata = conn.execute(select(document.source_metadata).where(document.id == unit.id)).scalar() or {}
    facts = {"format": "application/pdf", "title": unit.title}
    for name in _CORE:
        value = metadata.get(name)
        if isinstance(value, str | int) and str(value).strip():
            facts[name] = str(value)
        elif isinstance(value, list) and value:
            facts[name] = "; ".join(str(part) for part in value)
    if shelfmark := metadata.get("shelfmark"):
        facts.setdefault("identifier", str(shelfmark))
    sentences = [facts["description"]] if "description" in facts else []
    if makers := join_made(so_far.made):
        counted = ", ".join(f"{maker['lines']} {maker['words']}" for maker in makers)
        sentences.append(f"Text of {sum(maker['lines'] for maker in makers)} lines: {counted}.")
    if sentences := [*sentences, *so_far.statements]:
        facts["description"] = " ".join(sentences)
    return facts


def _bookmarks(conn: Connection, unit: Unit, so_far: _FileSoFar) -> list[Bookmark]:
    """Return the tree of the unit: folders and documents, and below them their pages; none for a single page."""
    if len(so_far.ids) < 2:
        return []
    nodes = nodes_above(conn, so_far.ids, unit.id)
    top: list[Bookmark] = []
    levels: dict[str, list[Bookmark]] = {unit.id: top}

    def level_of(identity: str | None, page: int) -> list[Bookmark]:
        if identity is None or identity not in nodes:
            return top
        if identity not in levels:
            name, parent = nodes[identity]
            folder = Bookmark(name, page)
            level_of(parent, page).append(folder)
            levels[identity] = folder.below
        return levels[identity]

    for page_id, page, label in zip(so_far.ids, so_far.kids, so_far.labels, strict=True):
        level_of(nodes[page_id][1] if page_id != unit.id else None, page).append(Bookmark(label, page))
    return top


def _labels(labels: Sequence[str]) -> str:
    """Return what viewers show in place of page numbers."""
    return f"<< /Nums [{' '.join(f'{at} << /P {text(label)} >>' for at, label in enumerate(labels))}] >>"
