"""Draw a sample of the lines of a selection, draw more lines for it, and answer what stands in one."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import select

from armarium.api import ActionContext, Route, action, find_withheld, json_text, new_id
from armarium_checking import errors
from armarium_checking.hookspecs import armarium_checking_selected, armarium_checking_taught
from armarium_checking.queries.population import PageOfLines, TextLine, population, without_taught
from armarium_checking.queries.samples import STANDS, error_rate, is_live
from armarium_checking.rates import lines_for
from armarium_checking.records.samples import (
    MOST_LINES,
    ErrorRate,
    LineAnswer,
    Sample,
    SampleCreate,
    SampleExtend,
    SampleId,
    SampleLine,
    sample_lines,
    sample_pages,
)
from armarium_checking.strata import BANDS, CHECKED, Bands, allocate, bands_of, parts_of
from armarium_documents.api import documents, pages_under, sibling_order

Strata = dict[tuple[str, str], list[tuple[str, TextLine]]]
"""By run of pages and band: the page and the line of each line."""


@action(
    "quality.sample",
    result=ErrorRate,
    summary="Draw lines at random from a selection, to state its error rate.",
    route=Route("POST", "/api/quality/samples", name="draw_sample", refusals=(404,)),
    words="Drew a sample of lines",
)
def draw(ctx: ActionContext, p: SampleCreate) -> dict[str, Any]:
    """Strata are runs of pages by bands of confidence; within each, lines are drawn without replacement. A line whose text
    taught the reader that read it is never drawn. What is withheld from the caller does not belong to the selection.
    """
    pages, taught = _selection(ctx, p)
    if not pages:
        why = f"{taught} lines taught the reader that read them. " if taught else ""
        raise errors.nothing_to_sample(why)
    sure = [
        line.confidence
        for page in pages
        for line in page.lines
        if line.confidence is not None and not line.by_person
    ]
    bands = bands_of(sure)
    whole = sum(len(page.lines) for page in pages)
    size = min(whole, p.lines or min(MOST_LINES, lines_for(p.half_width)))
    kinds = {band_of(bands, line) for page in pages for line in page.lines}
    parts = parts_of({page.document_id: len(page.lines) for page in pages}, size, len(kinds))
    fields = p.model_dump(mode="json", exclude={"lines"})
    row = Sample.rows.insert(
        ctx.conn, {**fields, "lines": size, "taught": taught, "bands": list(bands), **ctx.provenance()}
    )
    ctx.bulk_insert(
        sample_pages,
        [column.name for column in sample_pages.columns],
        [
            (
                new_id(),
                row["id"],
                page.document_id,
                str(parts[page.document_id]),
                json_text(_by_band(bands, page.lines)),
                page.fingerprint,
            )
            for page in pages
        ],
    )
    strata = _strata(pages, bands, {page: str(part) for page, part in parts.items()})
    line_count = _draw(ctx, row["id"], strata, size, p.seed, start=0)
    Sample.rows.change(ctx.conn, row["id"], {"lines": line_count})
    ctx.target(row["id"], *p.scope_ids)
    return error_rate(ctx.conn, row["id"])


@action(
    "quality.extend",
    result=ErrorRate,
    summary="Draw more lines for a sample.",
    route=Route("POST", "/api/quality/samples/{sample_id}/more", name="extend_sample", refusals=(404, 409)),
    words="Drew more lines for a sample",
)
def extend(ctx: ActionContext, p: SampleExtend) -> dict[str, Any]:
    """From the pages it was drawn from, as far as their text is the one of that time; what the lines drawn before stand
    for stays.
    """
    sample = Sample.rows.row(ctx.conn, p.sample_id)
    pages = {
        row.document_id: row
        for row in ctx.conn.execute(
            sample_pages.select().where(
                sample_pages.c.sample_id == p.sample_id, is_live(sample_pages.c.document_id)
            )
        )
    }
    before = {
        line["segment_id"] for line in SampleLine.rows.all(ctx.conn, sample_lines.c.sample_id == p.sample_id)
    }
    create_params = SampleCreate(
        **{name: getattr(sample, name) for name in SampleCreate.model_fields if name != "lines"}
    )
    more_pages = [
        page._replace(lines=[line for line in page.lines if line.segment_id not in before])
        for page in _select_visible(
            ctx, _untaught(ctx, list(population(ctx.conn, list(pages), create_params.reader)))[0]
        )
        if page.fingerprint == pages[page.document_id].fingerprint
    ]
    strata = _strata(more_pages, Bands(*sample.bands), {page: row.part for page, row in pages.items()})
    if not strata:
        raise errors.all_drawn()
    line_count = _draw(ctx, p.sample_id, strata, p.lines, create_params.seed + len(before), start=len(before))
    Sample.rows.change(ctx.conn, p.sample_id, {"lines": len(before) + line_count})
    ctx.target(p.sample_id)
    return error_rate(ctx.conn, p.sample_id)


@action(
    "quality.answer",
    result=SampleLine,
    summary="Say what stands in a line of a sample.",
    route=Route("POST", "/api/quality/lines/{line_id}", name="answer_line", refusals=(404, 409)),
    words="Said what stands in a line of a sample",
    person_only=True,
)
def answer(ctx: ActionContext, p: LineAnswer) -> dict[str, Any]:
    """The text of the page stays as it is: what is measured must not change by being measured. Refused for a line that is
    gone, and for one that somebody answered already, unless the answer is replaced.
    """
    if (p.text is not None) + p.confirmed + p.illegible != 1:
        raise errors.says_one_thing()
    line = SampleLine.rows.row(ctx.conn, p.line_id)
    if p.confirmed and Sample.rows.row(ctx.conn, line.sample_id).way == "blind":
        raise errors.is_blind()
    if line.answered_at is not None and not p.replace:
        raise errors.answered_already(line.answered_by)
    if not ctx.conn.execute(select(sample_lines.c.id).where(sample_lines.c.id == p.line_id, STANDS)).first():
        raise errors.line_gone()
    truth = None if p.illegible else line.read_text if p.confirmed else p.text
    answered = {
        "truth": truth,
        "illegible": p.illegible,
        "answered_by": ctx.principal.name,
        "answered_at": ctx.now,
    }
    SampleLine.rows.change(ctx.conn, p.line_id, answered)
    ctx.target(p.line_id, line.document_id)
    return SampleLine.rows.require(ctx.conn, p.line_id)


@action(
    "quality.remove",
    result=Sample,
    summary="Remove a sample with its answers.",
    route=Route("DELETE", "/api/quality/samples/{sample_id}", name="remove_sample"),
    words="Removed a sample",
)
def remove(ctx: ActionContext, p: SampleId) -> dict[str, Any]:
    """Undo brings it back."""
    row = Sample.rows.require(ctx.conn, p.sample_id)
    for table in (sample_lines, sample_pages):
        ctx.conn.execute(table.delete().where(table.c.sample_id == p.sample_id))
    Sample.rows.delete(ctx.conn, p.sample_id)
    ctx.target(p.sample_id)
    return row


def band_of(bands: Bands, line: TextLine) -> str:
    """Return the band of a line."""
    return CHECKED if line.by_person else bands.of(line.confidence)


def _selection(ctx: ActionContext, p: SampleCreate) -> tuple[list[PageOfLines], int]:
    """Return the pages and lines of a selection, and how many lines were left out because they taught their reader."""
    document = documents.c
    tops = (
        select(document.id)
        .where(document.parent_id.is_(None), document.deleted_at.is_(None))
        .order_by(*sibling_order())
    )
    pages = pages_under(ctx.conn, p.scope_ids or list(ctx.conn.execute(tops).scalars()))
    if p.query is not None:
        chosen_pages = _select(ctx, "query", p.query)
        pages = [page for page in pages if page in chosen_pages]
    listed, taught = _untaught(ctx, list(population(ctx.conn, pages, p.reader)))
    if p.hand_id is not None:
        documents_by_hand = _select(ctx, "hand", p.hand_id)
        listed = _lines_only(listed, lambda line: line in documents_by_hand)
    return _select_visible(ctx, listed), taught


def _select(ctx: ActionContext, by: Any, value: str) -> Collection[str]:
    pages = ctx.engine.points.ask_first(
        armarium_checking_selected, ctx.engine, ctx.project, ctx.conn, by, value
    )
    if pages is None:
        raise errors.unknown_selection({"query": "a search", "hand": "a hand"}[by])
    return set(pages)


def _untaught(ctx: ActionContext, pages: list[PageOfLines]) -> tuple[list[PageOfLines], int]:
    models = {name for page in pages for line in page.lines if not line.by_person for name in line.models}
    taught: dict[str, set[str]] = defaultdict(set)
    for answer in ctx.engine.points.ask(armarium_checking_taught, ctx.project, ctx.conn, models):
        for model, ids in answer.items():
            taught[model].update(ids)
    return without_taught(ctx.conn, pages, taught)


def _select_visible(ctx: ActionContext, pages: list[PageOfLines]) -> list[PageOfLines]:
    """Leave out what the caller may not see: it belongs to no selection, and no number tells of it."""
    ids = [page.document_id for page in pages]
    ids += [line.segment_id for page in pages for line in page.lines]
    hidden = find_withheld(ctx.project, ctx.principal, ids, "show").keys()
    visible = [page for page in pages if page.document_id not in hidden]
    return _lines_only(visible, lambda line: line not in hidden) if hidden else visible


def _lines_only(pages: list[PageOfLines], which: Any) -> list[PageOfLines]:
    chosen = [page._replace(lines=[line for line in page.lines if which(line.segment_id)]) for page in pages]
    return [page for page in chosen if page.lines]


def _by_band(bands: Bands, lines: Sequence[TextLine]) -> dict[str, int]:
    lines_by_band: dict[str, int] = defaultdict(int)
    for line in lines:
        lines_by_band[band_of(bands, line)] += 1
    return dict(lines_by_band)


def _strata(pages: Sequence[PageOfLines], bands: Bands, parts: dict[str, str]) -> Strata:
    strata: Strata = defaultdict(list)
    for page in pages:
        for line in page.lines:
            strata[parts[page.document_id], band_of(bands, line)].append((page.document_id, line))
    return strata


def _draw(ctx: ActionContext, sample_id: str, strata: Strata, size: int, seed: int, *, start: int) -> int:
    """Draw and write the lines, in an order that is random too: whoever answers only the first has a sample as well."""
    chance = random.Random(seed)
    keys = sorted(strata, key=lambda key: (int(key[0]), BANDS.index(key[1])))
    sizes = allocate([len(strata[key]) for key in keys], size)
    sample_rows = [
        (key, page, line)
        for key, many in zip(keys, sizes, strict=True)
        for page, line in chance.sample(strata[key], many)
    ]
    chance.shuffle(sample_rows)
    columns = (
        "id",
        "sample_id",
        "document_id",
        "segment_id",
        "number",
        "part",
        "band",
        "read_text",
        "illegible",
    )
    rows = [
        (new_id(), sample_id, page, line.segment_id, start + number, *key, line.text, False)
        for number, (key, page, line) in enumerate(sample_rows)
    ]
    ctx.bulk_insert(sample_lines, columns, rows)
    return len(rows)
