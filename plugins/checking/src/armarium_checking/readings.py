"""The layer of readings: the counting reading of each line, in the page's newest pass or that of one model."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select

from armarium.api import (
    ActionContext,
    Forbidden,
    JobContext,
    NotFound,
    find_withheld,
    open_image,
)
from armarium_checking.agreement import Line, judge
from armarium_checking.characters import Likelihood
from armarium_checking.hookspecs import CheckPage, Layer, Opinion, PagePart, Proposal, Target
from armarium_checking.ink import Ink, ink_of
from armarium_checking.records.checks import CheckArgs
from armarium_documents.api import page_image, representations, still_image
from armarium_reading.api import cut_line
from armarium_source_model.api import counting_readings, list_passes, reading_rule, segments

MOST_CORRECTED = 5_000
"""How many corrected lines the character model is made from: the newest ones."""

PERSON = "human"


def find_reading(conn: Connection, target_id: str) -> Target | None:
    """Return the line of a reading that was not retracted."""
    query = select(representations.c.document_id, representations.c.segment_id).where(
        representations.c.id == target_id,
        representations.c.segment_id.is_not(None),
        representations.c.retracted.is_(False),
    )
    row = conn.execute(query).first()
    return None if row is None else Target(row[0], row[1])


def correct_reading(ctx: ActionContext, target_id: str, text: str, kind: str) -> str:
    """Write *text* as the caller's reading that names the one it corrects; refused if that no longer counts."""
    reading = find_reading(ctx.conn, target_id)
    assert reading is not None
    body = {"segment_id": reading.segment_id, "text": text, "kind": kind, "expected_counting_id": target_id}
    return str(ctx.run("representation.create", body)["id"])


def begin_agreement(job: JobContext) -> CheckPage:
    """Return the checker that needs no model, with a character model of what people have corrected so far."""
    args: CheckArgs = job.args
    made_by_persons = (
        select(representations.c.content)
        .where(
            representations.c.kind == args.kind,
            representations.c.provenance_kind == PERSON,
            representations.c.segment_id.is_not(None),
            representations.c.retracted.is_(False),
        )
        .order_by(representations.c.created_at.desc(), representations.c.id)
        .limit(MOST_CORRECTED)
    )
    with job.library.db.read() as conn:
        likelihood = Likelihood(text for (text,) in conn.execute(made_by_persons) if text)

    def check(job: JobContext, page_id: str) -> PagePart:
        lines = lines_of_page(job, page_id)
        judged = zip(lines, judge(lines, likelihood), strict=True)
        opinions = [
            Opinion(line.reading_id, verdict.verdict, verdict.reasons, verdict.correction)
            for line, verdict in judged
            if verdict is not None
        ]
        return PagePart(len(lines), opinions)

    return check


def lines_of_page(job: JobContext, page_id: str) -> list[Line]:
    """Return the lines of the page's newest pass, or of the newest by one model, that have a counting
    reading.
    """
    checked, rows, grey = _load_to_check(job, page_id)
    inks: list[Ink | None] = [None] * len(checked)
    if grey is not None:
        inks = list(ink_of(grey.convert("L"), [_rect(row) for row in checked]))
    return [
        Line(
            row["id"],
            row["content"] or "",
            _maker(row),
            row["provenance_kind"] == PERSON,
            ink,
            _read_others(row, rows),
        )
        for row, ink in zip(checked, inks, strict=True)
    ]


def shown_lines(job: JobContext, page_id: str, pictures: bool) -> list[Proposal]:
    """Return each of those lines as it is shown to a model: its reading, and its picture if the model accepts
    pictures.
    """
    checked, _, page = _load_to_check(job, page_id, pictures=pictures)
    lines = []
    for row in checked:
        text = " ".join((row["content"] or "").split())
        if text:
            picture = None
            if page is not None:
                x, y, w, h = _rect(row)
                box = [x * page.width, y * page.height, w * page.width, h * page.height]
                picture = cut_line(page.convert("RGB") if page.mode != "RGB" else page, box)
            lines.append(Proposal(row["id"], text, text, row["segment_id"], picture))
    return lines


