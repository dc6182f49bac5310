"""On which pages words stand, and in which language: a word of one language is no reason to correct a line of another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection

from armarium.api import Engine, raw_of
from armarium_checking.hookspecs import armarium_checking_pages_with
from armarium_source_model.api import languages_of_pages, page_texts

MOST_PAGES = 30
"""How many pages with a word are looked at; a word on as many is common."""

_SCANNED = f"SELECT document_id FROM {page_texts} WHERE instr(' ' || words || ' ', ?) LIMIT ?"


def may_be_one(language: str | None, other: str | None) -> bool:
    """Return whether what is stated of two texts, None where nothing is, lets them be in one language."""
    return language is None or other is None or language == other


class PagesOfWords:
    """On which pages words stand, as the caller sees them; asked once for each word."""

    def __init__(self, engine: Engine, conn: Connection) -> None:
        self._engine, self._conn = engine, conn
        self._known: dict[str, Sequence[str]] = {}
        self._languages: dict[str, str | None] = {}

    def of(self, words: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """Return the pages of each of *words*, at most `MOST_PAGES`."""
        new = [word for word in dict.fromkeys(words) if word not in self._known]
        if new:
            pages = self._engine.points.ask_first(armarium_checking_pages_with, self._conn, new, MOST_PAGES)
            if pages is None:
                raw = raw_of(self._conn)
                pages = {
                    word: [row[0] for row in raw.execute(_SCANNED, (f" {word} ", MOST_PAGES))] for word in new
                }
            self._known |= {word: pages.get(word, ()) for word in new}
        return self._known

    def in_language(self, words: Sequence[str], language: str | None) -> dict[str, Sequence[str]]:
        """Return the pages of each of *words*, but those that are stated to be in another language."""
        found = {word: self.of(words)[word] for word in words}
        if language is None:
            return found
        new = {page for pages in found.values() for page in pages} - self._languages.keys()
        if new:
            self._languages |= languages_of_pages(self._conn, new)
        return {
            word: [page for page in pages if may_be_one(language, self._languages.get(page))]
            for word, pages in found.items()
        }
