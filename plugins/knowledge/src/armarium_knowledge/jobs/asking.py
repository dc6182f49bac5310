"""What all jobs here that ask a model share: the lines they send, the call, where the answer's words occur."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal

from pydantic import BaseModel

from armarium.api import JobContext, PageSkipped, PageWithheld, ServiceError
from armarium_knowledge.placing import Line, PagePlaces
from armarium_reading.api import ModelAnswer, ModelRequest, Subject, ask_in_job

SYSTEM = "You work on sources of an archive. Answer only with what was asked for, and invent nothing."


def text_of(job: JobContext, page_id: str) -> PagePlaces:
    """Return the text of a page with its lines; PageSkipped if it has no words."""
    with job.library.db.read() as conn:
        places = PagePlaces(conn, page_id)
    if not places.text.strip():
        raise PageSkipped("The page has no lines with words; read them first.")
    return places


def as_material(lines: Iterable[Line]) -> str:
    """Return the lines of text, each on a line of its own after its id."""
    return "\n".join(f"[{line.segment_id}] {' '.join(line.text.split())}" for line in lines)


def one_of(words: Iterable[str]) -> Any:
    """Return the type of an answer that can only be one of *words*."""
    return Literal[tuple(dict.fromkeys(words))]


def ask_about(
    job: JobContext, page_id: str, task: str, answer: type[BaseModel], places: PagePlaces
) -> ModelAnswer[Any]:
    """Ask the settings' model about a page. PageWithheld if rights forbid it; RetryLater while it is busy."""
    args = job.args
    request = ModelRequest(
        provider=args.provider,
        model=args.model,
        prompt=f"{task}\n\n{args.prompt}" if args.prompt else task,
        system=SYSTEM,
        material=as_material(places.lines),
        subject=Subject(page_id),
        use_case=job.kind.name,
        pages_may_leave=args.pages_may_leave,
    )
    try:
        return ask_in_job(job, request, answer)
    except ServiceError as error:
        if error.code == "rights_restricted":
            raise PageWithheld(error.detail) from error
        raise


def occurrences(words: str, text: str) -> list[tuple[int, int]]:
    """Return where words occur in a line, ignoring differences in white space."""
    parts = [re.escape(part) for part in words.split()]
    if not parts:
        return []
    return [match.span() for match in re.finditer(r"\s+".join(parts), text)]
