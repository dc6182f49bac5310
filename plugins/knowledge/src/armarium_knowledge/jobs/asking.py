"""What all jobs here that ask a model share: the question about the lines of a page, and where the answer's words occur."""

from __future__ import annotations

import re
from typing import Any

from pydantic import BaseModel

from armarium.api import JobContext, PageSkipped
from armarium_knowledge.placing import PagePlaces
from armarium_reading.api import ModelAnswer, ask_about, with_prompt


def text_of(job: JobContext, page_id: str) -> PagePlaces:
    """Return the text of a page with its lines; PageSkipped if it has no words."""
    with job.library.db.read() as conn:
        places = PagePlaces(conn, page_id)
    if not places.text.strip():
        raise PageSkipped("The page has no lines with words; read them first.")
    return places


def ask_about_text(
    job: JobContext, page_id: str, task: str, answer: type[BaseModel], places: PagePlaces
) -> ModelAnswer[Any]:
    """Ask as `ask_about` does, with the lines of the text, each on a line of its own after its id."""
    listed = "\n".join(f"[{line.segment_id}] {' '.join(line.text.split())}" for line in places.lines)
    return ask_about(job, page_id, with_prompt(task, job), answer, material=listed)


def occurrences(words: str, text: str) -> list[tuple[int, int]]:
    """Return where words occur in a line, ignoring differences in white space."""
    parts = [re.escape(part) for part in words.split()]
    if not parts:
        return []
    return [match.span() for match in re.finditer(r"\s+".join(parts), text)]
