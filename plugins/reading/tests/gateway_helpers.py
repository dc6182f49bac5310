"""Helpers for the tests of the gateway: a page to ask about, requests, and the ledger read with plain SQL."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from reading_project import ReadingProject

from armarium.principals import LOCAL_OWNER
from armarium_reading.api import Caller, ModelAnswer, ModelRequest, Subject, ask


def request_to(project: ReadingProject, provider: str = "Loopback", **stated: Any) -> ModelRequest:
    """Return a request about a new page."""
    subject = stated.pop("subject", None) or Subject(project.page())
    asked = {"prompt": "Read this line.", "use_case": "read-a-line", "seconds": 20.0, **stated}
    return ModelRequest(provider=provider, subject=subject, **asked)


def ask_of(project: ReadingProject, answer: Any = None, check: Any = None, **stated: Any) -> ModelAnswer[Any]:
    """Ask as the owner, outside any job."""
    caller = Caller(project.engine, project.library, LOCAL_OWNER)
    if check is not None:
        caller = replace(caller, check=check)
    request = stated.pop("request", None) or request_to(project, **stated)
    return ask(caller, request, answer) if answer is not None else ask(caller, request)


def episodes(project: ReadingProject) -> list[dict[str, Any]]:
    """Return the rows of the ledger, oldest first."""
    names = (
        "id, kind, use_case, document_id, provider, model, model_version, exchange, cost, seconds, "
        "caused_by_episode_id, corrects_episode_id, actor, segment_id, target_id"
    )
    found = []
    for row in project.rows(f"SELECT {names} FROM episode ORDER BY seq"):
        one = dict(zip(names.split(", "), row, strict=True))
        found.append({**one, "exchange": json.loads(one["exchange"]), "cost": json.loads(one["cost"])})
    return found
