"""Commands about what was done: history, undo, redo, and any action by name."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from armarium.cli.output import answer, table
from armarium.cli.program import engine_session, plural, project_session
from armarium.cli.session import Refused, Session

actions = typer.Typer(help="Every write by its name.", no_args_is_help=True)


def register(program: typer.Typer) -> None:
    """Add the commands."""
    program.command()(history)
    program.command()(undo)
    program.command()(redo)
    program.add_typer(actions, name="action")


def history(
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many steps.")] = 20,
    action: Annotated[str | None, typer.Option(help="Only this action.")] = None,
    target: Annotated[str | None, typer.Option(help="Only steps that touched this id.")] = None,
    verify: Annotated[bool, typer.Option(help="Check that no row of the log was changed.")] = False,
) -> None:
    """The steps of the project, newest first."""
    with project_session() as session:
        if verify:
            checked = session.get("/api/actions/audit/verify")
            answer(
                checked,
                str(
                    checked.get("detail") or ("The log holds." if checked.get("ok") else "The log is broken.")
                ),
            )
            if not checked.get("ok"):
                raise typer.Exit(1)
            return
        rows = session.get("/api/actions/audit", limit=limit, action=action, target_id=target)
    listed = [
        (
            r["seq"],
            r["created_at"],
            r["action_name"],
            r["actor"]["name"],
            "undone" if r["undone"] else "",
            r["id"],
        )
        for r in rows["items"]
    ]
    answer(rows, lambda: table("", ("#", "when", "what", "who", "", "id"), listed))


Steps = Annotated[list[str] | None, typer.Argument(help="Ids of steps or of sets; none: the last one.")]


def undo(steps: Steps = None) -> None:
    """Take steps back, all or none. A step that belongs to a set (an import, a reading) is taken back with it."""
    with project_session() as session:
        ids = _steps(session, steps) if steps else _last(session, undone=False)
        _report(session.post("/api/actions/audit/undo", {"audit_ids": ids}), "Took back")


def redo(steps: Steps = None) -> None:
    """Do again what the last undo took back (or what the named undo steps did)."""
    with project_session() as session:
        ids = _steps(session, steps) if steps else _last(session, undone=True)
        _report(session.post("/api/actions/audit/undo", {"audit_ids": ids}), "Did again")


def _report(done: dict[str, Any], verb: str) -> None:
    answer(done, f"{verb} {plural(len(done['undone']), 'step')}.")


def _steps(session: Session, named: list[str]) -> list[str]:
    """The steps that *named* ids stand for: a step itself, or every step of a set."""
    found: list[str] = []
    for identity in named:
        of_set = _of_set(session, identity)
        found += of_set or [identity]
    return found


def _of_set(session: Session, set_id: str) -> list[str]:
    found: list[str] = []
    while True:
        answered = session.get(
            "/api/actions/audit", set_id=set_id, undone=False, limit=1000, offset=len(found)
        )
        found += [row["id"] for row in answered["items"]]
        if len(found) >= answered["total"] or not answered["items"]:
            return found


def _last(session: Session, *, undone: bool) -> list[str]:
    """The newest step in effect (or, for a redo, the newest undo in effect) with the rest of its set."""
    offset = 0
    while True:
        answered = session.get("/api/actions/audit", undone=False, limit=200, offset=offset)
        for row in answered["items"]:
            is_undo = _depth(session, row) % 2 == 1
            if row["undoable"] and not row["gone"] and is_undo == undone:
                return _of_set(session, row["set_id"]) if row["set_id"] else [row["id"]]
            if undone and row["undoable"] and not is_undo and not row["inverse_of"]:
                raise Refused("There is nothing to do again: a later step stands after the last undo.")
        offset += len(answered["items"])
        if not answered["items"]:
            raise Refused("There is nothing to do again." if undone else "There is nothing to take back.")


def _depth(session: Session, row: dict[str, Any]) -> int:
    """How many undos lie between *row* and the step it started from: odd for an undo, even for a redo."""
    depth, inverse_of = 0, row["inverse_of"]
    while inverse_of:
        depth += 1
        inverse_of = session.get(f"/api/actions/audit/{inverse_of}")["inverse_of"]
    return depth


@actions.command("list")
def list_actions() -> None:
    """Every action there is."""
    with engine_session() as session:
        registry = session.get("/api/actions/registry")
    rows = [
        (a["name"], a["summary"], a["role"], "" if a["undoable"] else "cannot be undone")
        for a in registry["actions"]
    ]
    answer(registry, lambda: table("", ("name", "what it does", "who", ""), rows))


@actions.command("show")
def show_action(name: Annotated[str, typer.Argument(help="Name of the action.")]) -> None:
    """The parameters an action takes, as JSON Schema."""
    with engine_session() as session:
        registry = session.get("/api/actions/registry")
    found = next((a for a in registry["actions"] if a["name"] == name), None)
    if found is None:
        raise Refused(f"There is no action {name}; armarium action list shows those there are.")
    typer.echo(json.dumps(found, indent=2, ensure_ascii=False))


@actions.command("run")
def run_action(
    name: Annotated[str, typer.Argument(help="Name of the action.")],
    params: Annotated[str, typer.Option("--params", "-p", help="Its parameters as JSON.")] = "{}",
) -> None:
    """Run any action; the answer is JSON."""
    try:
        given = json.loads(params)
    except ValueError as error:
        raise Refused(f"--params is not JSON: {error}.") from error
    if not isinstance(given, dict):
        raise Refused("--params must be a JSON object.")
    with engine_session() as plain:
        registry = plain.get("/api/actions/registry")
        engine_wide = any(a["name"] == name and a["scope"] == "engine" for a in registry["actions"])
        if engine_wide:
            done = plain.act(name, given)
            typer.echo(json.dumps(done, indent=2, ensure_ascii=False))
            return
    with project_session() as session:
        done = session.act(name, given)
    typer.echo(json.dumps(done, indent=2, ensure_ascii=False))
