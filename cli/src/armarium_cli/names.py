"""Names for shell completion, as far as a running engine answers at once; ids of things given by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import typer

from armarium_cli.options import note
from armarium_cli.program import project_meant
from armarium_cli.session import Session
from armarium_cli.shared_engine import engine_elsewhere, running, this_place, wire_elsewhere
from armarium_cli.tree import Tree

MOST = 50
"""How many names are offered."""


def project_names(incomplete: str) -> list[str]:
    """Return the projects whose names begin with *incomplete*: those in this folder, and those the running engine
    knows.
    """
    here = [place.stem for place in Path.cwd().glob("*.library") if place.is_dir()]
    candidates: list[str] = []

    def ask() -> None:
        with _running_session() as session:
            for library in session.get("/api/registry")["libraries"]:
                candidates.append(library["name"] or Path(library["path"]).stem)

    _without_failing(ask)
    return _select_fitting([*here, *candidates], incomplete)


def complete_word(
    ctx: typer.Context, incomplete: str, ask: Callable[[Session, int], Iterable[str]]
) -> list[str]:
    """Complete a word: of the names that `ask(session, most)` returns for the current project, those that begin with
    *incomplete*; nothing where no engine runs.
    """
    names: list[str] = []

    def ask_project() -> None:
        library_names = [
            name for context in _contexts_upwards(ctx) if (name := context.params.get("library"))
        ]
        note(False, library_names[0] if library_names else None)
        with _running_session() as session:
            session.library = project_meant(session)
            if session.library is not None:
                names.extend(ask(session, MOST))

    _without_failing(ask_project)
    return _select_fitting(names, incomplete)


def target_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete the name of a thing, by the plugin that resolves names."""
    names: list[str] = []

    def ask() -> None:
        if (name_finder := Tree().name_finder()) and name_finder.complete:
            names.extend(name_finder.complete(ctx, incomplete))

    _without_failing(ask)
    return names


def target_id(session: Session, text: str) -> str:
    """Return the id of the thing called *text*; *text* itself where no plugin resolves names."""
    name_finder = Tree().name_finder()
    return str(name_finder.find(session, text)) if name_finder else text


def _contexts_upwards(ctx: typer.Context) -> Iterator[typer.Context]:
    context: Any = ctx
    while context is not None:
        yield context
        context = context.parent


@contextmanager
def _running_session() -> Iterator[Session]:
    elsewhere = engine_elsewhere()
    if elsewhere:
        wire = wire_elsewhere(elsewhere)
    elif (engine := running(this_place())) is not None:
        wire = engine[1]
    else:
        raise LookupError("no engine runs")
    try:
        yield Session(wire, None, True)
    finally:
        wire.close()


def _without_failing(ask: Callable[[], None]) -> None:
    """Ask the engine and offer nothing where that fails: completion must not print errors."""
    with suppress(Exception):
        ask()


def _select_fitting(names: list[str], incomplete: str) -> list[str]:
    prefix = incomplete.casefold()
    return sorted({name for name in names if name.casefold().startswith(prefix)})[:MOST]
