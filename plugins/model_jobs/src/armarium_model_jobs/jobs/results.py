"""What a model makes of the text of a whole page: an answer, the rows of a table, or entries. Each is an artifact."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, Field, create_model

from armarium.api import JobContext, PageSkipped, PageWork
from armarium_model_jobs.jobs.asking import as_material, page_lines
from armarium_model_jobs.jobs.pictures import page_picture
from armarium_reading.api import artifact_work, ask_about, one_of, with_prompt

MOST_ROWS = 2_000

TABLE = (
    "These are the lines of a page, each with its id in brackets and, if it is known, its row and column in a table of "
    "the page. Extract their contents into a table with these columns: {columns}. Give for each row the ids of the lines "
    "it is taken from, and its cells in the order of the columns, in the words of the source; null if the source says "
    "nothing."
)
ENTRIES = (
    "These are the lines of a page, each with its id in brackets. The page consists of entries one after another, as in "
    "a register, a diary or a list. Give for each entry, in order, the id of the line with which it begins and a short "
    "heading in the words of the source. Lines before the first entry continue one from the previous page."
)


def answer(job: JobContext, page_id: str) -> PageWork | None:
    """Return the model's answer to the question in the settings."""
    page = page_lines(job, page_id)
    pictures = [page_picture(job, page_id)] if job.args.picture else []
    material = "\n".join(line.text for line in page.lines)
    answered = ask_about(job, page_id, job.args.prompt, None, material=material, pictures=pictures)
    text = answered.answer.strip()
    if not text:
        raise PageSkipped("The model gave an empty answer.")
    return artifact_work(job, page_id, answered, "model-answer", text, page.marks, question=job.args.prompt)


def extract(job: JobContext, page_id: str) -> PageWork | None:
    """Return the rows of a table with the columns in the settings, each with the lines it is taken from."""
    page, columns = page_lines(job, page_id), job.args.columns
    ids = [line.segment_id for line in page.lines]
    prompt = with_prompt(TABLE.format(columns="; ".join(columns)), job)
    answered = ask_about(
        job, page_id, prompt, table_rows(ids, len(columns)), material=as_material(page.lines)
    )
    rows = [
        {"segment_ids": list(dict.fromkeys(row.lines)), "cells": row.cells} for row in answered.answer.rows
    ]
    if not rows:
        raise PageSkipped("The model found no row of such a table on the page.")
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([columns, *(row["cells"] for row in rows)])
    return artifact_work(
        job, page_id, answered, "table-rows", file.getvalue(), page.marks, columns=columns, rows=rows
    )


def split(job: JobContext, page_id: str) -> PageWork | None:
    """Divide the lines of the page among entries: each line belongs to one, in the order of the page."""
    page = page_lines(job, page_id)
    ids = [line.segment_id for line in page.lines]
    answered = ask_about(
        job, page_id, with_prompt(ENTRIES, job), beginnings(ids), material=as_material(page.lines)
    )
    headings = {entry.first_line: entry.heading.strip() or None for entry in answered.answer.entries}
    entries: list[dict[str, Any]] = []
    for line in page.lines:
        if line.segment_id in headings or not entries:
            heading, goes_on = headings.get(line.segment_id), line.segment_id not in headings
            entries.append({"heading": heading, "goes_on": goes_on, "segment_ids": [], "text": ""})
        entries[-1]["segment_ids"].append(line.segment_id)
        entries[-1]["text"] = f"{entries[-1]['text']}\n{line.text}".lstrip("\n")
    content = "\n\n".join(entry["text"] for entry in entries)
    return artifact_work(job, page_id, answered, "entries", content, page.marks, entries=entries)


def table_rows(ids: Sequence[str], columns: int) -> type[BaseModel]:
    """Return the type of an answer of rows with *columns* cells, each taken from lines of *ids*."""
    id_list: Any = Annotated[list[one_of(ids)], Field(min_length=1, max_length=len(ids))]  # type: ignore[misc]
    cell = Annotated[str, Field(max_length=5_000)] | None
    cells: Any = Annotated[list[cell], Field(min_length=columns, max_length=columns)]
    row = create_model("TableRow", lines=(id_list, ...), cells=(cells, ...))
    rows: Any = Annotated[list[row], Field(max_length=MOST_ROWS)]  # type: ignore[valid-type]
    return create_model("TableRows", rows=(rows, ...))


def beginnings(ids: Sequence[str]) -> type[BaseModel]:
    """Return the type of an answer of entries that begin with lines of *ids*."""
    heading: Any = Annotated[str, Field(max_length=500)]
    entry = create_model("EntryBeginning", first_line=(one_of(ids), ...), heading=(heading, ...))
    entries: Any = Annotated[list[entry], Field(max_length=len(ids))]  # type: ignore[valid-type]
    return create_model("EntryBeginnings", entries=(entries, ...))
