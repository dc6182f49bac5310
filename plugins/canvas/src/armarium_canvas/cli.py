"""The command of the canvas: draws it into a file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from armarium.commandline import Topic, answer, place_for, project_session, write_file
from armarium_documents.commandline import document_id


def commands() -> typer.Typer:
    """Return the command."""
    program = typer.Typer()
    program.command(rich_help_panel=Topic.files, epilog="Example: armarium canvas Sources --out canvas.png")(
        canvas
    )
    # Without this, typer would make the single command the whole program.
    program.callback()(lambda: None)
    return program


def canvas(
    folder: Annotated[str, typer.Argument(help="The folder by name, path or id (armarium ls shows them).")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The file; default: NAME-canvas.png in the current folder."),
    ] = None,
    size: Annotated[int, typer.Option(help="Pixels of the longest side, 256 to 4096.")] = 1600,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Overwrite an existing file.")] = False,
) -> None:
    """Draw the canvas of a folder, with its cards, notes and links, into a PNG file."""
    with project_session() as session:
        identity = document_id(session, folder)
        name = session.get(f"/api/documents/{identity}")["name"]
        place = out or Path(re.sub(r'[/\\:*?"<>|\0]', "_", name)[:100] + "-canvas.png")
        place_for(place, overwrite=overwrite)
        picture = session.raw(
            "GET", f"/api/canvas/folders/{identity}/canvas-picture", query={"max_size": size}
        )
    write_file(place, picture, overwrite=overwrite)
    answer(
        {"path": str(place), "folder_id": identity, "size_bytes": len(picture)}, f"Drew {name} into {place}."
    )