def _load_to_check(
    job: JobContext, page_id: str, *, pictures: bool = True
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], Any]:
    """Return the counting readings to check, every reading of the page, and its picture (None: it has none,
    or it was not requested).

    Raises Forbidden if the person who started the run may no longer see the page.
    """
    args: CheckArgs = job.args
    if why := find_withheld(job.library, job.principal, [page_id], "show").get(page_id):
        raise Forbidden(why, code="rights_restricted")
    with job.library.db.read() as conn:
        rule = reading_rule(conn)
        rows = _readings_of(conn, page_id, args.kind)
        made_passes = {
            row["pass_id"] for row in rows if args.pass_model in (row["producer_tool"], row["producer_model"])
        }
        passes = [
            pass_row["id"]
            for pass_row in list_passes(conn, page_id, rule)
            if args.pass_model in (None, pass_row["model"], pass_row["provider"])
            or pass_row["id"] in made_passes
        ]
        if not passes:
            return [], rows, None
        counting = counting_readings(conn, passes[-1], args.kind, rule)
        try:
            picture = page_image(job.library, conn, page_id) if pictures else None
        except NotFound:
            picture = None
    by_id = {row["id"]: row for row in rows}
    checked = [
        by_id[reading.representation_id]
        for reading in counting.values()
        if reading.representation_id in by_id
    ]
    if picture is None or not checked:
        return checked, rows, None
    with still_image(job.library, picture) as path:
        from PIL import ImageOps

        opened = ImageOps.exif_transpose(open_image(path, max_pixels=job.engine.settings.max_image_pixels))
    return checked, rows, opened


def _readings_of(conn: Connection, page_id: str, kind: str) -> list[dict[str, Any]]:
    """Return every reading of a line of the page, the oldest first, with the position of its line."""
    columns = ("id", "segment_id", "content", "producer_tool", "producer_model", "provenance_kind", "created_by",
               "corrects_representation_id")  # fmt: skip
    boxes = ("bbox_x", "bbox_y", "bbox_w", "bbox_h")
    query = (
        select(
            *(representations.c[name] for name in columns),
            segments.c.pass_id,
            *(segments.c[name] for name in boxes),
        )
        .join(segments, segments.c.id == representations.c.segment_id)
        .where(
            representations.c.document_id == page_id,
            representations.c.kind == kind,
            representations.c.retracted.is_(False),
            segments.c.kind == "line",
            segments.c.deleted_at.is_(None),
        )
        .order_by(representations.c.created_at, representations.c.id)
    )
    return [row._asdict() for row in conn.execute(query)]


def _read_others(row: dict[str, Any], rows: list[dict[str, Any]]) -> dict[str, str]:
    """Return the readings on that line by others than the maker of *row*: the newest of each."""
    own = _maker(row)
    return {
        _maker(other): other["content"]
        for other in rows
        if other["content"]
        and _maker(other) != own
        and _is_independent(other)
        and (other["segment_id"] == row["segment_id"] or _same_place(row, other))
    }


def _is_independent(row: dict[str, Any]) -> bool:
    """Return whether a reading was read from the page: a machine's correction was made from other readings."""
    return row["provenance_kind"] == PERSON or row["corrects_representation_id"] is None


def _maker(row: dict[str, Any]) -> str:
    if row["provenance_kind"] == PERSON:
        return str(row["created_by"] or "a person")
    tool, model = row["producer_tool"], row["producer_model"]
    makers = [name for name in dict.fromkeys((tool, model)) if name]
    return " ".join(makers) or str(row["created_by"] or row["provenance_kind"])


def _rect(row: dict[str, Any]) -> tuple[float, float, float, float]:
    return row["bbox_x"], row["bbox_y"], row["bbox_w"], row["bbox_h"]


def _same_place(row: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether the overlap of two lines is more than half of the larger."""
    (x, y, w, h), (left, top, width, height) = _rect(row), _rect(other)
    across = min(x + w, left + width) - max(x, left)
    down = min(y + h, top + height) - max(y, top)
    return across > 0 and down > 0 and across * down > 0.5 * max(w * h, width * height)


PROMPT = (
    "This is what was read in one line of a page. Say whether it can stand: confirm; correct, with the corrected line, keeping "
    "the spelling of the source; reject, where it makes no sense and you cannot mend it; or unsure, where you cannot judge. "
    "Give your reasons in a sentence."
)

READINGS = Layer(
    name="readings",
    find=find_reading,
    checkers={("builtin", "agreement"): begin_agreement},
    replace=correct_reading,
    show=shown_lines,
    prompt=PROMPT,
)
