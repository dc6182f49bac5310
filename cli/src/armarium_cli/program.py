"""The program itself: its commands, how they begin and end, and which project they mean."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from pathlib import Path
from typing import Annotated, Any

import typer
from typer._completion_classes import completion_init
from typer.core import TyperGroup

from armarium.client import __version__
from armarium_cli.options import AsJson, Foreground, Library, global_options, note, reset_options
from armarium_cli.refusals import Refused, misuse_shown, report_failures
from armarium_cli.session import Session, connect
from armarium_cli.shared_engine import engine_elsewhere
from armarium_cli.tree import Tree
from armarium_cli.values import read_plainly

COMPLETING = "_ARMARIUM_COMPLETE"
"""Set by a shell that asks for completions."""

_NAMED = 5
"""How many projects a refusal lists."""


class Program(TyperGroup):
    """The commands of the core and of plugins; only the one that was typed is loaded.

    Commands named under `armarium.commands` appear beside the core's, and also under their plugin's name.
    """

    _tree: Tree | None = None
    _listing = False

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        read_plainly(self)

    @property
    def tree(self) -> Tree:
        """The commands, looked up on first use."""
        if self._tree is None:
            self._tree = Tree()
        return self._tree

    def list_commands(self, ctx: Any) -> list[str]:
        """Return every name for the help, topic by topic."""
        return [entry.name for entry in self.tree.entries()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of that name, or None; while the help is listed, only a line about it."""
        if self._listing:
            return self.commands.get(cmd_name)
        command = self.tree.command(cmd_name)
        if command is None and not ctx.resilient_parsing:
            self._tell_missing()
            # A mistyped name is compared with these for a suggestion.
            self.commands = self._rows()
        return command

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help page from what is noted of each command."""
        with self._listing_rows():
            super().format_help(ctx, formatter)
        self._tell_missing()

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Return the names that complete what was typed so far."""
        with self._listing_rows():
            return super().shell_complete(ctx, incomplete)

    @contextmanager
    def _listing_rows(self) -> Iterator[None]:
        self.commands, self._listing = self._rows(), True
        try:
            yield
        finally:
            self.commands, self._listing = {}, False

    def _rows(self) -> dict[str, Any]:
        return {entry.name: entry.row() for entry in self.tree.entries()}

    def _tell_missing(self) -> None:
        for plugin, why in self.tree.missing().items():
            typer.echo(f"The commands of {plugin} are left out: {why}", err=True)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **more: Any,
    ) -> Any:
        """Run the program; wrong usage is reported in one sentence."""
        completion_arguments = (args, prog_name, complete_var)
        if not standalone_mode:
            return super().main(*completion_arguments, False, windows_expand_args, **more)
        # In a context of its own: the options of one call (`--json`) say nothing of what the same process does next.
        copy_context().run(
            self._run, args, super().main, *completion_arguments, False, windows_expand_args, **more
        )

    @staticmethod
    def _run(args: Sequence[str] | None, main: Callable[..., Any], *rest: Any, **more: Any) -> None:
        """Run the program for *args*, and exit."""
        reset_options()
        if COMPLETING in os.environ:
            # The protocol differs from shell to shell.
            completion_init()
        with misuse_shown("--json" in (sys.argv[1:] if args is None else args)):
            sys.exit(main(*rest, **more))

    def make_context(self, *args: Any, **more: Any) -> Any:
        """Read the command line; show the help page or the version if requested."""
        with report_failures():
            return super().make_context(*args, **more)

    def invoke(self, ctx: Any) -> None:
        """Run the command; report any failure in words."""
        reset_options()
        with report_failures():
            super().invoke(ctx)


def build() -> typer.Typer:
    """Build the command line; its commands are looked up when one is called."""
    program = typer.Typer(
        name="armarium",
        cls=Program,
        help="The library engine for archival documents: import, find lines, read, correct, export, undo.",
        epilog="armarium COMMAND --help says more, with an example.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=False,
    )
    program.callback()(_common)
    return program


def _say_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(__version__)
        raise typer.Exit


def _common(
    library: Library = None,
    as_json: AsJson = False,
    foreground: Foreground = False,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_say_version, help="Print the version.")
    ] = False,
) -> None:
    note(as_json, library, foreground)


@contextmanager
def engine_session() -> Iterator[Session]:
    """Return a session that names no project, for commands about the engine."""
    with connect() as session:
        yield session


@contextmanager
def project_session() -> Iterator[Session]:
    """Return a session that names the current project; raises Refused with advice where there is none."""
    with connect() as session:
        session.library = project_meant(session)
        if session.library is None:
            raise Refused(which_project(session))
        yield session


def named_projects(session: Session) -> list[str]:
    """Return the full path of the project that the command line names with --library, if any."""
    path = project_meant(session) if global_options().named else None
    return [] if path is None else [path]


def which_project(session: Session) -> str:
    """Return the sentence for a caller who named no project where it cannot be determined."""
    command_names = [
        library["name"] or Path(library["path"]).stem for library in session.get("/api/registry")["libraries"]
    ]
    if not command_names:
        return "There is no project yet; make one: armarium create NAME."
    first_names = ", ".join(command_names[:_NAMED]) + (" …" if len(command_names) > _NAMED else "")
    return f"Which project? Name one with --library (a path or a name): {first_names}. Or make one: armarium create NAME."


@contextmanager
def work_session() -> Iterator[Session]:
    """Return a session for background work: it names the current project if there is one, so that its jobs are
    included.
    """
    with connect() as session:
        session.library = project_meant(session)
        yield session


def project_meant(session: Session) -> str | None:
    """Return the path of the current project: named, the one in this folder, or the only one; None when it is
    ambiguous.
    """
    name, elsewhere = global_options().library, engine_elsewhere() is not None
    if name:
        if elsewhere and name.startswith("/"):
            return name
        package = None if elsewhere else _package_at(name)
        return package or str(session.get("/api/registry/resolve", name=name)["path"])
    # Folders of this machine are none of an engine's elsewhere.
    here = [] if elsewhere else _packages_here()
    if len(here) == 1:
        return here[0]
    libraries = session.get("/api/registry")["libraries"]
    return str(libraries[0]["path"]) if len(libraries) == 1 and not here else None


def _package_at(name: str) -> str | None:
    place = Path(name).expanduser()
    for candidate in (place, place.with_name(f"{place.name}.library")):
        if candidate.is_dir() and (candidate.suffix == ".library" or "/" in name):
            return str(candidate.resolve())
    if "/" in name:
        raise Refused(f"There is no project at {place}; armarium projects lists those this engine knows.")
    return None


def _packages_here() -> list[str]:
    """Return the project in which the current folder lies, else those in it."""
    around = [folder for folder in (Path.cwd(), *Path.cwd().parents) if folder.suffix == ".library"][:1]
    inside = [place for place in sorted(Path.cwd().glob("*.library")) if place.is_dir()]
    return [str(place.resolve()) for place in around or inside]


def full_path(text: str) -> str:
    """Return *text* as a full path on this machine, without `..`: the engine and its lists know a place by one path."""
    path = Path(text).expanduser().absolute()
    # What `..` leads to depends on the links before it; a path without it stays as it was typed.
    return str(path.resolve() if ".." in path.parts else path)


def plural(number: int, one: str, many: str | None = None) -> str:
    """Return `3 pages` or `1 page`."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def percent(rate: float | None) -> str:
    """Return `1.5%`; nothing for a rate that is not known."""
    return "" if rate is None else f"{rate:.1%}"
