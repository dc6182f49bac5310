"""The program itself: what every command shares, and which commands there are."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from armarium.cli.session import Refused, Session, connect
from armarium.settings import Settings

LIBRARY_VARIABLE = "ARMARIUM_LIBRARY"


def build() -> typer.Typer:
    """The command line with the core's commands and those the plugins bring."""
    from armarium.cli import background, demo, machine, pages, projects, steps

    # What is refused is shown by `armarium plugins`; a command's own output stays its own.
    logging.getLogger("armarium").setLevel(logging.ERROR)
    program = typer.Typer(
        name="armarium",
        help="The library engine for archival documents.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=False,
    )
    program.callback()(_common)
    for part in (projects, pages, steps, background, machine, demo):
        part.register(program)
    if not _is_core_command(program):
        _plugin_commands(program)
    return program


def _is_core_command(program: typer.Typer) -> bool:
    """Whether the command asked for is the core's own: then no plugin is imported to find others."""
    names = {c.name or getattr(c.callback, "__name__", "") for c in program.registered_commands}
    names |= {str(group.name) for group in program.registered_groups}
    return any(word in names for word in sys.argv[1:])


def _common(
    library: Annotated[
        str | None,
        typer.Option(
            "--library",
            "-l",
            envvar=LIBRARY_VARIABLE,
            help="The project: its path or its name. Left out: the one here, or the only one registered.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Answer one JSON value.")] = False,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """The library engine for archival documents: import, find lines, read, correct, export, undo."""
    if version:
        from armarium import __version__

        typer.echo(__version__)
        raise typer.Exit
    if library is not None:
        os.environ[LIBRARY_VARIABLE] = library
    if as_json:
        os.environ["ARMARIUM_JSON"] = "1"


@contextmanager
def engine_session() -> Iterator[Session]:
    """A session that names no project: for commands about the engine."""
    with connect(Settings(), None) as session:
        yield session


@contextmanager
def project_session() -> Iterator[Session]:
    """A session that names the project the caller means, or Refused saying how to name one."""
    with connect(Settings(), None) as session:
        session.library = _project(session)
        yield session


def _project(session: Session) -> str:
    wanted = os.environ.get(LIBRARY_VARIABLE)
    if wanted:
        place = Path(wanted).expanduser()
        if place.is_dir():
            return str(place.resolve())
        return str(session.get("/api/registry/resolve", name=wanted)["path"])
    here = [p for p in sorted(Path.cwd().glob("*.library")) if p.is_dir()]
    if Path.cwd().suffix == ".library":
        here = [Path.cwd()]
    if len(here) == 1:
        return str(here[0].resolve())
    known = session.get("/api/registry")["libraries"]
    if len(known) == 1:
        return str(known[0]["path"])
    raise Refused(
        "Which project? Name one with --library (a path or a name), or make one: armarium create NAME.library."
    )


def _plugin_commands(program: typer.Typer) -> None:
    """Commands that plugins bring, each plugin under its own name; one that fails is left out with a word."""
    from armarium.plugins import PluginRegistry

    plugins = PluginRegistry()
    plugins.find()
    for plugin in plugins.loaded:
        if plugin.cli is None:
            continue
        try:
            program.add_typer(plugin.cli(), name=plugin.name.replace("_", "-"), help=plugin.summary)
        except Exception as error:
            typer.echo(f"The commands of {plugin.name} are left out: {error}", err=True)


def full_path(text: str) -> str:
    """*text* as a full path on this machine."""
    return str(Path(text).expanduser().absolute())


def plural(number: int, one: str, many: str | None = None) -> str:
    """`3 pages`, `1 page`."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def documents_under(session: Session, parent_id: str | None) -> Iterator[dict[str, Any]]:
    """Every node under *parent_id* (None: the whole project), in order, walked page by page."""
    offset = 0
    while True:
        answer = session.get("/api/documents", parent_id=parent_id, limit=500, offset=offset)
        for node in answer["items"]:
            yield node
            if node["child_count"]:
                yield from documents_under(session, node["id"])
        offset += answer["count"]
        if offset >= answer["total"] or not answer["count"]:
            return


def is_page(node: dict[str, Any]) -> bool:
    """Whether a node carries a page's picture itself: an image file without pages, or a page."""
    return node["doc_type"] == "page" or (node.get("file_type") == "image" and not node["child_count"])


def pages_of(session: Session, ids: list[str]) -> list[dict[str, Any]]:
    """The pages among and under *ids* (none: of the whole project), in order."""
    found: list[dict[str, Any]] = []
    if not ids:
        return [node for node in documents_under(session, None) if is_page(node)]
    for identity in ids:
        node = session.get(f"/api/documents/{identity}")
        if is_page(node):
            found.append(node)
        found += [child for child in documents_under(session, identity) if is_page(child)]
    return found
