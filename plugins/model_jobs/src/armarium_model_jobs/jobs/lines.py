"""New text for lines: corrected, translated, transliterated or normalised."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, Field, create_model

from armarium.api import JobContext, PageSkipped, PageWork
from armarium_model_jobs.jobs.asking import as_material, page_lines, readings_work
from armarium_model_jobs.queries import Line, PageLines, single_spaced, texts_of
from armarium_reading.api import ask_about, one_of, with_prompt

LINES_AT_ONCE = 200
"""How many lines are sent in one call; a longer page takes several calls."""

CORRECT = (
    "These are the lines of a page as a machine read them, each with its id in brackets. Correct what was misread, "
    "keeping the spelling, abbreviations and line breaks of the source. Answer the lines that you change, by id, and no "
    "others; a line with a dash for its id is only shown. Where nothing is misread, answer no lines."
)

RENDER = {
    "translation": ("Translate each line into {into}.", "English"),
    "transliteration": ("Transliterate each line into {into}, without translating it.", "Latin letters"),
    "normalized_text": (
        "Write each line in {into}, without translating or rewording it.",
        "today's spelling",
    ),
}
EACH_LINE = (
    "These are the lines of a page, each with its id in brackets. {task} Read them as one text, and answer for each id "
    "the text of that line."
)


def correct(job: JobContext, page_id: str) -> PageWork | None:
    """Return the lines the model reads differently; lines that a person wrote or chose are shown but cannot
    be changed.
    """
    page = page_lines(job, page_id)
    offered = [line for line in page.lines if not line.by_person]
    if not offered:
        raise PageSkipped(
            "A person has read every line of the page; there is nothing for a model to correct."
        )
    texts = {line.segment_id: line.text for line in offered}
    return _rewrite_page(job, page_id, page, offered, CORRECT, "transcription", texts)


def render(job: JobContext, page_id: str) -> PageWork | None:
    """Return the lines in another language, script or spelling, as readings of that kind."""
    page = page_lines(job, page_id)
    assert page.pass_id is not None
    task, usual = RENDER[job.args.kind]
    with job.library.db.read() as conn:
        texts = texts_of(conn, page.pass_id, job.args.kind)
    prompt = EACH_LINE.format(task=task.format(into=job.args.into or usual))
    return _rewrite_page(job, page_id, page, page.lines, prompt, job.args.kind, texts)


def _rewrite_page(
    job: JobContext,
    page_id: str,
    page: PageLines,
    offered: Sequence[Line],
    task: str,
    kind: str,
    text_by_line: dict[str, str],
) -> PageWork:
    answers, texts, offered_ids = [], dict[str, str](), {line.segment_id for line in offered}
    for start in range(0, len(page.lines), LINES_AT_ONCE):
        batch = page.lines[start : start + LINES_AT_ONCE]
        ids = [line.segment_id for line in batch if line.segment_id in offered_ids]
        if not ids:
            continue
        material = as_material(batch, ids)
        answers.append(
            ask_about(job, page_id, with_prompt(task, job), build_answer_model(ids), material=material)
        )
        for line_answer in answers[-1].answer.lines:
            texts[line_answer.id] = single_spaced(line_answer.text)
    new = {key: text for key, text in texts.items() if text and text != text_by_line.get(key)}
    if not new:
        raise PageSkipped("The model answered nothing that is not already there.")
    return readings_work(page_id, page.pass_id, kind, answers, new)


def build_answer_model(ids: Sequence[str]) -> type[BaseModel]:
    """Return the type of an answer that gives new text to lines of *ids* and cannot name any other line."""
    text: Any = Annotated[str, Field(max_length=10_000)]
    line = create_model("RewrittenLine", id=(one_of(ids), ...), text=(text, ...))
    lines: Any = Annotated[list[line], Field(max_length=len(ids))]  # type: ignore[valid-type]
    return create_model("RewrittenLines", lines=(lines, ...))
