"""Helpers for the tests of writers: write and validate a page, read it again, and count losses by name."""

from __future__ import annotations

from collections import Counter

from armarium_formats.api import FormatDriver, PageModel, ReadContext, WriteContext

CONTEXT = WriteContext(created="2026-01-02T03:04:05.678Z", creator="Armarium test")


class DriverCase:
    """A driver under test."""

    def __init__(self, driver: FormatDriver) -> None:
        self.driver = driver

    def write_file(self, page: PageModel) -> str:
        """Return the written file, which must obey its schema."""
        content = self.driver.write(page, CONTEXT).content
        assert self.driver.validate(content) == [], content
        return content

    def read(self, content: str) -> PageModel:
        """Return the first page of a file."""
        return self.driver.read(content.encode(), ReadContext("a.xml"))[0]

    def losses(self, page: PageModel) -> dict[str, int]:
        """Return how often each kind of loss occurs."""
        counts: Counter[str] = Counter()
        for loss in self.driver.write(page, CONTEXT).losses:
            counts[loss.what] += loss.count
        return dict(counts)
