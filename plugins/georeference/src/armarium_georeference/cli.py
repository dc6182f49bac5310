"""The command of georeferencing: a page on the ground, as an HTML file that needs no network."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from armarium.commandline import Topic, answer, place_for, project_session, write_file
from armarium_documents.commandline import document_id, document_names


def commands() -> typer.Typer:
    """Return the command."""
    program = typer.Typer()
    program.command(
        "map", rich_help_panel=Topic.files, epilog="Example: armarium map Chart.jpg --out chart.html"
    )(draw_map)
    # Without this, Typer would make the only command the whole program.
    program.callback()(lambda: None)
    return program


def draw_map(
    page: Annotated[
        str, typer.Argument(help="The page: its name, path or id.", autocompletion=document_names)
    ],
    pass_id: Annotated[
        str | None,
        typer.Option("--pass", help="The id of a pass; default: the newest with a transformation."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The file to write; default: NAME-map.html in this folder."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it exists.")] = False,
) -> None:
    """Draw a page on the ground, with coastlines, its segments and the errors of its control points."""
    with project_session() as session:
        identity = document_id(session, page)
        name = session.get(f"/api/documents/{identity}")["name"]
        place = out or Path(re.sub(r'[/\\:*?"<>|\0]', "_", Path(name).stem)[:100] + "-map.html")
        place_for(place, overwrite=overwrite)
        where = f"passes/{pass_id}" if pass_id else f"documents/{identity}"
        drawn = session.raw("GET", f"/api/georeference/{where}/map")
    write_file(place, drawn, overwrite=overwrite)
    answer(
        {"path": str(place), "document_id": identity, "size_bytes": len(drawn)}, f"Drew {name} to {place}."
    )
