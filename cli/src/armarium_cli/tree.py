"""The commands and who provides each, read from a note in the state folder so that only the one typed is loaded."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import typer

from armarium.client import code_in_place, fingerprint, state_folder
from armarium_cli.options import Finder, Topic, add_options, global_options
from armarium_cli.output import tell_if_slow
from armarium_cli.refusals import Refused
from armarium_cli.values import read_plainly

if TYPE_CHECKING:
    from armarium.plugins.offers import Offer

CORE = (
    "projects",
    "doctor",
    "steps",
    "background",
    "serve",
    "engine",
    "plugin_commands",
    "runtimes",
    "tokens",
    "completion",
)
"""The modules beside this one that contain the core's commands, in the order of the help page."""

NOTE = "commands.json"


@dataclass(frozen=True)
class CommandEntry:
    """A command as the help page shows it, and where it comes from."""

    name: str
    source: str
    """A module of the core, else `module:function` of a plugin; empty for a name that several plugins provide."""
    plugin: str = ""
    """The plugin that provides it; for a group that holds all of a plugin's commands, that group's name."""
    help: str = ""
    topic: str = ""
    hidden: bool = False
    rivals: tuple[str, ...] = ()
    """The plugins that provide a command of this name, where there are several: then none of them gets it."""

    def row(self) -> Any:
        """Return it as a line of the help page: a command that is never run."""
        return typer.core.TyperCommand(
            self.name, help=self.help, hidden=self.hidden, rich_help_panel=Topic.title_of(self.topic)
        )


class Tree:
    """The commands of the core and those that plugins name under `armarium.commands`."""

    def __init__(self) -> None:
        self._missing: dict[str, str] = {}
        self._brought: dict[str, CommandEntry] | None = None
        self._groups: dict[str, Any] = {}
        self._named = ""
        """The source of the commands whose plugin resolves names; empty: there is none."""

    def missing(self) -> dict[str, str]:
        """Plugins whose commands cannot be built, with the reason."""
        self._by_name()
        return self._missing

    def entries(self) -> list[CommandEntry]:
        """Return every command, topic by topic, the core's first."""
        order = [*Topic, ""]
        return sorted(
            self._by_name().values(),
            key=lambda entry: order.index(entry.topic) if entry.topic in order else len(order),
        )

    def command(self, name: str) -> Any:
        """Load and return the command called *name*; None when there is none."""
        entry = self._by_name().get(name)
        if entry is None:
            return None
        if entry.rivals:
            return _make_ambiguous(name, entry.rivals)
        global_options().plugin = entry.plugin
        group = self._group(entry)
        command = group.commands.get(name)
        return group if command is None and name == entry.plugin.replace("_", "-") else command

    def name_finder(self) -> Finder | None:
        """Return how the plugin that resolves names does so; None when there is none."""
        self._by_name()
        if not self._named:
            return None
        with _offers().quietly():
            finder: Finder | None = _build_commands(self._named).names
        return finder

    def _by_name(self) -> dict[str, CommandEntry]:
        if self._brought is None:
            self._brought = self._read()
        if self._brought is None:
            self._brought = self._look()
            self._write(self._brought)
        return self._brought

    def _group(self, entry: CommandEntry) -> Any:
        if entry.source not in self._groups:
            if entry.plugin:
                with _offers().quietly():
                    built = _build_commands(entry.source)
                    self._groups[entry.source] = group_of(entry.plugin, built, hidden=True)
                if getattr(built, "names", None) is not None:
                    self._named = self._named or entry.source
            else:
                part = importlib.import_module(f"armarium_cli.{entry.source}").commands
                self._groups[entry.source] = group_of(entry.source, part)
        return self._groups[entry.source]

    def _look(self) -> dict[str, CommandEntry]:
        """Load everything there is. A name that two plugins provide goes to neither, so that what a command does never
        depends on what else is installed; it stays available under the plugin's own name, which the help leaves out.
        """
        by_name: dict[str, CommandEntry] = {}
        for module in CORE:
            source = CommandEntry("", module)
            by_name |= {
                name: _describe_command(name, command, source) for name, command in self._commands(source)
            }
        bringers: dict[str, list[CommandEntry]] = {}
        groups: list[CommandEntry] = []
        ours: set[str] = set()
        installed, failed = _tried_offers()
        for offer, entry in [
            (provider, entry) for provider in installed for entry in provider.entries_of(_offers().COMMANDS)
        ]:
            source = CommandEntry(
                entry.name.replace("_", "-"), entry.value.replace(" ", ""), entry.name, hidden=True
            )
            commands: list[tuple[str, Any]] = []
            why = failed.get((offer.key, _offers().unit_of(entry)))
            if source.plugin in [group.plugin for group in groups]:
                why = "commands of this name are there already, from another distribution."
            if why is None:
                try:
                    commands = list(self._commands(source))
                except (Exception, SystemExit) as error:
                    why = f"{type(error).__name__}: {error}"
            if why is not None:
                self._missing[entry.name if offer.first_party else f"{entry.name} (of {offer.name})"] = why
                continue
            groups.append(source)
            for name, command in commands:
                # A third-party plugin takes no command from those that come with Armarium.
                if offer.first_party or name not in ours:
                    bringers.setdefault(name, []).append(_describe_command(name, command, source))
                if offer.first_party:
                    ours.add(name)
        for name, several in bringers.items():
            if name not in by_name:
                rivals = tuple(rival.plugin for rival in several)
                by_name[name] = (
                    several[0] if len(several) == 1 else CommandEntry(name, "", hidden=True, rivals=rivals)
                )
        for group in groups:
            by_name.setdefault(group.name, group)
        return by_name

    def _commands(self, source: CommandEntry) -> Iterable[tuple[str, Any]]:
        commands: dict[str, Any] = self._group(source).commands
        return commands.items()

    def _read(self) -> dict[str, CommandEntry] | None:
        """Return what was noted, when the software is still the same."""
        try:
            note = json.loads(_note().read_text(encoding="utf-8"))
            if note["software"] != fingerprint(note["sources"]):
                return None
            self._missing, self._named = dict(note["missing"]), str(note["named"])
            return {
                fields["name"]: CommandEntry(**{**fields, "rivals": tuple(fields["rivals"])})
                for fields in note["commands"]
            }
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None

    def _write(self, entries: dict[str, CommandEntry]) -> None:
        """Write the note to the engine's state folder; before that exists, nothing is written."""
        sources = code_in_place()
        note = {
            "software": fingerprint(sources),
            "sources": sources,
            "missing": self._missing,
            "named": self._named,
            "commands": [asdict(entry) for entry in entries.values()],
        }
        place = _note()
        fresh = place.with_name(f".{NOTE}.{os.getpid()}")
        with suppress(OSError):
            fresh.write_text(json.dumps(note), encoding="utf-8")
            fresh.replace(place)


