"""Signs found by their shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armarium.api import JobContext, PageSkipped, PageWork, find_withheld, open_image
from armarium_documents.api import page_image, still_image
from armarium_layout.jobs.looking import boxes_of, mostly, page_shapes, page_sheet, rect_in, taking
from armarium_layout.queries import PageShapes, segment_of, signs_of
from armarium_source_model.api import DeclaredSign, armarium_source_model_declared_signs

if TYPE_CHECKING:
    from sqlalchemy import Row


MOST_EXAMPLES = 200
"""As many as the settings may name."""


def find_signs(job: JobContext, page_id: str) -> PageWork | None:
    """Return places on the page that look like the examples, as words marked as signs.

    If an example shows a declared sign, what looks like it becomes an instance of that sign; without examples
    the pictures of all declared signs are used.
    """
    from armarium_layout.finding.signs import signs_like

    shapes = page_shapes(job, page_id)
    declared = _list_declared(job)
    examples = (
        job.args.examples or list(dict.fromkeys(sign["segment_ids"][0] for sign in declared))[:MOST_EXAMPLES]
    )
    if not examples:
        raise PageSkipped(
            "No sign was given as an example, and none is declared: name segments that are drawn around one."
        )
    sign_by_segment = _signs_of(declared)
    _, sheet = page_sheet(job, page_id, SIGNS_LONGEST)
    patterns = [_pattern(job, example, sheet.scale) for example in examples]
    example_boxes = boxes_of(_signs_there(job, shapes, page_id, examples), sheet)
    lines = boxes_of(shapes.lines, sheet)
    found_signs: list[dict[str, Any]] = []
    for number, sign in enumerate(signs_like(patterns, sheet.ink, job.args.likeness)):
        if any(mostly(sign.box, box) for box in example_boxes):
            continue
        shape: dict[str, Any] = {
            "key": f"sign-{number}",
            "kind": "word",
            "kind_raw": "sign",
            "rect": rect_in(sign.box, sheet),
        }
        if (sign_id := sign_by_segment.get(examples[sign.example])) is not None:
            shape |= {"sign_id": sign_id, "certainty": round(min(1.0, sign.likeness), 4)}
        holder = max(range(len(lines)), key=lambda at: lines[at].shared_area(sign.box), default=None)
        if holder is not None and lines[holder].shared_area(sign.box) > 0:
            shape["inside"] = shapes.lines[holder].id
        found_signs.append(shape)
    if not found_signs:
        raise PageSkipped("Nothing more on the page looks like the examples.")
    return taking(page_id, shapes, "Signs found by their shape", found_signs)


SIGNS_LONGEST = 4000
"""The longest side, in pixels, at which signs are looked for: some are smaller than letters."""


def _pattern(job: JobContext, segment_id: str, scale: float) -> Any:
    """Return the ink of an example, at the scale of the page being searched."""
    from armarium_layout.finding.ink import sheet_of

    with job.library.db.read() as conn:
        row = segment_of(conn, segment_id)
        picture = page_image(job.library, conn, row.document_id)
    with still_image(job.library, picture) as path:
        image = open_image(path, max_pixels=job.engine.settings.max_image_pixels)
    sheet = sheet_of(image, round(scale * max(image.size)))
    (box,) = boxes_of([row], sheet)
    return sheet.ink[round(box.top) : round(box.bottom), round(box.left) : round(box.right)]


def _list_declared(job: JobContext) -> list[DeclaredSign]:
    """Return the signs that families declare, with those of their places that the person who started the job
    may see.
    """
    with job.library.db.read() as conn:
        all_signs = [
            sign
            for signs in job.engine.points.ask(armarium_source_model_declared_signs, conn)
            for sign in signs
        ]
    example_ids = {place for sign in all_signs for place in sign["segment_ids"]}
    hidden = find_withheld(job.library, job.principal, example_ids, "show")
    all_signs = [
        {**sign, "segment_ids": [place for place in sign["segment_ids"] if place not in hidden]}
        for sign in all_signs
    ]
    return [sign for sign in all_signs if sign["segment_ids"]]


def _signs_of(declared: list[DeclaredSign]) -> dict[str, str]:
    """Return the sign that each segment shows; one that shows several is an example of none of them."""
    sign_by_segment: dict[str, str | None] = {}
    for sign in declared:
        for place in sign["segment_ids"]:
            sign_by_segment[place] = (
                sign["id"] if sign_by_segment.get(place, sign["id"]) == sign["id"] else None
            )
    return {place: sign_id for place, sign_id in sign_by_segment.items() if sign_id is not None}


def _signs_there(job: JobContext, shapes: PageShapes, page_id: str, examples: list[str]) -> list[Row[Any]]:
    """Return the signs already on the page, including the examples on it."""
    with job.library.db.read() as conn:
        words = signs_of(conn, shapes.pass_id) if shapes.pass_id else []
        example_segments = [segment_of(conn, example) for example in examples]
    return [*words, *(row for row in example_segments if row.document_id == page_id)]
