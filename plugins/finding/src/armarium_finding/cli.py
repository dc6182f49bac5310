"""The command of finding: which pages make documents, with a contact sheet of boundaries and reasons."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from armarium_cli.api import (
    Commands,
    Refused,
    Topic,
    answer,
    carry_out,
    place_for,
    plural,
    project_session,
    write_file,
)
from armarium_documents.commandline import DOCUMENT, document_id

commands = Commands(Topic.pages)

MOST_ON_A_SHEET = 240
"""How many pages the engine draws on one sheet; the next sheet begins with the next document."""


@commands.example("find-documents Box7 --sheet box7.png")
def find_documents(
    folder: Annotated[str, "The folder by name, path or id.", DOCUMENT],
    sheet: Annotated[Path | None, "Draw documents, pages and reasons into this PNG file."] = None,
    accept_above: Annotated[
        float | None, "Accept documents with at least this confidence of the rules, 0 to 1."
    ] = None,
    again: Annotated[bool, "--again/--last: Find again, or show what was found last."] = True,
    overwrite: Annotated[bool, "Overwrite an existing file."] = False,
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
            run = carry_out(session, "finddocs.run", params, "Find documents")
            proposal_ids = run["proposal_ids"]
            words_of_run = session.get(f"/api/find-documents/runs/{run['job_id']}")["words"]
        else:
            listed = session.get("/api/find-documents/proposals", folder_id=identity)["items"]
            proposal_ids = [listed_proposal["id"] for listed_proposal in listed[:1]]
            words_of_run = "Nothing was proposed for it yet."
        if not proposal_ids:
            raise Refused(f"There is no proposal. {words_of_run}")
        paths: list[str] = []
        proposals: list[dict[str, Any]] = []
        for proposal_id in proposal_ids:
            path = f"/api/find-documents/proposals/{proposal_id}"
            proposal = session.get(path)
            proposals.append(proposal)
            if sheet is not None:
                for first in _sheets(proposal):
                    place = _place(sheet, len(paths))
                    picture = session.raw("GET", f"{path}/sheet", query={"first": first})
                    write_file(place, picture, overwrite=overwrite)
                    paths.append(str(place))

    def words() -> None:
        for proposal in proposals:
            pages, documents = len(proposal["page_ids"]), proposal["documents"]
            typer.echo(
                f"Found {plural(len(documents), 'document')} in {plural(pages, 'page')} ({proposal['method']})."
            )
            for document in documents:
                mark = "" if document["state"] == "proposed" else f", {document['state']}"
                count = plural(len(document["page_ids"]), "page")
                sure = "" if document["confidence"] is None else f", {document['confidence']:.0%} sure"
                typer.echo(f"  {document['index']}. {document['name']}: {count}{sure}{mark}")
                typer.echo(f"     {' '.join(document['reasons'])}")
            typer.echo(f"Proposal {proposal['id']}")
        for place in paths:
            typer.echo(f"Drew {place}.")

    answer({"proposals": proposals, "sheets": paths}, words)


def _sheets(proposal: dict[str, Any]) -> list[int]:
    """Return the first document of each sheet, as the engine divides them."""
    starts, pages = [0], 0
    for document in proposal["documents"]:
        pages += len(document["page_ids"])
        if pages > MOST_ON_A_SHEET and pages > len(document["page_ids"]):
            starts.append(document["index"])
            pages = len(document["page_ids"])
    return starts


def _place(sheet: Path, number: int) -> Path:
    """Return the file of a sheet: the given one, then the same with -2, -3 and so on."""
    return sheet if number == 0 else sheet.with_name(f"{sheet.stem}-{number + 1}{sheet.suffix}")
