"""Which pages show the same writing: a page, what was cut or derived from it at any depth, and copies of either."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Sized
from typing import Any

from sqlalchemy import Connection, func, select

from armarium.api import is_among
from armarium_documents.api import documents, renditions
from armarium_source_model.api import page_texts

REPEATED = "Its lines are on the picture that it was cut from, or on those cut from it, which count already."

SECOND_SHOT = 0.9
"""From this similarity of their texts on, two pages are taken for two pictures of one."""
FEWEST_LETTERS = 100
"""Letters of a text below which nothing is concluded from it."""
FEW_PAGES, SHARED = 5, 0.3
"""Texts are compared that share this part of the words which stand on few of the pages held out."""


class Relatives:
    """The descent of a project's pages, those in the Trash included, and the digests of their pictures."""

    def __init__(self, conn: Connection) -> None:
        source = func.json_extract(documents.c.metadata, "$.derived_from")
        rows = conn.execute(select(documents.c.id, source).where(source.is_not(None)))
        self.source: dict[str, str] = dict(map(tuple, rows))
        self.cut: dict[str, list[str]] = defaultdict(list)
        for page, above in self.source.items():
            self.cut[above].append(page)
        pictures = select(renditions.c.document_id, renditions.c.checksum).where(
            renditions.c.is_primary, renditions.c.checksum.is_not(None), renditions.c.pixel_width.is_not(None)
        )
        self.checksum: dict[str, str] = dict(map(tuple, conn.execute(pictures)))
        self.copies: dict[str, list[str]] = defaultdict(list)
        for page, digest in self.checksum.items():
            self.copies[digest].append(page)

    def of(self, pages: Iterable[str]) -> set[str]:
        """Return *pages* with all that show the same writing. Two parts of one page do not show that of each other."""
        pages = list(pages)
        return self._follow(pages, self._above) | self._follow(pages, self.below)

    def below(self, page: str) -> list[str]:
        """Return the pages that were cut or derived from a page directly."""
        return self.cut.get(page, [])

    def _above(self, page: str) -> list[str]:
        above = self.source.get(page)
        return [] if above is None else [above]

    def _follow(self, pages: Iterable[str], step: Any) -> set[str]:
        reached: set[str] = set()
        pending = list(pages)
        while pending:
            page = pending.pop()
            if page not in reached:
                reached.add(page)
                pending += [*step(page), *self.copies.get(self.checksum.get(page, ""), ())]
        return reached

    def are_among(self, page: str, listed: Sequence[Mapping[str, Any]]) -> bool:
        """Return whether pages as a card lists them, {document_id, checksum}, show the writing of *page*."""
        relatives = self.of([page])
        digests = {self.checksum[relative] for relative in relatives if relative in self.checksum}
        return any(entry["document_id"] in relatives or entry.get("checksum") in digests for entry in listed)

    def find_repeats(self, lines: Mapping[str, int]) -> set[str]:
        """Return which of these pages, with as many lines each, are to be left out so that no line counts twice.

        A page stays, and what was cut from it goes, if it has as many lines as those have together.
        """
        pages_gone: set[str] = set()
        descent = {page: self._follow(self.below(page), self.below) - {page} for page in lines}
        for page in sorted(lines, key=lambda page: len(descent[page])):
            parts = [part for part in descent[page] if lines.get(part) and part not in pages_gone]
            if parts and lines[page]:
                pages_gone.update(parts if lines[page] >= sum(lines[part] for part in parts) else [page])
        return pages_gone


def without_repeats(conn: Connection, lines: Mapping[str, Sized]) -> set[str]:
    """Return which pages are to be left out so that no line of a page and its parts counts twice."""
    return (
        Relatives(conn).find_repeats({page: len(own) for page, own in lines.items()})
        if len(lines) > 1
        else set()
    )


def second_shots(conn: Connection, pages: Sequence[str], held_out: Sequence[str]) -> set[str]:
    """Return which of *pages* say, nearly letter for letter, what one of *held_out* says: another picture of the same page,
    which no digest shows.
    """
    from rapidfuzz.distance import Indel

    page_text = page_texts.c

    def texts(ids: Sequence[str]) -> dict[str, str]:
        rows = conn.execute(
            select(page_text.document_id, page_text.words).where(is_among(page_text.document_id, ids))
        )
        return {row.document_id: row.words for row in rows if len(row.words) >= FEWEST_LETTERS}

    held_texts, pages_by_text = texts(held_out), defaultdict(list)
    for page, text in held_texts.items():
        for word in set(text.split()):
            pages_by_text[word].append(page)
    rare = {word: among for word, among in pages_by_text.items() if len(among) <= FEW_PAGES}
    rare_words = Counter(page for among in rare.values() for page in among)
    shots = set()
    for page, text in texts(pages).items() if held_texts else ():
        shared = Counter(held_page for word in set(text.split()) for held_page in rare.get(word, ()))
        if any(
            Indel.normalized_similarity(text, held_texts[held_page], score_cutoff=SECOND_SHOT)
            for held_page, times in shared.items()
            if times >= SHARED * rare_words[held_page]
        ):
            shots.add(page)
    return shots
