"""The commands of branches: create, pack, take, list, changes, merge, update, reject, delete."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from armarium_cli.api import (
    Commands,
    Finder,
    Refused,
    Session,
    Topic,
    answer,
    follow_job,
    full_path,
    plural,
    project_session,
    result_of,
)
from armarium_documents.commandline import document_id

commands = Commands(Topic.work)
branch = commands.group("branch", "Copies of the project in which agents and colleagues propose changes.")

SHOWN = 50


def _branch_id(session: Session, branch: str) -> str:
    """Return the id of the branch that is meant."""
    listed: list[dict[str, Any]] = session.get("/api/branches")["items"]
    matches = [row for row in listed if branch in (row["id"], row["name"], row["library_path"])]
    if len(matches) != 1:
        names = ", ".join(row["name"] for row in listed) or "none"
        raise Refused(f"{branch} is {'several branches' if matches else 'no branch'}. Branches: {names}.")
    return str(matches[0]["id"])


Which = Annotated[str, "A branch: its name or its id.", Finder(_branch_id)]
Groups = Annotated[list[str] | None, "--group, -g: A group that `branch changes` lists; may be repeated."]
Decision = Annotated[
    Literal["refuse", "keep_ours", "take_theirs", "keep_both"],
    "--conflicts: What to do where both sides changed the same.",
]

Pictures = Annotated[
    Literal["no", "reduced", "all"],
    "Whether the project's pictures go into that file, or small ones of them.",
]


@branch.example("create Corrections --to corrections.zip")
def create(
    name: Annotated[str, "The name people see."],
    made_for: Annotated[str | None, "--for: The person or agent it is for."] = None,
    folder: Annotated[
        list[str] | None, "--folder: A folder; only what lies beneath it is in the branch. May be repeated."
    ] = None,
    to: Annotated[str | None, "A file ending in .zip, for a colleague without a network."] = None,
    pictures: Pictures = "no",
) -> None:
    """Make a branch: a copy of the project in which to propose changes."""
    with project_session() as session:
        scope = [document_id(session, text) for text in folder or ()] or None
        created = session.post("/api/branches", {"name": name, "made_for": made_for, "scope": scope})
        words = f"Made the branch {name}: {created['library_path']}."
        if to is not None:
            body = {"branch_id": created["id"], "path": full_path(to), "pictures": pictures}
            packed = session.post("/api/branches/pack", body)
            words += f" It is written to {packed['path']}."
            created["packed"] = packed
    answer(created, words)


@branch.asks("pack back.zip", "POST /api/branches/pack", says="The branch is written to {path}.")
def pack(
    path: Annotated[
        str, "A file ending in .zip that does not exist yet.", Finder(lambda _, path: full_path(path))
    ],
    branch_id: Annotated[
        str | None, "--branch, -b: A branch of the project; left out in a branch.", Finder(_branch_id)
    ] = None,
    pictures: Pictures = "no",
) -> None:
    """Write a branch to a file: in the branch itself, to send it back to whoever made it."""


@branch.asks("take corrections.zip", "POST /api/branches/take", says="Took the branch {name}.")
def take(
    path: Annotated[str, "FILE: The file that came back.", Finder(lambda _, path: full_path(path))],
) -> None:
    """Take back a branch from the file in which a colleague worked on it."""


@branch.asks(
    "list",
    "GET /api/branches",
    title="Branches",
    columns=("name", "for=made_for", "made=created_at", "proposed=proposed_at", "path=library_path"),
    nothing="There is no branch yet; make one: armarium branch create NAME.",
)
def list_branches() -> None:
    """List the branches of the project."""


@branch.example("changes Corrections --status conflict")
def changes(
    branch: Which,
    status: Annotated[Literal["clean", "same", "conflict"] | None, "Only changes of this status."] = None,
    incoming: Annotated[bool, "What the project changed since, instead."] = False,
) -> None:
    """Show what a branch changed, page by page, beside what the project has now, and what was turned down of it."""
    with project_session() as session:
        branch_id = _branch_id(session, branch)
        turned_down = session.get(f"/api/branches/{branch_id}")["rejected"]
        result = session.get(
            f"/api/branches/{branch_id}/changes",
            status=status,
            incoming=incoming or None,
            limit=SHOWN,
        )
    lines = [
        f"{plural(result['pages'], 'page')}, {plural(result['lines'], 'line')} changed: {result['clean']} clean, "
        f"{result['same']} the same on both sides, {result['conflict']} in conflict."
    ]
    for group in result["items"]:
        lines.append(
            f"{group['id']}  {group['document_name'] or group['kind']}: {group['kind']}, {group['status']}"
        )
        for row in group["rows"]:
            lines.append(f"  {_in_words(row)}")
            if row["status"] == "conflict":
                lines.append(f"    {_of_this_side(row)}")
    if result["total"] > result["count"]:
        lines.append(f"… and {plural(result['total'] - result['count'], 'more group')}.")
    lines += [f"{part['group_id']}: turned down: {part['reason']}" for part in turned_down]
    answer(result, "\n".join(lines))


_MARKS = {"same": "{}", "removed": "[-{}-]", "added": "[+{}+]"}


def _in_words(row: dict[str, Any]) -> str:
    """Return a changed row as one line: words of a reading, else the columns that differ."""
    if row["words"]:
        return " ".join(_MARKS[part["change"]].format(part["text"]) for part in row["words"])
    columns = ", ".join(value["column"] for value in row["values"])
    return (
        f"{row['label']} {row['change']}: {columns}"
        if row["change"] == "update"
        else f"{row['label']} {row['change']}"
    )


def _of_this_side(row: dict[str, Any]) -> str:
    """Return what stands on this side of a conflict, and who wrote it."""
    makers = ", ".join(dict.fromkeys(maker["name"] for maker in row["ours_by"]))
    values = [
        value
        for value in row["values"]
        if value["conflict"] or (value["column"] == "content" and row["words"])
    ]
    text = "; ".join(
        str(value["ours"]) if value["column"] == "content" else f"{value['column']}: {value['ours']}"
        for value in values
    )
    return f"here: {text or 'it is gone'}{f' ({makers})' if makers else ''}"


@branch.example("merge Corrections --conflicts keep_both")
def merge(branch: Which, groups: Groups = None, conflicts: Decision = "refuse") -> None:
    """Take changes of a branch into the project, in one step that `armarium undo` takes back."""
    with project_session() as session:
        body = {"groups": groups, "on_conflict": conflicts}
        merged = _merge(session, f"/api/branches/{_branch_id(session, branch)}/merge", body)
    answer(merged, _say_merged(merged))


@branch.example("update")
def update(groups: Groups = None, conflicts: Decision = "refuse") -> None:
    """Bring the project's later work into the branch that is named as the project."""
    with project_session() as session:
        merged = _merge(session, "/api/branches/update", {"groups": groups, "on_conflict": conflicts})
    answer(merged, _say_merged(merged))


