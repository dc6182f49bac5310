"""A page for formats that set its text on its picture: the pass it is read by, in pixels of that picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Connection

from armarium_formats.assembling import assemble_provisional
from armarium_formats.driver import Loss, as_losses
from armarium_formats.page_model import PageModel
from armarium_formats.queries.exchange import page_of_pass, picture_of
from armarium_source_model.api import is_provisional, provisional_pass, reading_rule, working_pass

if TYPE_CHECKING:
    from armarium.api import Engine, Library


def page_to_place(
    engine: Engine, library: Library, conn: Connection, document_id: str
) -> tuple[PageModel | None, list[Loss]]:
    """Return the page as it is read, with what of it has no counterpart in words on a picture; None if it has no pass."""
    pass_id, _ = working_pass(conn, document_id, reading_rule(conn))
    if pass_id is None:
        return None, []
    if is_provisional(pass_id):
        old = provisional_pass(library, conn, document_id, pass_id)
        size = picture_of(conn, document_id).size or (0, 0)
        assembled = assemble_provisional(conn, document_id, old, kind="transcription", size=size)
    else:
        assembled, measured = page_of_pass(conn, document_id, pass_id, engine=engine)
        if measured is None:
            assembled.page.width = assembled.page.height = 0
    page = assembled.page
    others = sum(max(0, len(segment.texts) - 1) for segment in page.walk())
    why = "only the text that counts stands behind the picture"
    return page, [*assembled.losses, *as_losses({("alternative readings", why): others})]
