"""What all jobs here that ask a model share: the lines that may be sent, and the readings that come back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from armarium.api import JobContext, PageSkipped, PageWork
from armarium_model_jobs.queries import Line, PageLines, lines_of
from armarium_reading.api import ModelAnswer


def page_lines(job: JobContext, page_id: str) -> PageLines:
    """Return the lines of the page; PageSkipped if none has words. The gateway checks whether a model may see them."""
    with job.library.db.read() as conn:
        lines = lines_of(conn, page_id)
    if not lines.lines:
        raise PageSkipped("No line of the page has text yet; read its lines first.")
    return lines


def as_material(lines: Iterable[Line], offered: Iterable[str] | None = None) -> str:
    """Return the lines of text, each preceded by its id, or by a dash if it is shown but not *offered* for change."""
    offered_ids = None if offered is None else set(offered)
    return "\n".join(
        f"[{line.segment_id if offered_ids is None or line.segment_id in offered_ids else '-'}]{_place(line)} {line.text}"
        for line in lines
    )


def _place(line: Line) -> str:
    if not line.cell:
        return ""
    return f" (row {line.cell.get('row', 0) + 1}, column {line.cell.get('column', 0) + 1})"


def readings_work(
    page_id: str, pass_id: str | None, kind: str, answers: Sequence[ModelAnswer[Any]], texts: dict[str, str]
) -> PageWork:
    """Return *texts*, by segment, as readings of the model that was asked."""
    return PageWork(
        "reading.take",
        {
            "document_id": page_id,
            "pass_id": pass_id,
            "provider": answers[0].provider,
            "model": answers[0].model,
            "kind": kind,
            "readings": [{"segment_id": key, "text": text} for key, text in texts.items()],
        },
        output={"pass_id": pass_id, "kind": kind},
        answers=("representation_ids",),
    )
