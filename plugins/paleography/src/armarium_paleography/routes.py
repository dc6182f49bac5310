"""Routes that answer with files: sheets, and the bundled fonts."""

from __future__ import annotations

from typing import Any

from fastapi import Response

from armarium.api import REFUSALS, CurrentLibrary, CurrentPrincipal, Router, bundled_fonts
from armarium_paleography.errors import unknown_font
from armarium_paleography.queries.letterforms import Character
from armarium_paleography.queries.sheets import (
    MOST,
    USUAL,
    Height,
    Limit,
    Offset,
    Sheet,
    sheet_of_hand,
    sheet_of_letters,
    sheet_of_sign,
)
from armarium_paleography.records.likeness import Fonts

router = Router(prefix="/api", tags=["paleography"])

PNG: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {"image/png": {}},
        "description": "The sheet. X-Service-Shown and X-Service-Left-Out count its pictures.",
    }
}
FONT: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {"font/ttf": {}, "font/otf": {}, "text/plain": {}},
        "description": "The font, or its licence.",
    }
}


def _answer(sheet: Sheet) -> Response:
    counts = {
        "X-Service-Shown": str(sheet.shown),
        "X-Service-Left-Out": str(sheet.left_out),
    }
    return Response(sheet.png, media_type="image/png", headers=counts)


@router.get(
    "/hands/{hand_id}/sheet",
    summary="Everything in one hand, side by side",
    response_class=Response,
    responses={**REFUSALS(404), **PNG},
)
def read_hand_sheet(
    library: CurrentLibrary, hand_id: str, height: Height = USUAL, limit: Limit = MOST, offset: Offset = 0
) -> Response:
    """A PNG: the pictures straightened and scaled to one height, each with the name of its page. Changes
    nothing.
    """
    with library.db.read() as conn:
        return _answer(sheet_of_hand(library, conn, hand_id, height=height, limit=limit, offset=offset))


@router.get(
    "/signs/{sign_id}/sheet",
    summary="The picture of a sign and its instances, side by side",
    response_class=Response,
    responses={**REFUSALS(404), **PNG},
)
def read_sign_sheet(
    library: CurrentLibrary, sign_id: str, height: Height = USUAL, limit: Limit = MOST, offset: Offset = 0
) -> Response:
    """A PNG, like that of a hand."""
    with library.db.read() as conn:
        return _answer(sheet_of_sign(library, conn, sign_id, height=height, limit=limit, offset=offset))


@router.get(
    "/letterforms/sheet",
    summary="Every mark of a character, an allograph or a hand, side by side",
    response_class=Response,
    responses={**REFUSALS(404), **PNG},
)
def read_letter_sheet(
    library: CurrentLibrary,
    character: Character = None,
    allograph_id: str | None = None,
    hand_id: str | None = None,
    height: Height = USUAL,
    limit: Limit = MOST,
    offset: Offset = 0,
) -> Response:
    """A PNG, like that of a hand; 422 if none of the three is named."""
    filters = {"character": character, "allograph_id": allograph_id, "hand_id": hand_id}
    with library.db.read() as conn:
        return _answer(sheet_of_letters(library, conn, **filters, height=height, limit=limit, offset=offset))


@router.get(
    "/fonts", summary="The bundled fonts, in fallback order", response_model=Fonts, responses=REFUSALS()
)
def list_fonts(principal: CurrentPrincipal) -> dict[str, Any]:
    """Those whose packages are installed. The list is the same for every project."""
    columns = ("name", "family", "scripts", "file", "licence", "licence_file", "order")
    items = [{name: getattr(font, name) for name in columns} for font in bundled_fonts()]
    return {"items": items, "count": len(items)}


@router.get(
    "/fonts/{name}",
    summary="A bundled font, or its licence",
    response_class=Response,
    responses={**REFUSALS(404), **FONT},
)
def read_font(principal: CurrentPrincipal, name: str) -> Response:
    """The bytes of a font, by its name or file name; the text of a licence, by its file name."""
    for font in bundled_fonts():
        if name in (font.name, font.file):
            return Response(font.path.read_bytes(), media_type=f"font/{font.path.suffix[1:]}")
        if name == font.licence_file:
            return Response(font.licence_text, media_type="text/plain; charset=utf-8")
    raise unknown_font(name)
