"""Commands declared by their example: a function is a command, and one that only asks the engine needs no body."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from string import Formatter
from typing import Any, ParamSpec, TypeVar
from urllib.parse import quote

import typer

from armarium_cli.options import Finder
from armarium_cli.output import answer, table
from armarium_cli.program import engine_session, full_path, plural, project_session, work_session
from armarium_cli.session import Session, id_of
from armarium_cli.work import follow_job, result_of

P = ParamSpec("P")
R = TypeVar("R")

Column = str | tuple[str, Callable[[Any], object]]
"""A column of a table: the field of a row, `heading=field`, `heading={a} of {b}`, or a heading and a function of the row."""

BY_ID = Finder(lambda session, text: id_of(text))
"""A thing that is named by its id only."""

BY_PATH = Finder(lambda session, text: full_path(text))
"""A place on this machine: the engine knows it by its full path."""

Says = str | Callable[[Any], str | Iterable[str] | None]
"""A sentence (see `in_words`), or a function that returns one, or several lines, of the answer."""

SESSIONS: dict[str, Callable[[], AbstractContextManager[Session]]] = {
    "project": project_session,
    "engine": engine_session,
    "work": work_session,
}


class Commands(typer.Typer):
    """The commands of a plugin, or of a group of commands, under one heading of the help page.

    With *names*, the plugin also resolves names, so that `history --target` takes them: `find(session, text)` returns the
    id of the thing called *text*, or raises Refused; `complete(context, incomplete)` returns the names that begin so, for a
    shell. Of several such plugins the first is asked, ours before third-party ones.
    """

    def __init__(
        self,
        topic: str | None = None,
        *,
        names: Finder | None = None,
        within: str = "",
        **settings: Any,
    ) -> None:
        super().__init__(**settings)
        self.topic, self.names = topic, names
        self._within = within

    def group(self, name: str, about: str, *, example: str | None = None) -> Commands:
        """Return a new group of commands called *name*; with an *example*, its callback is a command by itself."""
        commands = Commands(
            within=f"{name} ", no_args_is_help=not example, invoke_without_command=bool(example), help=about
        )
        epilog = None if example is None else f"Example: armarium {example}"
        self.add_typer(commands, name=name, rich_help_panel=self.topic, epilog=epilog)
        return commands

    def include(self, *others: Commands) -> None:
        """Add the commands and groups of *others*, which are declared in modules of their own."""
        for other in others:
            self.registered_commands += other.registered_commands
            self.registered_groups += other.registered_groups

    def example(self, typed: str, topic: str | None = None) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """Make a function the command of which *typed* is an example: its first word is the command's name."""
        return self.command(
            typed.partition(" ")[0],
            rich_help_panel=topic or self.topic,
            epilog=f"Example: armarium {self._within}{typed}",
        )

    def asks(
        self,
        typed: str,
        what: str,
        *,
        says: Says = "",
        columns: Sequence[Column] = (),
        rows: str = "items",
        title: str = "",
        nothing: str = "",
        follows: str = "",
        of: str = "project",
        fixed: Mapping[str, Any] | None = None,
        every: bool = False,
    ) -> Callable[[Callable[..., None]], Callable[..., None]]:
        """Make a function without a body the command that sends its parameters to the engine and prints what comes back.

        *what* is a published route, as in `DELETE /api/links/{link}`, or `act` and the name of an action. Parameters that
        the route does not name go into the query or the body, under their own names; one that is absent is left out, and
        one that is `Finder` is resolved first. With *follows*, the title of a progress bar, the job that was begun is
        followed to its end, and its result belongs to the answer. Printed are a table of *rows* in *columns*, or *nothing* where
        there are none, and the sentence *says*, in which parameters stand as they were typed. *fixed* are values that are sent
        besides, or functions of the session that return them; with *every*, all pages of a list are fetched.
        """

        def declare(function: Callable[..., None]) -> Callable[..., None]:
            signature = inspect.signature(function, eval_str=True)
            resolved = {
                name: named
                for name, parameter in signature.parameters.items()
                for named in getattr(parameter.annotation, "__metadata__", ())
                if isinstance(named, Finder)
            }

            @functools.wraps(function)
            def run(**given: Any) -> None:
                with SESSIONS[of]() as session:
                    fields_sent = {
                        name: _resolve(session, resolved.get(name), value)
                        for name, value in given.items()
                        if value is not None or (name in resolved and resolved[name].whole)
                    }
                    fields_sent |= {
                        name: value(session) if callable(value) else value
                        for name, value in (fixed or {}).items()
                    }
                    result = _ask(session, what, fields_sent, every=every)
                    if follows and result.get("job_id"):
                        follow_job(session, result["job_id"], follows)
                        result = {**result, **result_of(session, result["job_id"])}
                fields = {**given, **result}
                empty = nothing and not result[rows]
                answer(result, nothing if empty else lambda: _show(fields, title, columns, rows, says))

            return self.example(typed)(run)

        return declare


def _resolve(session: Session, named: Finder | None, value: Any) -> Any:
    if named is None:
        return value
    if isinstance(value, list) and not named.whole:
        return [named.find(session, text) for text in value]
    return named.find(session, value)


def _ask(session: Session, what: str, fields: dict[str, Any], *, every: bool) -> dict[str, Any]:
    """Send *fields* to a route, or to an action, whose result is returned with the step that can be undone."""
    verb, _, place = what.partition(" ")
    if verb == "act":
        answer = session.act(place, fields)
        return {**answer["result"], "audit_id": answer["audit_id"]}
    fields_in_path = {field: fields.pop(field) for _, field, _, _ in Formatter().parse(place) if field}
    path = place.format_map({field: quote(str(value), safe="") for field, value in fields_in_path.items()})
    if verb != "GET":
        written: dict[str, Any] = session.ask(verb, path, body=fields or None)
        return written
    result: dict[str, Any] = (session.every if every else session.get)(path, **fields)
    return result


def _show(
    fields: dict[str, Any],
    title: str,
    columns: Sequence[Column],
    rows: str,
    says: Says,
) -> None:
    if columns:
        headed = [
            (column.partition("=")[0], _field(column)) if isinstance(column, str) else column
            for column in columns
        ]
        table(
            in_words(title, fields),
            [heading for heading, _ in headed],
            [[cell(row) for _, cell in headed] for row in fields[rows]],
        )
    words = says(fields) if callable(says) else in_words(says, fields)
    for line in [words] if isinstance(words, str) else words or ():
        if line:
            typer.echo(line)


def _field(column: str) -> Callable[[Any], object]:
    heading, _, field = column.partition("=")
    return (lambda row: in_words(field, row)) if "{" in field else (lambda row: row[field or heading])


class _Words(Formatter):
    """Formats sentences: `{pages:page}` is `3 pages`, of a number or a list; `{n:entry|entries}` says the plural."""

    def format_field(self, value: Any, spec: str) -> str:
        if re.fullmatch(r"[a-z][a-z |]+", spec) is None:
            return str(format(value, spec))
        return plural(value if isinstance(value, int) else len(value), *spec.split("|"))


def in_words(sentence: str, found: Mapping[str, Any]) -> str:
    """Return *sentence* with the fields of *found* in it; `{undo}` is how to take it back."""
    undo = f"Take it back with: armarium undo {found['audit_id']}" if "audit_id" in found else ""
    return _Words().vformat(sentence, (), {"undo": undo, **found})