def _merge(session: Session, route: str, body: dict[str, Any]) -> dict[str, Any]:
    """Return what a merge wrote, also of one so long that it is a job."""
    merged = dict(session.post(route, body))
    if merged.get("job_id"):
        follow_job(session, merged["job_id"], "Merge")
        merged |= result_of(session, merged["job_id"])
    return merged


def _say_merged(merged: dict[str, Any]) -> str:
    rows = merged["inserted"] + merged["updated"] + merged["deleted"]
    left_out_words = f"; {merged['left_out']} left as they are here" if merged["left_out"] else ""
    return f"Merged {plural(merged['groups'], 'group')}, {plural(rows, 'row')}{left_out_words}."


@branch.example("reject Corrections 'It says deer' -g readings:0190")
def reject(
    branch: Which, reason: Annotated[str, "Why, for whoever proposed it."], groups: Groups = None
) -> None:
    """Turn down changes of a branch; they are not offered again."""
    if not groups:
        raise Refused("Name the groups to turn down with --group; `armarium branch changes` lists them.")
    with project_session() as session:
        body = {"groups": groups, "reason": reason}
        result = session.post(f"/api/branches/{_branch_id(session, branch)}/reject", body)
    answer(result, f"Turned down {plural(result['groups'], 'group')}.")


@branch.asks(
    "delete Corrections", "DELETE /api/branches/{branch}", says="Deleted the branch; what was merged stays."
)
def delete(branch: Which) -> None:
    """Delete a branch with its package; what was merged of it stays."""
