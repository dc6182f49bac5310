"""Every recipe job, and every notion that setup uses, explained once in plain words."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

from armarium_recipes.knowledge.jobs import JOBS

if TYPE_CHECKING:
    from armarium.api import Engine


@dataclass(frozen=True, slots=True)
class Topic:
    """An explanation of a recipe job or of another notion."""

    id: str
    kind: Literal["job", "topic"]
    title: str
    short: str
    """One sentence."""
    long: str
    """A paragraph."""
    example: str | None = None
    manual: str | None = None
    """The page of the manual about it, as a path within the sources of the distribution."""


@cache
def topics() -> dict[str, Topic]:
    """Return the shipped topics by id: the jobs in the order of the work, then the others."""
    shipped: list[dict[str, Any]] = json.loads((files(__package__) / "topics.json").read_bytes())
    return {one["id"]: Topic(kind="job" if one["id"] in JOBS else "topic", **one) for one in shipped}


def topics_of(engine: Engine) -> dict[str, Topic]:
    """Return the shipped topics, and those of recipe jobs that other plugins declare with a description of
    their own.
    """
    known = dict(topics())
    for job in engine.recipe_jobs.values():
        topic = job.topic or job.id
        if topic not in known:
            known[topic] = Topic(topic, "job", job.name, job.description, job.description)
    return known
