"""`armarium candidates`: who could do a step of the recipe, ranked, with why the others cannot; and the choice of one."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from armarium.commandline import Session, answer, legible, project_session, table

SHOWN = 20
"""Refused candidates that are named; --json has all."""


def candidates(
    step: Annotated[str, typer.Argument(help="A step of the recipe; armarium plan names them.")],
    use: Annotated[
        str | None,
        typer.Option(metavar="CARD", help="Take this one, by its place in the table or its card."),
    ] = None,
    online: Annotated[
        bool,
        typer.Option("--online", help="Also look in a public repository of line readers and on a model hub."),
    ] = False,
) -> None:
    """Show who could do a step of the recipe, the best by the rules first, and why others cannot; or take one of them."""
    with project_session() as session:
        found = session.get("/api/recipes/candidates", step=step, online=str(online).lower())
        used = None if use is None else _use(session, step, use, found["items"])
    more = {} if used is None else {"used": used}

    def words() -> None:
        if used is None:
            show_candidates(step, found)
        else:
            typer.echo(f"The step {step} works with {used} now. Look at what would run: armarium plan")

    answer({**found, **more}, words)


def _use(session: Session, step: str, named: str, items: list[dict[str, Any]]) -> str:
    card = items[int(named) - 1]["id"] if named.isdecimal() and 1 <= int(named) <= len(items) else named
    session.post("/api/recipes/project/steps/use-candidate", {"step": step, "card": card})
    return str(card)


def show_candidates(step: str, found: dict[str, Any]) -> None:
    """Those that the rules would take, then those they refuse, each with why, and what each source did."""
    # The refused stand last, so a place in the table is a place in the answer.
    taken = [one for one in found["items"] if one["refused"] is None or one["chosen"]]
    rows = [
        [
            number,
            one["id"],
            one["name"],
            _cer(one),
            "chosen" if one["chosen"] else "",
            legible(one["availability_words"]),
        ]
        for number, one in enumerate(taken, 1)
    ]
    if taken:
        table(f"Candidates for {step}", ["", "card", "model", "CER", "", "where"], rows)
    else:
        typer.echo(
            f"Nothing here does {step} yet. Models are fetched with armarium action model.download, and providers of models "
            "are set up with armarium action provider.create."
        )
    refused = [one for one in found["items"] if one["refused"] is not None and not one["chosen"]]
    for one in refused[:SHOWN]:
        typer.echo(f"  refused: {one['id']}: {legible(one['refused']['reason'])}")
    if len(refused) > SHOWN:
        typer.echo(f"  and {len(refused) - SHOWN} more; --json names them all.")
    for source in found["sources"]:
        typer.echo(f"{source['source']}: {legible(source['detail'])}")
    if taken:
        typer.echo(f"Take one: armarium candidates {step} --use 1")


def _cer(card: dict[str, Any]) -> str:
    """The error rate that was measured here, else the published one."""
    rate = card["cer_published"] if card["cer_measured_here"] is None else card["cer_measured_here"]
    return "?" if rate is None else f"{rate:.1%}"
