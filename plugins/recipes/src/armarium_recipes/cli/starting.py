"""`armarium plan` and `armarium start`: show what the project's recipe would run, and run it."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from armarium_cli.api import (
    Commands,
    Refused,
    Topic,
    answer,
    follow_job,
    legible,
    plural,
    project_session,
    table,
    wants_json,
)
from armarium_recipes.cli.following import show_summary
from armarium_recipes.cli.questions import at_a_terminal

commands = Commands(Topic.work)

HERE = "this-machine"


@commands.asks("plan", "GET /api/recipes/project/start", says=lambda planned: show_plan(planned))
def plan() -> None:
    """Show what Start would run, on how many pages and at what cost; and what is skipped, missing or waited
    for, with the reasons.
    """


@commands.example("start")
def start(
    redo: Annotated[
        list[str] | None, "A step to repeat on pages that have its output; may be repeated."
    ] = None,
    redo_unchecked: Annotated[
        list[str] | None,
        "A step that reads lines, to repeat on those that no person made or checked; may be repeated.",
    ] = None,
    yes: Annotated[bool, "--yes, -y: Agree that pages are sent to the providers named in the plan."] = False,
    no_wait: Annotated[bool, "Do not wait for the end."] = False,
) -> None:
    """Run the project's recipe over the pages that lack its output."""
    with project_session() as session:
        planned = session.get("/api/recipes/project/start")
        if not planned["refusals"]:
            agree(planned, yes=yes)
        # Another version may be saved while somebody reads the plan.
        recipe = session.get("/api/recipes/project")["recipe"]
        body: dict[str, Any] = {
            "redo": redo or [],
            "redo_unchecked": redo_unchecked or [],
            "recipe_version": recipe and recipe["version"],
        }
        started = session.post("/api/recipes/project/start", body)["started"]
        job_id = started["job_id"]
        if no_wait:
            answer(
                started,
                f"Started on {plural(started['pages'], 'page')}: armarium runs {job_id} shows how it goes.",
            )
            return
        follow_job(session, job_id, "Recipe")
        summary = session.get(f"/api/recipes/project/runs/{job_id}/summary")
    answer({"started": started, "summary": summary}, lambda: show_summary(summary))


def agree(planned: dict[str, Any], *, yes: bool) -> None:
    """Ask a person to agree if pages would leave this machine and nobody has agreed to that for this recipe
    yet; Refused without agreement.
    """
    places = sorted(
        {
            run["runs_on"].partition(":")[2] or run["runs_on"]
            for run in planned["runs"]
            if run["runs_on"] != HERE
        }
    )
    if not places or planned["first_yes"] is not None or yes:
        return
    sent_words = f"Pages would be sent to {', '.join(places)}."
    if wants_json() or not at_a_terminal():
        raise Refused(f"{sent_words} Use --yes to agree, or exclude cloud models: armarium setup --no-cloud.")
    if not typer.confirm(f"{sent_words} Agree?", default=False):
        raise Refused("Nothing was started.")


def show_plan(planned: dict[str, Any]) -> None:
    """Show the plan in words."""
    if planned["runs"]:
        rows = [
            [
                ", ".join(run["steps"]),
                run["title"],
                "here" if run["runs_on"] == HERE else run["runs_on"],
                f"{run['of'] - run['done']} of {run['of']}",
                duration(estimate["time_seconds"]),
                dollars(estimate["cost_usd"]),
            ]
            for run, estimate in zip(planned["runs"], planned["estimate"]["runs"], strict=True)
        ]
        table("Start would run", ["step", "work", "where", "pages to do", "time", "cost"], rows)
        typer.echo(
            f"Cost in all: {dollars(planned['estimate']['total_cost_usd'])} for {plural(planned['pages'], 'page')}."
        )
    for run in planned["runs"]:
        if run["note"]:
            typer.echo(f"  {run['title']}: {legible(run['note'])}")
    for entry in planned["skipped"]:
        fix = f" ({FIXES[entry['fix']].format(step=entry['step'])})" if entry["fix"] in FIXES else ""
        typer.echo(f"Left out: {entry['step']}: {legible(entry['why'])}{fix}")
    for entry in planned["offered_later"]:
        typer.echo(f"Offered later: {entry['step']}, {legible(entry['when'])}")
    for download in planned["downloads"]:
        state = "being downloaded" if download["downloading"] else "not here yet"
        typer.echo(f"Model {download['model']}: {state}, {download['size_bytes'] / 1e9:.1f} GB.")
        if not download["downloading"]:
            options = f"--runtime {download['runtime']} --model {download['model']}"
            typer.echo(f"  Download it: armarium action model.download {options}")
        for card in download["instead"][:1]:
            typer.echo(f"  Or: armarium action project.use_instead --model {download['model']} --card {card}")
    for entry in planned["waiting"]:
        typer.echo(f"Waiting: {entry['step']} for {entry['model']}")
    if planned["proposed"]:
        typer.echo(f"New since the last Start: {', '.join(planned['proposed']['steps']) or 'nothing'}.")
    for refusal in planned["refusals"]:
        typer.echo(f"Start is refused: {legible(refusal['sentence'])}{_remedy(refusal, planned)}")
    if not planned["refusals"]:
        typer.echo("Run it: armarium start")


FIXES = {
    "choose-model": "choose another model: armarium candidates {step}",
    "allow-cloud": "allow pages to leave: armarium setup --cloud",
}


def _remedy(refusal: dict[str, Any], planned: dict[str, Any]) -> str:
    """Return the command that helps against a refusal, if there is one."""
    if refusal["kind"] == "no-recipe":
        return " (armarium setup)"
    if refusal["kind"] != "nothing-left" or not planned["runs"]:
        return ""
    redo_hint = (
        " (armarium start --redo STEP; only what nobody checked: armarium start --redo-unchecked STEP)"
    )
    return redo_hint if planned["pages"] else " (armarium import FOLDER)"


def duration(seconds: float | None) -> str:
    """Return seconds as text for people; `?` if unknown."""
    if seconds is None:
        return "?"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def dollars(amount: float | None) -> str:
    """Return US dollars as text; `?` if no price is known."""
    return "?" if amount is None else "nothing" if amount == 0 else f"${amount:.2f}"
