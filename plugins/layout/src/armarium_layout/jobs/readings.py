"""Readings that no reader makes: a page's text divided among its lines, and drawings as vector pictures."""

from __future__ import annotations

from typing import Any

from armarium.api import JobContext, PageSkipped, PageWork
from armarium_layout.jobs.looking import boxes_of, page_shapes, page_sheet
from armarium_layout.queries import PageShapes, lines_in_order, page_text_of, readings_of

PROVIDER = "builtin"
"""The reader of the readings that these jobs write; the model names the job."""
FINEST = 6000
"""The longest side, in pixels, at which a page with small drawings is processed."""


def tie_text(job: JobContext, page_id: str) -> PageWork | None:
    """Return the page's text as readings of its lines, in their reading order."""
    from armarium_layout.finding.ties import tie_words

    shapes = page_shapes(job, page_id)
    with job.library.db.read() as conn:
        text = page_text_of(conn, page_id)
        if not shapes.lines or shapes.pass_id is None:
            raise PageSkipped("The page has no lines yet; find them first.")
        if text is None:
            raise PageSkipped("The page has no text of its own to divide among its lines.")
        lines = lines_in_order(conn, page_id, shapes)
        texts = readings_of(conn, shapes.pass_id, "transcription")
    read = [texts[row.id].text if row.id in texts else None for row in lines]
    tied = tie_words(text, [row.bbox_w for row in lines], read)
    readings = [
        {"segment_id": row.id, "text": tied_words.text, "confidence": tied_words.fit}
        for row, tied_words, read_text in zip(lines, tied, read, strict=True)
        if tied_words.text and tied_words.text != read_text
    ]
    if not readings:
        raise PageSkipped("The lines already have these words.")
    return _read(page_id, shapes, "tied-text", "transcription", readings)


def _read(
    page_id: str, shapes: PageShapes, model: str, kind: str, readings: list[dict[str, Any]]
) -> PageWork:
    return PageWork(
        "reading.take",
        {
            "document_id": page_id,
            "pass_id": shapes.pass_id,
            "provider": PROVIDER,
            "model": model,
            "kind": kind,
            "readings": readings,
        },
        answers=("representation_ids",),
    )


def trace_drawings(job: JobContext, page_id: str) -> PageWork | None:
    """Return the ink of the page's drawings as vector pictures, each a reading of its region."""
    from armarium_layout.finding.ink import LONGEST
    from armarium_layout.finding.tracing import trace_ink

    shapes = page_shapes(job, page_id)
    names = [name.casefold() for name in job.args.kinds]
    drawings = [
        row for row in shapes.regions if any(name in (row.kind_raw or "").casefold() for name in names)
    ]
    if not drawings or shapes.pass_id is None:
        raise PageSkipped(f"No region of the page is marked as a drawing ({', '.join(job.args.kinds)}).")
    with job.library.db.read() as conn:
        texts = readings_of(conn, shapes.pass_id, "drawing")
    # At a scale at which the largest drawing is as fine as a page usually is.
    largest = max(max(row.bbox_w, row.bbox_h) for row in drawings)
    _, sheet = page_sheet(job, page_id, min(FINEST, round(LONGEST / max(largest, LONGEST / FINEST))))
    readings = []
    for row, box in zip(drawings, boxes_of(drawings, sheet), strict=True):
        part = sheet.ink[round(box.top) : round(box.bottom), round(box.left) : round(box.right)]
        picture = trace_ink(part) if part.size else None
        if picture is not None and (row.id not in texts or texts[row.id].text != picture):
            readings.append({"segment_id": row.id, "text": picture})
    if not readings:
        raise PageSkipped("The drawings of the page are already traced, or have no ink.")
    return _read(page_id, shapes, "traced-drawing", "drawing", readings)
