"""`armarium runs`: the runs of the project's recipe, and a single run with its cards and results."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from armarium_cli.api import (
    Commands,
    Refused,
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
        record = session.get(f"/api/recipes/project/runs/{job_id}")
        if watch and record["state"] not in ENDED:
            follow_job(session, job_id, "Recipe")
            record = session.get(f"/api/recipes/project/runs/{job_id}")
        summary = session.get(f"/api/recipes/project/runs/{job_id}/summary")
    answer({**record, "summary": summary}, lambda: show_run(record, summary))


def _find_run(items: list[dict[str, Any]], name: str) -> str:
    """Return the id of the run that *named* means; Refused if there is none or more than one."""
    if not items:
        raise Refused("The recipe has not run yet; run it with armarium start.")
    if name == "last":
        return str(items[0]["job_id"])
    return find_begun(items, "job_id", name, "run", "armarium runs")


def show_runs(items: list[dict[str, Any]]) -> None:
    """Show a table of runs."""
    if not items:
        typer.echo("The recipe has not run yet; run it with armarium start.")
        return
    fields = ("job_id", "state", "started_at", "started_by")
    rows = [[*(run[key] for key in fields), len(run["page_ids"]), run["reason"] or ""] for run in items]
    table("Runs of the recipe", ["run", "state", "started", "by", "pages", ""], rows)


def show_run(record: dict[str, Any], summary: dict[str, Any]) -> None:
    """Show one run: its cards, what it waits for, and its summary."""
    reason = f": {legible(record['reason'])}" if record["reason"] else ""
    typer.echo(
        f"{record['job_id']} is {record['state']}{reason}, over {plural(len(record['page_ids']), 'page')}."
    )
    for card in record["cards"]:
        why = f" ({legible(card['why'])})" if card["why"] else ""
        typer.echo(f"  {card['state']:8} {card['title']}{_account(card['account'])}{why}")
    if record["waiting_for"]:
        typer.echo(f"Waiting for {legible(record['waiting_for'])}.")
    if record["estimate_seconds_left"] is not None and record["state"] not in ENDED:
        typer.echo(f"About {record['estimate_seconds_left'] / 60:.0f} minutes to go.")
    for refusal in record["refusals"]:
        typer.echo(f"Refused: {legible(refusal['sentence'] if isinstance(refusal, dict) else str(refusal))}")
    if record["state"] in ENDED:
        show_summary(summary)


def _account(account: dict[str, Any] | None) -> str:
    if not account:
        return ""
    failed = f", {account['failed']} failed" if account["failed"] else ""
    return f": {account['done']} of {account['pages']}{failed}"


def show_summary(summary: dict[str, Any]) -> None:
    """Show what a run produced, and what was not done."""
    counts = [plural(summary[f"{noun}s"], noun) for noun in ("date", "statement") if summary[f"{noun}s"]]
    more = [f"{summary['pages_read']} of {plural(summary['pages'], 'page')} read", _names(summary), *counts]
    if summary["documents_proposed"] is not None:
        more.append(f"{plural(summary['documents_proposed'], 'document')} proposed")
    typer.echo("; ".join(part for part in more if part) + ".")
    for stage in summary["stages"]:
        if stage["failed_pages"]:
            offer = f" {legible(stage['offer'])}" if stage["offer"] else ""
            again_words = (
                f" Again: armarium workflow read-again {stage['thread_id']}" if stage["thread_id"] else ""
            )
            typer.echo(
                f"  {stage['title']}: {plural(len(stage['failed_pages']), 'page')} failed.{offer}{again_words}"
            )
        elif stage["offer"]:
            typer.echo(f"  {stage['title']}: {legible(stage['offer'])}")
    for entry in summary["skipped"]:
        typer.echo(f"  left out: {entry['step']}: {legible(entry['why'])}")
    for entry in summary["not_run"]:
        typer.echo(f"  did not run: {entry['id']}: {legible(entry['why'])}")


def _names(summary: dict[str, Any]) -> str:
    """Return the names that were found, by kind; empty if none were looked for."""
    names = ", ".join(f"{count} {kind}" for kind, count in sorted(summary["names"].items()))
    if names:
        return f"names: {names}"
    return "no new names" if any(stage["job"] == NAMES for stage in summary["stages"]) else ""
