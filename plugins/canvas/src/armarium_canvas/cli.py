"""The command of the canvas: the picture of it, in a file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from armarium.commandline import Topic, answer, place_for, project_session, write_file
from armarium_documents.commandline import document_id


def commands() -> typer.Typer:
    """The command."""
    program = typer.Typer()
    program.command(rich_help_panel=Topic.files, epilog="Example: armarium canvas Sources --out canvas.png")(
        canvas
    )
    # Without this, typer would make the one command the whole program.
    program.callback()(lambda: None)
    return program


def canvas(
    folder: Annotated[str, typer.Argument(help="The folder by name, path or id (armarium ls shows them).")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The file; left out: NAME-canvas.png, here.")
    ] = None,
    size: Annotated[int, typer.Option(help="Pixels of the longest side, 256 to 4096.")] = 1600,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Write over a file that is there.")] = False,
) -> None:
    """Draw the canvas of a folder, its cards, notes and links where they lie, into a PNG file."""
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
