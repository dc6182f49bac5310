"""One PDF of a document, a folder or the project, at a place on this machine."""

from __future__ import annotations

from typing import Any

from armarium.api import Engine, Library, Principal
from armarium_documents.api import pages_under
from armarium_exports.errors import nothing_to_export, wrong_ending
from armarium_exports.pages import Unit, split_with_text, units_of
from armarium_exports.places import file_place, whole_file
from armarium_exports.records import PdfParams
from armarium_exports.selection import select_documents


def write_pdf_file(engine: Engine, library: Library, principal: Principal, p: PdfParams) -> dict[str, Any]:
    """Write the pages at *target_id* and below it, in reading order. Raises what `write_pdf` does."""
    from armarium_exports.rendering.pdf.document import write_pdf

    place = p.output_path.real
    if place.suffix.lower() != ".pdf":
        raise wrong_ending(str(place), ".pdf")
    file_place(place, overwrite=p.overwrite)
    with library.db.read() as conn:
        selection = select_documents(library, conn, principal, p.target_id)
        scope = None if p.target_id is None else [p.target_id]
        units = units_of(conn, "folder", scope)
        pages = pages_under(conn, [unit.id for unit in units])
        split = split_with_text(conn, pages, selection.withheld)
    exported = tuple(page for page in pages if page in selection.ids)
    if not exported:
        raise nothing_to_export()
    unit = Unit(p.target_id or "", units[0].title if p.target_id else library.name, exported)
    with whole_file(place) as file:
        losses, makers = write_pdf(engine, library, unit, file)
        size = file.tell()
    lost = sum(loss["count"] for loss in losses if loss["what"] == "pages")
    return {
        "output_path": str(place),
        "withheld": selection.omissions,
        "pages": len(exported) - lost,
        "bytes_written": size,
        "made": makers,
        "losses": losses,
        "left_out": split,
    }
