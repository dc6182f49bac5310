"""Finds names without a model: one automaton finds those the project knows on a page, and misread ones as well."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from armarium.api import Library, is_unspaced, raw_of
from armarium_knowledge.placing import PagePlaces, Place, places_of
from armarium_knowledge.queries.mentions import RefusedSpans
from armarium_knowledge.queries.visible import HiddenKnowledge
from armarium_knowledge.records.entities import entities
from armarium_knowledge.records.mentions import Mention, mentions
from armarium_source_model.api import Word, name_words

HELD = "knowledge.names"

SHORTEST = 3
"""The shortest name to look for in a script with blanks, in letters; in one without, the least is two."""
SHORTEST_MISREAD = 5
"""The length in letters from which a name is also found with one letter misread, and from `TWO_WRONG` on with two."""
TWO_WRONG = 9
MOST_WORDS = 6
"""The longest name, in words, that is found misread."""
_PARTED = re.compile(r"[,;:()\[\]/]")
"""What stands between two names, not in one, except where that is written as a heading ("Cruz, Juan de la")."""


class NamedEntity(NamedTuple):
    """An entity by one of its names."""

    entity_id: str
    canonical_name: str
    entity_type: str


class FoundName(NamedTuple):
    """Characters of a line that are a name, exactly or nearly."""

    start: int
    end: int
    name: str
    named: tuple[NamedEntity, ...]
    score: float


class _FoldedLine(NamedTuple):
    """The words of a line, folded and joined by blanks, and where each begins and ends: here, and in the line itself."""

    text: str
    starts: dict[int, int]
    ends: dict[int, int]

    @classmethod
    def of(cls, words: Sequence[Word]) -> _FoldedLine:
        line = cls(" ".join(word.word for word in words), {}, {})
        at = 0
        for word in words:
            line.starts[at], line.ends[at + len(word.word)] = word.start, word.end
            at += len(word.word) + 1
        return line


@dataclass
class KnownNames:
    """Every name of the project's entities, folded and indexed for the search."""

    by_name: dict[str, list[NamedEntity]]
    automaton: Any
    buckets: dict[tuple[int, str], list[str]] = field(default_factory=dict)
    """Names of one length that begin, or end, with the same letter."""
    most_words: int = 1

    def on_line(self, text: str, *, misread: bool) -> list[FoundName]:
        """Return the names on one line: of overlapping ones the longest, then the best."""
        matches: list[tuple[int, int, str, float]] = []
        for words in name_words(text):
            line = _FoldedLine.of(words)
            matches += self._find_exact(line)
            if misread and self.buckets:
                matches += self._find_misread(line)
        matches.sort(key=lambda match: (-match[3], match[0] - match[1], match[0]))
        spans: list[tuple[int, int]] = []
        names: list[FoundName] = []
        for start, end, name, score in matches:
            at = bisect.bisect(spans, (start, end))
            if (at and spans[at - 1][1] > start) or (at < len(spans) and spans[at][0] < end):
                continue
            entities_named = self.by_name[name]
            if _PARTED.search(text, start, end) and not any(
                "," in entity.canonical_name for entity in entities_named
            ):
                continue
            spans.insert(at, (start, end))
            names.append(FoundName(start, end, name, tuple(entities_named), score))
        return sorted(names)

    def _find_exact(self, line: _FoldedLine) -> Iterator[tuple[int, int, str, float]]:
        if not self.by_name:
            return
        for last, name in self.automaton.iter(line.text):
            start, end = line.starts.get(last - len(name) + 1), line.ends.get(last + 1)
            if start is not None and end is not None:
                yield start, end, name, 1.0

    def _find_misread(self, line: _FoldedLine) -> Iterator[tuple[int, int, str, float]]:
        from rapidfuzz import process
        from rapidfuzz.distance import Levenshtein

        starts, ends = list(line.starts), list(line.ends)
        for first in range(len(starts)):
            for last in range(first, min(first + self.most_words, len(starts))):
                start, end = starts[first], ends[last]
                window = line.text[start:end]
                if len(window) < SHORTEST_MISREAD - 1 or window in self.by_name:
                    continue
                wrong = 2 if len(window) >= TWO_WRONG else 1
                near: dict[str, None] = {}
                for length in range(len(window) - wrong, len(window) + wrong + 1):
                    for letter in (f"<{window[0]}", f"{window[-1]}>"):
                        near |= dict.fromkeys(self.buckets.get((length, letter), ()))
                best = process.extractOne(window, list(near), scorer=Levenshtein.distance, score_cutoff=wrong)
                if best is not None and (best[1] <= 1 or len(best[0]) >= TWO_WRONG):
                    yield line.starts[start], line.ends[end], best[0], round(1 - best[1] / len(best[0]), 4)


