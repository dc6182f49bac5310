"""The driver suite finds faulty drivers: each planted fault fails it with a sentence."""

from __future__ import annotations

from typing import Any

import pytest

from armarium.errors import Broken, Invalid
from armarium_formats.api import (
    Loss,
    PageModel,
    PageSegment,
    PageText,
    ReadContext,
    WriteContext,
    WrittenPage,
)
from armarium_formats.pagexml.driver import PageXml
from armarium_formats.plain_text import PlainText
from armarium_testing.formats import Sample, exercise_format
from armarium_testing.sample_files import SAMPLE_PAGE

SAMPLE = Sample("a.xml", SAMPLE_PAGE.encode(), lines=1, words=0, text="Dear Sir")


class Nameless(PageXml):
    name = ""


class BadName(PageXml):
    name = "Page XML"


class UnlabelledPageXml(PageXml):
    label = ""


class Idle(PageXml):
    reads = writes = False


class NoExtension(PageXml):
    extensions = ("xml",)


class Greedy(PageXml):
    def sniff(self, data: bytes) -> float:
        return 0.9


class Modest(PageXml):
    def sniff(self, data: bytes) -> float:
        return 0.1


class Overconfident(PageXml):
    def sniff(self, data: bytes) -> float:
        return 3.0


class Crashing(PageXml):
    def read(self, data: bytes, context: ReadContext) -> list[PageModel]:
        if b"TextLine" not in data:
            raise KeyError("TextLine")
        return super().read(data, context)


class CrashingOnBroken(PageXml):
    def read(self, data: bytes, context: ReadContext) -> list[PageModel]:
        if (
            data.startswith(b"<?xml")
            and data.count(b"PcGts") != 2
            and b"</Page>" not in data[-60:]
            and b"cGts" in data
        ):
            raise IndexError(1)
        return super().read(data, context)


class Terse(PageXml):
    def read(self, data: bytes, context: ReadContext) -> list[PageModel]:
        try:
            return super().read(data, context)
        except Invalid:
            raise Invalid("bad") from None


class Blaming(PageXml):
    def read(self, data: bytes, context: ReadContext) -> list[PageModel]:
        try:
            return super().read(data, context)
        except Invalid as refusal:
            raise Broken(refusal.detail) from None


class LosingLines(PageXml):
    def read(self, data: bytes, context: ReadContext) -> list[PageModel]:
        pages = super().read(data, context)
        pages[0].segments = []
        return pages


class Doubling(PageXml):
    def read(self, data: bytes, context: ReadContext) -> list[PageModel]:
        pages = super().read(data, context)
        pages[0].segments = pages[0].segments * 2
        return pages


class Endless(PageXml):
    def read(self, data: bytes, context: ReadContext) -> list[PageModel]:
        pages = super().read(data, context)
        for segment in pages[0].walk():
            segment.points = [(float("inf"), 0)]
        return pages


class Writing(PageXml):
    """Base class of drivers with a fault in writing."""

    def change(self, content: str) -> str:
        return content

    def write(self, page: PageModel, context: WriteContext) -> WrittenPage:
        found = super().write(page, context)
        return WrittenPage(self.change(found.content), found.losses)


class WritingInvalid(Writing):
    def change(self, content: str) -> str:
        return content.replace("imageWidth", "width")


class MovingBaselines(Writing):
    def change(self, content: str) -> str:
        return content.replace('Baseline points="1', 'Baseline points="2')


class LosingText(Writing):
    def change(self, content: str) -> str:
        return content.replace("Dear Sir", "Dear")


class RenamingIds(Writing):
    def change(self, content: str) -> str:
        return content.replace('id="l1"', 'id="line1"')


class Fickle(Writing):
    turn = 0

    def change(self, content: str) -> str:
        self.turn += 1
        return content.replace("exercise_format", f"run {self.turn}")


class Meddling(PageXml):
    def write(self, page: PageModel, context: WriteContext) -> WrittenPage:
        page.segments.append(PageSegment(f"x{len(page.segments)}", "region", points=[(1, 1), (2, 2), (3, 1)]))
        return super().write(page, context)


class EmptyLoss(PlainText):
    reads = False

    def write(self, page: PageModel, context: WriteContext) -> WrittenPage:
        return WrittenPage("", [Loss("shapes", 0, "no reason")])


class Silent(PlainText):
    reads = False

    def write(self, page: PageModel, context: WriteContext) -> WrittenPage:
        return WrittenPage(b"bytes")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("driver", "words"),
    [
        (Nameless, "has no name"),
        (BadName, "lower case without spaces"),
        (UnlabelledPageXml, "no label"),
        (Idle, "neither reads nor writes"),
        (NoExtension, "with its dot"),
        (Greedy, "as its own"),
        (Modest, "does not recognise its own"),
        (Overconfident, "say 0 to 1"),
        (Crashing, "breaks on"),
        (CrashingOnBroken, "breaks on"),
        (Terse, "say a sentence"),
        (Blaming, "a fault of the engine"),
        (LosingLines, "has 1 lines, 0 were read"),
        (Doubling, "share an id"),
        (Endless, "endless coordinate"),
        (WritingInvalid, "finds it invalid"),
        (MovingBaselines, "moves the baseline"),
        (LosingText, "does not return the texts"),
        (RenamingIds, "loses the id"),
        (Fickle, "differently twice"),
        (Meddling, "changes the page"),
        (EmptyLoss, "empty loss"),
        (Silent, "wrote no text"),
    ],
)
def test_each_fault_of_a_driver_is_found(driver: type[Any], words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        exercise_format(driver, [SAMPLE])


def test_a_reading_driver_needs_a_sample() -> None:
    with pytest.raises(AssertionError, match="at least one sample"):
        exercise_format(PageXml)


def test_counts_and_texts_of_a_sample_are_checked() -> None:
    with pytest.raises(AssertionError, match="has 7 words"):
        exercise_format(PageXml, [Sample("a.xml", SAMPLE.data, words=7)])
    with pytest.raises(AssertionError, match="that was not read"):
        exercise_format(PageXml, [Sample("a.xml", SAMPLE.data, text="Dear Madam")])


def test_a_page_reads_in_order_without_an_order() -> None:
    page = PageModel(
        9,
        9,
        segments=[PageSegment("r", "region", children=[PageSegment("l", "line", texts=[PageText("x")])])],
    )
    assert [segment.id for segment in page.in_order()] == ["r", "l"]
