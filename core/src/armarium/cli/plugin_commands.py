"""`armarium plugins`: what is loaded and what is refused; the trial for plugin authors; a new family."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

from armarium.cli.declared import Commands
from armarium.cli.options import Topic
from armarium.cli.output import answer, legible, table
from armarium.cli.program import engine_session
from armarium.cli.refusals import Refused
from armarium.cli.user_settings import settings_of_this_user

commands = Commands(Topic.engine)


@commands.example("plugins")
def plugins(
    check: Annotated[
        str | None,
        "--check WHAT: Check a plugin that you are writing (a folder, a wheel, an installed distribution) and list its faults.",
    ] = None,
    new: Annotated[str | None, "--new NAME: Create a small working plugin of this name."] = None,
    points: Annotated[bool, "List the extension points, who owns each and who answers it."] = False,
    folder: Annotated[
        Path | None, "FOLDER: With --new: the folder to create; by default, the plugin's name."
    ] = None,
) -> None:
    """List the plugins and drivers that are loaded, and those refused, with the reason."""
    if (check is not None) + (new is not None) + points > 1:
        raise Refused("Use one of --check, --new and --points.", ends_with=2)
    if folder is not None and new is None:
        raise Refused("A folder goes with --new only; to try a plugin, use --check FOLDER.", ends_with=2)
    if check is not None:
        _check(check)
    elif new is not None:
        _write(new, folder or Path(new))
    elif points:
        _list_points()
    else:
        _list()


def _check(target: str) -> None:
    found = _of_authors().check(target, seconds=settings_of_this_user().plugin_trial_seconds)

    def words() -> None:
        for fault in found.faults:
            typer.echo(legible(f"{fault['name']}: {fault['why']}"))
        if found.faults:
            number = len(found.faults)
            typer.echo(f"{found.distribution}: {number} fault{'' if number == 1 else 's'}.")
        else:
            typer.echo(f"{found.distribution} has no fault: an engine would load {', '.join(found.brings)}.")

    answer({**asdict(found), "ok": not found.faults}, words)
    if found.faults:
        raise typer.Exit(1)


def _of_authors() -> ModuleType:
    # Imported late: it loads what an engine and trials need, and `armarium plugins` asks a running engine.
    from armarium.plugins import check

    return check


def _write(name: str, folder: Path) -> None:
    # Imported late: only `--new` needs it.
    from armarium.plugins.scaffold import write_family

    written = write_family(name, folder)
    answer(
        {"folder": str(folder), "files": [str(path) for path in written]},
        f"Created the plugin {name} in {folder}. Try it: armarium plugins --check {folder}",
    )


def _list_points() -> None:
    found = [asdict(point) for point in _of_authors().describe_points()]

    def words() -> None:
        rows = [(p["owner"], p["name"], p["signature"], ", ".join(p["answered_by"])) for p in found]
        table("Extension points", ("owner", "point", "called with, answers", "answered by"), rows)

    answer({"items": found, "count": len(found)}, words)


def _list() -> None:
    with engine_session() as session:
        found = session.get("/api/plugins")

    def words() -> None:
        rows = [(p["name"], p["version"] or "", p["summary"]) for p in found["items"]]
        table("Plugins", ("name", "version", "what it brings"), rows)
        if found["drivers"]:
            drivers = [(d["group"], d["name"], _readiness(d)) for d in found["drivers"]]
            table("Drivers", ("group", "name", "ready"), drivers)
        for refused in (*found["refused"], *found["refused_drivers"]):
            typer.echo(legible(f"refused: {_describe_owner(refused)}: {refused['why']}"))
        for fault in found["faults"]:
            typer.echo(legible(f"fault: {_describe_owner(fault)}: {fault['why']}"))

    answer(found, words)


def _readiness(driver: dict[str, Any]) -> str:
    return "yes" if driver["ready"] else str(driver["why"])


def _describe_owner(refused: dict[str, Any]) -> str:
    """Return the plugin's name, and the distribution to remove or update."""
    distribution = refused.get("distribution")
    return f"{refused['name']} (of {distribution})" if distribution else str(refused["name"])
