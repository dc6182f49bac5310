"""The evidence on one page: cues, page number, how it begins and ends, date and parties. Pages are not
compared here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from armarium_documents.api import read_date
from armarium_finding.cues import HEAD_LINES, TAIL_LINES, Cue, CueTable, Party, compile_table, plain

NEAR_BLANK = 12
"""A page with fewer characters (without blanks) is near-blank."""

MOST_PARTIES = 6
LONGEST_LINE = 500
"""How many letters of a line are examined: no cue is longer, and a pattern must not take long on a hostile line."""

_NUMBER = re.compile(
    r"^[\W_]*(?:(?:p|pp|pag|pagina|page|f|fo|fol|folio|ff|hoja|no)[ .º°]*)?(\d{1,4})[ .]*([rv])?[ .]*"
    r"(?:(?:/|de|of)[ .]*\d{1,4})?[\W_]*$"
)


@dataclass(frozen=True)
class Match:
    """A row of the table that matches a page, with the number of the line (from 1) and its words."""

    cue: Cue
    line: int
    words: str


@dataclass
class PageEvidence:
    """A page as the rules see it."""

    page_id: str
    is_read: bool
    characters: int
    text: str
    openings: list[Match] = field(default_factory=list)
    closings: list[Match] = field(default_factory=list)
    kinds: list[Match] = field(default_factory=list)
    number: tuple[int, str] | None = None
    """The number printed on the page and, for a leaf, its side (r, v or none)."""
    begins_small: bool = False
    ends_open: bool = False
    ends_split: bool = False
    date: str | None = None
    parties: list[str] = field(default_factory=list)
    lines: int = 0

    @property
    def is_blank(self) -> bool:
        """Return whether it was read and contains next to nothing."""
        return self.is_read and self.characters < NEAR_BLANK

    @property
    def is_written(self) -> bool:
        """Return whether something was read on it."""
        return self.is_read and self.characters >= NEAR_BLANK

    def summarise(self) -> dict[str, Any]:
        """Return the part that a proposal stores, so that an adjusted document gets its kind, date and parties."""
        summary: dict[str, Any] = {}
        if kind := self.kind():
            summary["kind"] = kind
        if self.date:
            summary["date"] = self.date
        if self.parties:
            summary["parties"] = self.parties
        return summary

    def kind(self) -> tuple[str, float] | None:
        """Return the kind according to its strongest cue, with the cue's weight; a row for the kind alone has
        no weight.
        """
        cues_of_a_kind = [match.cue for match in (*self.openings, *self.kinds) if match.cue.kind is not None]
        if not cues_of_a_kind:
            return None
        best = max(cues_of_a_kind, key=lambda cue: cue.weight)
        return str(best.kind), best.weight


def look_at(page_id: str, text: str, *, is_read: bool, table: CueTable, furniture: str = "") -> PageEvidence:
    """Return the evidence of a page. *furniture* is its text including running heads and page numbers, if
    these are separate.
    """
    rows = compile_table(table)
    lines = [line.strip()[:LONGEST_LINE] for line in text.splitlines()]
    numbered = [(number, line) for number, line in enumerate(lines, start=1) if line]
    characters = sum(not letter.isspace() for letter in text)
    page_evidence = PageEvidence(page_id, is_read, characters, text, lines=len(numbered))
    if not numbered and not furniture:
        return page_evidence
    whole = [line.strip()[:LONGEST_LINE] for line in furniture.splitlines() if line.strip()] or [
        line for _, line in numbered
    ]
    page_evidence.number = _page_number(whole)
    folded = [(number, line, plain(line)) for number, line in numbered]
    page_evidence.openings = _matches(rows.openings, folded[:HEAD_LINES])
    page_evidence.closings = _matches(rows.closings, folded[-TAIL_LINES:])
    page_evidence.kinds = _matches(rows.kinds, folded)
    body = [line for _, line in numbered if _NUMBER.match(plain(line)) is None]
    if body:
        page_evidence.begins_small = _begins_small(body[0])
        page_evidence.ends_split = re.search(r"[^\W\d_][-¬⸗‐]$", body[-1]) is not None
        page_evidence.ends_open = not page_evidence.ends_split and _ends_open(body[-1])
    page_evidence.date = _date([line for _, line in numbered[:HEAD_LINES]])
    page_evidence.parties = _parties([line for _, line in numbered], rows.parties)
    return page_evidence


def _matches(
    rows: Sequence[tuple[Cue, re.Pattern[str]]], lines: Sequence[tuple[int, str, str]]
) -> list[Match]:
    """Return the rows that match, only the heaviest of each cue, by line."""
    best: dict[str, Match] = {}
    for cue, pattern in rows:
        for number, line, folded in lines:
            if pattern.search(line if cue.cased else folded):
                before = best.get(cue.cue)
                if before is None or cue.weight > before.cue.weight:
                    best[cue.cue] = Match(cue, number, line)
                break
    return sorted(best.values(), key=lambda match: match.line)


def _page_number(lines: Sequence[str]) -> tuple[int, str] | None:
    """Return the number in the first or last two lines that consist only of a page number."""
    for line in (*lines[:2], *lines[:-3:-1]):
        match = _NUMBER.match(plain(line))
        if match is not None:
            return int(match[1]), match[2] or ""
    return None


def _begins_small(line: str) -> bool:
    """Return whether the first letter of a page is lower case."""
    first = next((letter for letter in line if letter.isalnum()), "")
    return first.islower() and not line.lstrip("\"'«“( ").startswith(("-", "•", "*"))


def _ends_open(line: str) -> bool:
    """Return whether a last line ends within a sentence: with a letter or digit, or with a comma."""
    bare = line.rstrip("\"'»”) ")
    return bool(bare) and (bare[-1].isalnum() or bare[-1] in ",;")


_ISO = re.compile(r"^\d{4}(?:-\d{2}(?:-\d{2})?)?$")
_HAS_YEAR = re.compile(r"\d{4}|\bM[DCLXVI]{3,}\b")


def _first_figure(line: str) -> int:
    return next((place for place, letter in enumerate(line) if letter.isdigit()), len(line))


def _date(head: Sequence[str]) -> str | None:
    """Return the first date at the head, as ISO; only lines with a year are examined."""
    for line in head:
        if _HAS_YEAR.search(line) is None:
            continue
        # "Carentan 3 août 1914", "En la villa de Toledo, a 2 de mayo de 1930": what precedes the day is not
        # part of the date.
        for part in (line, line.partition(",")[2].strip(), line[_first_figure(line) :].strip()):
            date_read = read_date(part) if part else None
            if date_read is not None and _ISO.match(date_read.gregorian):
                return date_read.gregorian
    return None


def _parties(lines: Sequence[str], rows: Sequence[tuple[Party, re.Pattern[str]]]) -> list[str]:
    """Return the names that rows of parties find, in the order of the page, each once."""
    names: dict[str, str] = {}
    for line in lines:
        if len(names) >= MOST_PARTIES:
            break
        for _, pattern in rows:
            match = pattern.search(line)
            if match is not None:
                for name in filter(None, match.groups()):
                    tidy = name.strip(" .,;:")
                    names.setdefault(party_key(tidy), tidy)
    return [name for key, name in names.items() if key][:MOST_PARTIES]


def party_key(name: str) -> str:
    """Return a key that is equal for two spellings of the same party."""
    return " ".join(re.findall(r"\w+", plain(name)))
