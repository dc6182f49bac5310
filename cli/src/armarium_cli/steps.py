"""Commands about past steps: history, undo and redo; and the group of all actions."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from armarium.client import is_id
from armarium_cli.action_commands import actions
from armarium_cli.declared import Commands
from armarium_cli.names import target_id, target_names
from armarium_cli.options import Topic
from armarium_cli.output import answer, legible, table, wants_json
from armarium_cli.program import plural, project_session
from armarium_cli.refusals import Refused
from armarium_cli.session import Session, id_of

commands = Commands(Topic.work)


commands.add_typer(actions, name="action", rich_help_panel=Topic.work)


@commands.example("history --target 0001.jpg")
def history(
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many steps.")] = 20,
    action: Annotated[str | None, "Only this action."] = None,
    target: Annotated[
        str | None,
        typer.Option(
            help="Only steps on this: a document by name, path or id, or anything else by its id.",
            autocompletion=target_names,
        ),
    ] = None,
    verify: Annotated[bool, "--verify/--no-verify: Verify that no row of the log was changed."] = False,
) -> None:
    """List the steps of the project, newest first."""
    with project_session() as session:
        if verify:
            checked = session.get("/api/actions/audit/verify")
            answer(
                checked,
                checked.get("detail") or ("The log is intact." if checked["ok"] else "The log is broken."),
            )
            if not checked.get("ok"):
                raise typer.Exit(1)
            return
        touched = target and target_id(session, target)
        rows = session.get("/api/actions/audit", limit=limit, action=action, target_id=touched)
    numbers = {row["id"]: f"#{row['seq']}" for row in rows["items"]}

    def what(row: dict[str, Any]) -> str:
        if row["reversal"] is None:
            return str(row["words"])
        reversed_ = numbers.get(row["inverse_of"])
        return f"{_REVERSALS[row['reversal']]} {reversed_ or 'an earlier step'}: {row['words']}"

    listed = [
        (
            row["seq"],
            row["created_at"][:19].replace("T", " "),
            what(row),
            row["actor"]["name"],
            "undone" if row["undone"] else "",
        )
        for row in rows["items"]
    ]
    answer(rows, lambda: table("", ("#", "when (UTC)", "what", "who", ""), listed))


_REVERSALS = {"undo": "Undid", "redo": "Redid"}
_NAMED = 3
"""How many steps of a set are described one by one."""

Steps = Annotated[
    list[str] | None,
    typer.Argument(
        help="Numbers of steps as history shows them, or ids of steps or sets; by default the last one."
    ),
]


LARGE = 10
"""More steps than this, which nobody named, are undone only once somebody agrees."""


@commands.example("undo")
def undo(
    steps: Steps = None,
    dry_run: Annotated[bool, "Only say what would be undone."] = False,
    yes: Annotated[bool, "--yes, -y: Undo a large set without asking."] = False,
) -> None:
    """Undo steps, all or none.

    The last step is undone with its whole set (an import, a reading, a run of the recipe); a step that is named, by
    itself.
    """
    with project_session() as session:
        ids = _find_standing_steps(session, steps) if steps else _find_last_step(session, undone=False)
        if dry_run:
            answer({"audit_ids": ids}, f"Would undo {_set_in_words(session, ids)}")
            return
        if not steps and not yes and len(ids) > LARGE:
            _ask_agreement(session, ids)
        _reverse(session, ids, "Undid")


def _ask_agreement(session: Session, ids: list[str]) -> None:
    """Ask before a large set is undone that nobody named; Refused without agreement."""
    sentence = f"This undoes {_set_in_words(session, ids)}"
    single = "One step alone: armarium undo NUMBER, as armarium history shows it."
    if wants_json() or not sys.stdin.isatty():
        raise Refused(f"{sentence} {single} All of it: armarium undo --yes.")
    typer.echo(f"{sentence}\n{single}")
    if not typer.confirm("Undo all of it?", default=False):
        raise Refused("Nothing was undone.")


def _set_in_words(session: Session, ids: list[str]) -> str:
    """Return how many steps *ids* are, the first of them in words, and when the set was begun and by whom."""
    first = _step(session, ids[-1])
    begun = f"begun {first['created_at'][:16].replace('T', ' ')} UTC by {first['actor']['name']}"
    return legible(f"{plural(len(ids), 'step')}, {begun}: {_words(session, ids)}.")


def _words(session: Session, ids: list[str]) -> str:
    words = list(dict.fromkeys(_step(session, step_id)["words"] for step_id in ids[:_NAMED]))
    more = len(ids) - _NAMED
    return "; ".join([*words, *([f"and {more} more"] if more > 0 else [])])


@commands.example("redo")
def redo(steps: Steps = None) -> None:
    """Redo what the last undo reverted, or the steps or sets that are named."""
    with project_session() as session:
        ids = _takings_back(session, steps) if steps else _find_last_step(session, undone=True)
        _reverse(session, ids, "Redid")


def _reverse(session: Session, ids: list[str], verb: str) -> None:
    """Undo *ids* as one set, and say what they had done, since the user may not have named them."""
    result = session.post("/api/actions/audit/undo", {"audit_ids": ids})
    if wants_json():
        answer(result, "")
        return
    ids = result["undone"]
    back = " Back again: armarium redo." if verb == "Undid" and len(ids) > _NAMED else ""
    answer(result, legible(f"{verb} {plural(len(ids), 'step')}: {_words(session, ids)}.{back}"))


def _find_standing_steps(session: Session, steps: list[str]) -> list[str]:
    """Return the steps in effect that *named* ids stand for: a step itself, or every step of a set."""
    ids: list[str] = []
    for row in _rows_of(session, steps):
        if row["undone"] and row["set_id"] in steps:
            continue
        ids.append(row["id"])
    if not ids:
        raise Refused("All of its steps are already undone; armarium redo redoes them.")
    return ids


def _takings_back(session: Session, steps: list[str]) -> list[str]:
    """Return the undo steps in effect that undid what *named* ids stand for (or that are named themselves)."""
    rows = list(_rows_of(session, steps))
    taken_back = {row["id"] for row in rows if row["undone"]}
    ids = [row["id"] for row in rows if not row["undone"] and row["inverse_of"]]
    if taken_back:
        ids += [row["id"] for row in _in_effect(session) if row["inverse_of"] in taken_back]
    if not ids:
        raise Refused("That is in effect: there is nothing to redo.")
    return ids


def _rows_of(session: Session, steps: list[str]) -> Iterator[dict[str, Any]]:
    for identity in steps:
        if identity.isdecimal() and not is_id(identity):
            yield _step_of_number(session, int(identity))
            continue
        rows = list(_walk(session, set_id=id_of(identity)))
        yield from rows or [_step(session, identity)]


def _step_of_number(session: Session, number: int) -> dict[str, Any]:
    """Return the step that the history shows under *number*."""
    rows: list[dict[str, Any]] = session.get("/api/actions/audit", seq=number)["items"] if number else []
    if not rows:
        raise Refused(f"There is no step #{number}; armarium history lists them.")
    return rows[0]


def _step(session: Session, identity: str) -> dict[str, Any]:
    try:
        row: dict[str, Any] = session.get(f"/api/actions/audit/{identity}")
    except Refused as refused:
        if refused.status != 404:
            raise
        raise Refused(f"There is no step or set {identity}; armarium history lists them.") from refused
    return row


def _in_effect(session: Session) -> Iterator[dict[str, Any]]:
    return _walk(session, undone=False)


def _walk(session: Session, **only: Any) -> Iterator[dict[str, Any]]:
    """Yield the matching audit rows, newest first, fetched page by page."""
    offset = 0
    while True:
        answered = session.get("/api/actions/audit", limit=200, offset=offset, **only)
        yield from answered["items"]
        offset += len(answered["items"])
        if offset >= answered["total"] or not answered["items"]:
            return


def _find_last_step(session: Session, *, undone: bool) -> list[str]:
    """Return the newest step in effect (or, for a redo, the newest undo in effect) with the rest of its set."""
    for row in _in_effect(session):
        if not row["undoable"] or row["gone"] or not _changed_rows(session, row):
            continue
        is_undo = _depth(session, row) % 2 == 1
        if is_undo == undone:
            if not row["set_id"]:
                return [row["id"]]
            outermost = row["set_id"] if undone else _find_outermost_set(session, row["set_id"])
            return [step["id"] for step in _walk(session, set_id=outermost, undone=False)]
        if undone and not row["inverse_of"]:
            raise Refused("There is nothing to redo: nothing was undone since the last step.")
    raise Refused("There is nothing to redo." if undone else "There is nothing to undo.")


def _find_outermost_set(session: Session, set_id: str) -> str:
    """The set of the work that began the work of *set_id*: a run of a recipe for the workflows it runs."""
    around = next(
        (row["set_id"] for row in _walk(session, target_id=set_id, undone=False) if row["set_id"]), None
    )
    return set_id if around in (None, set_id) else _find_outermost_set(session, around)


def _changed_rows(session: Session, row: dict[str, Any]) -> bool:
    """Whether a step changed the project itself: one that only put a job in the queue did not."""
    return bool(_step(session, row["id"])["changes"])


def _depth(session: Session, row: dict[str, Any]) -> int:
    """How many undos lie between *row* and the step it started from: odd for an undo, even for a redo."""
    depth, inverse_of = 0, row["inverse_of"]
    while inverse_of:
        depth += 1
        inverse_of = _step(session, inverse_of)["inverse_of"]
    return depth
