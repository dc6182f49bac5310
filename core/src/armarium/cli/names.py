"""Names for the shell that completes a word: projects and documents, as far as a running engine tells them at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from armarium.cli.session import Session

MOST = 50
"""How many names are offered."""


def project_names(incomplete: str) -> list[str]:
    """The projects whose names begin with *incomplete*: those here, and those the running engine knows."""
    here = [place.stem for place in Path.cwd().glob("*.library") if place.is_dir()]
    known: list[str] = []

    def ask() -> None:
        with _running_session() as session:
            for one in session.get("/api/registry")["libraries"]:
                known.append(one["name"] or Path(one["path"]).stem)

    _asked(ask)
    return _fitting([*here, *known], incomplete)


def document_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """The documents of the project meant whose names begin with *incomplete*."""
    names: list[str] = []

    def ask() -> None:
        from armarium.cli.options import note
        from armarium.cli.program import project_meant

        named = [found for one in _upwards(ctx) if (found := one.params.get("library"))]
        note(False, named[0] if named else None)
        with _running_session() as session:
            session.library = project_meant(session)
            if session.library is None:
                return
            query: dict[str, Any] = {"recursive": True, "sort": {"attr": "document.name"}, "limit": MOST}
            if incomplete:
                query["filters"] = [{"attr": "document.name", "op": "contains", "value": incomplete}]
            names.extend(row["name"] for row in session.post("/api/documents/dataset/query", query)["rows"])

    _asked(ask)
    return _fitting(names, incomplete)


def _upwards(ctx: typer.Context) -> Iterator[typer.Context]:
    one: Any = ctx
    while one is not None:
        yield one
        one = one.parent


@contextmanager
def _running_session() -> Iterator[Session]:
    from armarium.cli.session import Session
    from armarium.cli.shared_engine import running, this_place

    found = running(this_place())
    if found is None:
        raise LookupError("no engine runs")
    try:
        yield Session(found[1], None, True)
    finally:
        found[1].close()


def _asked(ask: Callable[[], None]) -> None:
    """Ask, and offer nothing where that fails: a word is completed, no command is run."""
    with suppress(Exception):
        ask()


def _fitting(names: list[str], incomplete: str) -> list[str]:
    wanted = incomplete.casefold()
    return sorted({name for name in names if name.casefold().startswith(wanted)})[:MOST]
