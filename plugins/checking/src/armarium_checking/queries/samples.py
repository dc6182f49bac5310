"""Samples: what is left to answer of one, and the error rate that its answers state."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from fastapi import Query
from sqlalchemy import ColumnElement, Connection, exists, func, select

from armarium.api import query, raw_of
from armarium_checking.queries.population import population
from armarium_checking.rates import AnsweredLine, Rate, Stratum, estimate, more_lines
from armarium_checking.records.samples import (
    ErrorRate,
    NextLine,
    Sample,
    SampleLine,
    SampleLines,
    Samples,
    sample_lines,
    sample_pages,
    samples,
)
from armarium_checking.strata import BANDS
from armarium_documents.api import documents
from armarium_source_model.api import line_errors, page_texts, segments

Limit = Annotated[int, Query(ge=1, le=1000)]
Offset = Annotated[int, Query(ge=0, le=10**12)]


def is_live(document_id: ColumnElement[Any]) -> ColumnElement[bool]:
    """SQL: the document is there, and not in the Trash."""
    return exists().where(documents.c.id == document_id, documents.c.deleted_at.is_(None))


STANDS = is_live(sample_lines.c.document_id) & exists().where(
    segments.c.id == sample_lines.c.segment_id, segments.c.deleted_at.is_(None)
)
"""SQL: a line of a sample can be looked at."""

_LINES_BY_STRATUM = f"""
SELECT p.part, j.key, sum(j.value) FROM {sample_pages} p JOIN json_each(p.lines) j
JOIN {documents} d ON d.id = p.document_id AND d.deleted_at IS NULL WHERE p.sample_id = ? GROUP BY 1, 2
"""
_PAGES = f"""
SELECT p.part, p.document_id, p.fingerprint, d.name, d.deleted_at IS NULL, t.fingerprint FROM {sample_pages} p
JOIN {documents} d ON d.id = p.document_id LEFT JOIN {page_texts} t ON t.document_id = p.document_id
WHERE p.sample_id = ? ORDER BY p.rowid
"""


@query(
    "/api/quality/samples",
    summary="Samples, the newest first",
    answer=Samples,
    refusals=(),
    counts_withheld=False,
)
def list_samples(conn: Connection, limit: Limit = 100, offset: Offset = 0) -> dict[str, Any]:
    """Those of the whole project; their error rates are asked for one by one."""
    newest = (samples.c.created_at.desc(), samples.c.id.desc())
    return Sample.rows.page(conn, order=newest, limit=limit, offset=offset)


@query("/api/quality/samples/{sample_id}", summary="The error rate that a sample states", answer=ErrorRate)
def error_rate(conn: Connection, sample_id: str) -> dict[str, Any]:
    """As far as its lines are answered; pages in the Trash count neither among the lines nor among the answers."""
    sample = Sample.rows.require(conn, sample_id)
    whole: dict[tuple[str, str], int] = {}
    for part, band, count in raw_of(conn).execute(_LINES_BY_STRATUM, (sample_id,)):
        whole[part, band] = count
    answered, words, illegible, persons, last = _answers(conn, sample_id, sample["policy"])
    keys = sorted(whole.keys() | answered.keys(), key=lambda key: (int(key[0]), BANDS.index(key[1])))
    by_character = {key: Stratum(whole.get(key, 0), answered.get(key, [])) for key in keys}
    by_word = {key: Stratum(whole.get(key, 0), words.get(key, [])) for key in keys}
    many = sum(len(lines) for lines in answered.values())
    lines = sum(whole.values())
    cer, wer = estimate(list(by_character.values())), estimate(list(by_word.values()))
    pages = raw_of(conn).execute(_PAGES, (sample_id,)).fetchall()
    pages_gone = sum(not live for *_, live, _now in pages)
    changed = _count_changed(conn, sample["reader"], pages)
    statement = {
        **sample,
        "population": lines,
        "pages": len(pages) - pages_gone,
        "answered": many,
        "illegible": illegible,
        "persons": persons,
        "cer": _interval(cer, many, lines),
        "wer": _interval(wer, many, lines),
        "lines_to_width": cer and more_lines(many, cer.half_width, sample["half_width"], lines),
        "strata": [
            *_rates_by("confidence", by_character, 1, cer, pages),
            *_rates_by("pages", by_character, 0, cer, pages),
        ],
        "gone": pages_gone,
        "changed": changed,
        "holds": not pages_gone and not changed,
    }
    return {**statement, "stated_at": last, "statement": None if cer is None else _sentence(statement, last)}


@query(
    "/api/quality/samples/{sample_id}/lines",
    summary="The lines of a sample",
    answer=SampleLines,
    counts_withheld=False,
)
def list_lines(conn: Connection, sample_id: str, limit: Limit = 100, offset: Offset = 0) -> dict[str, Any]:
    """In the order in which they are answered."""
    Sample.rows.require(conn, sample_id)
    where = sample_lines.c.sample_id == sample_id
    return SampleLine.rows.page(conn, where, order=(sample_lines.c.number,), limit=limit, offset=offset)


@query(
    "/api/quality/samples/{sample_id}/next", summary="The next line of a sample to answer", answer=NextLine
)
def next_line(
    conn: Connection,
    sample_id: str,
    after: Annotated[int, Query(ge=-1, description="Only lines of a greater number: to leave one out")] = -1,
) -> dict[str, Any]:
    """Lines on pages that are gone are passed over. What was read is told only where the sample is not blind."""
    sample = Sample.rows.require(conn, sample_id)
    unanswered = (sample_lines.c.sample_id == sample_id, sample_lines.c.answered_at.is_(None), STANDS)
    count = conn.execute(select(func.count()).select_from(sample_lines).where(*unanswered)).scalar_one()
    row = conn.execute(
        select(sample_lines)
        .where(*unanswered, sample_lines.c.number > after)
        .order_by(sample_lines.c.number)
        .limit(1)
    ).first()
    if row is None:
        return {"line": None}
    line = {
        "line_id": row.id,
        "segment_id": row.segment_id,
        "document_id": row.document_id,
        "number": row.number,
        "picture": f"/api/segments/{row.segment_id}/picture",
        "read_text": row.read_text if sample["way"] == "confirm" else None,
        "left": count,
    }
    return {"line": line}


def _answers(conn: Connection, sample_id: str, policy: str) -> tuple[Any, Any, int, list[str], str | None]:
    """Return the answered lines by stratum in characters and in words, how many nobody can read, who answered, and when
    the last answer was given.
    """
    characters: dict[tuple[str, str], list[AnsweredLine]] = defaultdict(list)
    words: dict[tuple[str, str], list[AnsweredLine]] = defaultdict(list)
    persons: dict[str, None] = {}
    illegible, last = 0, None
    sample_line = sample_lines.c
    answered_lines = select(sample_lines).where(
        sample_line.sample_id == sample_id,
        sample_line.answered_at.is_not(None),
        is_live(sample_line.document_id),
    )
    for row in conn.execute(answered_lines.order_by(sample_line.answered_at, sample_line.number)):
        persons[row.answered_by] = None
        last = row.answered_at
        if row.illegible:
            illegible += 1
            continue
        errors = line_errors(row.truth, row.read_text, policy)
        characters[row.part, row.band].append(AnsweredLine(errors.distance, errors.characters))
        words[row.part, row.band].append(AnsweredLine(errors.word_distance, errors.words))
    return characters, words, illegible, list(persons), last


def _count_changed(conn: Connection, reader: str | None, pages: Sequence[Any]) -> int:
    """Return on how many of the pages that are there something else stands now than was measured."""
    live = [(document_id, then, now) for _, document_id, then, _, is_there, now in pages if is_there]
    if reader is not None:
        listed = [document_id for document_id, *_ in live]
        read = {page.document_id: page.fingerprint for page in population(conn, listed, reader)}
        live = [(document_id, then, read.get(document_id)) for document_id, then, _ in live]
    return sum(then != now for _, then, now in live)


def _interval(rate: Rate | None, answered: int, lines: int) -> dict[str, Any] | None:
    if rate is None:
        return None
    more = more_lines(answered, rate.half_width, rate.half_width / 2, lines)
    return {**rate._asdict(), "half_width": rate.half_width, "more_lines": more}


def _rates_by(
    what: str, strata: dict[tuple[str, str], Stratum], at: int, whole: Rate | None, pages: Sequence[Any]
) -> Iterable[dict[str, Any]]:
    """Yield the rate of each band, or of each run of pages."""
    groups: dict[str, list[Stratum]] = defaultdict(list)
    for key, stratum in strata.items():
        groups[key[at]].append(stratum)
    if what == "pages" and len(groups) < 2:
        return
    for name, group in groups.items():
        rate = estimate(group)
        first = last = None
        called = name
        if what == "pages":
            here = [
                (document_id, page) for part, document_id, _, page, live, _ in pages if part == name and live
            ]
            if here:
                (first, first_page), (last, last_page) = here[0], here[-1]
                called = first_page if first == last else f"{first_page} to {last_page}"
        yield {
            "what": what,
            "name": called,
            "first_document_id": first,
            "last_document_id": last,
            "lines": sum(stratum.lines for stratum in group),
            "answered": sum(len(stratum.answered) for stratum in group),
            "cer": None if rate is None else rate.rate,
            "low": None if rate is None else rate.low,
            "high": None if rate is None else rate.high,
            "bad": rate is not None and whole is not None and rate.low > whole.rate,
        }


def _sentence(statement: dict[str, Any], last: str | None) -> str:
    """Return the statement of an error rate in a sentence, and in another whether it still holds."""
    way = (
        "transcribed without sight of the reading"
        if statement["way"] == "blind"
        else "compared with the reading"
    )
    words = "" if statement["wer"] is None else f"; word error rate {_words_of(statement['wer'])}"
    sentence = (
        f"Character error rate {_words_of(statement['cer'])}{words}: estimated on {(last or '')[:10]} from {statement['answered']:,} of "
        f"{statement['population']:,} lines, drawn at random with the seed {statement['seed']} and {way} by {', '.join(statement['persons'])}."
    )
    if statement["taught"]:
        sentence += f" {statement['taught']:,} lines that taught the reader were left out."
    if not statement["holds"]:
        why = []
        if statement["changed"]:
            why.append(
                f"the text of {statement['changed']:,} of its pages has been read again or corrected since"
            )
        if statement["gone"]:
            why.append(f"{statement['gone']:,} of its pages were deleted")
        sentence += f" It no longer holds: {' and '.join(why)}."
    return sentence


def _words_of(interval: dict[str, Any]) -> str:
    rate, low, high = (f"{100 * interval[name]:.2f}" for name in ("rate", "low", "high"))
    return f"{rate} % (95 % interval {low} to {high} %)"
