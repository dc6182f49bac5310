"""The command of georeferencing: a page on the ground, as an HTML file that needs no network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from armarium_cli.api import Commands, Topic, answer, in_words
from armarium_documents.commandline import DOCUMENT, save_drawing

commands = Commands(Topic.files)


@commands.example("map Chart.jpg --out chart.html")
def draw_map(
    page: Annotated[str, "The page: its name, path or id.", DOCUMENT],
    pass_id: Annotated[
        str | None, "--pass: The id of a pass; default: the newest with a transformation."
    ] = None,
    out: Annotated[
        Path | None, "--out, -o: The file to write; default: NAME-map.html in this folder."
    ] = None,
    overwrite: Annotated[bool, "Replace the file if it exists."] = False,
) -> None:
    """Draw a page on the ground, with coastlines, its segments and the errors of its control points."""
    of = f"passes/{pass_id}" if pass_id else "documents/{id}"
    saved = save_drawing(page, f"/api/georeference/{of}/map", "-map.html", out, overwrite=overwrite)
    answer(saved, in_words("Drew {name} to {path}.", saved))
