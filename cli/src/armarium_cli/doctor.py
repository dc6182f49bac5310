"""The command that examines a project."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from armarium.client import running_engine
from armarium_cli.declared import Commands
from armarium_cli.options import Topic
from armarium_cli.output import answer
from armarium_cli.program import engine_session, full_path, plural, project_session
from armarium_cli.refusals import Refused
from armarium_cli.session import in_process
from armarium_cli.user_settings import settings_of_this_user

commands = Commands(Topic.projects)


@commands.example("doctor")
def doctor(
    path: Annotated[str | None, "PATH: The package to examine; by default the current project."] = None,
    files: Annotated[bool, "--files/--no-files: Also read every file and compare its bytes."] = True,
    rebuild: Annotated[bool, "--rebuild/--no-rebuild: Rebuild the derived indexes first."] = False,
) -> None:
    """Examine a project: database, history, indexes, audit chain, files; exit code 1 when it has faults.

    Changes nothing but what can be regenerated.
    """
    settings = settings_of_this_user()
    if path is None:
        with project_session() as session:
            path = session.library
    assert path is not None
    place = full_path(path)
    if not Path(place).exists():
        raise Refused(f"There is nothing at {place}; doctor takes the path of a project.")
    was_open = False
    if running_engine(settings.state_dir) is not None:
        with engine_session() as session:
            was_open = session.post("/api/registry/release", {"path": place})["status"] == "released"
    own = in_process()
    engine = own.Engine(settings)
    engine.start(jobs=False)
    try:
        report = own.examine(engine, place, files=files, rebuild=rebuild)
    finally:
        engine.close()
        if was_open:
            # Background work of the project goes on; a project too damaged to be opened is reported as such.
            with suppress(Refused), engine_session() as session:
                session.library = place
                session.get("/api/library/settings")

    def words() -> None:
        for finding in report["findings"]:
            typer.echo(f"{finding['level']}: {finding['what']}")
        counts = ", ".join(
            plural(number, what.removesuffix("s")) for what, number in report["counts"].items()
        )
        typer.echo(f"{report['path']} is {'healthy' if report['healthy'] else 'NOT healthy'} ({counts}).")

    answer(report, words)
    if not report["healthy"]:
        raise typer.Exit(1)
