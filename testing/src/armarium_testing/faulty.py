"""Parts of plugins, valid except for what they are given: of them the tests make plugins that only misbehave."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from sqlalchemy import Column, MetaData, Table, Text

from armarium.actions import Action, NoParams
from armarium.jobs.kinds import JobKind
from armarium.store.tables import tracked


def an_action(name: str, **fields: Any) -> Action[Any]:
    """Return a valid action called *name*, except for *fields*."""
    arguments: dict[str, Any] = {
        "params": NoParams,
        "summary": "Does nothing much",
        "perform": lambda ctx, p: None,
        **fields,
    }
    return Action(name=name, **arguments)


def a_job(name: str, **fields: Any) -> JobKind:
    """Return a valid job kind called *name*, except for *fields*."""
    arguments: dict[str, Any] = {
        "lane": "cpu",
        "summary": "Does nothing much",
        "run": lambda job: None,
        **fields,
    }
    return JobKind(name=name, **arguments)


def a_table(metadata: MetaData, name: str) -> Table:
    """Return a valid tracked table with a column that takes no null."""
    return Table(
        name,
        metadata,
        Column("id", Text, primary_key=True),
        Column("word", Text, nullable=False),
        info=tracked(label="row"),
    )


def a_router(*paths: str) -> APIRouter:
    """Return a router with a GET of each path."""
    router = APIRouter()
    for path in paths:
        router.add_api_route(path, lambda: None)
    return router
