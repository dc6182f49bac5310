"""`armarium plugins`: what is loaded and what is refused; the trial for plugin authors; a new family."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

from armarium_cli.declared import Commands
from armarium_cli.options import Topic
from armarium_cli.output import answer, legible, table
from armarium_cli.program import engine_session
from armarium_cli.refusals import Refused
from armarium_cli.scaffold import write_family
from armarium_cli.user_settings import settings_of_this_user

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
    checked = _of_authors().check(target, seconds=settings_of_this_user().plugin_trial_seconds)

    def words() -> None:
        for fault in checked.faults:
            typer.echo(legible(f"{fault['name']}: {fault['why']}"))
        if checked.faults:
            number = len(checked.faults)
            typer.echo(f"{checked.distribution}: {number} fault{'' if number == 1 else 's'}.")
        else:
            typer.echo(
                f"{checked.distribution} has no fault: an engine would load {', '.join(checked.brings)}."
            )

    answer({**asdict(checked), "ok": not checked.faults}, words)
    if checked.faults:
        raise typer.Exit(1)


def _of_authors() -> ModuleType:
    # Imported late: it loads what an engine and trials need, and `armarium plugins` asks a running engine.
    from armarium.plugins import check

    return check


def _write(name: str, folder: Path) -> None:
    paths = write_family(name, folder)
    answer(
        {"folder": str(folder), "files": [str(path) for path in paths]},
        f"Created the plugin {name} in {folder}. Try it: armarium plugins --check {folder}",
    )


def _list_points() -> None:
    points = [asdict(point) for point in _of_authors().describe_points()]

    def words() -> None:
        rows = [
            (point["owner"], point["name"], point["signature"], ", ".join(point["answered_by"]))
            for point in points
        ]
        table("Extension points", ("owner", "point", "called with, answers", "answered by"), rows)

    answer({"items": points, "count": len(points)}, words)


def _list() -> None:
    with engine_session() as session:
        listing = session.get("/api/plugins")

    def words() -> None:
        rows = [(plugin["name"], plugin["version"] or "", plugin["summary"]) for plugin in listing["items"]]
        table("Plugins", ("name", "version", "what it brings"), rows)
        if listing["drivers"]:
            drivers = [(driver["group"], driver["name"], _readiness(driver)) for driver in listing["drivers"]]
            table("Drivers", ("group", "name", "ready"), drivers)
        for refused in (*listing["refused"], *listing["refused_drivers"]):
            typer.echo(legible(f"refused: {_describe_owner(refused)}: {refused['why']}"))
        for fault in listing["faults"]:
            typer.echo(legible(f"fault: {_describe_owner(fault)}: {fault['why']}"))

    answer(listing, words)


def _readiness(driver: dict[str, Any]) -> str:
    return "yes" if driver["ready"] else str(driver["why"])


def _describe_owner(refused: dict[str, Any]) -> str:
    """Return the plugin's name, and the distribution to remove or update."""
    distribution = refused.get("distribution")
    return f"{refused['name']} (of {distribution})" if distribution else str(refused["name"])
