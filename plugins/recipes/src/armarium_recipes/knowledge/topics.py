"""Every recipe job, and every notion that setup uses, explained once in plain words."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from armarium_recipes.knowledge.jobs import JOBS
from armarium_recipes.schemas.knowledge import TopicAnswer as Topic

if TYPE_CHECKING:
    from armarium.api import Engine


@cache
def topics() -> dict[str, Topic]:
    """Return the shipped topics by id: the jobs in the order of the work, then the others."""
    shipped: list[dict[str, Any]] = json.loads((files(__package__) / "topics.json").read_bytes())
    return {
        topic["id"]: Topic(
            **{"example": None, "manual": None, **topic}, kind="job" if topic["id"] in JOBS else "topic"
        )
        for topic in shipped
    }


def topics_of(engine: Engine) -> dict[str, Topic]:
    """Return the shipped topics, and those of recipe jobs that other plugins declare with a description of
    their own.
    """
    known_topics = dict(topics())
    for job in engine.recipe_jobs.values():
        topic = job.topic or job.id
        if topic not in known_topics:
            known_topics[topic] = Topic(
                id=topic,
                kind="job",
                title=job.name,
                short=job.description,
                long=job.description,
                example=None,
                manual=None,
            )
    return known_topics


def job_entries(engine: Engine) -> list[dict[str, Any]]:
    """Return the jobs as they are answered: those of the table, then those that other plugins declare.

    The name, description and settings that a family states for its job take precedence; its layer, inputs and
    outputs are those of the table.
    """
    declared = {job_id: job.entry() for job_id, job in engine.recipe_jobs.items()}
    entries = []
    for job_id, job in JOBS.items():
        about = topics()[job_id]
        fields = {
            "id": job_id,
            "name": about.title,
            "description": about.short,
            "topic": job_id,
            "since": "0.1.0",
        }
        entry = {**fields, "compare": None, "settings": [], **declared.pop(job_id, {})}
        entries.append({**entry, **job._asdict()})
    return entries + list(declared.values())
