"""The program itself: which commands there are, how they begin and end, and which project they mean."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from armarium.cli.options import AsJson, Library, asked, begin, everywhere, note
from armarium.cli.refusals import Refused, shown
from armarium.cli.session import Session, connect, id_of, settings_of_this_user


class Program(TyperGroup):
    """The core's commands; those of plugins are looked for only when no other has the name that was typed."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name, or None."""
        found = super().get_command(ctx, cmd_name)
        if found is None and not ctx.resilient_parsing:
            self.commands.update(_plugin_commands(set(self.commands)))
            found = super().get_command(ctx, cmd_name)
        return found

    def invoke(self, ctx: Any) -> Any:
        """Run the command; whatever ends it, ends it in words."""
        begin()
        with shown():
            return super().invoke(ctx)


def build() -> typer.Typer:
    """The command line with the core's commands; those of plugins join when one is called by its name."""
    from armarium.cli import background, demo, machine, pages, projects, steps

    program = typer.Typer(
        name="armarium",
        cls=Program,
        help="The library engine for archival documents: import, find lines, read, correct, export, undo.",
        epilog="A plugin may bring commands of its own, under its name: armarium PLUGIN --help.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=False,
    )
    program.callback()(_common)
    for part in (projects, pages, steps, background, machine, demo):
        part.register(program)
    everywhere(program)
    return program


def _say_version(wanted: bool) -> None:
    if wanted:
        from armarium import __version__

        typer.echo(__version__)
        raise typer.Exit


def _common(
    library: Library = None,
    as_json: AsJson = False,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_say_version, help="Print the version.")
    ] = False,
) -> None:
    note(as_json, library)


@contextmanager
def engine_session() -> Iterator[Session]:
    """A session that names no project: for commands about the engine."""
    with connect(settings_of_this_user(), None) as session:
        yield session


@contextmanager
def project_session() -> Iterator[Session]:
    """A session that names the project the caller means, or Refused saying how to name one."""
    with connect(settings_of_this_user(), None) as session:
        session.library = _project(session)
        if session.library is None:
            raise Refused(
                "Which project? Name one with --library (a path or a name), or make one: "
                "armarium create NAME.library."
            )
        yield session


@contextmanager
def work_session() -> Iterator[Session]:
    """A session for background work: it names the project meant where there is one, so that its jobs are there."""
    with connect(settings_of_this_user(), None) as session:
        session.library = _project(session)
        yield session


def _project(session: Session) -> str | None:
    wanted = asked().library
    if wanted:
        place = Path(wanted).expanduser()
        for candidate in (place, place.with_name(f"{place.name}.library")):
            if candidate.is_dir() and (candidate.suffix == ".library" or "/" in wanted):
                return str(candidate.resolve())
        if "/" in wanted:
            raise Refused(f"There is no project at {place}; armarium projects lists those this engine knows.")
        return str(session.get("/api/registry/resolve", name=wanted)["path"])
    for folder in (Path.cwd(), *Path.cwd().parents):
        if folder.suffix == ".library":
            return str(folder.resolve())
    here = [place for place in sorted(Path.cwd().glob("*.library")) if place.is_dir()]
    if len(here) == 1:
        return str(here[0].resolve())
    known = session.get("/api/registry")["libraries"]
    return str(known[0]["path"]) if len(known) == 1 and not here else None


def _plugin_commands(taken: set[str]) -> dict[str, Any]:
    """Commands that plugins bring, each plugin under its own name; one that fails is left out with a word."""
    from armarium.plugins import PluginRegistry

    plugins = PluginRegistry()
    plugins.find()
    found: dict[str, Any] = {}
    for plugin in plugins.loaded:
        name = plugin.name.replace("_", "-")
        if plugin.cli is None or name in taken:
            continue
        try:
            group = plugin.cli()
            everywhere(group)
            # A program of one group, so that a plugin with a single command is a group all the same.
            outer = typer.Typer()
            outer.callback()(lambda: None)
            outer.add_typer(group, name=name, help=plugin.summary)
            found |= getattr(typer.main.get_command(outer), "commands", {})
        except Exception as error:
            typer.echo(f"The commands of {plugin.name} are left out: {error}", err=True)
    return found


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
    """The pages among and under *ids* (none: of the whole project), in order, each once."""
    found: dict[str, dict[str, Any]] = {}
    if not ids:
        return [node for node in documents_under(session, None) if is_page(node)]
    for identity in ids:
        node = session.get(f"/api/documents/{id_of(identity)}")
        for one in (node, *documents_under(session, identity)):
            if is_page(one):
                found.setdefault(one["id"], one)
    return list(found.values())
