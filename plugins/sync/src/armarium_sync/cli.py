"""The commands of synced folders: tie, list, untie, intake, arrange, duplicates."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from armarium_cli.api import (
    Commands,
    Finder,
    Refused,
    Session,
    Topic,
    answer,
    full_path,
    plural,
    project_session,
)

commands = Commands(Topic.pages)
sync = commands.group("sync", "Folders in which the project's pages are kept as up-to-date files.")


def _folder_id(session: Session, folder: str) -> str:
    """Return the id of the synced folder that is meant."""
    listed: list[dict[str, Any]] = session.get("/api/sync-folders")["folders"]
    spellings = (folder, full_path(folder))
    matches = [
        row for row in listed if {row["id"], row["path"], Path(row["path"]).name}.intersection(spellings)
    ]
    if len(matches) != 1:
        ties = ", ".join(row["path"] for row in listed) or "none"
        raise Refused(
            f"{folder} is {'several' if matches else 'no'} synced folder{'s' if matches else ''}. Tied: {ties}."
        )
    return str(matches[0]["id"])


Where = Annotated[str, "A synced folder: its path, its name or its id.", Finder(_folder_id)]


@sync.example("add ~/Shared/letters --format pagexml --format alto")
def add(
    folder: Annotated[Path, "A folder on this machine; created if only it is missing."],
    formats: Annotated[list[str] | None, "--format, -f: pagexml, alto or tei; may be repeated."] = None,
    keep_arranged: Annotated[bool, "Move and rename files along with their documents."] = False,
) -> None:
    """Tie the project to a folder; its pages are written there and kept up to date."""
    chosen = formats or ([] if keep_arranged else ["pagexml"])
    body = {
        "path": str(full_path(str(folder))),
        "formats": chosen,
        "mode": "keep-arranged" if keep_arranged else "index",
    }
    with project_session() as session:
        tied = session.post("/api/sync-folders", body)
    answer(tied, f"{body['path']} is tied; its files are being written in the background.")


@sync.asks(
    "list",
    "GET /api/sync-folders",
    says=lambda result: "\n\n".join(map(_describe_folder, result["folders"])) or "No folder is tied.",
)
def list_folders() -> None:
    """List the synced folders and the state of their files."""


def _describe_folder(folder: dict[str, Any]) -> str:
    """Format a synced folder as text."""
    lines = [
        f"{folder['path']}{'' if folder['there'] else ' (missing at the moment)'}",
        f"  {', '.join(folder['formats']) or 'no formats'}, {folder['mode']}, intake {'on' if folder['intake'] else 'off'}",
        f"  {plural(len(folder['files']), 'file')}, {plural(folder['pending'], 'page')} waiting",
    ]
    if folder["watched"]:
        lines.append(f"  watched: {folder['watched']}")
    for title, name in (
        ("changed outside", "changed_outside"),
        ("deleted outside", "deleted_outside"),
        ("in the way", "in_the_way"),
    ):
        lines += [f"  {title}: {path}" for path in folder[name]]
    lines += [f"  conflict: {row['path']}" for row in folder["conflicts"]]
    lines += [f"  no longer written: {row['path']}: {row['why']}" for row in folder["left_behind"]]
    lines += [f"  not read back: {row['path']}: {row['why']}" for row in folder["not_read_back"]]
    return "\n".join(lines)


@sync.asks(
    "remove ~/Shared/letters", "DELETE /api/sync-folders/{folder}", says="{folder} is untied; its files stay."
)
def remove(folder: Where) -> None:
    """Untie a folder; its files stay."""


@sync.example("intake ~/Shared/letters on")
def intake(
    folder: Where,
    switch: Annotated[str | None, "SWITCH: on or off; default: show what would come in."] = None,
) -> None:
    """Switch the intake of a folder on or off, or show what would come in now."""
    if switch not in (None, "on", "off"):
        raise Refused(f"Write on or off, not {switch!r}.")
    with project_session() as session:
        path = f"/api/sync-folders/{_folder_id(session, folder)}/intake"
        if switch is not None:
            session.put(path, {"on": switch == "on"})
        preview = session.get(path)
    counts = [f"{count} {name}" for name, count in preview["would_bring_in"].items()]
    counts.append(plural(preview["images"], "new picture"))
    answer(preview, f"Intake is {'on' if preview['on'] else 'off'}. Would come in now: {', '.join(counts)}.")


@sync.example("arrange ~/Scans/box-1")
def arrange(
    folder: Where,
    keep: Annotated[
        bool | None, "--keep/--leave: From now on move files along with their documents, or do not."
    ] = None,
) -> None:
    """Show which files would be moved so that a folder matches its project folder; with --keep they are."""
    with project_session() as session:
        path = f"/api/sync-folders/{_folder_id(session, folder)}"
        if keep is not None:
            session.put(f"{path}/mode", {"mode": "keep-arranged" if keep else "index"})
        plan = session.get(f"{path}/arrangement")
    lines = [f"{move['from_path']} -> {move['to_path']}" for move in plan["moves"]]
    lines += [f"{row['path']} is not moved: {row['why']}" for row in plan["refused"]]
    answer(plan, "\n".join(lines) or "Every file is where its document is.")


@sync.example("duplicates --remove")
def duplicates(gone: Annotated[bool, "--remove: Send the duplicates to the Trash."] = False) -> None:
    """List files that several documents have, or send all but one document of each to the Trash."""
    with project_session() as session:
        result = session.get("/api/sync-folders/duplicates")
        ids = [row["id"] for group in result["groups"] for row in group["remove"]]
        if gone and ids:
            session.post("/api/sync-folders/duplicates/remove", {"document_ids": ids})
    lines = [
        f"{group['path']}: keep {group['keep']['name']}, {plural(len(group['remove']), 'duplicate')}"
        for group in result["groups"]
    ]
    if gone and ids:
        lines.append(f"{plural(len(ids), 'document')} sent to the Trash.")
    answer(result, "\n".join(lines) or "No file belongs to several documents.")
