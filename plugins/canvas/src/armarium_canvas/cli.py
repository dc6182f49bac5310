"""The command of the canvas: draws it into a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from armarium_cli.api import Commands, Topic, answer, in_words
from armarium_documents.commandline import save_drawing

commands = Commands(Topic.files)


@commands.example("canvas Sources --out canvas.png")
def canvas(
    folder: Annotated[str, "The folder by name, path or id (armarium ls shows them)."],
    out: Annotated[
        Path | None, "--out, -o: The file; default: NAME-canvas.png in the current folder."
    ] = None,
    size: Annotated[int, "Pixels of the longest side, 256 to 4096."] = 1600,
    overwrite: Annotated[bool, "Overwrite an existing file."] = False,
) -> None:
    """Draw the canvas of a folder, with its cards, notes and links, into a PNG file."""
    saved = save_drawing(
        folder,
        "/api/canvas/folders/{id}/canvas-picture",
        "-canvas.png",
        out,
        overwrite=overwrite,
        query={"max_size": size},
    )
    answer({**saved, "folder_id": saved["document_id"]}, in_words("Drew {name} into {path}.", saved))
