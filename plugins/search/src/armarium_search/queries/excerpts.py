"""Where on a page something was found: lines with the positions of words in them, their boxes, and a preview."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

import orjson

from armarium.api import fold_lines
from armarium_search.language import Term
from armarium_search.queries.candidates import visible_text
from armarium_search.queries.question_sql import SearchQuestion
from armarium_source_model.api import HYPHENS, goes_on, page_texts, places_of_words, segments

MOST_LINES = 5
"""How many lines of one page are shown."""
PREVIEW = 300
"""The length of a preview in characters."""
_MAY_GO_ON = frozenset([*HYPHENS, *filter(str.isspace, map(chr, range(0x3001)))])
"""The end of a line whose last word may continue on the next: blanks may follow a hyphen."""


class Token(NamedTuple):
    """A word of a page: the words of lines it consists of (two if it continues over a line's end)."""

    word: str
    parts: tuple[tuple[int, int], ...]


@dataclass
class PageText:
    """The lines of one page, as the caller sees them."""

    segment_ids: list[str]
    lines: list[str]

    @classmethod
    def of(cls, text: str, spans: Sequence[tuple[str, int, int]]) -> PageText:
        """Return a page's text with where its lines are in it."""
        lines = text.split("\n")
        if [len(line) for line in lines] != [end - start for _, start, end in spans]:
            lines = [text[start:end] for _, start, end in spans]
        return cls([segment_id for segment_id, _, _ in spans], lines)


def texts_of_pages(question: SearchQuestion, ids: Sequence[str]) -> dict[str, PageText]:
    """Return the texts of those of the documents *ids* that have one: those kept, and of `asked.partial` as its connection
    shows them.
    """
    texts: dict[str, PageText] = {}
    partial = question.partial or frozenset()
    rows = question.rows(
        f"SELECT document_id, text, spans FROM {page_texts} WHERE document_id IN (SELECT value FROM json_each(:ids))",
        ids=orjson.dumps([page_id for page_id in ids if page_id not in partial]).decode(),
    )
    for document_id, text, spans in rows:
        texts[document_id] = PageText.of(text, orjson.loads(spans))
    for document_id in ids:
        if document_id in partial:
            visible = visible_text(question, document_id)[0]
            if visible is not None and visible.text:
                spans = [
                    (span.segment_id, span.char_start, span.char_end) for span in visible.assembled.spans
                ]
                texts[document_id] = PageText.of(visible.text, spans)
    return texts


class _Words:
    """The words of a page, folded, split line by line on demand."""

    def __init__(self, page: PageText) -> None:
        self.folded = fold_lines(page.lines)
        """Each line, its words separated by blanks."""
        self._page = page
        self._words: dict[int, list[str]] = {}
        self._tokens: tuple[list[str], list[int], list[int]] | None = None
        self.joined = self._join()
        """The words that continue over the ends of lines, in order."""

    def of_line(self, number: int) -> list[str]:
        """Return the words of a line."""
        places = self._words.get(number)
        if places is None:
            places = self._words[number] = self.folded[number].split()
        return places

    def lines_with(self, sought: str) -> Iterable[int]:
        """Return the lines whose letters include those of *sought*."""
        return (number for number, letters in enumerate(self.folded) if sought in letters)

    def phrase(self, sought: tuple[str, ...], *, as_prefix: bool) -> Iterator[tuple[int, int]]:
        """Return the parts of every place where the words *sought* follow one another, even over the ends of lines."""
        tokens, first, before = self._in_order()
        for at in _places(tokens, sought[0]):
            own = tokens[at : at + len(sought)]
            if own[:-1] == list(sought[:-1]) and _fits(own[-1], sought[-1], as_prefix):
                for ordinal in range(first[at], first[at + len(sought)]):
                    line = bisect_right(before, ordinal) - 1
                    yield line, ordinal - before[line]

    def _in_order(self) -> tuple[list[str], list[int], list[int]]:
        """Return the words of the page, joined over line ends; the index at which each begins when all are
        counted line by line; and the index at which each line begins.
        """
        if self._tokens is None:
            words_of_lines = [letters.split() for letters in self.folded]
            tokens = [word for words in words_of_lines for word in words]
            first = list(range(len(tokens) + 1))
            before = list(accumulate(map(len, words_of_lines), initial=0))
            for token in reversed(self.joined):
                line, place = token.parts[0]
                at = before[line] + place
                tokens[at : at + len(token.parts)] = [token.word]
                first[at : at + len(token.parts)] = [at]
            self._tokens = tokens, first, before
        return self._tokens

    def _join(self) -> list[Token]:
        lines = self._page.lines
        tokens: list[Token] = []
        last: Token | None = None
        for number, end in enumerate([line[-1:] for line in lines[:-1]]):
            if end not in _MAY_GO_ON or not goes_on(lines[number], lines[number + 1]):
                continue
            words, after = self.of_line(number), self.of_line(number + 1)
            if not words or not after:
                continue
            if last is not None and len(words) == 1 and last.parts[-1] == (number, 0):
                tokens.pop()
                last = Token(last.word + after[0], (*last.parts, (number + 1, 0)))
            else:
                last = Token(words[-1] + after[0], ((number, len(words) - 1), (number + 1, 0)))
            tokens.append(last)
        return tokens


def found_words(page: PageText, terms: Iterable[Term]) -> dict[int, set[int]]:
    """Return which words of which lines the wanted *terms* match."""
    words = _Words(page)
    words_by_line: dict[int, set[int]] = {}

    def mark(parts: Iterable[tuple[int, int]]) -> None:
        for line, place in parts:
            words_by_line.setdefault(line, set()).add(place)

    for term in terms:
        if term.excluded:
            continue
        for sought, _ in term.alternatives:
            if len(sought) > 1:
                mark(words.phrase(sought, as_prefix=term.is_prefix))
                continue
            (only_term,) = sought
            for token in words.joined:
                if _fits(token.word, only_term, term.is_prefix):
                    mark(token.parts)
            for number in words.lines_with(only_term):
                mark(
                    (number, place)
                    for place, word in enumerate(words.of_line(number))
                    if _fits(word, only_term, term.is_prefix)
                )
    return words_by_line


def _places(words: list[str], sought: str) -> Iterator[int]:
    at = -1
    while True:
        try:
            at = words.index(sought, at + 1)
        except ValueError:
            return
        yield at


def _fits(word: str, sought: str, as_prefix: bool) -> bool:
    return word.startswith(sought) if as_prefix else word == sought


def ranges_of(line: str, words: Iterable[int]) -> list[tuple[int, int]]:
    """Return where the words of a line stand in it, given which."""
    places = places_of_words(line)
    return [(places[place].start, places[place].end) for place in sorted(words) if place < len(places)]


def excerpts(
    page: PageText, terms: Sequence[Term], *, mark: bool
) -> tuple[list[dict[str, Any]], list[str], str]:
    """Return the lines in which *terms* occur, with the words as written there, and a preview around the first."""
    words_found = found_words(page, terms)
    best = sorted(sorted(words_found, key=lambda line: (-len(words_found[line]), line))[:MOST_LINES])
    lines: list[dict[str, Any]] = []
    words_written: dict[str, None] = {}
    for number in best:
        line = page.lines[number]
        ranges = ranges_of(line, words_found[number])
        words_written |= dict.fromkeys(line[start:end] for start, end in ranges)
        lines.append(
            {
                "segment_id": page.segment_ids[number],
                "text": line,
                "ranges": ranges if mark else [],
                "rect": None,
            }
        )
    around = min(best, default=0)
    lines_shown = "\n".join(page.lines[max(0, around - 1) : around + 4])
    return lines, list(words_written) if mark else [], lines_shown[:PREVIEW]


def add_boxes(question: SearchQuestion, results: Iterable[dict[str, Any]]) -> None:
    """Add to each excerpt where its line is, in fractions of the page's picture."""
    excerpts = [line for result in results for line in result["transcript_excerpts"]]
    rows = question.rows(
        f"SELECT id, bbox_x, bbox_y, bbox_w, bbox_h FROM {segments} WHERE id IN (SELECT value FROM json_each(:ids))",
        ids=orjson.dumps([line["segment_id"] for line in excerpts]).decode(),
    )
    boxes = {row[0]: row[1:] for row in rows}
    for line in excerpts:
        line["rect"] = boxes.get(line["segment_id"])