def _long_enough(name: str) -> bool:
    return len(name.replace(" ", "")) >= (2 if any(map(is_unspaced, name)) else SHORTEST)


def gather(rows: Iterable[tuple[str, str, str, str]]) -> KnownNames:
    """Build the index from *rows*: (id, name, type, folded names one per line) of the entities to look for."""
    import ahocorasick

    by_name: dict[str, list[NamedEntity]] = {}
    for entity_id, called, entity_type, folded in rows:
        for name in folded.split("\n"):
            if _long_enough(name):
                by_name.setdefault(name, []).append(NamedEntity(entity_id, called, entity_type))
    automaton = ahocorasick.Automaton()
    names = KnownNames(by_name, automaton)
    for name in by_name:
        automaton.add_word(name, name)
        count = name.count(" ") + 1
        if len(name) >= SHORTEST_MISREAD and count <= MOST_WORDS and not any(map(is_unspaced, name)):
            names.most_words = max(names.most_words, count)
            for letter in (f"<{name[0]}", f"{name[-1]}>"):
                names.buckets.setdefault((len(name), letter), []).append(name)
    if by_name:
        automaton.make_automaton()
    return names


def known_names(library: Library, seen_by: Connection | None = None) -> KnownNames:
    """Return the names of the project, collected again after entities have changed.

    *seen_by* is the connection of a caller, from whom entities may be withheld: the longest name on a line, and whose it
    is, must not depend on those.
    """
    with library.db.read_all() as conn:
        state = (
            raw_of(conn)
            .execute(
                "SELECT count(*), count(merged_into_id), max(updated_at), sum(curation_state = 'rejected'),"
                " sum(rowid), sum(length(folded_names)) FROM entity"
            )
            .fetchone()
        )
        if seen_by is not None:
            (visible,) = raw_of(seen_by).execute("SELECT count(*) FROM entity").fetchone()
            if visible < state[0]:
                return _gather_from(seen_by)
        cached = library.held.get(HELD)
        if cached is None or cached[0] != tuple(state):
            cached = tuple(state), _gather_from(conn)
            library.held[HELD] = cached
    names: KnownNames = cached[1]
    return names


def _gather_from(conn: Connection) -> KnownNames:
    entity = entities.c
    listed = select(entity.id, entity.canonical_name, entity.entity_type, entity.folded_names)
    rows = conn.execute(
        listed.where(entity.curation_state.in_(("unreviewed", "verified"))).order_by(entity.id)
    )
    return gather(tuple(row) for row in rows)


def names_on_page(
    conn: Connection, names: KnownNames, document_id: str, *, misread: bool
) -> list[dict[str, Any]]:
    """Return the known names on a page, without existing mentions, refused spans and what is left out of lists."""
    places = PagePlaces(conn, document_id)
    refused = RefusedSpans(conn, places)
    rows = Mention.rows.all(conn, mentions.c.document_id == document_id)
    spans = {
        (place.page_start, place.page_end) for place in places_of(places, rows) if isinstance(place, Place)
    }
    left_out = set(HiddenKnowledge(conn).entities)
    occurrences = []
    for line in places.lines:
        for match in names.on_line(line.text, misread=misread):
            start, end = line.page_start + match.start, line.page_start + match.end
            if any(start < last and first < end for first, last in spans):
                continue
            not_these = {*refused.entities_at(start, end), *left_out}
            # A name refused here must not come back as the same name of another entity.
            if any(named.entity_id in not_these for named in match.named):
                continue
            first, *others = match.named
            occurrences.append(
                {
                    "char_start": start,
                    "char_end": end,
                    "text": places.text[start:end],
                    "segment_id": line.segment_id,
                    "representation_id": line.representation_id,
                    "line_start": match.start,
                    "line_end": match.end,
                    **first._asdict(),
                    "name": match.name,
                    "score": match.score,
                    "others": [other.entity_id for other in others],
                }
            )
    return occurrences
