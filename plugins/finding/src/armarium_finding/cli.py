"""The command of finding: which pages make documents, with a contact sheet of boundaries and reasons."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from armarium.commandline import (
    Refused,
    Topic,
    answer,
    follow_job,
    place_for,
    plural,
    project_session,
    result_of,
    write_file,
)
from armarium_documents.commandline import document_id, document_names

MOST_ON_A_SHEET = 240
"""How many pages the engine draws on one sheet; the next sheet begins with the next document."""


def commands() -> typer.Typer:
    """Return the command."""
    program = typer.Typer()
    program.command(
        "find-documents",
        rich_help_panel=Topic.pages,
        epilog="Example: armarium find-documents Box7 --sheet box7.png",
    )(find_documents)
    # Without this, typer would make the one command the whole program.
    program.callback()(lambda: None)
    return program


def find_documents(
    folder: Annotated[
        str, typer.Argument(help="The folder by name, path or id.", autocompletion=document_names)
    ],
    sheet: Annotated[
        Path | None, typer.Option("--sheet", help="Draw documents, pages and reasons into this PNG file.")
    ] = None,
    accept_above: Annotated[
        float | None,
        typer.Option(help="Accept documents with at least this confidence of the rules, 0 to 1."),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again/--last", help="Find again, or show what was found last.")
    ] = True,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Overwrite an existing file.")] = False,
) -> None:
    """Find which pages of a folder make documents; nothing is moved unless you accept it."""
    with project_session() as session:
        if sheet is not None:
            place_for(sheet, overwrite=overwrite)
        identity = document_id(session, folder)
        if again:
            params: dict[str, Any] = {"scope_ids": [identity]}
            if accept_above is not None:
                params["accept_above"] = accept_above
            job_id = session.act("finddocs.run", params)["result"]["job_id"]
            follow_job(session, job_id, "Find documents")
            made = result_of(session, job_id)["proposal_ids"]
            told = session.get(f"/api/find-documents/runs/{job_id}")["words"]
        else:
            listed = session.get("/api/find-documents/proposals", folder_id=identity)["items"]
            made = [one["id"] for one in listed[:1]]
            told = "Nothing was proposed for it yet."
        if not made:
            raise Refused(f"There is no proposal. {told}")
        drawn: list[str] = []
        proposals: list[dict[str, Any]] = []
        for proposal_id in made:
            path = f"/api/find-documents/proposals/{proposal_id}"
            proposal = session.get(path)
            proposals.append(proposal)
            if sheet is not None:
                for first in _sheets(proposal):
                    place = _place(sheet, len(drawn))
                    picture = session.raw("GET", f"{path}/sheet", query={"first": first})
                    write_file(place, picture, overwrite=overwrite)
                    drawn.append(str(place))

    def words() -> None:
        for proposal in proposals:
            pages, found = len(proposal["page_ids"]), proposal["documents"]
            typer.echo(
                f"Found {plural(len(found), 'document')} in {plural(pages, 'page')} ({proposal['method']})."
            )
            for one in found:
                mark = "" if one["state"] == "proposed" else f", {one['state']}"
                count = plural(len(one["page_ids"]), "page")
                sure = "" if one["confidence"] is None else f", {one['confidence']:.0%} sure"
                typer.echo(f"  {one['index']}. {one['name']}: {count}{sure}{mark}")
                typer.echo(f"     {' '.join(one['reasons'])}")
            typer.echo(f"Proposal {proposal['id']}")
        for place in drawn:
            typer.echo(f"Drew {place}.")

    answer({"proposals": proposals, "sheets": drawn}, words)


def _sheets(proposal: dict[str, Any]) -> list[int]:
    """Return the first document of each sheet, as the engine divides them."""
    starts, pages = [0], 0
    for one in proposal["documents"]:
        pages += len(one["page_ids"])
        if pages > MOST_ON_A_SHEET and pages > len(one["page_ids"]):
            starts.append(one["index"])
            pages = len(one["page_ids"])
    return starts


def _place(sheet: Path, number: int) -> Path:
    """Return the file of a sheet: the given one, then the same with -2, -3 and so on."""
    return sheet if number == 0 else sheet.with_name(f"{sheet.stem}-{number + 1}{sheet.suffix}")
