"""Queries that are routes: a function of a connection, and its description for HTTP."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal, TypeVar

from pydantic import BaseModel
from sqlalchemy import Table

from armarium.actions.definition import modules_of

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Query:
    """A route that returns the result of a function of a connection, from one snapshot of the project."""

    path: str
    """With a `{name}` for each parameter of the function that stands in the path; all others are the query string's,
    but for a model, which is the body."""
    summary: str
    answer: type[BaseModel] | type[list[Any]]
    refusals: tuple[int, ...]
    name: str
    method: Literal["GET", "POST"]
    prepare: Callable[..., Mapping[str, Any] | None] | None = None
    """Called before the project is read, for work that waits on others or lies outside the database. Receives by name
    the function's parameters and `library`, `engine` and `principal`; its result replaces parameters of the function.
    """
    counts_withheld: bool = True
    """Whether its list says how many items are withheld: not where their number tells what is written on withheld pages."""
    as_of: AsOf | None = None
    """Where it also answers of a past moment (`as_of=`): what it then reads."""


@dataclass(frozen=True)
class AsOf:
    """What a query reads when it is asked of a past moment: the page that a parameter names, or names a row of."""

    parameter: str | None = None
    """The parameter; None: it reads the whole project."""
    table: Table | None = None
    """The table of the row; None: the parameter is the page's own id."""


def query(
    path: str,
    *,
    summary: str,
    answer: type[BaseModel] | type[list[Any]],
    refusals: tuple[int, ...] = (404,),
    name: str | None = None,
    method: Literal["GET", "POST"] = "GET",
    prepare: Callable[..., Mapping[str, Any] | None] | None = None,
    counts_withheld: bool = True,
    as_of: AsOf | None = None,
) -> Callable[[F], F]:
    """Decorate a function of a connection and named parameters so that it is also a GET of *path*.

    The plugin includes it among its `queries` (`queries_in`). *name* is the operation id, by default the function's name. *refusals* are
    the statuses besides those of every route. POST is for questions too long for an address, and writes nothing either.
    A parameter of type `Library`, `Engine` or `Principal` receives the project, the engine or the caller. *prepare* is
    called before, without a connection, and may replace parameters. *counts_withheld* as in `Query`. With *as_of* the
    route has a parameter of that name, a step's id or a time, and the connection then shows the project as it was.
    """

    def mark(function: F) -> F:
        called = name or function.__name__
        declared = Query(path, summary, answer, refusals, called, method, prepare, counts_withheld, as_of)
        function.query = declared  # type: ignore[attr-defined]
        return function

    return mark


def query_of(function: Callable[..., Any]) -> Query | None:
    """Return the query that *function* was decorated with; None for a function that is not a route."""
    declared = getattr(function, "query", None)
    return declared if isinstance(declared, Query) else None


def queries_in(*modules: ModuleType) -> tuple[Callable[..., Any], ...]:
    """Return the queries declared in *modules*, or in the modules of a package; those that one only imports are left out."""
    return tuple(
        var
        for module in modules_of(*modules)
        for var in vars(module).values()
        if callable(var) and query_of(var) is not None and var.__module__ == module.__name__
    )
