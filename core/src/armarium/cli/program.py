"""The program itself: which commands there are, how they begin and end, and which project they mean."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from armarium.admission.offers import COMMANDS, Offer, find_offers, quietly, unit_of
from armarium.admission.processes import Failed
from armarium.admission.trials import Trials
from armarium.cli.options import AsJson, Library, asked, begin, everywhere, note
from armarium.cli.refusals import Refused, misuse_shown, shown
from armarium.cli.session import Session, connect, settings_of_this_user
from armarium.ids import is_id

_NAMED = 5
"""How many documents of one name, or projects, a refusal names."""


class Program(TyperGroup):
    """The core's commands and those of plugins, looked for only when no command of the core has the name that was typed.

    Commands named under `armarium.commands` stand beside the core's, and under their plugin's name too. What a plugin's
    `Plugin.cli` brings stands under its name alone, and is found by loading the plugins: when nothing else fits.
    """

    _missing: dict[str, str] | None = None
    """Plugins whose commands cannot be built, with the reason; None until they are looked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Every name, for the help: the core's commands first."""
        self._join()
        self._tell_missing()
        return super().list_commands(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name, or None."""
        found = super().get_command(ctx, cmd_name)
        if found is None and not ctx.resilient_parsing:
            self._join()
            found = super().get_command(ctx, cmd_name)
        if found is None and not ctx.resilient_parsing:
            self.commands.update(_plugin_commands(set(self.commands)))
            found = super().get_command(ctx, cmd_name)
            if found is None:
                self._tell_missing()
        return found

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **more: Any,
    ) -> Any:
        """Run the program; a command that is called wrongly is told so in one sentence."""
        rest = (args, prog_name, complete_var)
        if not standalone_mode:
            return super().main(*rest, False, windows_expand_args, **more)
        begin()
        with misuse_shown("--json" in (sys.argv[1:] if args is None else args)):
            sys.exit(super().main(*rest, False, windows_expand_args, **more))

    def make_context(self, *args: Any, **more: Any) -> Any:
        """Read the command line; the help page and the version are shown on the way."""
        with shown():
            return super().make_context(*args, **more)

    def invoke(self, ctx: Any) -> None:
        """Run the command; whatever ends it, ends it in words."""
        begin()
        with shown():
            super().invoke(ctx)

    def _join(self) -> None:
        if self._missing is None:
            found, self._missing = joining(set(self.commands))
            self.commands.update(found)

    def _tell_missing(self) -> None:
        for plugin, why in (self._missing or {}).items():
            typer.echo(f"The commands of {plugin} are left out: {why}", err=True)
        self._missing = {}


def build() -> typer.Typer:
    """The command line with the core's commands; those of plugins join when one is called for."""
    from armarium.cli import background, demo, machine, plugin_commands, projects, steps

    program = typer.Typer(
        name="armarium",
        cls=Program,
        help="The library engine for archival documents: import, find lines, read, correct, export, undo.",
        epilog="A plugin may bring more commands under its name: armarium PLUGIN --help.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=False,
    )
    program.callback()(_common)
    for part in (projects, steps, background, machine, plugin_commands, demo):
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
            raise Refused(which_project(session))
        yield session


def named_projects(session: Session) -> list[str]:
    """The full path of the project that the command line names with --library; none where it names none."""
    path = _project(session) if asked().named else None
    return [] if path is None else [path]


def which_project(session: Session) -> str:
    """What to say to who named no project where it cannot be guessed."""
    known = [one["name"] or Path(one["path"]).stem for one in session.get("/api/registry")["libraries"]]
    if not known:
        return "There is no project yet; make one: armarium create NAME."
    some = ", ".join(known[:_NAMED]) + (" …" if len(known) > _NAMED else "")
    return f"Which project? Name one with --library (a path or a name): {some}. Or make one: armarium create NAME."


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


def joining(taken: set[str]) -> tuple[dict[str, Any], dict[str, str]]:
    """Commands of the entry points, by name: each where it is free, and each plugin's own group, which help leaves out.

    Beside them the plugins whose commands cannot be built, with the reason.

    A name that two plugins bring goes to neither, so that what a command does never hangs on what else is installed.
    """
    groups: dict[str, Any] = {}
    missing: dict[str, str] = {}
    bringers: dict[str, list[str]] = {}
    ours: set[str] = set()
    offers, failed = tried_offers()
    for offer, entry in [(one, entry) for one in offers for entry in one.of(COMMANDS)]:
        why = failed.get((offer.key, unit_of(entry)))
        if entry.name in groups:
            why = "another distribution brings commands under this name."
        if why is None:
            try:
                with quietly():
                    groups[entry.name] = _group(entry.name, entry.load()(), hidden=True)
            except (Exception, SystemExit) as error:
                why = f"{type(error).__name__}: {error}"
        if why is not None:
            missing[entry.name if offer.first_party else f"{entry.name} (of {offer.name})"] = why
            continue
        for name in groups[entry.name].commands:
            # A stranger takes no command from those that come with Armarium.
            if offer.first_party or name not in ours:
                bringers.setdefault(name, []).append(entry.name)
        ours |= set(groups[entry.name].commands) if offer.first_party else set()
    found: dict[str, Any] = {}
    for name, plugins in bringers.items():
        if name not in taken:
            found[name] = groups[plugins[0]].commands[name] if len(plugins) == 1 else _torn(name, plugins)
    own = {plugin.replace("_", "-"): group for plugin, group in groups.items()}
    found |= {name: group for name, group in own.items() if name not in taken | set(found)}
    return found, missing


def tried_offers() -> tuple[list[Offer], Failed]:
    """What is installed, and what of it did not pass its trial. Strangers are tried here where no engine has done so."""
    trials = Trials.of_environment()
    offers = find_offers()
    failed = trials.failed(offers, trusting_ours=True)
    trials.save()
    return offers, failed


def _torn(name: str, plugins: list[str]) -> Any:
    """A command that only says whose it could be."""
    program = typer.Typer()

    @program.command(
        name, hidden=True, context_settings={"allow_extra_args": True, "ignore_unknown_options": True}
    )
    def refuse() -> None:
        meant = " or ".join(f"armarium {plugin.replace('_', '-')} {name}" for plugin in plugins)
        raise Refused(f"Several plugins bring a command {name}: say {meant}.")

    return typer.main.get_command(program)


def _plugin_commands(taken: set[str]) -> dict[str, Any]:
    """Commands that plugins bring as `Plugin.cli`, each plugin under its name; one that fails is left out with a word."""
    from armarium.plugins import PluginRegistry

    settings = settings_of_this_user()
    plugins = PluginRegistry()
    plugins.find(Trials(settings.verdicts, seconds=settings.plugin_trial_seconds))
    found: dict[str, Any] = {}
    for plugin in plugins.loaded:
        name = plugin.name.replace("_", "-")
        if plugin.cli is None or name in taken:
            continue
        try:
            found[name] = _group(name, plugin.cli(), help_text=plugin.summary)
        except Exception as error:
            typer.echo(f"The commands of {plugin.name} are left out: {error}", err=True)
    return found


def _group(name: str, commands: typer.Typer, *, help_text: str | None = None, hidden: bool = False) -> Any:
    """A plugin's commands as a group of the command line, each with the options that all commands take."""
    everywhere(commands)
    # A program of one group, so that a plugin with a single command is a group all the same.
    outer = typer.Typer()
    outer.callback()(lambda: None)
    outer.add_typer(commands, name=name, help=help_text, hidden=hidden)
    command: Any = typer.main.get_command(outer)
    return command.commands[name]


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
    """The pages among and under the documents of these *ids* or names (none: of the whole project), in order, each once."""
    found: dict[str, dict[str, Any]] = {}
    if not ids:
        return [node for node in documents_under(session, None) if is_page(node)]
    for identity in [document_id(session, one) for one in ids]:
        node = session.get(f"/api/documents/{identity}")
        for one in (node, *documents_under(session, identity)):
            if is_page(one):
                found.setdefault(one["id"], one)
    return list(found.values())


def document_id(session: Session, text: str) -> str:
    """*text* when it is an id, else the id of the one live document of that name; Refused for none and for several."""
    if is_id(text):
        return text
    query = {
        "recursive": True,
        "filters": [{"attr": "document.name", "op": "eq", "value": text[:10_000]}],
        "limit": 500,
    }
    rows = session.post("/api/documents/dataset/query", query)["rows"]
    found = [row["id"] for row in rows if row["node_kind"] != "alias"]
    if len(found) > 1:
        some = ", ".join(found[:_NAMED]) + (" …" if len(found) > _NAMED else "")
        raise Refused(f"{len(found)} documents are called {text!r}: {some}. Name the one you mean by its id.")
    if not found:
        raise Refused(f"No document here has the id or the name {text!r}; armarium ls shows those there are.")
    return str(found[0])
