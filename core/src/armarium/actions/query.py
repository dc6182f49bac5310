"""Queries that are routes: a function of a connection, and what HTTP says of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import BaseModel

if TYPE_CHECKING:
    from armarium.engine import Engine
    from armarium.projects.libraries import Library

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
    prepare: Callable[[Engine, Library], None] | None = None


def query(
    path: str,
    *,
    summary: str,
    answer: type[BaseModel] | type[list[Any]],
    refusals: tuple[int, ...] = (404,),
    name: str | None = None,
    method: Literal["GET", "POST"] = "GET",
    prepare: Callable[[Engine, Library], None] | None = None,
) -> Callable[[F], F]:
    """Make the decorated function, which takes a connection and parameters by name, a GET of *path* as well.

    The plugin names it among its `queries`. *name* is what clients call it, else the function's own. *refusals* are the
    statuses beside those of any route. POST is for a question that is too long for an address, and writes nothing either.
    *prepare* is called before the snapshot is taken, for what lies outside the database and has to be looked at first.
    A parameter of type `Library`, `Engine` or `Principal` is given the project or the engine that is asked, or who asks.
    """

    def mark(function: F) -> F:
        function.query = Query(  # type: ignore[attr-defined]
            path, summary, answer, refusals, name or function.__name__, method, prepare
        )
        return function

    return mark


def query_of(function: Callable[..., Any]) -> Query | None:
    """What *function* was marked with; None for one that is no route."""
    found = getattr(function, "query", None)
    return found if isinstance(found, Query) else None
