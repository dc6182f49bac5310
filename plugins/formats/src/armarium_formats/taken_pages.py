"""Lets families take what the reader of a format kept of a page beyond the page model."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from armarium_formats.hookspecs import armarium_formats_take_page
from armarium_formats.opening import Size
from armarium_formats.page_model import PageModel
from armarium_formats.turning import turn_point

if TYPE_CHECKING:
    from armarium.api import ActionContext


class TakenPage(NamedTuple):
    """An imported page for `armarium_formats_take_page`: its pass, and what its reader kept of the file."""

    document_id: str
    pass_id: str
    rendition_id: str | None
    model: PageModel
    size: Size
    """Of the picture as displayed, in pixels."""
    orientation: int = 1

    def fraction(self, x: float, y: float) -> tuple[float, float] | None:
        """Return where a pixel of the stored picture is on the page, in fractions; None for one beyond it."""
        width, height = self.size
        stored = (height, width) if self.orientation >= 5 else self.size
        x, y = turn_point((x, y), stored, self.orientation)
        at = x / width, y / height
        return at if 0 <= at[0] <= 1 and 0 <= at[1] <= 1 else None


def take_page(ctx: ActionContext, format_name: str, page: TakenPage) -> list[str]:
    """Let the families that know a format take what its reader kept; return the notes that this adds."""
    return [
        note
        for notes in ctx.engine.points.ask(armarium_formats_take_page, ctx, format_name, page)
        for note in notes
    ]
