"""Where on a page something was found: lines with the places of words in them, their boxes, and a preview."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from armarium_search.language import Term
from armarium_search.queries.asked import Asked
from armarium_search.queries.candidates import visible_text
from armarium_source_model.api import goes_on, page_texts, places_of_words, segments, words_of

MOST_LINES = 5
"""Lines of one page that are shown."""
PREVIEW = 300
"""Characters of a preview."""


class Line(NamedTuple):
    """A line of a page's text."""

    segment_id: str
    text: str


class Token(NamedTuple):
    """A word of a page: which words of which lines it is made of (two where it goes on over a line's end)."""

    word: str
    parts: tuple[tuple[int, int], ...]


@dataclass
class PageText:
    """The lines of one page, as the caller sees them."""

    lines: list[Line]

    @property
    def text(self) -> str:
        """The lines, each on a line."""
        return "\n".join(line.text for line in self.lines)


def texts_of_pages(asked: Asked, ids: Sequence[str]) -> dict[str, PageText]:
    """The texts of those of the documents *ids* that have one."""
    found: dict[str, PageText] = {}
    rows = asked.rows(
        f"SELECT document_id, text, spans FROM {page_texts} WHERE document_id IN (SELECT value FROM json_each(:ids))",
        ids=orjson.dumps(list(ids)).decode(),
    )
    for document_id, text, spans in rows:
        found[document_id] = PageText([Line(one, text[start:end]) for one, start, end in orjson.loads(spans)])
    for document_id in ids:
        if asked.partial and document_id in asked.partial:
            seen = visible_text(asked, document_id)[0]
            if seen is not None and seen.text:
                spans = seen.assembled.spans
                found[document_id] = PageText(
                    [Line(one.segment_id, seen.text[one.char_start : one.char_end]) for one in spans]
                )
    return found


def tokens_of(lines: Sequence[Sequence[str]], joined: Iterable[Token]) -> list[Token]:
    """The words of a page in their order, those that go on over a line's end *joined*."""
    starts = {token.parts[0]: token for token in joined}
    within = {part for token in starts.values() for part in token.parts[1:]}
    tokens: list[Token] = []
    for number, words in enumerate(lines):
        for place, word in enumerate(words):
            part = (number, place)
            if part not in within:
                tokens.append(starts.get(part) or Token(word, (part,)))
    return tokens


def joined_words(page: PageText, lines: Sequence[Sequence[str]]) -> list[Token]:
    """The words of a page that go on over the ends of lines, in their order."""
    found: list[Token] = []
    joins = False
    last: Token | None = None
    for number, words in enumerate(lines):
        if not words:
            continue
        if joins and last is not None:
            whole = Token(last.word + words[0], (*last.parts, (number, 0)))
            if len(last.parts) > 1:
                found.pop()
            found.append(whole)
            last = whole
        if last is None or len(words) > 1 or not joins:
            last = Token(words[-1], ((number, len(words) - 1),))
        after = page.lines[number + 1].text if number + 1 < len(page.lines) else ""
        joins = bool(after) and goes_on(page.lines[number].text, after)
    return found


def found_words(page: PageText, terms: Iterable[Term]) -> dict[int, set[int]]:
    """Which words of which lines the wanted *terms* find."""
    lines = [words_of(line.text) for line in page.lines]
    joined = joined_words(page, lines)
    found: dict[int, set[int]] = {}

    def mark(parts: Iterable[tuple[int, int]]) -> None:
        for line, place in parts:
            found.setdefault(line, set()).add(place)

    tokens: list[Token] | None = None
    for term in terms:
        if term.excluded:
            continue
        for words, _ in term.alternatives:
            if len(words) == 1:
                for token in joined:
                    if _fits(token.word, words[0], term, True):
                        mark(token.parts)
                for number, line in enumerate(lines):
                    if term.is_prefix or words[0] in line:
                        mark(
                            (number, place)
                            for place, word in enumerate(line)
                            if _fits(word, words[0], term, True)
                        )
                continue
            tokens = tokens_of(lines, joined) if tokens is None else tokens
            for at in range(len(tokens) - len(words) + 1):
                if all(
                    _fits(tokens[at + n].word, word, term, n == len(words) - 1)
                    for n, word in enumerate(words)
                ):
                    for token in tokens[at : at + len(words)]:
                        mark(token.parts)
    return found


def _fits(word: str, sought: str, term: Term, is_last: bool) -> bool:
    return word.startswith(sought) if term.is_prefix and is_last else word == sought


def excerpts(
    page: PageText, terms: Sequence[Term], *, mark: bool
) -> tuple[list[dict[str, Any]], list[str], str]:
    """The lines in which *terms* are found, the words as they stand there, and a preview around the first of them."""
    found = found_words(page, terms)
    best = sorted(sorted(found, key=lambda line: (-len(found[line]), line))[:MOST_LINES])
    lines: list[dict[str, Any]] = []
    written: dict[str, None] = {}
    for number in best:
        line = page.lines[number]
        places = places_of_words(line.text)
        ranges = [
            (places[place].start, places[place].end) for place in sorted(found[number]) if place < len(places)
        ]
        written |= dict.fromkeys(line.text[start:end] for start, end in ranges)
        lines.append(
            {"segment_id": line.segment_id, "text": line.text, "ranges": ranges if mark else [], "rect": None}
        )
    around = min(best, default=0)
    shown = "\n".join(line.text for line in page.lines[max(0, around - 1) : around + 4])
    return lines, list(written) if mark else [], shown[:PREVIEW]


def add_boxes(asked: Asked, results: Iterable[dict[str, Any]]) -> None:
    """Say of each excerpt where its line stands, in fractions of the page's picture."""
    every = [line for result in results for line in result["transcript_excerpts"]]
    rows = asked.rows(
        f"SELECT id, bbox_x, bbox_y, bbox_w, bbox_h FROM {segments} WHERE id IN (SELECT value FROM json_each(:ids))",
        ids=orjson.dumps([line["segment_id"] for line in every]).decode(),
    )
    boxes = {row[0]: row[1:] for row in rows}
    for line in every:
        line["rect"] = boxes.get(line["segment_id"])
