"""Commands of the source model: print the text of pages and correct a line."""

from __future__ import annotations

from typing import Annotated

import typer

from armarium.commandline import Scope, answer, id_of, pages_of, project_session


def commands() -> typer.Typer:
    """The commands."""
    program = typer.Typer()
    program.command()(text)
    program.command()(correct)
    return program


def text(
    ids: Scope = None,
    furniture: Annotated[bool, typer.Option(help="Running heads and folio numbers too.")] = False,
    with_ids: Annotated[
        bool, typer.Option("--ids", help="Each line after its id, as correct takes it.")
    ] = False,
) -> None:
    """Print the text of pages, worked out from the readings that count."""
    with project_session() as session:
        pages = pages_of(session, ids or [])
        found = [
            {
                "name": page["name"],
                **session.get(
                    f"/api/segments/document/{page['id']}/text", include_furniture=furniture or None
                ),
            }
            for page in pages
        ]

    def words() -> None:
        for page in found:
            if len(found) > 1:
                typer.echo(f"── {page['name']}")
            if not with_ids:
                typer.echo(page["text"])
                continue
            for span in page["spans"]:
                typer.echo(f"{span['segment_id']}  {page['text'][span['char_start'] : span['char_end']]}")

    answer({"items": found, "count": len(found)}, words)


def correct(
    segment: Annotated[str, typer.Argument(help="Id of the line (armarium text --ids shows them).")],
    words: Annotated[str, typer.Argument(help="What the line says.")],
    expect: Annotated[
        str | None, typer.Option(help="Id of the reading you saw; refused when another counts now.")
    ] = None,
) -> None:
    """Correct a line as a person; the earlier reading stays beside it."""
    body = {"text": words, **({"expected_counting_id": expect} if expect else {})}
    with project_session() as session:
        written = session.post(f"/api/segments/{id_of(segment)}/correct", body)
    answer(written, f"Corrected. Take it back with: armarium undo {written['audit_id']}")
