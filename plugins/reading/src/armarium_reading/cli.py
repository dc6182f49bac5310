"""Commands of reading: find the lines of pages and read them."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from armarium.commandline import (
    Scope,
    answer,
    finished,
    name_each,
    pages_of,
    plural,
    project_session,
    result_of,
    scope_of,
)

NAMED = 20
"""Pages that are looked at for text of theirs that the new lines hide."""


def commands() -> typer.Typer:
    """The commands."""
    program = typer.Typer()
    program.command()(lines)
    program.command()(read)
    return program


def lines(
    ids: Scope = None,
    reader: Annotated[
        str, typer.Option(help="Which reader finds them (armarium plugins lists them).")
    ] = "rapidocr",
) -> None:
    """Find the lines of pages; each page gets a new pass."""
    with project_session() as session:
        started = session.act("reading.find_lines", {"scope_ids": scope_of(session, ids), "reader": reader})
        job_id = started["result"]["job_id"]
        finished(session, job_id, "Find lines")
        outcome = result_of(session, job_id)
        pages = pages_of(session, ids or [])[:NAMED]
        notices = [
            (page["name"], session.get(f"/api/segments/document/{page['id']}/text")["notice"])
            for page in pages
        ]

    def words() -> None:
        _read_words("Found lines on", outcome)
        for name, notice in notices:
            if notice:
                typer.echo(f"  {name}: {notice}", err=True)

    answer({"job_id": job_id, **outcome}, words)


def read(
    ids: Scope = None,
    reader: Annotated[str, typer.Option(help="Which reader reads.")] = "rapidocr",
    language: Annotated[str | None, typer.Option(help="BCP 47, where the reader can use it.")] = None,
    model: Annotated[str | None, typer.Option(help="A model file, for readers that need one.")] = None,
) -> None:
    """Read the lines of pages."""
    with project_session() as session:
        params: dict[str, Any] = {"scope_ids": scope_of(session, ids), "reader": reader}
        params |= {k: v for k, v in (("language", language), ("model", model)) if v}
        started = session.act("reading.read_lines", params)
        job_id = started["result"]["job_id"]
        finished(session, job_id, "Read")
        outcome = result_of(session, job_id)
    answer({"job_id": job_id, **outcome}, lambda: _read_words("Read", outcome))


def _read_words(verb: str, outcome: dict[str, Any]) -> None:
    pages, found = plural(int(outcome.get("pages", 0)), "page"), plural(int(outcome.get("lines", 0)), "line")
    typer.echo(f"{verb} {pages}, {found}.")
    skipped = int(outcome.get("skipped", 0))
    if skipped:
        typer.echo(f"  {plural(skipped, 'page')} skipped: no lines there; armarium lines finds them.")
    name_each(
        "not done", outcome, "failed", lambda one: f"{one.get('name') or one['document_id']}: {one['why']}"
    )
