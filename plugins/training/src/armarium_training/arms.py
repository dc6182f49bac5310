"""What the arms of a vision training teach: the instruction and answer of each, and the lines that all arms share.

Reasons come from the ledger, where gathering them has recorded them; they are used only if the
palaeographer's own reading is close to the checked one. Whatever the arm, the transcription in the answer is
the checked text.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, Field, ValidationError
from sqlalchemy import Connection, select

from armarium.api import is_among
from armarium_documents.api import representations
from armarium_reading.api import episodes
from armarium_source_model.api import CannotScore, total_rate
from armarium_training.line_sets import PERSON, TaughtLine
from armarium_training.queries.job_rows import GATHER
from armarium_worker.instructions import read_line

ANSWER, WHY, THINKING, REVIEW = "answer", "why", "thinking", "review"
REASONING = (WHY, THINKING, REVIEW)


class Reasoned(BaseModel):
    """A line with the reasons for its reading."""

    reasons: str = Field(max_length=20_000)
    uncertain: bool = False
    transcription: str = Field(max_length=10_000)


def instruction(arm: str, language: str | None = None, draft: str | None = None) -> str:
    """Return what a model is told about a line's picture, in training and in evaluation."""
    in_language = f" in {language}" if language else ""
    if arm == WHY:
        return f"Say shortly why this line{in_language} is to be read as it is and what is uncertain, then transcribe it."
    if arm == THINKING:
        return f"Think about how this line{in_language} is to be read, then transcribe it and answer with nothing else."
    if arm == REVIEW:
        return (
            f"This is a draft reading of the line{in_language}: {draft}\nSay shortly what decides whether it is right and what is "
            "uncertain, then transcribe the line."
        )
    return read_line(language)


@dataclass(frozen=True)
class Trace:
    """What a palaeographer's model gave for a line: reasons with its own reading, and its thinking if it was
    returned.
    """

    reasoned: Reasoned
    thinking: str


@dataclass
class SharedLines:
    """The lines to train on, with the reasons used and why the others were left out."""

    lines: list[TaughtLine] = field(default_factory=list)
    traces: dict[str, Trace] = field(default_factory=dict)
    drafts: dict[str, str] = field(default_factory=dict)
    asked: int = 0
    too_far: int = 0
    not_shared: int = 0
    uncovered: int = 0
    """Lines without what the arm teaches; with all lines, these are trained on the answer alone."""

    def entry(self, arm: str) -> dict[str, Any]:
        """Return what a card and a training's manifest say about it."""
        return {
            "arm": arm,
            "lines_taught": len(self.lines),
            "lines_with_reasons": len(self.traces),
            "lines_asked_about": self.asked,
            "reasons_too_far": self.too_far,
            "lines_not_in_every_arm": self.not_shared,
            "lines_taught_the_answer_alone": self.uncovered,
        }


def shared_lines(
    conn: Connection, lines: Sequence[TaughtLine], *, arm: str, max_trace_cer: float, all_lines: bool
) -> SharedLines:
    """Return those of *lines* that *arm* trains on: the lines for which every arm with any reasons has some,
    unless *all_lines*.

    So students of different arms are trained on the same lines, and only the arm differs between them.
    """
    shared = SharedLines()
    pages = list(dict.fromkeys(line.document_id for line in lines))
    traces = traces_of(conn, pages)
    shared.asked = sum(line.segment_id in traces for line in lines)
    for line in lines:
        trace = traces.get(line.segment_id)
        if trace is None:
            continue
        if _is_close(line.text, trace.reasoned.transcription, max_trace_cer):
            shared.traces[line.segment_id] = trace
        else:
            shared.too_far += 1
    shared.drafts = drafts_of(conn, [line.segment_id for line in lines])
    covered = {
        WHY: {segment_id for segment_id, trace in shared.traces.items() if trace.reasoned.reasons.strip()},
        THINKING: {segment_id for segment_id, trace in shared.traces.items() if trace.thinking.strip()},
    }
    covered[REVIEW] = covered[WHY] & set(shared.drafts)
    own = covered.get(arm)
    reasoning = [segment_ids for segment_ids in covered.values() if segment_ids]
    common = set.intersection(*reasoning) if reasoning else None
    for line in lines:
        if not all_lines and common is not None and line.segment_id not in common:
            shared.not_shared += 1
            continue
        shared.uncovered += own is not None and line.segment_id not in own
        shared.lines.append(line)
    if own is not None and not own:
        # An arm for which nothing was gathered has nothing of its own to teach.
        shared.lines = []
    return shared


def exchange_of(shared: SharedLines, line: TaughtLine, arm: str, language: str | None) -> tuple[str, str]:
    """Return the instruction and the answer a line is trained on; its transcription is the checked text."""
    trace, draft = shared.traces.get(line.segment_id), shared.drafts.get(line.segment_id)
    if trace is not None and arm == THINKING and trace.thinking.strip():
        return instruction(arm, language), f"<think>\n{trace.thinking.strip()}\n</think>\n{line.text}"
    has_reasons = trace is not None and trace.reasoned.reasons.strip()
    if trace is not None and has_reasons and (arm == WHY or (arm == REVIEW and draft is not None)):
        answer = {
            "reasons": trace.reasoned.reasons.strip(),
            "uncertain": trace.reasoned.uncertain,
            "transcription": line.text,
        }
        return instruction(arm, language, draft), json.dumps(answer, ensure_ascii=False)
    return instruction(ANSWER, language), line.text


def traces_of(conn: Connection, page_ids: Sequence[str]) -> dict[str, Trace]:
    """Return segment to what was last gathered for it; calls that failed, or whose answer does not have the
    form, are skipped.
    """
    query = select(episodes.c.segment_id, episodes.c.exchange).where(
        episodes.c.use_case == GATHER,
        episodes.c.kind == "model_call",
        episodes.c.segment_id.is_not(None),
        is_among(episodes.c.document_id, page_ids),
    )
    traces = {}
    for row in conn.execute(query.order_by(episodes.c.seq)):
        exchange = row.exchange
        if "error" in exchange:
            continue
        try:
            reasoned = Reasoned.model_validate_json(_without_fence(exchange.get("output") or ""))
        except ValidationError:
            continue
        traces[row.segment_id] = Trace(reasoned, exchange.get("thinking") or "")
    return traces


def _without_fence(text: str) -> str:
    """Return the answer without the code block that some models put around it."""
    bare = text.strip()
    if bare.startswith("```") and bare.endswith("```"):
        bare = bare[3:-3].removeprefix("json").strip()
    return bare


def drafts_of(conn: Connection, segment_ids: Sequence[str]) -> dict[str, str]:
    """Return segment to its newest reading not made by a person."""
    rows = conn.execute(
        select(representations.c.segment_id, representations.c.content)
        .where(
            is_among(representations.c.segment_id, segment_ids),
            representations.c.kind == "transcription",
            representations.c.provenance_kind != PERSON,
            representations.c.retracted.is_(False),
        )
        .order_by(representations.c.created_at, representations.c.id)
    )
    return {row.segment_id: row.content for row in rows if row.content.strip()}


def _is_close(checked: str, reading: str, most: float) -> bool:
    try:
        return total_rate([(checked, reading)], "diplomatic")[2] <= most
    except CannotScore:
        return False
