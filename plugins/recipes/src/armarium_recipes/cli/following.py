"""`armarium runs`: the runs of the project's recipe, and a single run with its cards and results."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from armarium.commandline import (
    Commands,
    Refused,
    Session,
    Topic,
    answer,
    find_begun,
    follow_job,
    legible,
    plural,
    project_session,
    table,
)

commands = Commands(Topic.work)

ENDED = ("done", "failed", "cancelled")
NAMES = "find-names-tag-words"


@commands.example("runs --json")
def runs(
    run: Annotated[
        str | None, "RUN: A run, by its id, the beginning of it, or `last`; default: all of them."
    ] = None,
    watch: Annotated[bool, "Follow it until it ends."] = False,
) -> None:
    """List the runs of the recipe, newest first; for one run, show the state of each card and the results."""
    with project_session() as session:
        listed = session.get("/api/recipes/project/runs")
        if run is None and not watch:
            answer(listed, lambda: show_runs(listed["items"]))
            return
        job_id = _find_run(listed["items"], run or "last")
        one = session.get(f"/api/recipes/project/runs/{job_id}")
        if watch and one["state"] not in ENDED:
            one = _follow_run(session, job_id)
        summary = session.get(f"/api/recipes/project/runs/{job_id}/summary")
    answer({**one, "summary": summary}, lambda: show_run(one, summary))


def _follow_run(session: Session, job_id: str) -> dict[str, Any]:
    follow_job(session, job_id, "Recipe")
    found: dict[str, Any] = session.get(f"/api/recipes/project/runs/{job_id}")
    return found


def _find_run(items: list[dict[str, Any]], named: str) -> str:
    """Return the id of the run that *named* means; Refused if there is none or more than one."""
    if not items:
        raise Refused("The recipe has not run yet; run it with armarium start.")
    if named == "last":
        return str(items[0]["job_id"])
    return find_begun(items, "job_id", named, "run", "armarium runs")


def show_runs(items: list[dict[str, Any]]) -> None:
    """Show a table of runs."""
    if not items:
        typer.echo("The recipe has not run yet; run it with armarium start.")
        return
    rows = [
        [
            one["job_id"],
            one["state"],
            one["started_at"],
            one["started_by"],
            len(one["page_ids"]),
            one["reason"] or "",
        ]
        for one in items
    ]
    table("Runs of the recipe", ["run", "state", "started", "by", "pages", ""], rows)


def show_run(one: dict[str, Any], summary: dict[str, Any]) -> None:
    """Show one run: its cards, what it waits for, and its summary."""
    reason = f": {legible(one['reason'])}" if one["reason"] else ""
    typer.echo(f"{one['job_id']} is {one['state']}{reason}, over {plural(len(one['page_ids']), 'page')}.")
    for card in one["cards"]:
        why = f" ({legible(card['why'])})" if card["why"] else ""
        typer.echo(f"  {card['state']:8} {card['title']}{_account(card['account'])}{why}")
    if one["waiting_for"]:
        typer.echo(f"Waiting for {legible(one['waiting_for'])}.")
    if one["estimate_seconds_left"] is not None and one["state"] not in ENDED:
        typer.echo(f"About {one['estimate_seconds_left'] / 60:.0f} minutes to go.")
    for refusal in one["refusals"]:
        typer.echo(f"Refused: {legible(refusal['sentence'] if isinstance(refusal, dict) else str(refusal))}")
    if one["state"] in ENDED:
        show_summary(summary)


def _account(account: dict[str, Any] | None) -> str:
    if not account:
        return ""
    failed = f", {account['failed']} failed" if account["failed"] else ""
    return f": {account['done']} of {account['pages']}{failed}"


def show_summary(summary: dict[str, Any]) -> None:
    """Show what a run produced, and what was not done."""
    read = f"{summary['pages_read']} of {plural(summary['pages'], 'page')} read"
    more = [
        read,
        _names(summary),
        _count(summary["dates"], "date"),
        _count(summary["statements"], "statement"),
    ]
    if summary["documents_proposed"] is not None:
        more.append(f"{plural(summary['documents_proposed'], 'document')} proposed")
    typer.echo("; ".join(one for one in more if one) + ".")
    for stage in summary["stages"]:
        if stage["failed_pages"]:
            offer = f" {legible(stage['offer'])}" if stage["offer"] else ""
            again = f" Again: armarium workflow read-again {stage['thread_id']}" if stage["thread_id"] else ""
            typer.echo(
                f"  {stage['title']}: {plural(len(stage['failed_pages']), 'page')} failed.{offer}{again}"
            )
        elif stage["offer"]:
            typer.echo(f"  {stage['title']}: {legible(stage['offer'])}")
    for one in summary["skipped"]:
        typer.echo(f"  left out: {one['step']}: {legible(one['why'])}")
    for one in summary["not_run"]:
        typer.echo(f"  did not run: {one['id']}: {legible(one['why'])}")


def _names(summary: dict[str, Any]) -> str:
    """Return the names that were found, by kind; empty if none were looked for."""
    found = ", ".join(f"{count} {kind}" for kind, count in sorted(summary["names"].items()))
    if found:
        return f"names: {found}"
    return "no new names" if any(stage["job"] == NAMES for stage in summary["stages"]) else ""


def _count(number: int, noun: str) -> str:
    return plural(number, noun) if number else ""