def _build_commands(source: str) -> Any:
    """Return the commands of a plugin at *source* (`module:name`), built if that is a function."""
    module, _, name = source.partition(":")
    return _offers().commands_of(getattr(importlib.import_module(module), name))


def _offers() -> ModuleType:
    """Import the module that lists installed distributions; needed only where the note is of no use."""
    from armarium.plugins import offers

    return offers


def _tried_offers() -> tuple[list[Offer], dict[tuple[str, str], str]]:
    """Return what is installed, and what did not pass its trial. Third-party plugins are tried here where no engine has
    done so.
    """
    # Imported late: needed only where the note is of no use.
    from armarium.plugins.verdicts import Trials

    trials = Trials.of_environment()
    offers = _offers().find_offers()
    with tell_if_slow("New plugins are tried before they are loaded, once."):
        failed = trials.find_failures(offers)
    trials.save()
    return offers, failed


def _note() -> Path:
    return state_folder(os.environ) / NOTE


def _describe_command(name: str, command: Any, source: CommandEntry) -> CommandEntry:
    # The line that the help page shows.
    line = " ".join((command.short_help or command.help or "").split("\n\n")[0].split())
    topic = getattr(command, "rich_help_panel", None)
    return CommandEntry(
        name,
        source.source,
        source.plugin,
        line,
        topic if isinstance(topic, str) else "",
        bool(command.hidden),
    )


def group_of(name: str, commands: typer.Typer, *, hidden: bool = False) -> Any:
    """Return commands as a group of the command line, each with the common options."""
    add_options(commands)
    # A program with one group, so that a plugin's single command still forms a group.
    outer = typer.Typer()
    outer.callback()(lambda: None)
    outer.add_typer(commands, name=name, hidden=hidden)
    command: Any = typer.main.get_command(outer).commands[name]  # type: ignore[attr-defined]
    read_plainly(command)
    return command


def _make_ambiguous(name: str, plugins: tuple[str, ...]) -> Any:
    """Return a command that only says which plugins provide it."""
    program = typer.Typer()

    @program.command(
        name, hidden=True, context_settings={"allow_extra_args": True, "ignore_unknown_options": True}
    )
    def refuse() -> None:
        choices = " or ".join(f"armarium {plugin.replace('_', '-')} {name}" for plugin in plugins)
        raise Refused(f"Several plugins provide a command {name}: say {choices}.")

    return typer.main.get_command(program)
