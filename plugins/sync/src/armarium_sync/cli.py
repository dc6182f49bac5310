"""The commands of synced folders: tie, list, untie, intake, arrange, duplicates."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from armarium.commandline import (
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


def _folder_id(session: Session, named: str) -> str:
    """Return the id of the synced folder that is meant."""
    listed: list[dict[str, Any]] = session.get("/api/sync-folders")["folders"]
    meant = (named, full_path(named))
    found = [one for one in listed if {one["id"], one["path"], Path(one["path"]).name}.intersection(meant)]
    if len(found) != 1:
        ties = ", ".join(one["path"] for one in listed) or "none"
        raise Refused(
            f"{named} is {'several' if found else 'no'} synced folder{'s' if found else ''}. Tied: {ties}."
        )
    return str(found[0]["id"])


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
        made = session.post("/api/sync-folders", body)
    answer(made, f"{body['path']} is tied; its files are being written in the background.")


@sync.asks(
    "list",
    "GET /api/sync-folders",
    says=lambda found: "\n\n".join(map(_describe_folder, found["folders"])) or "No folder is tied.",
)
def list_folders() -> None:
    """List the synced folders and the state of their files."""


def _describe_folder(one: dict[str, Any]) -> str:
    """Format a synced folder as text."""
    lines = [
        f"{one['path']}{'' if one['there'] else ' (missing at the moment)'}",
        f"  {', '.join(one['formats']) or 'no formats'}, {one['mode']}, intake {'on' if one['intake'] else 'off'}",
        f"  {plural(len(one['files']), 'file')}, {plural(one['pending'], 'page')} waiting",
    ]
    if one["watched"]:
        lines.append(f"  watched: {one['watched']}")
    for title, name in (
        ("changed outside", "changed_outside"),
        ("deleted outside", "deleted_outside"),
        ("in the way", "in_the_way"),
    ):
        lines += [f"  {title}: {path}" for path in one[name]]
    lines += [f"  conflict: {row['path']}" for row in one["conflicts"]]
    lines += [f"  no longer written: {row['path']}: {row['why']}" for row in one["left_behind"]]
    lines += [f"  not read back: {row['path']}: {row['why']}" for row in one["not_read_back"]]
    return "\n".join(lines)


@sync.asks(
    "remove ~/Shared/letters",
    "DELETE /api/sync-folders/{folder}",
    says="{folder} is untied; its files stay.",
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
        found = session.get(path)
    counts = [f"{count} {name}" for name, count in found["would_bring_in"].items()]
    counts.append(plural(found["images"], "new picture"))
    answer(found, f"Intake is {'on' if found['on'] else 'off'}. Would come in now: {', '.join(counts)}.")


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
        found = session.get(f"{path}/arrangement")
    lines = [f"{one['from_path']} -> {one['to_path']}" for one in found["moves"]]
    lines += [f"{one['path']} is not moved: {one['why']}" for one in found["refused"]]
    answer(found, "\n".join(lines) or "Every file is where its document is.")


@sync.example("duplicates --remove")
def duplicates(
    gone: Annotated[bool, "--remove: Send the duplicates to the Trash."] = False,
) -> None:
    """List files that several documents have, or send all but one document of each to the Trash."""
    with project_session() as session:
        found = session.get("/api/sync-folders/duplicates")
        ids = [one["id"] for group in found["groups"] for one in group["remove"]]
        if gone and ids:
            session.post("/api/sync-folders/duplicates/remove", {"document_ids": ids})
    lines = [
        f"{group['path']}: keep {group['keep']['name']}, {plural(len(group['remove']), 'duplicate')}"
        for group in found["groups"]
    ]
    if gone and ids:
        lines.append(f"{plural(len(ids), 'document')} sent to the Trash.")
    answer(found, "\n".join(lines) or "No file belongs to several documents.")
