"""Commands of formats: write pages to files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from armarium.commandline import (
    ID,
    Refused,
    Scope,
    answer,
    full_path,
    pages_of,
    plural,
    project_session,
    write_exports,
)


def commands() -> typer.Typer:
    """The commands."""
    program = typer.Typer()
    program.command()(export)
    return program


def export(
    ids: Scope = None,
    format_name: Annotated[str, typer.Option("--format", "-f", help="pagexml or plain-text.")] = "pagexml",
    out: Annotated[str, typer.Option("--out", "-o", help="The folder to write to.")] = ".",
    overwrite: Annotated[bool, typer.Option(help="Write over files that are there.")] = False,
) -> None:
    """Write pages to files, one a page."""
    folder = Path(full_path(out))
    if folder.exists() and not folder.is_dir():
        raise Refused(f"{folder} is a file; --out names a folder.")
    if ID.fullmatch(format_name) is None:
        raise Refused(f"There is no format {format_name!r}; armarium plugins lists those there are.")
    with project_session() as session:
        pages = pages_of(session, ids or [])
        if not pages:
            raise Refused("There is no page to export; bring some in with armarium import FOLDER.")
        written = write_exports(session, pages, format_name, folder, overwrite=overwrite)
    answer({"files": written, "count": len(written)}, f"Wrote {plural(len(written), 'file')} to {folder}.")
