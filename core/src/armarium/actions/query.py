"""Queries that are routes: a function of a connection, and what HTTP says of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from pydantic import BaseModel

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Query:
    """A route that answers what a function of a connection answers, from one snapshot of the project."""

    path: str
    """With a `{name}` for each parameter of the function that stands in the path; all others are the query string's,
    but for a model, which is the body."""
    summary: str
    answer: type[BaseModel] | type[list[Any]]
    refusals: tuple[int, ...]
    name: str
    method: Literal["GET", "POST"]
    prepare: Callable[..., Mapping[str, Any] | None] | None = None
    """Called before the project is read, for what waits on others or lies outside the database. It takes parameters by name:
    those of the function, and `library`, `engine` and `principal`. What it answers replaces parameters of the function."""


def query(
    path: str,
    *,
    summary: str,
    answer: type[BaseModel] | type[list[Any]],
    refusals: tuple[int, ...] = (404,),
    name: str | None = None,
    method: Literal["GET", "POST"] = "GET",
    prepare: Callable[..., Mapping[str, Any] | None] | None = None,
) -> Callable[[F], F]:
    """Make the decorated function, which takes a connection and parameters by name, a GET of *path* as well.

    The plugin names it among its `queries`. *name* is what clients call it, else the function's own. *refusals* are the
    statuses beside those of any route. POST is for a question that is too long for an address, and writes nothing either.
    A parameter of type `Library`, `Engine` or `Principal` is given the project or the engine that is asked, or who asks.
    *prepare* is called before, without a connection, and may replace parameters.
    """

    def mark(function: F) -> F:
        stated = Query(path, summary, answer, refusals, name or function.__name__, method, prepare)
        function.query = stated  # type: ignore[attr-defined]
        return function

    return mark


def query_of(function: Callable[..., Any]) -> Query | None:
    """What *function* was marked with; None for one that is no route."""
    found = getattr(function, "query", None)
    return found if isinstance(found, Query) else None
