"""Answers, tables and entries as artifacts: their contents, and what a model cannot put there."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from model_project import ModelProject, prompt_of

from armarium.api import Invalid

TEXT = "Deer Sir\nyour letter of the third\nhas come to hand"


def artifact(project: ModelProject, page: str, kind: str) -> dict[str, Any]:
    """Return the page's only artifact of *kind*."""
    names = ("artifact_type", "content", "data", "run_id", "provider", "model", "step_name")
    (row,) = project.rows(f"SELECT {', '.join(names)} FROM artifact WHERE document_id = ?", page)
    assert row[0] == kind
    return {**dict(zip(names, row, strict=True)), "data": json.loads(row[2])}


def test_an_answer_is_stored_with_its_question_and_call(project: ModelProject) -> None:
    page = project.page()
    project.answers(lambda ids: " A gentleman.\n")
    done = project.job("ask-a-model", page, prompt="Who is written to?")
    found = artifact(project, page, "model-answer")
    ((episode,),) = project.rows("SELECT id FROM episode")
    assert (found["content"], found["run_id"], found["provider"]) == ("A gentleman.", done["id"], "Loopback")
    assert found["data"]["question"] == "Who is written to?"
    assert found["data"]["episode_id"] == episode
    assert (
        hashlib.sha256(TEXT.encode()).hexdigest().startswith(found["data"]["text_fingerprint"].split(":")[-1])
    )
    assert done["output"]["text"] == "A gentleman."
    assert "Who is written to?" in prompt_of(project.provider.asked[0])
    assert TEXT in prompt_of(project.provider.asked[0])


def test_a_table_has_the_columns_named_and_the_lines_of_each_row(project: ModelProject) -> None:
    page = project.page()
    first, second, _ = project.lines(page)
    rows = [
        {"lines": [first, first], "cells": ["Sir, the", None]},
        {"lines": [second], "cells": ["you", "=1+1"]},
    ]
    project.answers(lambda ids: {"rows": rows})
    project.job("extract-to-a-table", page, columns=["Who", "What"])
    found = artifact(project, page, "table-rows")
    assert found["content"] == 'Who,What\n"Sir, the",\nyou,=1+1\n'
    assert found["data"]["columns"] == ["Who", "What"]
    assert found["data"]["rows"][0] == {"segment_ids": [first], "cells": ["Sir, the", None]}
    assert "columns: Who; What." in prompt_of(project.provider.asked[0])


@pytest.mark.parametrize(
    "row",
    [
        {"lines": ["another-line"], "cells": ["a", "b"]},
        {"lines": [], "cells": ["a", "b"]},
        {"lines": None, "cells": ["a"]},
        {"lines": None, "cells": ["a", "b", "c"]},
    ],
)
def test_a_row_of_other_lines_or_columns_is_not_written(project: ModelProject, row: dict[str, Any]) -> None:
    page = project.page()
    lines = project.lines(page)
    project.answers(lambda ids: {"rows": [{**row, "lines": lines if row["lines"] is None else row["lines"]}]})
    done = project.job("extract-to-a-table", page, columns=["Who", "What"])
    assert done["state"] == "failed"
    assert project.rows("SELECT count(*) FROM artifact") == [(0,)]


def test_each_line_is_in_one_entry_whatever_the_model_says(project: ModelProject) -> None:
    page = project.page()
    first, second, third = project.lines(page)
    project.answers(
        lambda ids: {
            "entries": [{"first_line": third, "heading": "B"}, {"first_line": second, "heading": " A "}]
        }
    )
    project.job("split-into-entries", page)
    entries = artifact(project, page, "entries")["data"]["entries"]
    assert [entry["segment_ids"] for entry in entries] == [[first], [second], [third]]
    assert [(entry["heading"], entry["goes_on"]) for entry in entries] == [
        (None, True),
        ("A", False),
        ("B", False),
    ]
    assert "\n".join(entry["text"] for entry in entries) == TEXT


def test_an_entry_cannot_begin_with_a_line_of_another_page(project: ModelProject) -> None:
    elsewhere, page = project.page(), project.page()
    victim = project.lines(elsewhere)[0]
    project.answers(lambda ids: {"entries": [{"first_line": victim, "heading": "A"}]})
    assert project.job("split-into-entries", page)["state"] == "failed"
    assert project.rows("SELECT count(*) FROM artifact") == [(0,)]


@pytest.mark.parametrize(
    ("job_id", "settings", "words"),
    [
        ("ask-a-model", {}, "setting prompt"),
        ("ask-a-model", {"prompt": "  "}, "setting prompt"),
        ("extract-to-a-table", {}, "setting columns"),
        ("extract-to-a-table", {"columns": ["A", "B", "A"]}, "A is named twice"),
    ],
)
def test_missing_required_settings_are_refused(
    project: ModelProject, job_id: str, settings: dict[str, Any], words: str
) -> None:
    with pytest.raises(Invalid, match=words):
        project.job(job_id, project.page(), **settings)
