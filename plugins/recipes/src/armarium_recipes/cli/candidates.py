"""`armarium candidates`: the ranked candidates for a step of the recipe, why others are refused, and the
choice of one.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from armarium_cli.api import Commands, Session, Topic, answer, legible, project_session, table

commands = Commands(Topic.work)

SHOWN = 20
"""The most refused candidates that are shown; --json contains all."""


@commands.example("candidates read")
def candidates(
    step: Annotated[str, "A step of the recipe; armarium plan lists them."],
    use: Annotated[
        str | None, "--use CARD: Use this one, named by its place in the table or its card."
    ] = None,
    online: Annotated[bool, "Also look in a public repository of line readers and on a model hub."] = False,
) -> None:
    """Show the candidates for a step of the recipe, the best by the rules first, and why others are refused;
    or use one of them.
    """
    with project_session() as session:
        listing = session.get("/api/recipes/candidates", step=step, online=str(online).lower())
        used = None if use is None else _use(session, step, use, listing["items"])
    more = {} if used is None else {"used": used}

    def words() -> None:
        if used is None:
            show_candidates(step, listing)
        else:
            typer.echo(f"The step {step} now works with {used}. See what would run: armarium plan")

    answer({**listing, **more}, words)


def _use(session: Session, step: str, name: str, items: list[dict[str, Any]]) -> str:
    card = items[int(name) - 1]["id"] if name.isdecimal() and 1 <= int(name) <= len(items) else name
    session.post("/api/recipes/project/steps/use-candidate", {"step": step, "card": card})
    return str(card)


def show_candidates(step: str, listing: dict[str, Any]) -> None:
    """Show the candidates the rules accept, then those they refuse, with the reasons, and the state of each source."""
    # Refused candidates come last, so a place in the table is the same place in the answer.
    usable = [item for item in listing["items"] if item["refused"] is None or item["chosen"]]
    rows = []
    for number, item in enumerate(usable, 1):
        chosen, availability = "chosen" if item["chosen"] else "", legible(item["availability_words"])
        rows.append([number, item["id"], item["name"], _cer(item), chosen, availability])
    if usable:
        table(f"Candidates for {step}", ["", "card", "model", "CER", "", "where"], rows)
    else:
        typer.echo(
            f"Nothing here does {step} yet. Download a model with armarium action model.download, "
            "or set up a provider of models with armarium action provider.create."
        )
    refused = [item for item in listing["items"] if item["refused"] is not None and not item["chosen"]]
    for item in refused[:SHOWN]:
        typer.echo(f"  refused: {item['id']}: {legible(item['refused']['reason'])}")
    if len(refused) > SHOWN:
        typer.echo(f"  and {len(refused) - SHOWN} more; --json names them all.")
    for source in listing["sources"]:
        typer.echo(f"{source['source']}: {legible(source['detail'])}")
    if usable:
        typer.echo(f"Use one: armarium candidates {step} --use 1")


def _cer(card: dict[str, Any]) -> str:
    """Return the error rate measured here, otherwise the published one."""
    rate = card["cer_published"] if card["cer_measured_here"] is None else card["cer_measured_here"]
    return "unmeasured" if rate is None else f"{rate:.1%}"
