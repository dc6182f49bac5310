"""Commands that draw hands and letters side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from armarium_cli.api import (
    Commands,
    Refused,
    Session,
    Topic,
    answer,
    find_named,
    plural,
    project_session,
    write_file,
)

commands = Commands(Topic.lines)

Out = Annotated[Path | None, "--sheet: Draw the pictures side by side into this PNG file."]
Overwrite = Annotated[bool, "Replace the file if it exists."]
HAND = ("id", "label")
NO_HAND = "No hand is described yet: armarium action hand.create --label NAME describes one."
Height = Annotated[int, typer.Option("--height", help="Height of each picture in pixels.", min=16, max=256)]


@commands.example('hands "Hand A" --sheet hand-a.png')
def hands(
    hand: Annotated[str | None, "HAND: A hand's label or id; default: list all hands."] = None,
    sheet: Out = None,
    height: Height = 64,
    overwrite: Overwrite = False,
) -> None:
    """List the hands, or the attributions to one; with --sheet, draw their pictures."""
    with project_session() as session:
        listed = session.get("/api/hands")["items"]
        if hand is None:
            if sheet is not None:
                raise Refused("Name the hand whose sheet should be drawn: armarium hands HAND --sheet FILE.")
            answer(
                {"items": listed, "count": len(listed)},
                lambda: _lines([_hand_words(hand_row) for hand_row in listed] or [NO_HAND]),
            )
            return
        found_hand = find_named(listed, hand, "hand", "armarium hands", HAND)
        attributions = session.get(f"/api/hands/{found_hand['id']}/attributions")
        sheet_fields = _draw(session, f"/api/hands/{found_hand['id']}/sheet", sheet, overwrite, height=height)
        words = f"{_hand_words(found_hand)}: {plural(attributions['total'], 'attribution')}"
    answer(
        {**found_hand, "attributions": attributions["items"], **sheet_fields},
        lambda: _lines([words, *sheet_fields.values()]),
    )


@commands.example("letters g --sheet g.png")
def letters(
    character: Annotated[str | None, "CHARACTER: A character; default: list the features in use."] = None,
    hand: Annotated[str | None, "Only letterforms of this hand (label or id)."] = None,
    sheet: Out = None,
    height: Height = 64,
    overwrite: Overwrite = False,
) -> None:
    """List the described letterforms of a character, or the features in use; with --sheet, draw their pictures."""
    with project_session() as session:
        filters: dict[str, Any] = {} if character is None else {"character": character}
        if hand is not None:
            filters["hand_id"] = find_named(
                session.get("/api/hands")["items"], hand, "hand", "armarium hands", HAND
            )["id"]
        if not filters:
            if sheet is not None:
                raise Refused("Name a character or a hand: armarium letters g --sheet FILE.")
            features = session.get("/api/letterforms/features")
            lines = [
                f"{feature['count']:6}  {feature['component']}: {feature['feature']}"
                for feature in features["items"]
            ]
            answer(features, lambda: _lines(lines or ["No letterform is described yet."]))
            return
        letterforms_found = session.get("/api/letterforms", **filters)
        sheet_fields = _draw(session, "/api/letterforms/sheet", sheet, overwrite, height=height, **filters)
    answer(
        {**letterforms_found, **sheet_fields},
        lambda: _lines([plural(letterforms_found["total"], "letterform"), *sheet_fields.values()]),
    )


def _draw(session: Session, path: str, sheet: Path | None, overwrite: bool, **filters: Any) -> dict[str, str]:
    if sheet is None:
        return {}
    write_file(sheet, session.raw("GET", path, query=filters), overwrite=overwrite)
    return {"sheet": str(sheet)}


def _hand_words(hand: dict[str, Any]) -> str:
    about = ", ".join(hand[name] for name in ("scribe", "date", "place", "style") if hand[name])
    return f"{hand['label']} ({hand['id']})" + (f": {about}" if about else "")


def _lines(texts: Any) -> None:
    for text in texts:
        typer.echo(text)
