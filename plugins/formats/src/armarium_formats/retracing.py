"""Gives lines of an imported plain text the shapes of the page's lines that they match, after correction
elsewhere.

Only unambiguous matches count; an ambiguous or unmatched line has no shape and is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from itertools import pairwise
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from armarium_formats.assembling import AssembledPage
from armarium_formats.numbers import name_first
from armarium_formats.opening import choose_page
from armarium_formats.page_model import PageModel, PageSegment
from armarium_formats.plain_text import PlainText, text_of
from armarium_formats.queries.exchange import Picture, page_of_pass
from armarium_formats.turning import has_shapes
from armarium_source_model.api import list_passes, reading_rule, working_pass

if TYPE_CHECKING:
    from armarium.api import Library
    from armarium_formats.opening import OpenedFile

ALIKE = 0.5
"""Of a line's characters: two that have fewer in common are not a match by what they say."""

MARGIN = 0.02
"""A match is certain when the page as a whole fits worse without it by so much of a line."""

MOST_COMPARED = 250_000
"""Pairs of lines: more than 500 on either side are not a page."""

MOST_NAMED = 20


def retrace(
    library: Library,
    document_id: str,
    opened: OpenedFile,
    choice: str | None,
    picture: Picture,
    conn: Connection | None = None,
    before: str | None = None,
) -> None:
    """Give the lines of page *choice* the shapes of matching lines of the document, and note it.

    Only a plain text is retraced: it never has shapes. *conn*: a writer's, which sees its own writes.
    *before*: only passes with a smaller id, made before it.
    """
    if opened.driver.name != PlainText.name:
        return
    page, _ = choose_page(opened.pages, choice)
    with library.db.read() if conn is None else nullcontext(conn) as reading:
        passes = [
            (pass_id, name)
            for pass_id, name in _passes(reading, document_id)
            if before is None or pass_id < before
        ]
        _retrace(reading, document_id, page, picture, passes)


def _retrace(
    conn: Connection, document_id: str, page: PageModel, picture: Picture, passes: list[tuple[str, str]]
) -> None:
    """Use the first of *passes* that matches; one measured on another picture than *picture* is skipped."""
    lines = [line for line in page.lines() if line.text]
    for pass_id, name in passes:
        assembled, size = page_of_pass(conn, document_id, pass_id)
        if size is None or set(assembled.frames) - {picture.rendition_id} or not has_shapes(assembled.page):
            continue
        drawn_lines = [line for line in assembled.page.lines() if line.points or line.baseline]
        texts = [text_of(line) or "" for line in drawn_lines]
        pairs = match_lines([line.text for line in lines], texts)
        if not pairs:
            continue
        page.width, page.height = size
        for mine, other in pairs:
            lines[mine].points, lines[mine].baseline = drawn_lines[other].points, drawn_lines[other].baseline
            lines[mine].shape_of = assembled.rows[drawn_lines[other].id]
        _frame_regions(page, assembled)
        bare = sorted(set(range(len(lines))) - {mine for mine, _ in pairs})
        page.notes.append(_summary(name, len(pairs), len(lines), bare, len(drawn_lines) - len(pairs)))
        return


def _passes(conn: Connection, document_id: str) -> Iterator[tuple[str, str]]:
    """Return ids and names of the page's passes: the one it is read by first, then the newest."""
    rule = reading_rule(conn)
    first, _ = working_pass(conn, document_id, rule)
    passes = list_passes(conn, document_id, rule)[::-1]
    for entry in sorted(passes, key=lambda entry: entry["id"] != first):
        yield entry["id"], entry["name"]


def match_lines(lines: Sequence[str], drawn: Sequence[str]) -> list[tuple[int, int]]:
    """Match *lines* with *drawn*, both in reading order, by their numbers from 0.

    First pairs that are nearly equal and have no rival on the page; then, between two of these (or the ends
    of the page), the others in sequence if there are as many on either side.
    """
    if len(lines) * len(drawn) > MOST_COMPARED:
        return []
    sure = _find_certain(_likeness(lines, drawn), len(lines), len(drawn))
    pairs = list(sure)
    for (left, above), (right, below) in pairwise([(-1, -1), *sure, (len(lines), len(drawn))]):
        if right - left == below - above:
            pairs += zip(range(left + 1, right), range(above + 1, below), strict=True)
    return sorted(pairs)


def _likeness(lines: Sequence[str], drawn_lines: Sequence[str]) -> list[list[float]]:
    """Return how alike two lines are, from 0 (no match) to 1; runs of spaces count as one."""
    from rapidfuzz.distance import Levenshtein

    alike: Callable[..., float] = Levenshtein.normalized_similarity
    others = [" ".join(text.split()) for text in drawn_lines]
    return [
        [alike(mine, other, score_cutoff=ALIKE) if mine and other else 0.0 for other in others]
        for mine in (" ".join(text.split()) for text in lines)
    ]


def _find_certain(likeness: list[list[float]], rows: int, columns: int) -> list[tuple[int, int]]:
    """Return the matches common to all best alignments; alignments keep the sequence of both sides."""
    # before[i][j]: the best score of the first i and j lines; after[i][j]: of those from i and j on.
    before = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    after = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows):
        above, here, alike = before[i], before[i + 1], likeness[i]
        for j in range(columns):
            here[j + 1] = max(above[j + 1], here[j], above[j] + alike[j])
    for i in range(rows - 1, -1, -1):
        below, here, alike = after[i + 1], after[i], likeness[i]
        for j in range(columns - 1, -1, -1):
            here[j] = max(below[j], here[j + 1], below[j + 1] + alike[j])
    best = after[0][0]
    matches: list[tuple[int, int]] = []
    for i in range(rows):
        whole = [
            before[i][j] + likeness[i][j] + after[i + 1][j + 1] if likeness[i][j] else 0.0
            for j in range(columns)
        ]
        alone = max(before[i][j] + after[i + 1][j] for j in range(columns + 1))
        at = max(range(columns), key=whole.__getitem__, default=None)
        if at is None or not likeness[i][at] or whole[at] < best - 1e-9:
            continue
        others = max([alone, *(fit for j, fit in enumerate(whole) if j != at)])
        if others < best - MARGIN:
            matches.append((i, at))
    return matches


def _frame_regions(page: PageModel, assembled: AssembledPage) -> None:
    """Make a paragraph a region of the page if all its matched lines are in it, and no other paragraph's
    are.
    """
    region_of = {
        assembled.rows[line.id]: region
        for region in assembled.page.walk()
        if region.kind == "region"
        for line in region.children
        if line.kind == "line"
    }
    pairs: list[tuple[PageSegment, PageSegment]] = []
    for paragraph in page.segments:
        above = [region_of.get(line.shape_of or "") for line in paragraph.children if line.shape_of]
        if above and above[0] is not None and all(segment is above[0] for segment in above):
            pairs.append((paragraph, above[0]))
    for paragraph, region in pairs:
        if sum(other is region for _, other in pairs) == 1:
            paragraph.points, paragraph.shape_of = region.points, assembled.rows[region.id]


def _summary(name: str, taken_count: int, lines: int, bare: Sequence[int], unmatched: int) -> str:
    text = f"{taken_count} of {lines} lines took over the shapes of the matching lines of the pass {name!r}"
    if bare:
        named = name_first([str(number + 1) for number in bare], MOST_NAMED)
        text += f"; no single line there matches line{'' if len(bare) == 1 else 's'} {named}"
    if unmatched:
        text += f"; {unmatched} drawn there {'has' if unmatched == 1 else 'have'} no match"
    return f"{text}."
