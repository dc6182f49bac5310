"""What the tests of writers share: a page written and checked, read again, and its losses counted by their names."""

from __future__ import annotations

from collections import Counter

from armarium_formats.api import FormatDriver, PageModel, ReadContext, WriteContext

CONTEXT = WriteContext(created="2026-01-02T03:04:05.678Z", creator="Armarium test")


class Trial:
    """One driver, tried."""

    def __init__(self, driver: FormatDriver) -> None:
        self.driver = driver

    def write_file(self, page: PageModel) -> str:
        """The file, which obeys its schema."""
        content = self.driver.write(page, CONTEXT).content
        assert self.driver.validate(content) == [], content
        return content

    def read(self, content: str) -> PageModel:
        """The first page of a file."""
        return self.driver.read(content.encode(), ReadContext("a.xml"))[0]

    def losses(self, page: PageModel) -> dict[str, int]:
        """What is lost, and how often."""
        found: Counter[str] = Counter()
        for loss in self.driver.write(page, CONTEXT).losses:
            found[loss.what] += loss.count
        return dict(found)
