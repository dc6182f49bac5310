"""Commands about projects: create, list, settings, snapshot, release, doctor."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from armarium_cli.declared import Commands
from armarium_cli.options import Finder, Topic
from armarium_cli.output import answer
from armarium_cli.program import full_path, plural, project_session
from armarium_cli.refusals import Refused
from armarium_cli.work import follow_job

commands = Commands(Topic.projects)

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}

OFF = "off"

_SHOWN_AS = {
    "local_only_ai": "models of this machine only",
    "compute_place": "very many pages are read at",
    "trainer": "trainer of new readers",
    "snapshot_interval_seconds": "snapshot every",
    "snapshot_retention_count": "snapshots kept",
    "snapshot_offsite_path": "copied to",
}
"""Settings whose values are typed as words."""


@commands.asks("create Letters", "POST /api/library", of="engine", says="Made {path}.")
def create(
    path: Annotated[
        str,
        "Where: a path that ends in .library (added when it does not).",
        Finder(lambda session, path: full_path(path if path.endswith(".library") else f"{path}.library")),
    ],
    name: Annotated[str | None, "The name people see."] = None,
) -> None:
    """Create a new, empty project."""


@commands.asks(
    "projects",
    "GET /api/registry",
    of="engine",
    title="Projects",
    rows="libraries",
    columns=(
        ("name", lambda row: row["name"] or Path(row["path"]).stem),
        "path",
        ("", lambda row: row["is_open"] and "open"),
        "last used=last_accessed",
    ),
    nothing="There is no project yet; make one: armarium create NAME.",
)
def projects() -> None:
    """List the projects this engine knows."""


@commands.example("settings --snapshot-every 1d")
def settings(
    name: Annotated[str | None, "The name people see."] = None,
    reading_rule: Annotated[Literal["strict", "relaxed"] | None, "Which readings count."] = None,
    local_only_ai: Annotated[
        bool | None,
        "--local-only-ai/--any-ai: Whether only models of this machine are used for this project.",
    ] = None,
    compute_place: Annotated[
        str | None, "Where very many pages are read: local, dask:local:4, t4-small; off for none."
    ] = None,
    trainer: Annotated[
        str | None, "Which trainer trains a reader that begins from nothing; off for the first there is."
    ] = None,
    snapshot_every: Annotated[
        str | None, "How often a changed project is saved in a snapshot: 30m, 12h, 1d; off for never."
    ] = None,
    keep: Annotated[int | None, typer.Option(min=1, max=1000, help="How many snapshots are kept.")] = None,
    copy_to: Annotated[
        str | None, "A folder, best on another disk, to which each snapshot is copied; off for none."
    ] = None,
) -> None:
    """Show the settings of the project, or change those given."""
    options = {
        "name": name,
        "reading_rule": reading_rule,
        "local_only_ai": local_only_ai,
        "compute_place": compute_place,
        "trainer": trainer,
        "snapshot_interval_seconds": None if snapshot_every is None else _seconds(snapshot_every),
        "snapshot_retention_count": keep,
        "snapshot_offsite_path": None if copy_to in (None, OFF) else full_path(copy_to),
    }
    changes: dict[str, Any] = {key: value for key, value in options.items() if value is not None}
    for key, text in (
        ("compute_place", compute_place),
        ("trainer", trainer),
        ("snapshot_offsite_path", copy_to),
    ):
        if text == OFF:
            changes[key] = None
    with project_session() as session:
        if changes:
            session.act("library.set", changes)
        current = session.get("/api/library/settings")
    values = {key: value for key, value in current.items() if key not in ("entity_types", "scripts")}

    def words() -> None:
        for key, value in values.items():
            typer.echo(f"{_SHOWN_AS.get(key, key.replace('_', ' '))}: {_in_words(key, value)}")

    answer(current, words)


def _in_words(key: str, value: Any) -> str:
    """Return a setting in the form of its option."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if key == "snapshot_interval_seconds":
        return _as_typed(int(value or 0))
    return "-" if value is None else str(value)


def _as_typed(seconds: int) -> str:
    """Return a duration in the form that `--snapshot-every` takes."""
    if seconds == 0:
        return OFF
    unit = next(unit for unit in "dhms" if seconds % _SECONDS[unit] == 0)
    return f"{seconds // _SECONDS[unit]}{unit}"


def _seconds(text: str) -> int:
    """Return a typed duration in whole seconds."""
    if text == OFF:
        return 0
    match = re.fullmatch(r"(\d{1,9})([smhd])", text.strip().lower())
    if match is None:
        raise Refused(f"{text!r} is not a duration: write a number and s, m, h or d (30m, 12h, 1d), or off.")
    return int(match[1]) * _SECONDS[match[2]]


@commands.example("release")
def release() -> None:
    """Close the project in the running engine, so that another engine may open it."""
    with project_session() as session:
        if not session.running:
            raise Refused("No engine is running that could have the project open.")
        released = session.post("/api/registry/release", {"path": session.library})
    answer(released, f"{released['status'].replace('_', ' ')}: {released['path']}")


@commands.example("snapshot")
def snapshot(reason: Annotated[str, "A note on the reason."] = "on demand") -> None:
    """Take a snapshot of the project: its database and the list of its files. `settings --copy-to` also copies it
    elsewhere.
    """
    with project_session() as session:
        result = session.act("snapshot.take", {"reason": reason})["result"]
        copied: dict[str, Any] = {}
        if result["copy_job_id"]:
            try:
                copied = dict(
                    follow_job(session, result["copy_job_id"], "Copying the snapshot").get("result") or {}
                )
            except Refused as refused:
                # The snapshot exists although its copy failed: report its place before the failure.
                sentence = f"The snapshot is in {result['path']}, but was not copied."
                body = {**refused.body, **result, "detail": f"{sentence} {refused}"}
                raise Refused(body, ends_with=refused.ends_with) from refused

    def words() -> None:
        typer.echo(f"Snapshot of {plural(result['objects'], 'file')} in {result['path']}.")
        if copied.get("path"):
            typer.echo(f"Copied to {copied['path']}.")
        if copied.get("files_lost"):
            typer.echo(
                f"{plural(copied['files_lost'], 'file')} of the project could not be copied: missing or damaged. "
                "armarium doctor names them."
            )

    answer({**result, "copy": copied or None}, words)
