"""The options every command takes in any position (`--json`, `--library`, `--foreground`), and choices several commands
share.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import re
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import typer

LIBRARY_VARIABLE = "ARMARIUM_LIBRARY"
JSON_VARIABLE = "ARMARIUM_JSON"


@dataclass
class CallOptions:
    """The common options given for this command."""

    json: bool = False
    library: str | None = None
    named: bool = False
    """Whether the project was named on the command line and not only by the environment."""
    foreground: bool = False
    plugin: str = ""
    """The plugin that brings the command; empty for the core's."""


_asked: ContextVar[CallOptions | None] = ContextVar("armarium_command_line", default=None)


def global_options() -> CallOptions:
    """Return the common options; before a command begins, what the environment sets."""
    call_options = _asked.get()
    return call_options if call_options is not None else reset_options()


def reset_options() -> CallOptions:
    """Reset the options to what the environment sets; those of the command line are added later."""
    fresh = CallOptions(bool(os.environ.get(JSON_VARIABLE)), os.environ.get(LIBRARY_VARIABLE))
    _asked.set(fresh)
    return fresh


def _project_names(incomplete: str) -> list[str]:
    """Complete the name of a project; loaded only for completion, because it talks to the engine."""
    names: list[str] = importlib.import_module("armarium_cli.names").project_names(incomplete)
    return names


AsJson = Annotated[bool, typer.Option("--json", help="Answer one JSON value.")]
Library = Annotated[
    str | None,
    typer.Option(
        "--library",
        "-l",
        metavar="PATH|NAME",
        show_envvar=False,
        autocompletion=_project_names,
        help="The project. Default: ARMARIUM_LIBRARY, the one in this folder, or the only one registered.",
    ),
]


Foreground = Annotated[
    bool,
    typer.Option("--foreground", help="Run the engine in this command, without the background engine."),
]


def note(as_json: bool, library: str | None, foreground: bool = False) -> None:
    """Record these options for the rest of the command; options left out change nothing."""
    present = global_options()
    present.json = present.json or as_json
    present.foreground = present.foreground or foreground
    if library is not None:
        present.library, present.named = library, True


def add_options(program: typer.Typer) -> None:
    """Give every command of *program*, and of the groups in it, the common options."""
    for command in program.registered_commands:
        if command.callback is not None:
            command.callback = _with_options(command.callback)
    for group in program.registered_groups:
        inner = group.typer_instance
        if inner is None:
            continue
        if inner.registered_callback is not None and inner.registered_callback.callback is not None:
            inner.registered_callback.callback = _with_options(inner.registered_callback.callback)
        add_options(inner)


@dataclass(frozen=True)
class Finder:
    """Says of a parameter that what is typed names something: how that is found, and how a shell completes the name."""

    find: Callable[[Any, Any], Any]
    complete: Callable[[typer.Context, str], list[str]] | None = None
    whole: bool = False
    """Whether `find` is called once with all that was typed, which may be nothing, instead of with each text."""


_SPELLED = re.compile(
    r"(?P<typed>--?[a-z][a-z0-9/, -]*?)(?: (?P<metavar>[A-Z][^ :a-z]*))?: (?P<about>.*)", re.DOTALL
)
_ARGUMENT = re.compile(r"(?P<metavar>[A-Z][^a-z:]*): (?P<about>.*)", re.DOTALL)


def _explain(parameter: inspect.Parameter) -> inspect.Parameter:
    """Return *parameter* as Typer takes it, where the help is stated beside its type: `Annotated[str, "The page."]`.

    A parameter without a default is an argument, and so is one whose help begins with what stands for it in the usage:
    `KEY=VALUE …: What to set.` The help of an option may begin with how it is typed, where its name does not say that:
    `--out, -o: The file to write.`, `--pass ID: The pass.`, `--mask/--no-mask: White outside its outline.`
    """
    noted = getattr(parameter.annotation, "__metadata__", ())
    about = next((extra for extra in noted if isinstance(extra, str)), None)
    if about is None:
        return parameter
    kind = parameter.annotation.__origin__
    complete = next((extra.complete for extra in noted if isinstance(extra, Finder)), None)
    more: dict[str, Any] = {}
    if complete is not None:
        # Typer goes by the names of the parameters.
        more["autocompletion"] = lambda ctx, incomplete: complete(ctx, incomplete)
    info: Any
    if (spelled := _SPELLED.fullmatch(about)) is not None:
        more |= {"metavar": spelled["metavar"], "help": spelled["about"]}
        info = typer.Option(*spelled["typed"].split(", "), **more)
    elif (argument := _ARGUMENT.fullmatch(about)) is not None:
        metavar = argument["metavar"]
        if metavar == parameter.name.upper():
            metavar = None
        elif "list" in str(kind):
            metavar = f"{metavar.removesuffix(' …')}..."
        info = typer.Argument(metavar=metavar, help=argument["about"], **more)
    elif parameter.default is inspect.Parameter.empty:
        info = typer.Argument(help=about, **more)
    else:
        only = [f"--{parameter.name.replace('_', '-')}"] if kind is bool else []
        info = typer.Option(*only, help=about, **more)
    return parameter.replace(annotation=Annotated[kind, info])


def _with_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return *command* with the common options after its own; an option of the same name stays the command's own."""
    if getattr(command, "has_common_options", False):
        return command
    own = inspect.signature(command, eval_str=True)
    own = own.replace(parameters=[_explain(parameter) for parameter in own.parameters.values()])
    spellings = _spellings(own)
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, default, kind, spelled in (
            ("as_json", False, AsJson, "--json"),
            ("library", None, Library, "--library"),
            ("foreground", False, Foreground, "--foreground"),
        )
        if name not in own.parameters and spelled not in spellings
    ]

    @functools.wraps(command)
    def run(*args: Any, **given: Any) -> Any:
        common = {option.name: given.pop(option.name, option.default) for option in added}
        note(common.get("as_json", False), common.get("library"), common.get("foreground", False))
        return command(*args, **given)

    parameters = [*own.parameters.values(), *added]
    run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.has_common_options = True  # type: ignore[attr-defined]
    return run


def _spellings(signature: inspect.Signature) -> set[str]:
    """Return the options a command declares, as they are typed."""
    spellings: set[str] = set()
    for parameter in signature.parameters.values():
        for extra in getattr(parameter.annotation, "__metadata__", ()):
            spellings.update(getattr(extra, "param_decls", None) or ())
    return spellings


class Topic(StrEnum):
    """The heading under which the help page lists a command: `program.command(rich_help_panel=Topic.pages)`."""

    projects = "Projects"
    pages = "Pages"
    lines = "Lines and readings"
    files = "In and out"
    work = "Work"
    engine = "Engine and plugins"

    @classmethod
    def title_of(cls, topic: str) -> str:
        """Return the heading with an example of a command under it; commands without a topic come last."""
        example = _EXAMPLES.get(topic)
        return f"{topic}, as in: armarium {example}" if example else topic or "More commands"


_EXAMPLES: dict[str, str] = {
    Topic.projects: "create Letters",
    Topic.pages: "show 0001.jpg",
    Topic.lines: "read --language es",
    Topic.files: "import pages",
    Topic.work: "undo",
    Topic.engine: "engine",
}


class Mode(StrEnum):
    """When background work may start."""

    automatic = "automatic"
    started = "started"
    paused = "paused"
