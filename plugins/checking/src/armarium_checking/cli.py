"""The command of checking: lists disputed lines, each with a picture cut from its page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from armarium.commandline import (
    Commands,
    Session,
    Topic,
    answer,
    carry_out,
    file_name,
    plural,
    project_session,
    write_file,
)
from armarium_documents.commandline import Scope, scope_of

commands = Commands(Topic.lines)

MOST_LISTED = 1_000
"""How many disputed lines are listed; the verdicts contain all of them."""

DISPUTED = ("correct", "reject")


@commands.example("check Letters --out disputed")
def check(
    ids: Scope = None,
    out: Annotated[Path | None, "--out, -o: A folder for the pictures of the disputed lines."] = None,
    model: Annotated[str | None, "--of: Check the newest pass of this model or reader."] = None,
) -> None:
    """Check readings without a model: list the disputed lines, with the reasons."""
    with project_session() as session:
        params: dict[str, Any] = {"layer": "readings", "scope_ids": scope_of(session, ids)}
        params["checker"] = {"provider": "builtin", "model": "agreement"}
        if model is not None:
            params["pass_model"] = model
        outcome = carry_out(session, "check.run", params, "Check")
        listed = session.get("/api/check/verdicts", run_id=outcome["job_id"], limit=MOST_LISTED)["items"]
        disputed = [one for one in listed if one["verdict"] in DISPUTED]
        for one in disputed:
            one["text"] = text_of(session, one)
            one["picture"] = None if out is None else picture_of(session, one, out)

    def words() -> None:
        typer.echo(f"Checked {plural(outcome['total'], 'line')}: {outcome['confirm']} confirmed, {len(disputed)} "
            f"disputed, {outcome['unanswered']} without evidence either way.")  # fmt: skip
        for one in disputed:
            typer.echo(f"  {one['text']}")
            if one["correction"] is not None:
                typer.echo(f"    suggested: {one['correction']}")
            typer.echo(f"    {one['reasons']}" + (f" ({one['picture']})" if one["picture"] else ""))

    answer({**outcome, "disputed": disputed}, words)


def text_of(session: Session, verdict: dict[str, Any]) -> str:
    """Return the reading that was checked."""
    items = session.get(f"/api/segments/{verdict['segment_id']}/readings")["items"]
    return next((one["content"] or "" for one in items if one["id"] == verdict["target_id"]), "")


def picture_of(session: Session, verdict: dict[str, Any], folder: Path) -> str | None:
    """Write the line's picture to a file in *folder*; return the file."""
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / file_name(f"{verdict['verdict']}-{verdict['segment_id']}.png")
    write_file(place, session.raw("GET", f"/api/segments/{verdict['segment_id']}/picture"), overwrite=True)
    return str(place)
