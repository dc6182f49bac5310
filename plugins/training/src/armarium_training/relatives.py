"""Which pages show the same writing: a page, what was cut or derived from it at any depth, and copies of either."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Sized
from typing import Any

from sqlalchemy import Connection, func, select

from armarium_documents.api import documents, renditions

REPEATED = "Its lines are on the picture that it was cut from, or on those cut from it, which count already."


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
        found: set[str] = set()
        left = list(pages)
        while left:
            page = left.pop()
            if page not in found:
                found.add(page)
                left += [*step(page), *self.copies.get(self.checksum.get(page, ""), ())]
        return found

    def are_among(self, page: str, listed: Sequence[Mapping[str, Any]]) -> bool:
        """Return whether pages as a card lists them, {document_id, checksum}, show the writing of *page*."""
        same = self.of([page])
        digests = {self.checksum[one] for one in same if one in self.checksum}
        return any(one["document_id"] in same or one.get("checksum") in digests for one in listed)

    def find_repeats(self, lines: Mapping[str, int]) -> set[str]:
        """Return which of these pages, with as many lines each, are to be left out so that no line counts twice.

        A page stays, and what was cut from it goes, if it has as many lines as those have together.
        """
        gone: set[str] = set()
        descent = {page: self._follow(self.below(page), self.below) - {page} for page in lines}
        for page in sorted(lines, key=lambda one: len(descent[one])):
            parts = [one for one in descent[page] if lines.get(one) and one not in gone]
            if parts and lines[page]:
                gone.update(parts if lines[page] >= sum(lines[part] for part in parts) else [page])
        return gone


def without_repeats(conn: Connection, lines: Mapping[str, Sized]) -> set[str]:
    """Return which pages are to be left out so that no line of a page and its parts counts twice."""
    return (
        Relatives(conn).find_repeats({page: len(own) for page, own in lines.items()})
        if len(lines) > 1
        else set()
    )
