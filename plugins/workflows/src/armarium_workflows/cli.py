"""Commands of workflows: list them, run one, watch a run, compare two runs, continue with the pages a run did
not do.
"""

from __future__ import annotations

import json
import time
from typing import Annotated, Any

import typer

from armarium_cli.api import (
    Commands,
    Finder,
    Refused,
    Session,
    Topic,
    answer,
    find_begun,
    find_named,
    plural,
    project_session,
    table,
)
from armarium_documents.commandline import Scope, scope_of

commands = Commands(Topic.work)
workflow = commands.group("workflow", "Run work on pages as a workflow, and inspect its runs.")

EVERY = 0.5
"""Seconds between two queries of a run's state."""

ENDED = ("done", "failed", "cancelled")


def _thread(session: Session, begun: str) -> str:
    items = session.get("/api/workflow-execution/runs", limit=500)["items"]
    return find_begun(items, "thread_id", begun, "run", "armarium workflow list --runs")


Thread = Annotated[str, "A run: its thread id, or the beginning of it.", Finder(_thread)]
NoWait = Annotated[bool, "Do not wait for it to end."]


@workflow.example("list --runs")
def list_(
    runs: Annotated[bool, "List the runs instead, newest first."] = False,
    status: Annotated[str | None, "With --runs: only those with this status."] = None,
) -> None:
    """List the workflows, or their runs."""
    with project_session() as session:
        if not runs:
            listed = session.get("/api/workflows")
            names = [(row["id"], row["folder_path"], row["name"]) for row in listed["items"]]
            answer(listed, lambda: table("Workflows", ("id", "folder", "name"), names))
            return
        listed = session.get("/api/workflow-execution/runs", status=status)
    rows = [
        (row["thread_id"], row["status"], row["workflow_name"], f"{row['pages_done']} of {row['pages']}")
        for row in listed["items"]
    ]
    answer(listed, lambda: table("Runs", ("run", "status", "workflow", "pages done"), rows))


@workflow.example("run system-find-and-read 0001.jpg")
def run(
    workflow: Annotated[str, "A workflow: its id or name."],
    ids: Scope = None,
    provider: Annotated[str | None, "Used by every node that accepts one."] = None,
    model: Annotated[str | None, "Used by every node that accepts one."] = None,
    setting: Annotated[
        list[str] | None, "--set NAME=VALUE: A setting of the work, such as language=fr; may be repeated."
    ] = None,
    pages_may_leave: Annotated[bool, "Allow pages to be sent to a provider on another machine."] = False,
    no_wait: NoWait = False,
) -> None:
    """Run a workflow over pages, and follow its steps."""
    inputs = dict(_named_value(assignment) for assignment in setting or ())
    with project_session() as session:
        body = {
            "workflow_id": find_named(
                session.get("/api/workflows")["items"], workflow, "workflow", "armarium workflow list"
            )["id"],
            "scope_ids": scope_of(session, ids),
            "inputs": inputs,
            "provider_override": provider,
            "model_override": model,
            "pages_may_leave": pages_may_leave,
        }
        thread_id = session.act("workflow.execute", body)["result"]["thread_id"]
        ended = _read_run(session, thread_id) if no_wait else _follow_run(session, thread_id)
    _print_run(ended)


def _named_value(text: str) -> tuple[str, Any]:
    """Parse `NAME=VALUE`; the value is JSON if it parses as JSON, otherwise text."""
    name, sign, value = text.partition("=")
    if not name or not sign:
        raise Refused(f"{text!r} is not a setting; write --set NAME=VALUE, as in --set language=fr.")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


@workflow.example("watch 01a2")
def watch(thread: Thread) -> None:
    """Follow a run until it ends."""
    with project_session() as session:
        ended = _follow_run(session, _thread(session, thread))
    _print_run(ended)


def _show_comparison(comparison: dict[str, Any]) -> None:
    for pair in comparison["pairs"]:
        rate = "" if pair["rate"] is None else f", {pair['rate']:.1%} of the characters differ"
        typer.echo(f"{pair['document_id']} ({pair['artifact_type']}): {pair['both']} the same{rate}")
        for line in pair["lines"]:
            if line["op"] != "equal":
                for sign, text in (("-", line["left_text"]), ("+", line["right_text"])):
                    if text is not None:
                        typer.echo(f"  {sign} {text}")
        for sign, items in (("-", pair["only_left"]), ("+", pair["only_right"])):
            for item in items:
                typer.echo(f"  {sign} {item}")
    for artifact in comparison["unpaired"]:
        typer.echo(
            f"{artifact['document_id']} ({artifact['artifact_type']}): only in the {artifact['side']} run"
        )
    if not comparison["pairs"] and not comparison["unpaired"]:
        typer.echo("Neither run made anything that could be compared.")


@workflow.asks("compare 01a2 01a3", "GET /api/workflow-execution/comparisons", says=_show_comparison)
def compare(left: Thread, right: Thread) -> None:
    """Compare two runs, page by page."""


@workflow.example("read-again 01a2")
def read_again(thread: Thread, no_wait: NoWait = False) -> None:
    """Run the same workflow over the pages that a run did not do."""
    with project_session() as session:
        begun = session.act("run.read_again", {"thread_id": _thread(session, thread)})["result"]
        ended = (
            _read_run(session, begun["thread_id"]) if no_wait else _follow_run(session, begun["thread_id"])
        )
    _print_run(ended)


def _read_run(session: Session, thread_id: str) -> dict[str, Any]:
    run: dict[str, Any] = session.get(f"/api/workflow-execution/threads/{thread_id}")
    return run


def _follow_run(session: Session, thread_id: str) -> dict[str, Any]:
    """Wait for a run to end and return it; print each step when it changes."""
    printed: dict[str, tuple[str, int]] = {}
    while True:
        run = _read_run(session, thread_id)
        # Someone is watching, so the run takes precedence over other work.
        session.get(f"/api/activity/jobs/{thread_id}")
        for node in run["nodes"]:
            state = (node["status"], node["done"])
            if node["status"] != "waiting" and printed.get(node["node_id"]) != state:
                printed[node["node_id"]] = state
                counts = f", {node['done']} of {plural(node['total'], 'page')}" if node["total"] else ""
                typer.echo(f"{node['label']}: {node['status']}{counts}", err=True)
        if run["status"] in ENDED or run["status"] == "paused":
            return run
        time.sleep(EVERY)


def _print_run(run: dict[str, Any]) -> None:
    def words() -> None:
        typer.echo(
            f"{run['workflow_name']}: {run['status']}, {run['pages_done']} of {plural(run['pages'], 'page')} done."
        )
        if run["reason"]:
            typer.echo(f"  {run['reason']}")
        for page in run["page_items"]:
            if page["status"] in ("failed", "skipped"):
                typer.echo(f"  not done: {page['document_id']}: {page['reason']}")
        if run["status"] in ENDED and run["pages_done"] < run["pages"]:
            typer.echo(f"  armarium workflow read-again {run['thread_id']} continues with the rest.")
        typer.echo(f"  run {run['thread_id']}", err=True)

    answer(run, words)
