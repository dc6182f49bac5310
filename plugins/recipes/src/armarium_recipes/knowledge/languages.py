"""Languages of ISO 639-3, and languages and dialects of Glottolog: found by tag, and searched by name, tag or
code.

The table is unpacked on first use (about 0.1 s) and held as text, not as objects.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import accumulate
from typing import Any

from armarium_recipes.knowledge.tables import table_lines
from armarium_recipes.schemas.knowledge import LanguageAnswer as Language

TAG = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*")
"""The form of a BCP 47 tag that begins with a language."""
_MARKS = re.compile("[\u0300-\u036f]+")
_PARTS = re.compile(r"[|\x00-\x1f]+")
_USUAL_SCRIPT = re.compile(r"\t(?:[A-Z][a-z]{3})?$", re.MULTILINE)
_LEVELS = {"|language|": "|\x01|", "|dialect|": "|\x02|"}
"""Replacements that stop a search for these words from matching every row."""


def find_language(tag: str) -> Language | None:
    """Return the language that a BCP 47 tag names (`de`, `de-AT`, `deu`, `iw`); None if it names none."""
    if not TAG.fullmatch(tag):
        return None
    table = _table()
    subtag = tag.partition("-")[0].lower()
    row = table.by_code.get(table.replaced.get(subtag, subtag))
    return None if row is None else table.language(row)


def tags_of(codes: Iterable[str]) -> list[str]:
    """Return the BCP 47 tags of the languages that *codes* name, each once; what names none is left out."""
    languages = (find_language(code) for code in codes)
    return list(dict.fromkeys(language.code for language in languages if language and language.code))


def search_languages(q: str, limit: int) -> list[Language]:
    """Return at most *limit* languages and dialects by name, tag or code.

    First exact matches of tag or code, then exact names, then names that begin with *q*, names with a word
    that begins with it, and names that contain it; within each group, languages with a short tag come first
    and dialects last. Diacritics and case are ignored. An empty *q* returns the first languages of the table.
    """
    table = _table()
    text = _fold_text(_PARTS.sub(" ", q)).strip()
    if not text:
        return [table.language(row) for row in range(min(limit, len(table.lines)))]
    rows: dict[int, None] = {}
    coded = find_language(text)
    if coded is not None and coded.code is not None:
        rows[table.by_code[coded.code.lower()]] = None
    for shape in (f"|{text}|", f"|{text}", f" {text}", text):
        for row in table.rows_with(shape):
            if len(rows) >= limit:
                break
            rows[row] = None
    return [table.language(row) for row in list(rows)[:limit]]


class _Table:
    """The rows in the order in which they are answered, and one text for searching all of them."""

    def __init__(self) -> None:
        self.lines = table_lines("languages")
        self.replaced = dict(line.split("\t") for line in table_lines("replaced"))
        # Bars between the fields let a text search match whole fields and beginnings of fields.
        searched = _fold_text(_USUAL_SCRIPT.sub("", "\n".join(self.lines)))
        barred = re.sub(r"\|{2,}", "|", "|" + searched.replace("\t", "|").replace("\n", "|\n|") + "|\n")
        for level, sign in _LEVELS.items():
            barred = barred.replace(level, sign)
        self.text = barred
        self.ends = list(accumulate(len(line) + 1 for line in self.text.split("\n")[:-1]))
        self.by_code: dict[str, int] = {}
        for row, line in enumerate(self.lines):
            code, codes, _, level, _ = line.split("\t", 4)
            if level == "dialect":
                # All rows that follow are dialects: these come last.
                break
            if code:
                for alias in (code, *codes.split("|")):
                    self.by_code.setdefault(alias, row)
        self.by_code.pop("", None)

    def rows_with(self, text: str) -> Iterator[int]:
        """Return the rows whose text contains *text*, in order."""
        place = self.text.find(text)
        while place >= 0:
            row = bisect_right(self.ends, place)
            yield row
            place = self.text.find(text, self.ends[row])

    def language(self, row: int) -> Language:
        code, _, glottocode, level, name, _, *more = self.lines[row].split("\t")
        fields: dict[str, Any] = {
            "code": code or None,
            "name": name,
            "glottocode": glottocode or None,
            "level": level,
        }
        if level != "dialect":
            return Language(**fields, language=None, language_name=None, script="".join(more) or None)
        above = next((self.language(row) for row in self.rows_with(f"|{more[0]}|\x01|")), None)
        own_name, script = (None, None) if above is None else (above.name, above.script)
        return Language(**fields, language=code or None, language_name=own_name, script=script)


@cache
def _table() -> _Table:
    return _Table()


def _fold_text(text: str) -> str:
    """Return the text in lower case and without diacritics, with the same line breaks."""
    return _MARKS.sub("", unicodedata.normalize("NFKD", text)).casefold()
